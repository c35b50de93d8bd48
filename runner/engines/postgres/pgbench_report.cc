// What pgbench prints, by label. The labels of the final report are those of printResults() in
// PostgreSQL 13 to 20devel.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

#include "hosts/error.h"
#include "runner/engines/postgres/pgbench.h"

namespace numabench {
namespace {

/// The number that `text` begins with, after blanks; nullopt for none and for NaN.
template <typename T>
std::optional<T> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

/// Reads the number behind `label` when `line` begins with it.
template <typename T>
bool read_after(std::string_view line, std::string_view label, std::optional<T>& value) {
  if (!line.starts_with(label)) return false;
  value = leading_number<T>(line.substr(label.size()));
  return true;
}

/// 13 prints one tps line with and one without the time of the first connections, and 14 and later
/// only the one without; with -C all have only one that includes the connections of each
/// transaction.
void read_tps(std::string_view line, std::optional<double>& tps) {
  constexpr std::string_view kLabel = "tps = ";
  if (!line.starts_with(kLabel)) return;
  if (tps && line.find("including") != std::string_view::npos) return;
  tps = leading_number<double>(line.substr(kLabel.size()));
}

/// The lines of single scripts are indented and begin with a dash: they match no label.
void read_summary_line(std::string_view line, PgbenchSummary& summary) {
  read_tps(line, summary.tps);
  read_after(line, "number of transactions actually processed: ", summary.transactions);
  read_after(line, "number of failed transactions: ", summary.failed);
  read_after(line, "number of transactions retried: ", summary.retried);
  read_after(line, "number of transactions skipped: ", summary.skipped);
  read_after(line, "latency average = ", summary.latency_mean_ms);
  read_after(line, "latency stddev = ", summary.latency_stddev_ms);
  read_after(line, "initial connection time = ", summary.connection_ms);
  read_after(line, "number of clients: ", summary.clients);
  read_after(line, "number of threads: ", summary.threads);
}

template <typename Function>
void for_each_line(std::string_view text, const Function& function) {
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    function(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
}

void read_progress_field(std::string_view field, PgbenchProgress& progress) {
  if (field.ends_with(" failed"))
    progress.failed = leading_number<std::uint64_t>(field).value_or(0);
  constexpr std::string_view kStddev = " stddev ";
  if (!read_after(field, "lat ", progress.latency_mean_ms)) return;
  const std::size_t stddev = field.find(kStddev);
  if (stddev == std::string_view::npos) return;
  progress.latency_stddev_ms = leading_number<double>(field.substr(stddev + kStddev.size()));
}

bool is_failure(std::string_view line) {
  constexpr std::string_view kMarks[] = {"pgbench: error: ", "pgbench: fatal: ", " aborted in ",
                                         "Run was aborted", "could not connect"};
  return std::ranges::any_of(
      kMarks, [&](std::string_view mark) { return line.find(mark) != std::string_view::npos; });
}

std::string_view without_severity(std::string_view line) {
  for (const std::string_view severity : {"pgbench: error: ", "pgbench: fatal: "}) {
    if (line.starts_with(severity)) line.remove_prefix(severity.size());
  }
  return line;
}

}  // namespace

PgbenchSummary parse_pgbench_summary(const std::string& report) {
  PgbenchSummary summary;
  for_each_line(report, [&](std::string_view line) { read_summary_line(line, summary); });
  // The report of a run without a transaction ends before it.
  if (!summary.tps && summary.transactions == 0u) summary.tps = 0;
  if (!summary.tps) {
    throw Error(ErrorKind::kRun, "pgbench's report has no line 'tps = …'",
                "look into the report and the errors of pgbench beside it");
  }
  return summary;
}

// "progress: 12.0 s, 7549.1 tps, lat 0.132 ms stddev 0.021, lag 0.010 ms, 0 failed"
std::optional<PgbenchProgress> parse_pgbench_progress(const std::string& line) {
  constexpr std::string_view kSeparator = ", ";
  std::optional<double> seconds;
  if (!read_after<double>(line, "progress: ", seconds) || !seconds) return std::nullopt;
  const std::size_t second_field = line.find(kSeparator);
  if (second_field == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(line).substr(second_field + kSeparator.size());
  const std::optional<double> tps = leading_number<double>(rest);
  if (!tps) return std::nullopt;
  PgbenchProgress progress;
  progress.t_seconds = *seconds;
  progress.tps = *tps;
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find(kSeparator), rest.size());
    read_progress_field(rest.substr(0, length), progress);
    rest.remove_prefix(std::min(length + kSeparator.size(), rest.size()));
  }
  return progress;
}

std::string pgbench_failure(const std::string& error_output) {
  std::string first;
  int more = -1;
  for_each_line(error_output, [&](std::string_view line) {
    if (!is_failure(line)) return;
    if (++more == 0) first = without_severity(line);
  });
  return more > 0 ? fmt::format("{} (and {} more errors)", first, more) : first;
}

// "client 3 aborted in command 1 …", "client 0 script 0 aborted …"; what never became a client is
// none.
bool is_aborted_client(const std::string& failure) {
  return failure.starts_with("client ") && failure.find(" aborted ") != std::string::npos;
}

void PgbenchErrorReader::read_more() {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(offset_);
  for (char chunk[4096]; file.read(chunk, sizeof chunk), file.gcount() > 0;) {
    offset_ += file.gcount();
    partial_line_.append(chunk, static_cast<std::size_t>(file.gcount()));
  }
  std::size_t begin = 0;
  for (std::size_t end; (end = partial_line_.find('\n', begin)) != std::string::npos;) {
    take_line(partial_line_.substr(begin, end - begin));
    begin = end + 1;
  }
  partial_line_.erase(0, begin);
}

void PgbenchErrorReader::take_line(const std::string& line) {
  const std::optional<PgbenchProgress> parsed = parse_pgbench_progress(line);
  if (!parsed) {
    messages_ += line + "\n";
    return;
  }
  const double since = progress_.empty() ? 0 : progress_.back().t_seconds;
  transactions_ += parsed->tps * std::max(0.0, parsed->t_seconds - since);
  progress_.push_back(*parsed);
}

}  // namespace numabench
