#include "runner/config/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "hosts/error.h"
#include "runner/config/utf8.h"

namespace numabench {
namespace {

/// Deeper than any config; also what ends an anchor that contains itself.
constexpr int kMostLevels = 32;
/// More than any config; ends anchors that multiply each other.
constexpr int kMostNodes = 1'000'000;

/// Copies yaml-cpp's tree into ours and refuses what an experiment must not contain.
class TreeBuilder {
 public:
  TreeBuilder(std::string source, bool has_lines)
      : source_(std::move(source)), has_lines_(has_lines) {}

  /// yaml-cpp counts from 0.
  Origin place(const YAML::Mark& mark) const {
    if (!has_lines_) return {source_, 0, 0, ""};
    return {source_, std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1, ""};
  }

  YamlNode build(const YAML::Node& from, int level = 1) {
    YamlNode node;
    node.origin = place(from.Mark());
    check_size(node.origin, level);
    check_tag(from, node.origin);
    switch (from.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        break;
      case YAML::NodeType::Scalar:
        node.kind = YamlNode::Kind::kScalar;
        node.text = from.Scalar();
        node.quoted = from.Tag() == "!";
        break;
      case YAML::NodeType::Sequence:
        node.kind = YamlNode::Kind::kList;
        for (const YAML::Node& item : from) node.items.push_back(build(item, level + 1));
        break;
      case YAML::NodeType::Map:
        node.kind = YamlNode::Kind::kMap;
        for (const auto& pair : from) add_entry(node, pair.first, pair.second, level);
        break;
    }
    return node;
  }

 private:
  void add_entry(YamlNode& map, const YAML::Node& key, const YAML::Node& value, int level) {
    const Origin where = place(key.Mark());
    if (!key.IsScalar()) {
      config_error(where, "a key must be a word", "write keys as 'name: value'");
    }
    const std::string& name = key.Scalar();
    if (name == "<<") {
      config_error(where, "merge keys ('<<') are not read",
                   "let an arm say 'extends: OTHER', or repeat the values");
    }
    for (const YamlEntry& entry : map.entries) {
      if (entry.key != name) continue;
      config_error(where,
                   fmt::format("key '{}' is written twice, first at {}", name, entry.origin.text()),
                   "keep one of them");
    }
    map.entries.push_back({name, where, build(value, level + 1)});
    YamlNode& added = map.entries.back().value;
    if (added.is_null()) added.origin = where;  // yaml-cpp's place is that of the next token
  }

  void check_size(const Origin& where, int level) {
    if (level > kMostLevels) {
      config_error(where, fmt::format("nested deeper than {} levels", kMostLevels),
                   "close the brackets before, or break the anchor that contains itself");
    }
    if (++nodes_ > kMostNodes) {
      config_error(where, fmt::format("more than {} values", kMostNodes),
                   "use fewer aliases of anchors");
    }
  }

  static void check_tag(const YAML::Node& node, const Origin& where) {
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    std::string tag = node.Tag();
    if (tag.empty() || tag == "?" || tag == "!") return;
    if (tag.starts_with(kCore)) tag.replace(0, kCore.size(), "!!");
    config_error(where, fmt::format("the type tag '{}' is not read", tag),
                 "leave it out; quote a value that is meant as text");
  }

  std::string source_;
  bool has_lines_;
  int nodes_ = 0;
};

/// yaml-cpp calls a tab in the indentation an "illegal map value": look for one on the lines it
/// read.
int line_indented_by_tab(const std::string& text, int last_line) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; number <= last_line && std::getline(lines, line); ++number) {
    const std::size_t end = std::min(line.find_first_not_of(" \t"), line.size());
    if (line.substr(0, end).find('\t') != std::string::npos) return number;
  }
  return 0;
}

[[noreturn]] void syntax_error(const std::string& text, const Origin& where,
                               const std::string& message) {
  if (const int line = line_indented_by_tab(text, where.line); line != 0) {
    config_error({where.file, line, 1, ""}, "a tab in the indentation", "indent with blanks");
  }
  config_error(where, "not YAML: " + message,
               "check the brackets, quotes and indentation up to this place");
}

/// The byte at `offset`, as yaml-cpp would say it.
YAML::Mark mark_of(const std::string& text, std::size_t offset) {
  YAML::Mark mark;
  const auto here = text.begin() + static_cast<std::ptrdiff_t>(offset);
  mark.line = static_cast<int>(std::count(text.begin(), here, '\n'));
  const std::size_t line_start = text.substr(0, offset).rfind('\n') + 1;  // npos + 1 is 0
  mark.column = static_cast<int>(offset - line_start);
  return mark;
}

YamlNode parse_yaml(const std::string& text, TreeBuilder builder) {
  if (const std::size_t offset = find_invalid_utf8(text); offset != std::string::npos) {
    config_error(builder.place(mark_of(text, offset)), "not UTF-8 text",
                 "save the file as UTF-8, or remove this byte");
  }
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty()) return builder.build(YAML::Node());
    if (documents.size() > 1) {
      config_error(builder.place(documents[1].Mark()), "a second YAML document begins here",
                   "keep one experiment a file: remove the '---' before it");
    }
    return builder.build(documents.front());
  } catch (const YAML::Exception& error) {
    syntax_error(text, builder.place(error.mark), error.msg);
  }
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const YamlEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

YamlNode* YamlNode::find(std::string_view key) {
  return const_cast<YamlNode*>(std::as_const(*this).find(key));
}

YamlNode parse_yaml_file_text(const std::string& text, const std::string& source) {
  return parse_yaml(text, TreeBuilder(source, true));
}

YamlNode parse_yaml_argument(const std::string& text, const std::string& source) {
  return parse_yaml(text, TreeBuilder(source, false));
}

std::string read_config_file(const std::string& path) {
  const Origin where{path, 0, 0, ""};
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    config_error(where, "is a directory", "name a file in it");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    config_error(where, fmt::format("cannot be read ({})", std::strerror(errno)),
                 "check the path of the config");
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void config_error(const Origin& where, const std::string& problem, const std::string& remedy) {
  throw Error(ErrorKind::kUsage, problem, remedy, where.text());
}

}  // namespace numabench
