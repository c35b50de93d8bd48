// A YAML document as a tree of our own, in which every node knows where it was written.
//
// yaml-cpp only parses. The tree exists because yaml-cpp accepts what an experiment must not
// contain (duplicate keys, merge keys, several documents), guesses types (`yes`, `010`), and
// because --set edits it before any value is typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/config/experiment.h"

namespace numabench {

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string text;     ///< of a scalar, exactly as written (quotes and escapes resolved)
  bool quoted = false;  ///< a scalar in quotes or a block scalar: text, whatever it looks like
  Origin origin;
  std::vector<YamlNode> items;     ///< of a list
  std::vector<YamlEntry> entries;  ///< of a map, in the order written, keys unique

  bool is_null() const { return kind == Kind::kNull; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_map() const { return kind == Kind::kMap; }

  /// The value of `key`, nullptr when it is absent or this is not a map.
  const YamlNode* find(std::string_view key) const;
  YamlNode* find(std::string_view key);
};

struct YamlEntry {
  std::string key;
  Origin origin;  ///< of the key
  YamlNode value;
};

/// Parses one document. `source` stands for the text in places: a path, whose places then have
/// lines, or "--set a.b=c", whose places have not. An empty text is a null node. Throws
/// Error(kUsage) with the place for anything but one plain document of UTF-8 text.
YamlNode parse_yaml_file_text(const std::string& text, const std::string& source);
YamlNode parse_yaml_argument(const std::string& text, const std::string& source);

/// The whole file as it is. Throws Error(kUsage) for one that is missing, a directory or
/// unreadable.
std::string read_config_file(const std::string& path);

/// Throws Error(kUsage) at a place.
[[noreturn]] void config_error(const Origin& where, const std::string& problem,
                               const std::string& remedy);

}  // namespace numabench
