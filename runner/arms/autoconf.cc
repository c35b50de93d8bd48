#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "runner/arms/build_system.h"

namespace numabench {
namespace {

// What a server, its data directory and pgbench need, in an order in which make finds what it
// needs; the whole tree would take half as long again.
constexpr const char* kFolders[] = {
    "src/include",          "src/timezone",
    "src/backend",          "src/backend/utils/mb/conversion_procs",
    "src/backend/snowball", "src/interfaces/libpq",
    "src/pl/plpgsql/src",   "src/bin/initdb",
    "src/bin/pg_config",    "src/bin/pg_controldata",
    "src/bin/pg_ctl",       "src/bin/pgbench",
    "src/bin/psql",         "contrib/pg_buffercache",
    "contrib/pg_prewarm",
};

std::string read_all(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Autoconf : public BuildSystem {
 public:
  Autoconf(ArmFolders folders, const BuildOptions& options)
      : folders_(std::move(folders)), options_(configure_options(folders_, options)) {
    for (const char* folder : kFolders) {
      if (std::filesystem::is_directory(folders_.source() + "/" + folder)) {
        parts_.emplace_back(folder);
      }
    }
  }

  std::string name() const override { return "autoconf"; }
  std::vector<std::string> tools() const override { return {"make", "bison", "flex", "perl"}; }

  void configure(const BuildSteps& steps) const override {
    std::filesystem::create_directories(folders_.build());
    std::vector<std::string> command = {"../src/configure"};
    command.insert(command.end(), options_.begin(), options_.end());
    steps.require("configuring", command, folders_.build(), build_environment(folders_));
  }

  void compile(const BuildSteps& steps) const override {
    for (const std::string& part : parts_) {
      steps.require("compiling " + part, make(part, {"all"}), folders_.build(),
                    build_environment(folders_));
    }
  }

  void install(const BuildSteps& steps) const override {
    for (const std::string& part : parts_) {
      steps.require("installing", make(part, {"install", "DESTDIR=" + folders_.install()}),
                    folders_.build(), build_environment(folders_));
    }
  }

  bool relink_server(const BuildSteps& steps) const override {
    return steps.run("compiling the counted server", make("src/backend", {"postgres"}),
                     folders_.build(), build_environment(folders_));
  }

  std::string configuration() const override { return fmt::format("{}", fmt::join(options_, " ")); }

 private:
  static std::vector<std::string> configure_options(const ArmFolders& folders,
                                                    const BuildOptions& options) {
    const std::string script = read_all(folders.source() + "/configure");
    std::vector<std::string> arguments = {
        fmt::format("--prefix={}", kPrefix),
        "--disable-rpath",
        "--without-readline",
        "--without-zlib",
    };
    // ICU is on by default from 16.
    for (const char* optional : {"--without-icu", "--with-libnuma", "--with-liburing"}) {
      if (script.find(optional) != std::string::npos) arguments.emplace_back(optional);
    }
    arguments.push_back("CC=" + compiler_command());
    arguments.push_back("CFLAGS=" + options.cflags);
    arguments.push_back(fmt::format("LDFLAGS={}", kLinkerOptions));
    arguments.insert(arguments.end(), options.options.begin(), options.options.end());
    return arguments;
  }

  static std::vector<std::string> make(const std::string& folder,
                                       const std::vector<std::string>& targets) {
    std::vector<std::string> command = {"make", fmt::format("--jobs={}", parallel_jobs()),
                                        "--directory=" + folder};
    command.insert(command.end(), targets.begin(), targets.end());
    return command;
  }

  ArmFolders folders_;
  std::vector<std::string> options_;
  std::vector<std::string> parts_;
};

}  // namespace

std::unique_ptr<BuildSystem> make_autoconf(const ArmFolders& folders, const BuildOptions& options) {
  return std::make_unique<Autoconf>(folders, options);
}

}  // namespace numabench
