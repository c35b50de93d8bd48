// What the tests of configs share: a host of known size and a directory for files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "hosts/error.h"
#include "hosts/topology.h"
#include "runner/config/load.h"

namespace numabench {

/// Two packages with a node of 16 GiB each; 8 cores, 16 CPUs; CPUs 0-7 are on node 0.
inline const Topology& two_nodes() {
  static const Topology topology =
      Topology::of_synthetic("pack:2 [numa(memory=17179869184)] core:4 pu:2");
  return topology;
}

inline LoadedExperiment load_text(const std::string& text, const ConfigOverrides& overrides = {}) {
  return load_experiment_text(text, "c.yaml", two_nodes(), overrides);
}

/// The one line that the user sees; "no error" when it loads.
inline std::string error_of(const std::string& text, const ConfigOverrides& overrides = {}) {
  try {
    load_text(text, overrides);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline const std::vector<std::string> kGood{
    "name: t",      "arms: [{name: a}]", "workloads: zipfian",
    "pools: 64MiB", "ratios: 2",         "clients: 4"};

inline std::string key_of(const std::string& line) { return line.substr(0, line.find(':')); }

inline std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// A good config in which each edit replaces the line of its key, or is added at the end (line 7).
inline std::string with(const std::vector<std::string>& edits) {
  std::vector<std::string> lines = kGood;
  for (const std::string& edit : edits) {
    bool replaced = false;
    for (std::string& line : lines) {
      if (key_of(line) != key_of(edit)) continue;
      line = edit;
      replaced = true;
    }
    if (!replaced) lines.push_back(edit);
  }
  return join(lines);
}

inline std::string without(const std::string& key) {
  std::vector<std::string> lines;
  for (const std::string& line : kGood) {
    if (key_of(line) != key) lines.push_back(line);
  }
  return join(lines);
}

/// A directory of its own for each test, removed afterwards.
class ConfigDirectory : public testing::Test {
 protected:
  ConfigDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "config-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    root_ = pattern;
  }
  ~ConfigDirectory() override { std::filesystem::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
    return path(name);
  }

  std::string error_of_file(const std::string& name, const ConfigOverrides& overrides = {}) const {
    try {
      load_experiment(path(name), two_nodes(), overrides);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  std::filesystem::path root_;
};

}  // namespace numabench
