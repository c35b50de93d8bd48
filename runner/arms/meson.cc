#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "runner/arms/build_system.h"

namespace numabench {
namespace {

bool has_option(const std::string& option_file, const std::string& name) {
  std::ifstream file(option_file);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return std::regex_search(text, std::regex("option\\(\\s*'" + name + "'"));
}

class Meson : public BuildSystem {
 public:
  Meson(ArmFolders folders, const BuildOptions& options)
      : folders_(std::move(folders)), options_(setup_options(folders_, options)) {}

  std::string name() const override { return "meson"; }
  std::vector<std::string> tools() const override {
    return {"meson", "ninja", "bison", "flex", "perl"};
  }

  void configure(const BuildSteps& steps) const override {
    std::vector<std::string> command = {"meson", "setup"};
    command.insert(command.end(), options_.begin(), options_.end());
    command.insert(command.end(), {"build", "src"});
    steps.require("configuring", command, folders_.root, environment());
  }

  void compile(const BuildSteps& steps) const override {
    steps.require("compiling", ninja({}), folders_.root, environment());
  }

  void install(const BuildSteps& steps) const override {
    steps.require("installing",
                  {"meson", "install", "-C", "build", "--no-rebuild", "--quiet", "--destdir",
                   folders_.install()},
                  folders_.root, environment());
  }

  bool relink_server(const BuildSteps& steps) const override {
    return steps.run("compiling the counted server", ninja({"src/backend/postgres"}), folders_.root,
                     environment());
  }

  std::string configuration() const override { return fmt::format("{}", fmt::join(options_, " ")); }

 private:
  static std::vector<std::string> setup_options(const ArmFolders& folders,
                                                const BuildOptions& options) {
    std::vector<std::string> arguments = {
        fmt::format("--prefix={}", kPrefix), "--libdir=lib", "--auto-features=disabled",
        "--buildtype=debugoptimized", "-Dcassert=false", "-Drpath=false", "-Dssl=none",
        // After the options of the build type, which they so override.
        fmt::format("-Dc_args={}", options.cflags),
        fmt::format("-Dc_link_args={}", kLinkerOptions)};
    for (const char* library : {"libnuma", "liburing"}) {
      for (const char* file : {"/meson_options.txt", "/meson.options"}) {
        if (has_option(folders.source() + file, library)) {
          arguments.push_back(fmt::format("-D{}=enabled", library));
        }
      }
    }
    arguments.insert(arguments.end(), options.options.begin(), options.options.end());
    return arguments;
  }

  std::map<std::string, std::string> environment() const {
    std::map<std::string, std::string> environment = build_environment(folders_);
    environment["CC"] = compiler_command();
    return environment;
  }

  static std::vector<std::string> ninja(const std::vector<std::string>& targets) {
    std::vector<std::string> command = {"ninja", "-C", "build", "-j",
                                        std::to_string(parallel_jobs())};
    command.insert(command.end(), targets.begin(), targets.end());
    return command;
  }

  ArmFolders folders_;
  std::vector<std::string> options_;
};

}  // namespace

std::unique_ptr<BuildSystem> make_meson(const ArmFolders& folders, const BuildOptions& options) {
  return std::make_unique<Meson>(folders, options);
}

}  // namespace numabench
