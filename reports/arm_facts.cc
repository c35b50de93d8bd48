#include "reports/arm_facts.h"

#include <nlohmann/json.hpp>

namespace numabench {
namespace {

using nlohmann::json;

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::optional<ArmFacts> arm_facts(const ArmRecord& arm) {
  if (!arm.build_json) return std::nullopt;
  const json build = json::parse(*arm.build_json, nullptr, false);
  if (!build.is_object()) return std::nullopt;
  ArmFacts facts{.failure = text_of(build, "failure"),
                 .version = text_of(build, "version"),
                 .source = text_of(build, "source"),
                 .patches = {},
                 .build_id = text_of(build, "build_id"),
                 .compiler = text_of(build, "compiler"),
                 .cflags = text_of(build, "cflags")};
  const auto patches = build.find("patches");
  if (patches == build.end() || !patches->is_array()) return facts;
  for (const json& patch : *patches) {
    if (!patch.is_object()) continue;
    facts.patches.push_back({text_of(patch, "name"), text_of(patch, "sha256")});
  }
  return facts;
}

}  // namespace numabench
