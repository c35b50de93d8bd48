#include "runner/config/overrides.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "hosts/spelling.h"

namespace numabench {
namespace {

class TreeEditor {
 public:
  explicit TreeEditor(const std::string& argument) : source_{"--set " + argument, 0, 0, ""} {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0) {
      config_error(source_, "not an assignment", "write --set path.to.key=value");
    }
    path_ = argument.substr(0, equals);
    value_ = parse_yaml_argument(argument.substr(equals + 1), source_.file);
  }

  void edit(YamlNode& root) { set(root, path_, ""); }

 private:
  /// `rest` is the path below `node`, `key` the one that led to it.
  void set(YamlNode& node, std::string_view rest, std::string_view key) {
    if (has_names(key) && !node.is_list() && !node.is_null()) node = as_list(node);
    if (node.is_list()) return set_in_list(node, rest, key);
    if (node.is_null()) {
      node.kind = YamlNode::Kind::kMap;
      node.origin = source_;
    }
    if (!node.is_map()) {
      config_error(source_, fmt::format("'{}' is one value, nothing is below it", key),
                   fmt::format("end the path at '{}'", key));
    }
    const std::string_view step = rest.substr(0, rest.find('.'));
    if (step.empty()) config_error(source_, "an empty step in the path", "write a.b.c=value");
    YamlNode& child = child_of(node, step);
    if (step.size() == rest.size()) {
      child = value_;
    } else {
      set(child, rest.substr(step.size() + 1), step);
    }
  }

  YamlNode& child_of(YamlNode& map, std::string_view key) const {
    if (YamlNode* found = map.find(key)) return *found;
    YamlNode empty;
    empty.origin = source_;
    map.entries.push_back({std::string(key), source_, empty});
    return map.entries.back().value;
  }

  void set_in_list(YamlNode& list, std::string_view rest, std::string_view key) {
    if (!has_names(key)) return set_by_index(list, rest, key);
    for (YamlNode& item : list.items) {
      const std::string name = name_of(item);
      if (name.empty() || !rest.starts_with(name)) continue;
      if (rest.size() == name.size() || rest[name.size()] == '.') {
        return set_item(item, rest, name.size(), key);
      }
    }
    set_by_index(list, rest, key);
  }

  void set_by_index(YamlNode& list, std::string_view rest, std::string_view key) {
    const std::string_view step = rest.substr(0, rest.find('.'));
    std::size_t index = 0;
    const auto [stop, failure] = std::from_chars(step.data(), step.data() + step.size(), index);
    if (failure != std::errc() || stop != step.data() + step.size()) no_such_item(list, step, key);
    if (index >= list.items.size()) {
      config_error(source_, fmt::format("'{}' has {} items", key, list.items.size()),
                   "use an index counted from 0, or set the whole list");
    }
    set_item(list.items[index], rest, step.size(), key);
  }

  /// The first `step` characters of `rest` have led to `item`.
  void set_item(YamlNode& item, std::string_view rest, std::size_t step, std::string_view list) {
    if (step == rest.size()) {
      item = value_;
      return;
    }
    if (has_names(list) && item.is_scalar()) item = as_map(item, list);
    set(item, rest.substr(step + 1), rest.substr(0, step));
  }

  [[noreturn]] void no_such_item(const YamlNode& list, std::string_view step,
                                 std::string_view key) const {
    std::vector<std::string> names;
    for (const YamlNode& item : list.items) {
      if (const std::string name = name_of(item); !name.empty()) names.push_back(name);
    }
    config_error(source_, fmt::format("'{}' has no item '{}'", key, step), suggest(step, names));
  }

  static bool has_names(std::string_view list) {
    return list == "arms" || list == "workloads" || list == "placements";
  }

  /// A single name or map stands for a list of one.
  static YamlNode as_list(const YamlNode& item) {
    YamlNode list;
    list.kind = YamlNode::Kind::kList;
    list.origin = item.origin;
    list.items.push_back(item);
    return list;
  }

  /// The map that a name in such a list stands for.
  static YamlNode as_map(const YamlNode& name, std::string_view list) {
    YamlNode map;
    map.kind = YamlNode::Kind::kMap;
    map.origin = name.origin;
    map.entries.push_back({"name", name.origin, name});
    if (list == "arms") map.entries.push_back({"extends", name.origin, name});
    return map;
  }

  static std::string name_of(const YamlNode& item) {
    if (item.is_scalar()) return item.text;
    const YamlNode* label = item.find("label");
    const YamlNode* name = label != nullptr ? label : item.find("name");
    return name != nullptr ? name->text : "";
  }

  Origin source_;
  std::string path_;
  YamlNode value_;
};

}  // namespace

void apply_set(YamlNode& root, const std::string& argument) { TreeEditor(argument).edit(root); }

}  // namespace numabench
