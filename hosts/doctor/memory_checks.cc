#include <fmt/format.h>

#include <algorithm>

#include "hosts/doctor/check_list.h"
#include "hosts/files.h"
#include "hosts/units.h"

namespace numabench {
namespace {

constexpr const char* kNodes = "/sys/devices/system/node/";
constexpr const char* kThp = "/sys/kernel/mm/transparent_hugepage/";

/// "123 kB", by which the kernel means 1024 bytes.
double bytes_of(const std::string& kernel_text) {
  return 1024 * parse_number(kernel_text.substr(0, kernel_text.find(' '))).value_or(0);
}

/// A check of one number of /proc/sys, rated `otherwise` when it is not the wanted one.
HostCheck& check_sysctl(CheckList& list, const std::string& fact, const std::string& path,
                        const std::string& usual, Rating otherwise, const std::string& why) {
  std::string name = path.substr(std::string("/proc/sys/").size());
  std::ranges::replace(name, '/', '.');
  HostCheck& check = list.add_fact(fact, usual, why, "");
  check.settings = {{path, check.wanted}};
  if (check.reason.empty() && check.value != check.wanted) check.rating = otherwise;
  const std::string sysctl = fmt::format("sysctl {}={}", name, check.wanted);
  // --apply leaves notes as they are.
  check.how = check.rating == Rating::kNote ? sysctl : "numabench doctor --apply, or " + sysctl;
  return check;
}

void check_numa_balancing(CheckList& list) {
  check_sysctl(list, "numa balancing", "/proc/sys/kernel/numa_balancing", "0",
               list.has_many_nodes() ? Rating::kRed : Rating::kNote,
               "the kernel unmaps pages to see who uses them and moves them between nodes in "
               "mid-run");
  check_sysctl(list, "zone reclaim mode", "/proc/sys/vm/zone_reclaim_mode", "0",
               list.has_many_nodes() ? Rating::kWarn : Rating::kNote,
               "a full node drops its page cache before it uses another node's free memory");
}

void check_thp(CheckList& list) {
  HostCheck& own = list.add_fact(
      "transparent huge pages", "never",
      "khugepaged copies memory together in mid-run; a run's page size becomes a matter of luck",
      fmt::format("numabench doctor --apply, or echo never > {}enabled", kThp));
  own.settings = {{std::string(kThp) + "enabled", own.wanted}};
  if (own.reason.empty() && own.value != own.wanted) {
    // Neither PostgreSQL nor numabench gives that advice.
    own.rating = own.value == "madvise" ? Rating::kNote : Rating::kRed;
    if (own.value == "madvise") own.how = fmt::format("echo never > {}enabled", kThp);
  }
  HostCheck& shared =
      list.add_fact("transparent huge pages shared memory", "never",
                    "the pool is shared memory: with 4 KiB pages asked for, some would be huge",
                    fmt::format("numabench doctor --apply, or echo never > {}shmem_enabled", kThp));
  shared.settings = {{std::string(kThp) + "shmem_enabled", shared.wanted}};
  const bool unasked =
      shared.value != "never" && shared.value != "advise" && shared.value != "deny";
  if (shared.reason.empty() && shared.value != shared.wanted && unasked)
    shared.rating = Rating::kRed;
}

void check_swap(CheckList& list) {
  const HostFact swap = list.view.snapshot.fact("swap total");
  constexpr double kMostSwappiness = 10;
  HostCheck& check = check_sysctl(list, "swappiness", "/proc/sys/vm/swappiness", "1", Rating::kWarn,
                                  "idle backends' memory goes to disk while the page cache grows");
  const bool low = parse_number(check.value).value_or(100) <= kMostSwappiness;
  if (!check.reason.empty() || list.is_chosen("swappiness")) return;
  if (low || (swap.reason.empty() && bytes_of(swap.value) == 0)) check.rating = Rating::kOk;
  check.wanted = "10 or less, or no swap";
}

/// How much may be written to memory before the kernel begins to write to disk (`background`), and
/// before it makes the writers wait: bytes where those are set, else a share of the memory.
double dirty_limit(const CheckList& list, const std::string& bytes, const std::string& ratio) {
  const double in_bytes = parse_number(list.view.snapshot.value(bytes)).value_or(0);
  if (in_bytes > 0) return in_bytes;
  const double percent = parse_number(list.view.snapshot.value(ratio)).value_or(0);
  return percent / 100 * bytes_of(list.view.snapshot.value("memory available"));
}

void check_dirty_limit(CheckList& list, const std::string& name, const std::string& ratio,
                       const std::string& path, std::uint64_t usual_bytes, std::uint64_t most_bytes,
                       const std::string& why) {
  HostCheck& check = list.add_fact(name, std::to_string(usual_bytes), why, "");
  check.how = fmt::format("numabench doctor --apply, or sysctl vm.{}={}",
                          path.substr(path.rfind('/') + 1), check.wanted);
  check.settings = {{path, check.wanted}};
  if (!check.reason.empty()) return;
  const bool chosen = list.is_chosen(name);
  const double limit = dirty_limit(list, name, ratio);
  const bool fits = chosen ? check.value == check.wanted : limit <= static_cast<double>(most_bytes);
  if (!fits) check.rating = Rating::kWarn;
  if (check.value == "0") {
    check.value = fmt::format("{} ({} % of the memory)", format_bytes(limit),
                              list.view.snapshot.value(ratio));
  }
  if (!chosen)
    check.wanted = fmt::format("at most {}", format_bytes(static_cast<double>(most_bytes)));
}

void check_dirty_limits(CheckList& list) {
  constexpr std::uint64_t kMiB = 1 << 20;
  check_dirty_limit(
      list, "dirty background bytes", "dirty background ratio",
      "/proc/sys/vm/dirty_background_bytes", 256 * kMiB, 1024 * kMiB,
      "what loading wrote is written to disk all at once, in whichever run comes then");
  check_dirty_limit(list, "dirty bytes", "dirty ratio", "/proc/sys/vm/dirty_bytes", 1024 * kMiB,
                    8192 * kMiB, "at this limit every writer stands still until the disk is done");
}

struct NodeHugePages {
  std::uint64_t total = 0;
  std::uint64_t free = 0;
};

class HugePageCheck {
 public:
  explicit HugePageCheck(CheckList& list) : list_(list) {
    const std::string size = list.view.snapshot.value("huge page size");
    page_bytes_ = static_cast<std::uint64_t>(bytes_of(size));
    kilobytes_ = size.substr(0, size.find(' '));
  }

