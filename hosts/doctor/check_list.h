// What the checks of hosts/doctor/ are written with.
#pragma once

#include <string>
#include <vector>

#include "hosts/doctor/host_check.h"

namespace numabench {

class CheckList {
 public:
  CheckList(const HostView& view, const HostNeeds& needs) : view(view), needs(needs) {}

  /// Adds a check whose value is a fact of the snapshot, or one that could not be read: a note.
  /// Returns it to be rated; valid until the next is added.
  HostCheck& add_fact(const std::string& fact, const std::string& wanted, const std::string& why,
                      const std::string& how);
  HostCheck& add(HostCheck check);

  /// The value wanted of a check: the experiment's or `usual`.
  std::string wanted(const std::string& name, const std::string& usual) const;
  bool is_chosen(const std::string& name) const { return needs.settings.contains(name); }
  /// A file below the view's root.
  std::optional<std::string> read(const std::string& path) const;
  bool has_many_nodes() const;
  std::size_t cpu_count() const;

  const HostView& view;
  const HostNeeds& needs;
  std::vector<HostCheck> checks;
};

/// The files of processors, memory and the rest, in the order of the sheet.
void check_processors(CheckList& list);
void check_memory(CheckList& list);
void check_confinement(CheckList& list);
void check_system(CheckList& list);

}  // namespace numabench
