#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "hosts/error.h"
#include "hosts/files.h"
#include "hosts/process.h"
#include "hosts/tree_copy.h"
#include "runner/arms/apt_sources.h"
#include "runner/arms/git.h"
#include "runner/arms/source.h"
#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kLongestDownload{30};

// apt with a configuration, package lists and cache of our own below `directory`; it needs no root.
class PrivateApt {
 public:
  explicit PrivateApt(std::string directory) : directory_(std::move(directory)) {
    for (const char* name : {"/parts", "/lists/partial", "/cache/archives/partial"}) {
      fs::create_directories(directory_ + name);
    }
    std::ofstream(directory_ + "/apt.conf")
        << "Dir::Etc::SourceList \"/dev/null\";\n"
        << "Dir::Etc::SourceParts \"" << directory_ << "/parts\";\n"
        << "Dir::State::Lists \"" << directory_ << "/lists\";\n"
        << "Dir::Cache \"" << directory_ << "/cache\";\n"
        << "APT::Sandbox::User \"\";\n";
    write_source_entries("/etc/apt", directory_ + "/parts");
  }

  CommandResult run(const std::vector<std::string>& arguments,
                    const std::string& working_directory) {
    CommandOptions options;
    options.timeout = kLongestDownload;
    options.working_directory = working_directory;
    options.environment = {{"APT_CONFIG", directory_ + "/apt.conf"}};
    return run_command(arguments, options);
  }
  CommandResult run(const std::vector<std::string>& arguments) {
    return run(arguments, directory_);
  }

 private:
  std::string directory_;
};

struct PackageVersion {
  std::string package;
  std::string version;  ///< empty: the newest
};

PackageVersion parse_package(const std::string& location) {
  const std::size_t equals = location.find('=');
  if (equals == std::string::npos) return {location, ""};
  return {location.substr(0, equals), location.substr(equals + 1)};
}

Error unavailable(const std::string& package, const std::string& reason) {
  return Error(ErrorKind::kPreflight,
               fmt::format("cannot get the source package '{}': {}", package, reason),
               "check its name and the network, or use `source: {tarball: …}` or `{git: …}`");
}

// The versions that apt knows, the newest first.
std::vector<std::string> known_versions(PrivateApt& apt, const std::string& package) {
  const CommandResult result = apt.run({"apt-cache", "showsrc", "--only-source", package});
  std::vector<std::string> versions;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Version: ")) versions.push_back(line.substr(9));
  }
  std::sort(versions.begin(), versions.end(), [](const std::string& a, const std::string& b) {
    return run_command({"dpkg", "--compare-versions", a, "gt", b}).ok();
  });
  return versions;
}

// The one folder below `directory`.
std::string only_folder(const std::string& directory) {
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.is_directory()) return entry.path();
  }
  return "";
}

// Downloads and unpacks one version, with debian/patches applied, as dpkg-source does; the reason
// when it cannot.
std::string download(PrivateApt& apt, const std::string& package, const std::string& version,
                     const std::string& repository) {
  const std::string directory = repository + ".download";
  remove_tree(directory);
  fs::create_directories(directory);
  const CommandResult result = apt.run(
      {"apt-get", "--quiet", "--only-source", "source", package + "=" + version}, directory);
  const std::string tree = only_folder(directory);
  if (result.ok() && !tree.empty()) import_tree(tree, repository);
  remove_tree(directory);
  if (fs::exists(repository)) return "";
  const std::size_t error = result.err.find("E: ");
  if (error == std::string::npos) return "apt-get unpacked nothing";
  return std::string(
      trimmed(result.err.substr(error + 3, result.err.find('\n', error) - error - 3)));
}

std::string repository_path(const std::string& root, const PackageVersion& wanted) {
  std::string version = wanted.version;
  std::replace(version.begin(), version.end(), ':', '%');
  return fmt::format("{}/debian-{}={}.git", root, wanted.package, version);
}

// A mirror may list a version that it does not (yet) have: then the one before it. The choice is
// kept, so that all arms have the same.
std::string fetch_newest(const std::string& root, PackageVersion wanted) {
  PrivateApt apt(root + "/apt");
  const CommandResult updated = apt.run({"apt-get", "--quiet", "update"});
  const std::vector<std::string> versions = wanted.version.empty()
                                                ? known_versions(apt, wanted.package)
                                                : std::vector<std::string>{wanted.version};
  std::string reason = updated.ok() ? "no apt source has it" : std::string(trimmed(updated.err));
  for (const std::string& version : versions) {
    wanted.version = version;
    reason = download(apt, wanted.package, version, repository_path(root, wanted));
    if (reason.empty()) return version;
  }
  throw unavailable(wanted.package, reason);
}

}  // namespace

SourceTree find_debian_source(const std::string& root, const ArmSource& source) {
  PackageVersion wanted = parse_package(source.location);
  const std::string choice = fmt::format("{}/debian-{}.version", root, wanted.package);
  if (wanted.version.empty()) wanted.version = read_text_file(choice).value_or("");
  if (wanted.version.empty()) {
    wanted.version = fetch_newest(root, wanted);
    std::ofstream(choice) << wanted.version << '\n';
  }
  const std::string repository = repository_path(root, wanted);
  if (!fs::exists(repository)) fetch_newest(root, wanted);
  return {repository, require_git(repository, {"rev-parse", "HEAD"}, "cannot read " + repository),
          fmt::format("debian {} {}", wanted.package, wanted.version)};
}

}  // namespace numabench
