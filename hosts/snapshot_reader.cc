#include "hosts/snapshot_reader.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

#include "hosts/cgroup.h"
#include "hosts/files.h"
#include "hosts/id_set.h"
#include "hosts/mounts.h"
#include "hosts/units.h"

namespace numabench {
namespace {

struct FileFact {
  const char* name;
  const char* path;
};

constexpr std::array kProcessorFiles{
    FileFact{"cpus online", "/sys/devices/system/cpu/online"},
    FileFact{"cpus isolated", "/sys/devices/system/cpu/isolated"},
    FileFact{"smt", "/sys/devices/system/cpu/smt/control"},
    FileFact{"frequency driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"},
    FileFact{"idle driver", "/sys/devices/system/cpu/cpuidle/current_driver"},
    FileFact{"clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
    FileFact{"clocksources available",
             "/sys/devices/system/clocksource/clocksource0/available_clocksource"}};

constexpr std::array kKernelFiles{
    FileFact{"kernel", "/proc/sys/kernel/osrelease"},
    FileFact{"kernel build", "/proc/sys/kernel/version"},
    FileFact{"kernel command line", "/proc/cmdline"},
    FileFact{"numa balancing", "/proc/sys/kernel/numa_balancing"},
    FileFact{"zone reclaim mode", "/proc/sys/vm/zone_reclaim_mode"},
    FileFact{"swappiness", "/proc/sys/vm/swappiness"},
    FileFact{"dirty background ratio", "/proc/sys/vm/dirty_background_ratio"},
    FileFact{"dirty background bytes", "/proc/sys/vm/dirty_background_bytes"},
    FileFact{"dirty ratio", "/proc/sys/vm/dirty_ratio"},
    FileFact{"dirty bytes", "/proc/sys/vm/dirty_bytes"},
    FileFact{"overcommit memory", "/proc/sys/vm/overcommit_memory"},
    FileFact{"aslr", "/proc/sys/kernel/randomize_va_space"},
    FileFact{"perf event paranoid", "/proc/sys/kernel/perf_event_paranoid"},
    FileFact{"load average", "/proc/loadavg"}};

constexpr std::array kThpFiles{
    FileFact{"transparent huge pages", "/sys/kernel/mm/transparent_hugepage/enabled"},
    FileFact{"transparent huge pages defrag", "/sys/kernel/mm/transparent_hugepage/defrag"},
    FileFact{"transparent huge pages shared memory",
             "/sys/kernel/mm/transparent_hugepage/shmem_enabled"}};

constexpr std::array kMeminfoLabels{FileFact{"memory total", "MemTotal"},
                                    FileFact{"memory available", "MemAvailable"},
                                    FileFact{"swap total", "SwapTotal"},
                                    FileFact{"huge page size", "Hugepagesize"},
                                    FileFact{"huge pages total", "HugePages_Total"},
                                    FileFact{"huge pages free", "HugePages_Free"}};

}  // namespace

std::string SnapshotReader::hostname() const { return file("/proc/sys/kernel/hostname").value; }

std::vector<HostFact> SnapshotReader::read_facts() {
  facts_.clear();
  add("machine", machine());
  add("virtualisation", virtualisation());
  add_processor();
  add_kernel_settings();
  add_memory();
  add_confinement();
  return facts_;
}

SnapshotReader::Reading SnapshotReader::file(const Text& path) const {
  const auto text = read_text_file(root_ + path);
  if (!text) return {"", fmt::format("{}: {}", path, std::strerror(errno))};
  return {*text, ""};
}

SnapshotReader::Reading SnapshotReader::labelled(const Text& path, const Text& label) const {
  const Reading whole = file(path);
  if (!whole.reason.empty()) return whole;
  const auto value = labelled_value(whole.value, label);
  if (!value) return {"", fmt::format("{}: no line '{}'", path, label)};
  return {*value, ""};
}

void SnapshotReader::add(const Text& name, Reading reading) {
  facts_.push_back({name, std::move(reading.value), std::move(reading.reason)});
}

SnapshotReader::Reading SnapshotReader::machine() const {
  const Reading vendor = file("/sys/class/dmi/id/sys_vendor");
  const Reading product = file("/sys/class/dmi/id/product_name");
  if (!product.reason.empty()) return product;
  return {vendor.value.empty() ? product.value : vendor.value + " " + product.value, ""};
}

// The CPU's own flag, which every hypervisor on x86 sets; other architectures do not tell.
SnapshotReader::Reading SnapshotReader::virtualisation() const {
  const Reading flags = labelled("/proc/cpuinfo", "flags");
  if (!flags.reason.empty()) return flags;
  const bool virtualised = (" " + flags.value + " ").find(" hypervisor ") != Text::npos;
  if (!virtualised) return {"none", ""};
  const Reading type = file("/sys/hypervisor/type");
  return {type.value.empty() ? "virtual machine" : type.value + " virtual machine", ""};
}

// "performance", or "performance (cpus 0-3), powersave (cpus 4-7)" where they differ.
SnapshotReader::Reading SnapshotReader::governor() const {
  const Text directory = "/sys/devices/system/cpu/";
  std::map<Text, IdSet> cpus_by_governor;
  for (const int cpu : numbered_entries(root_ + directory, "cpu")) {
    const Reading one = file(fmt::format("{}cpu{}/cpufreq/scaling_governor", directory, cpu));
    if (one.reason.empty()) cpus_by_governor[one.value].insert(cpu);
  }
  if (cpus_by_governor.empty()) return file(directory + "cpu0/cpufreq/scaling_governor");
  if (cpus_by_governor.size() == 1) return {cpus_by_governor.begin()->first, ""};
  Text text;
  for (const auto& [name, cpus] : cpus_by_governor) {
    text += fmt::format("{}{} (cpus {})", text.empty() ? "" : ", ", name, format_id_list(cpus));
  }
  return {text, ""};
}

SnapshotReader::Reading SnapshotReader::turbo() const {
  const Reading forbidden = file("/sys/devices/system/cpu/intel_pstate/no_turbo");
  if (forbidden.reason.empty()) return {forbidden.value == "0" ? "on" : "off", ""};
  const Reading boost = file("/sys/devices/system/cpu/cpufreq/boost");
  if (!boost.reason.empty()) return boost;
  return {boost.value == "0" ? "off" : "on", ""};
}

void SnapshotReader::add_processor() {
  add("cpu model", labelled("/proc/cpuinfo", "model name"));
  for (const FileFact& fact : kProcessorFiles) add(fact.name, file(fact.path));
  add("governor", governor());
  add("turbo", turbo());
}

void SnapshotReader::add_kernel_settings() {
  for (const FileFact& fact : kKernelFiles) add(fact.name, file(fact.path));
}

void SnapshotReader::add_memory() {
  for (const FileFact& fact : kMeminfoLabels) add(fact.name, labelled("/proc/meminfo", fact.path));
  add_huge_pages_by_node();
  for (const FileFact& fact : kThpFiles) {
    Reading choice = file(fact.path);
    choice.value = chosen_word(choice.value);
    add(fact.name, std::move(choice));
  }
  Reading locked = soft_limit("Max locked memory");
  if (locked.reason.empty() && locked.value != "unlimited") locked.value += " bytes";
  add("locked memory limit", std::move(locked));
}

// "2048 kB" of /proc/meminfo -> "2MB", as hugetlb's files are called.
SnapshotReader::Text SnapshotReader::huge_page_name() const {
  const Text size = labelled("/proc/meminfo", "Hugepagesize").value;
  const double kilobytes = parse_number(size.substr(0, size.find(' '))).value_or(2048);
  if (kilobytes >= 1 << 20) return fmt::format("{}GB", kilobytes / (1 << 20));
  return fmt::format("{}MB", kilobytes / 1024);
}

void SnapshotReader::add_huge_pages_by_node() {
  const Text nodes = "/sys/devices/system/node/";
  const Text size = labelled("/proc/meminfo", "Hugepagesize").value;
  const Text kilobytes = size.substr(0, size.find(' '));
  for (const int node : numbered_entries(root_ + nodes, "node")) {
    const Text directory =
        fmt::format("{}node{}/hugepages/hugepages-{}kB/", nodes, node, kilobytes);
    const Reading total = file(directory + "nr_hugepages");
    const Reading free = file(directory + "free_hugepages");
    const Text& reason = total.reason.empty() ? free.reason : total.reason;
    const Text value =
        reason.empty() ? fmt::format("{} total, {} free", total.value, free.value) : "";
    add(fmt::format("huge pages node {}", node), {value, reason});
  }
}

// "Max locked memory  8388608  8388608  bytes" of /proc/self/limits -> "8388608".
SnapshotReader::Reading SnapshotReader::soft_limit(const Text& label) const {
  const Text path = "/proc/self/limits";
  const Reading limits = file(path);
  if (!limits.reason.empty()) return limits;
  const auto start = limits.value.find(label);
  if (start == Text::npos) return {"", fmt::format("{}: no line '{}'", path, label)};
  Text soft;
  std::istringstream(limits.value.substr(start + label.size())) >> soft;
  return {soft, ""};
}

SnapshotReader::Reading SnapshotReader::working_directory_filesystem() const {
  std::error_code failure;
  const Text directory = std::filesystem::read_symlink(root_ + "/proc/self/cwd", failure);
  if (failure) return {"", "/proc/self/cwd: " + failure.message()};
  const Reading mounts = file("/proc/self/mountinfo");
  if (!mounts.reason.empty()) return mounts;
  const auto mount = mount_of(directory, mounts.value);
  if (!mount) return {"", "no mount holds " + directory};
  return {fmt::format("{} on {}", mount->type, mount->point), ""};
}

SnapshotReader::Reading SnapshotReader::limit(const CgroupFile& file) const {
  CgroupLimit limit = cgroup_limit(root_, file);
  return {std::move(limit.value), std::move(limit.reason)};
}

void SnapshotReader::add_confinement() {
  add("cpus allowed", labelled("/proc/self/status", "Cpus_allowed_list"));
  add("memory nodes allowed", labelled("/proc/self/status", "Mems_allowed_list"));
  add("cgroup cpuset", limit({"cpuset.cpus.effective", "cpuset", "cpuset.effective_cpus"}));
  add("cgroup memory nodes", limit({"cpuset.mems.effective", "cpuset", "cpuset.effective_mems"}));
  add("cgroup memory limit", limit({"memory.max", "memory", "memory.limit_in_bytes"}));
  add("cgroup cpu limit", limit({"cpu.max", "cpu", "cpu.cfs_quota_us"}));
  const Text page = huge_page_name();
  add("cgroup huge pages limit", limit({fmt::format("hugetlb.{}.max", page), "hugetlb",
                                        fmt::format("hugetlb.{}.limit_in_bytes", page)}));
  add("open files limit", soft_limit("Max open files"));
  add("processes limit", soft_limit("Max processes"));
  add("working directory", working_directory_filesystem());
}

}  // namespace numabench
