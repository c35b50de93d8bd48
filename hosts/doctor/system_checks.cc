#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

#include "hosts/doctor/check_list.h"
#include "hosts/doctor/server_versions.h"
#include "hosts/files.h"
#include "hosts/mounts.h"
#include "hosts/units.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

bool runs(const CheckList& list, const std::string& program) {
  const IdSet pids = numbered_entries(list.view.root + "/proc", "");
  return std::ranges::any_of(
      pids, [&](int pid) { return list.read(fmt::format("/proc/{}/comm", pid)) == program; });
}

void check_irqbalance(CheckList& list) {
  const bool found = runs(list, "irqbalance");
  list.add({.name = "irqbalance",
            .value = found ? "running" : "not running",
            .reason = "",
            .wanted = "not running",
            .rating = found ? Rating::kWarn : Rating::kOk,
            .why = "it moves the interrupts of disks and network between CPUs in mid-run",
            .how = "systemctl stop irqbalance"});
}

void check_aslr(CheckList& list) {
  constexpr const char* kPath = "/proc/sys/kernel/randomize_va_space";
  HostCheck& check = list.add_fact(
      "aslr", "0",
      "each start of a server has another layout of its memory: part of the spread between runs, "
      "which repetitions average",
      "host_settings: {aslr: 0} in the config and numabench doctor CONFIG --apply");
  check.settings = {{kPath, check.wanted}};
  if (!check.reason.empty() || check.value == check.wanted) return;
  check.rating = list.is_chosen("aslr") ? Rating::kWarn : Rating::kNote;
}

void check_perf(CheckList& list) {
  constexpr double kOwnProcesses = 1;
  HostCheck& check = list.add_fact(
      "perf event paranoid", "1",
      "above 1 only root can count cache misses and remote accesses of the whole host",
      "host_settings: {perf_event_paranoid: 1} in the config and numabench doctor CONFIG --apply");
  check.settings = {{"/proc/sys/kernel/perf_event_paranoid", check.wanted}};
  const bool chosen = list.is_chosen("perf event paranoid");
  if (!chosen) check.wanted = "1 or less, or root";
  if (!check.reason.empty()) return;
  const bool fits =
      chosen ? check.value == check.wanted : parse_number(check.value).value_or(9) <= kOwnProcesses;
  if (!fits) check.rating = chosen ? Rating::kWarn : Rating::kNote;
}

void check_load(CheckList& list) {
  const HostLoad& load = list.view.load;
  const auto cpus = static_cast<double>(std::max<std::size_t>(1, list.cpu_count()));
  constexpr double kDisturbing = 0.05, kSpoiling = 0.25;  // shares of all CPUs
  const double share = load.busy_cpus / cpus;
  list.add({.name = "other load",
            .value = fmt::format("{:.1f} of {} CPUs busy{}{}", load.busy_cpus, cpus,
                                 load.busiest.empty() ? "" : ": ", fmt::join(load.busiest, ", ")),
            .reason = "",
            .wanted = "idle",
            .rating = share > kSpoiling     ? Rating::kRed
                      : share > kDisturbing ? Rating::kWarn
                                            : Rating::kOk,
            .why = "other work takes CPU time, cache and memory bandwidth from some runs and not "
                   "from others",
            .how = "stop it, or wait for it"});
  if (load.stolen_cpus < kDisturbing) return;
  list.add({.name = "stolen time",
            .value = fmt::format("{:.1f} of {} CPUs", load.stolen_cpus, cpus),
            .reason = "",
            .wanted = "none",
            .rating = Rating::kRed,
            .why = "the hypervisor gave our CPUs to other guests",
            .how = "a dedicated or bare-metal host"});
}

/// The nearest folder above `path` that exists.
fs::path existing(fs::path path) {
  std::error_code ignored;
  while (!fs::exists(path, ignored) && path.has_relative_path()) path = path.parent_path();
  return path;
}

fs::path data_folder(const CheckList& list) {
  const fs::path wanted = list.needs.data_directory.empty() ? "." : list.needs.data_directory;
  return existing(fs::absolute(wanted).lexically_normal());
}

bool has_option(const std::string& options, const std::string& option) {
  return ("," + options + ",").find("," + option + ",") != std::string::npos;
}

/// The worst thing about a mount, if any.
std::pair<Rating, std::string> rate_mount(const Mount& mount) {
  constexpr std::array<std::string_view, 7> kRemote{"nfs",  "nfs4",       "cifs",    "9p",
                                                    "ceph", "fuse.sshfs", "virtiofs"};
  const auto remote = std::ranges::find(kRemote, mount.type) != kRemote.end();
  if (remote) return {Rating::kRed, "the data lie on another machine, or behind its page cache"};
  if (mount.type == "tmpfs" || mount.type == "ramfs") {
    return {Rating::kWarn, "the data lie in memory, on the node of whoever wrote them"};
  }
  if (mount.type == "overlay") {
    return {Rating::kWarn, "a file that is written is copied first; the device below is hidden"};
  }
  if (has_option(mount.options, "nobarrier") || has_option(mount.options, "barrier=0")) {
    return {Rating::kWarn, "commits are not durable, and so faster than they can be"};
  }
  if (has_option(mount.options, "sync")) {
    return {Rating::kWarn, "every write waits for the device"};
  }
  if (has_option(mount.options, "strictatime")) {
    return {Rating::kNote, "every read writes an access time"};
  }
  return {Rating::kOk, "network, memory and overlay filesystems measure something else"};
}

void check_filesystem(CheckList& list) {
  const std::string folder = data_folder(list);
  HostCheck check{.name = "filesystem",
                  .value = "",
                  .reason = "",
                  .wanted = "xfs or ext4 on a local device, noatime",
                  .rating = Rating::kNote,
                  .why = "",
                  .how = "data_directory: on a filesystem of the host's own disks"};
  const auto mounts = list.read("/proc/self/mountinfo");
  const auto mount = mount_of(folder, mounts.value_or(""));
  if (mount) {
    check.value = fmt::format("{} on {}, {}", mount->type, mount->point, mount->options);
    std::tie(check.rating, check.why) = rate_mount(*mount);
  } else {
    check.reason = "/proc/self/mountinfo does not name what holds " + folder;
    check.why = "network, memory and overlay filesystems measure something else";
  }
  list.add(std::move(check));
}

void check_disk_space(CheckList& list) {
  const std::string folder = data_folder(list);
  const auto needed = static_cast<double>(list.needs.disk_bytes);
  HostCheck check{.name = "free disk space",
                  .value = "",
                  .reason = "",
                  .wanted = needed > 0 ? format_bytes(needed) : "what the experiment needs",
                  .rating = Rating::kNote,
                  .why = "a full disk ends the experiment",
                  .how = "choose another data_directory or smaller pools"};
  struct statvfs filesystem {};
  if (::statvfs(folder.c_str(), &filesystem) == 0) {
    const double free =
        static_cast<double>(filesystem.f_bavail) * static_cast<double>(filesystem.f_frsize);
    check.value = fmt::format("{} in {}", format_bytes(free), folder);
    check.rating = free < needed ? Rating::kRed : Rating::kOk;
  } else {
    check.reason = fmt::format("{} cannot be read", folder);
  }
  list.add(std::move(check));
}

}  // namespace

void check_system(CheckList& list) {
  check_irqbalance(list);
  check_load(list);
  check_aslr(list);
  check_perf(list);
  check_filesystem(list);
  check_disk_space(list);
  check_server_versions(list);
}

}  // namespace numabench
