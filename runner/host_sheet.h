// Whether this host is fit for an experiment: what its plan needs, the doctor's sheet, and what
// follows from it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "hosts/doctor/host_check.h"
#include "reports/store.h"
#include "runner/plan.h"

namespace numabench {

HostNeeds needs_of(const Experiment& experiment, const Host& host, const Plan& plan);

/// The sheet of this host for the plan; empty with `host_checks: off`.
std::vector<HostCheck> examine_host_for(const Experiment& experiment, const Host& host,
                                        const Plan& plan);

/// Throws Error(kPreflight) naming the red lines with `host_checks: enforce`, after it has printed
/// them with their remedies. Not with `force`.
void require_fit_host(const Experiment& experiment, const std::vector<HostCheck>& sheet,
                      bool force);

/// The host as stored, with its sheet.
HostRecord to_record(const Host& host, const std::vector<HostCheck>& sheet);

/// Red lines that were not red when the experiment began, as a warning; empty without.
std::string new_red_lines(const HostRecord& begun_on, const std::vector<HostCheck>& sheet);

/// The option --force of `run` and `resume`.
void add_force_option(CLI::App& command, bool& force);

}  // namespace numabench
