#include "hosts/process_stats.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

#include "hosts/files.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

std::map<pid_t, ProcessStat> all_processes() {
  std::map<pid_t, ProcessStat> processes;
  for (const pid_t pid : numbered_entries("/proc", "")) {
    if (const auto stat = read_process_stat(pid)) processes.emplace(pid, *stat);
  }
  return processes;
}

// "/dev/zero\040(deleted)" -> "/dev/zero": the kernel writes blanks in octal.
std::string mapped_file(std::string_view text) {
  constexpr std::string_view kDeleted = "\\040(deleted)";
  if (text.ends_with(kDeleted)) text.remove_suffix(kDeleted.size());
  std::string file;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_blank = text.substr(i).starts_with("\\040");
    file += is_blank ? ' ' : text[i];
    if (is_blank) i += 3;
  }
  return file;
}

// "N0" and "N12" name a node.
std::optional<int> node_of(std::string_view name) {
  int node = 0;
  const char* end = name.data() + name.size();
  if (name.size() < 2 || name.front() != 'N') return std::nullopt;
  const auto [rest, error] = std::from_chars(name.data() + 1, end, node);
  if (error != std::errc() || rest != end) return std::nullopt;
  return node;
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "prefer (many):0-1" and "weighted interleave:0-1" are two words.
bool is_rest_of_policy(const std::string& policy, std::string_view word) {
  return (policy == "prefer" && word.starts_with("(many)")) ||
         (policy == "weighted" && word.starts_with("interleave"));
}

// "7f0000000000 interleave:0-1 file=/dev/zero anon=3 N0=2 N1=1 kernelpagesize_kB=4"
std::optional<NumaMapping> parse_mapping(const std::string& line) {
  std::istringstream words(line);
  NumaMapping mapping;
  std::string word;
  if (!(words >> word >> mapping.policy)) return std::nullopt;
  const auto [rest, error] =
      std::from_chars(word.data(), word.data() + word.size(), mapping.address, 16);
  if (error != std::errc() || rest != word.data() + word.size()) return std::nullopt;
  while (words >> word) {
    if (is_rest_of_policy(mapping.policy, word)) mapping.policy += " " + word;
    const auto equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(0, equals);
    const std::string_view value =
        equals == std::string::npos ? "" : std::string_view(word).substr(equals + 1);
    if (name == "file") mapping.file = mapped_file(value);
    if (name == "huge") mapping.huge = true;
    if (name == "kernelpagesize_kB") mapping.page_bytes = number(value) * 1024;
    if (const auto node = node_of(name)) mapping.bytes_by_node[*node] = number(value);
  }
  for (auto& [node, pages] : mapping.bytes_by_node) pages *= mapping.page_bytes;
  return mapping;
}

}  // namespace

std::optional<ProcessStat> read_process_stat(pid_t pid, const std::string& root) {
  const auto text = read_text_file(fmt::format("{}/proc/{}/stat", root, pid));
  if (!text) return std::nullopt;
  // The program's name, in brackets, may contain blanks and brackets.
  const auto name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(name_end + 1));
  ProcessStat stat;
  std::string skipped;
  fields >> stat.state >> stat.parent;
  for (int field = 5; field <= 13; ++field) fields >> skipped;
  std::uint64_t user = 0, system = 0, dead_user = 0, dead_system = 0;
  fields >> user >> system >> dead_user >> dead_system;
  if (!fields) return std::nullopt;
  stat.own_ticks = user + system;
  stat.dead_ticks = dead_user + dead_system;
  return stat;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  for (const auto& [child, stat] : all_processes()) {
    if (stat.parent == pid) children.push_back(child);
  }
  return children;
}

double cpu_seconds_of_tree(pid_t pid) {
  const std::map<pid_t, ProcessStat> processes = all_processes();
  std::uint64_t ticks = 0;
  std::vector<pid_t> tree{pid};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const auto found = processes.find(tree[i]);
    if (found == processes.end()) continue;
    ticks += found->second.own_ticks + found->second.dead_ticks;
    for (const auto& [child, stat] : processes) {
      if (stat.parent == tree[i]) tree.push_back(child);
    }
  }
  return static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::optional<std::int64_t> cpu_migrations(pid_t pid) {
  constexpr std::string_view kLabel = "\nse.nr_migrations ";
  std::optional<std::int64_t> sum;
  for (const int thread : numbered_entries(fmt::format("/proc/{}/task", pid), "")) {
    const auto sched = read_text_file(fmt::format("/proc/{}/task/{}/sched", pid, thread));
    const auto line = sched ? sched->find(kLabel) : std::string::npos;
    if (line == std::string::npos) continue;
    const auto colon = sched->find(':', line);
    if (colon == std::string::npos) continue;
    std::istringstream value(sched->substr(colon + 1));
    std::int64_t migrations = 0;
    if (value >> migrations) sum = sum.value_or(0) + migrations;
  }
  return sum;
}

std::string program_of(pid_t pid) {
  std::error_code error;
  const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", pid), error);
  return error ? "" : program.string();
}

std::vector<NumaMapping> parse_numa_maps(const std::string& text) {
  std::vector<NumaMapping> mappings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (auto mapping = parse_mapping(line)) mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

std::optional<std::vector<NumaMapping>> numa_mappings(pid_t pid) {
  const auto text = read_text_file(fmt::format("/proc/{}/numa_maps", pid));
  if (!text || text->empty()) return std::nullopt;
  return parse_numa_maps(*text);
}

}  // namespace numabench
