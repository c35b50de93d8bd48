#include "runner/config/arm_sources.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "runner/config/yaml_reader.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

/// "https://…", "file:///…", "git@host:path".
bool is_url(const std::string& text) {
  const std::size_t colon = text.find(':');
  return colon != std::string::npos && text.find('/') > colon;
}

std::string location_of(const YamlNode& node, const std::string& what) {
  const std::string text = read_text(node, what);
  return is_url(text) ? text : path_beside(text, node.origin);
}

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

std::vector<std::string> matches_of(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return files;
}

std::vector<std::string> files_of(const YamlNode& item) {
  const std::string text = read_text(item, "'patches'");
  const std::string path = path_beside(text, item.origin);
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return {path};
  std::vector<std::string> files = is_pattern(text) ? matches_of(path) : std::vector<std::string>{};
  if (!files.empty()) return files;
  const bool from_file = item.origin.line > 0;
  config_error(
      item.origin,
      fmt::format(
          "no file matches {}",
          from_file ? (fs::path(item.origin.file).parent_path() / text).lexically_normal().string()
                    : text),
      "put the patches there: they are not shipped with numabench");
}

}  // namespace

std::string path_beside(const std::string& text, const Origin& where) {
  const fs::path folder = where.line > 0 ? fs::path(where.file).parent_path() : fs::path();
  return fs::absolute(folder / text).lexically_normal().string();
}

ArmSource read_arm_source(const YamlNode& node) {
  check_map(node, "the source of an arm", {"git", "commit", "tarball", "debian", "bindir"});
  const YamlNode* commit = node.find("commit");
  const YamlNode* git = node.find("git");
  if (node.entries.size() != (git != nullptr && commit != nullptr ? 2 : 1) ||
      (git == nullptr) != (commit == nullptr)) {
    config_error(node.origin, "the source of an arm is not one place",
                 "write {git: …, commit: …}, {tarball: …}, {debian: …} or {bindir: …}");
  }
  if (git != nullptr) {
    return {ArmSource::Kind::kGit, location_of(*git, "'git'"), read_verbatim(*commit, "'commit'")};
  }
  if (const YamlNode* tarball = node.find("tarball")) {
    return {ArmSource::Kind::kTarball, location_of(*tarball, "'tarball'"), ""};
  }
  if (const YamlNode* package = node.find("debian")) {
    return {ArmSource::Kind::kDebian, read_name(*package, "'debian'"), ""};
  }
  const YamlNode& bindir = *node.find("bindir");
  return {ArmSource::Kind::kBindir, path_beside(read_text(bindir, "'bindir'"), bindir.origin), ""};
}

std::vector<std::string> read_patch_files(const YamlNode& node, PatchFiles files) {
  std::vector<std::string> result;
  for (const YamlNode* item : read_list_or_one(node, "'patches'")) {
    const std::string text = read_text(*item, "'patches'");
    if (files == PatchFiles::kKeep) result.push_back(text);
    if (files != PatchFiles::kExpand) continue;
    std::ranges::copy(files_of(*item), std::back_inserter(result));
  }
  return result;
}

void read_settings(const YamlNode& node, const std::string& path,
                   std::map<std::string, std::string>& settings,
                   std::map<std::string, Origin>& origins) {
  if (!node.is_map()) check_map(node, "'settings'", {});
  for (const YamlEntry& entry : node.entries) {
    settings[entry.key] = read_verbatim(entry.value, quoted(entry.key));
    origins[path + "." + entry.key] = entry.value.origin;
  }
}

}  // namespace numabench
