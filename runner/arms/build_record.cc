#include <nlohmann/json.hpp>

#include "hosts/error.h"
#include "runner/arms/arm_build.h"

namespace numabench {
namespace {

using nlohmann::json;

// One list for both directions: `visit(name, member)` for each member of a build.
template <typename Build, typename Visit>
void visit_members(Build& build, Visit visit) {
  visit("arm", build.arm);
  visit("failure", build.failure);
  visit("key", build.inputs.key);
  visit("source", build.inputs.source);
  visit("bindir", build.bindir);
  visit("library_directory", build.library_directory);
  visit("postgres", build.postgres);
  visit("counted_postgres", build.counted_postgres);
  visit("counted_reason", build.counted_reason);
  visit("counted_method", build.counted_method);
  visit("clock_directory", build.clock_directory);
  visit("clock_reason", build.clock_reason);
  visit("version_num", build.version_num);
  visit("version", build.version);
  visit("configuration", build.configuration);
  visit("compiler", build.compiler);
  visit("cflags", build.cflags);
  visit("build_id", build.build_id);
  visit("counted_build_id", build.counted_build_id);
  visit("libnuma", build.libnuma);
  visit("build_seconds", build.build_seconds);
  visit("reused", build.reused);
  visit("ccache_hits", build.ccache_hits);
  visit("ccache_misses", build.ccache_misses);
  visit("log_path", build.log_path);
}

}  // namespace

std::string to_json(const ArmBuild& build) {
  json document;
  visit_members(build, [&](const char* name, const auto& member) { document[name] = member; });
  document["patches"] = json::array();
  for (const PatchRecord& patch : build.inputs.patches) {
    document["patches"].push_back({{"name", patch.name}, {"sha256", patch.sha256}});
  }
  // Patches come from anywhere: a name need not be UTF-8.
  return document.dump(2, ' ', false, json::error_handler_t::replace);
}

ArmBuild arm_build_from_json(const std::string& text) {
  try {
    const json document = json::parse(text);
    ArmBuild build;
    visit_members(build, [&](const char* name, auto& member) { document.at(name).get_to(member); });
    for (const json& patch : document.at("patches")) {
      build.inputs.patches.push_back({patch.at("name"), patch.at("sha256")});
    }
    return build;
  } catch (const json::exception& error) {
    throw Error(ErrorKind::kRun, std::string("a build record cannot be read: ") + error.what());
  }
}

}  // namespace numabench