  void run() {
    for (const int node : numbered_entries(list_.view.root + kNodes, "node")) {
      if (page_bytes_ > 0) check(node);
    }
  }

 private:
  std::string file(int node, const char* name) const {
    return fmt::format("{}node{}/hugepages/hugepages-{}kB/{}", kNodes, node, kilobytes_, name);
  }

  std::uint64_t pages_needed(int node) const {
    const auto bytes = list_.needs.pool_bytes_by_node.find(node);
    if (bytes == list_.needs.pool_bytes_by_node.end()) return 0;
    if (list_.needs.huge_pages == HostNeeds::HugePages::kNone) return 0;
    return (bytes->second + page_bytes_ - 1) / page_bytes_;
  }

  void check(int node) {
    HostCheck& check = list_.add_fact(fmt::format("huge pages node {}", node), "",
                                      "without enough of them on its nodes a pool is 4 KiB pages, "
                                      "or spills to another node, without a word",
                                      "");
    const std::uint64_t needed = pages_needed(node);
    check.wanted = needed == 0 ? "what the experiment needs: name its config"
                               : fmt::format("{} free of {} kB", needed, kilobytes_);
    if (!list_.needs.pool_bytes_by_node.empty() && needed == 0) check.wanted = "none";
    if (!check.reason.empty() || needed == 0) return;
    const auto number = [&](const char* name) {
      return static_cast<std::uint64_t>(
          parse_number(list_.read(file(node, name)).value_or("")).value_or(0));
    };
    const NodeHugePages pages{number("nr_hugepages"), number("free_hugepages")};
    const std::uint64_t wanted_total = pages.total + needed - std::min(needed, pages.free);
    check.how = fmt::format("numabench doctor CONFIG --apply, or echo {} > {}", wanted_total,
                            file(node, "nr_hugepages"));
    check.settings = {{file(node, "nr_hugepages"), std::to_string(wanted_total)}};
    if (pages.free >= needed) return;
    check.rating =
        list_.needs.huge_pages == HostNeeds::HugePages::kRequired ? Rating::kRed : Rating::kWarn;
  }

  CheckList& list_;
  std::uint64_t page_bytes_ = 0;
  std::string kilobytes_;
};

/// Lines of nodeN/meminfo begin with "Node 0 ".
double node_bytes(const CheckList& list, int node, const std::string& label) {
  const auto text = list.read(fmt::format("{}node{}/meminfo", kNodes, node));
  if (!text) return 0;
  return bytes_of(labelled_value(*text, fmt::format("Node {} {}", node, label)).value_or(""));
}

void check_free_memory(CheckList& list, int node) {
  const double total = node_bytes(list, node, "MemTotal");
  if (total == 0) return;  // a node of CPUs alone: topology says so
  const double free = node_bytes(list, node, "MemFree");
  const double cache = node_bytes(list, node, "FilePages") - node_bytes(list, node, "Shmem");
  const auto pool = list.needs.pool_bytes_by_node.find(node);
  const double needed =
      pool == list.needs.pool_bytes_by_node.end() ? 0 : static_cast<double>(pool->second);
  HostCheck& check = list.add(
      {.name = fmt::format("free memory node {}", node),
       .value = fmt::format("{} of {}, {} page cache", format_bytes(free), format_bytes(total),
                            format_bytes(cache)),
       .reason = "",
       .wanted = needed > 0 ? fmt::format("{} free for the pool", format_bytes(needed))
                            : "what the experiment needs",
       .rating = Rating::kOk,
       .why = "a node that is full gives memory of another one: local becomes remote",
       .how = "sync; echo 3 > /proc/sys/vm/drop_caches; smaller pools; interleaved memory"});
  // Huge pages already reserved are not free memory, and are what such a pool will use.
  const double reserved = node_bytes(list, node, "HugePages_Free") / 1024 *
                          bytes_of(list.view.snapshot.value("huge page size"));
  if (needed > free + reserved) check.rating = Rating::kWarn;
  if (needed > free + cache + reserved) check.rating = Rating::kRed;
}

}  // namespace

void check_memory(CheckList& list) {
  check_numa_balancing(list);
  check_thp(list);
  HugePageCheck(list).run();
  for (const int node : numbered_entries(list.view.root + kNodes, "node")) {
    check_free_memory(list, node);
  }
  check_swap(list);
  check_dirty_limits(list);
}

}  // namespace numabench
