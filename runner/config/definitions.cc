#include "runner/config/definitions.h"

#include <fmt/format.h>

#include <utility>

#include "runner/config/yaml_reader.h"

namespace numabench {

Definitions::Definitions(std::string kind, std::function<std::string(const YamlNode&)> name_of,
                         std::function<std::vector<std::string>(const YamlNode&)> define)
    : kind_(std::move(kind)), name_of_(std::move(name_of)), define_(std::move(define)) {}

std::vector<Placed<std::string>> Definitions::read(const YamlNode& list) {
  std::vector<Placed<std::string>> names;
  std::map<std::string, Origin> listed;
  for (const YamlNode* item : read_list_or_one(list, "'" + kind_ + "s'")) {
    const std::string name = name_of_(*item);
    const auto [first, is_new] = listed.emplace(name, item->origin);
    if (!is_new) {
      config_error(
          item->origin,
          fmt::format("{} '{}' is listed twice, first at {}", kind_, name, first->second.text()),
          fmt::format("give one of them a {} of its own", kind_ == "workload" ? "label" : "name"));
    }
    const auto [definition, defines] = defined_.emplace(name, item->origin);
    if (!defines && item->is_map()) {
      config_error(item->origin,
                   fmt::format("{} '{}' is defined twice, first at {}", kind_, name,
                               definition->second.text()),
                   "refer to it by its name, or give one of them another");
    }
    if (defines) stands_for_[name] = define_(*item);
    for (const std::string& one : stands_for_[name]) names.push_back({one, item->origin});
  }
  return names;
}

}  // namespace numabench
