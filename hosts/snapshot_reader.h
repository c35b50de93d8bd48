// Reads the facts of a HostSnapshot from /proc and /sys. Adding a fact that is one file is one line
// in the table of snapshot_reader.cc.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hosts/cgroup.h"
#include "hosts/snapshot.h"

namespace numabench {

class SnapshotReader {
 public:
  /// All paths are taken below `root`.
  explicit SnapshotReader(std::string root) : root_(std::move(root)) {}

  std::string hostname() const;
  std::vector<HostFact> read_facts();

 private:
  using Text = std::string;
  /// A value, or the reason why there is none.
  struct Reading {
    Text value;
    Text reason;
  };

  Reading file(const Text& path) const;
  Reading labelled(const Text& path, const Text& label) const;
  Reading governor() const;
  Reading turbo() const;
  Reading virtualisation() const;
  Reading machine() const;
  Reading soft_limit(const Text& label) const;
  Reading working_directory_filesystem() const;
  Reading limit(const CgroupFile& file) const;
  Text huge_page_name() const;

  void add(const Text& name, Reading reading);
  void add_processor();
  void add_kernel_settings();
  void add_memory();
  void add_huge_pages_by_node();
  void add_confinement();

  Text root_;
  std::vector<HostFact> facts_;
};

}  // namespace numabench
