#include "runner/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "hosts/units.h"

namespace numabench {
namespace {

std::string headline(const RunRecord& run) {
  struct Shown {
    const char* metric;
    const char* title;
    int decimals;
    const char* unit;
  };
  constexpr Shown kShown[] = {
      {"tps", "tps", 0, ""}, {"scans_per_s", "scans/s", 1, ""}, {"hit_pct", "hit", 1, " %"}};
  std::string text;
  for (const Shown& shown : kShown) {
    for (const MetricValue& value : run.values) {
      if (value.metric != shown.metric || !value.value) continue;
      text += fmt::format("  {} {}{}", shown.title, format_count(*value.value, shown.decimals),
                          shown.unit);
    }
  }
  return text;
}

std::string outcome(const RunRecord& run, const TerminalStyle& style) {
  if (run.status == RunStatus::kOk) return headline(run);
  std::string word = to_string(run.status);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (style.color) word = "\033[31m" + word + "\033[0m";
  return "  " + word + ": " + run.reason;
}

}  // namespace

TerminalStyle TerminalStyle::of(std::FILE* stream) {
  TerminalStyle style;
  style.is_terminal = isatty(fileno(stream)) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  style.color = style.is_terminal && (no_color == nullptr || *no_color == '\0');
  winsize size{};
  if (style.is_terminal && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0) {
    style.width = size.ws_col;
  }
  return style;
}

void print_transient(std::FILE* out, const TerminalStyle& style, const std::string& line) {
  if (!style.is_terminal) return;
  const auto width = static_cast<std::size_t>(style.width > 0 ? style.width - 1 : 79);
  fmt::print(out, "\r\033[K{}", line.substr(0, width));
  std::fflush(out);
}

void StageLines::show(const std::string& subject, const std::string& stage) {
  print_transient(out_, style_, fmt::format("{}  {} …", subject, stage));
  const std::string name = stage.substr(0, stage.find_last_not_of("0123456789/ ") + 1);
  const std::string line = fmt::format("{}  {} …", subject, name);
  if (style_.is_terminal || line == last_line_) return;
  fmt::print(out_, "{}\n", line);
  std::fflush(out_);
  last_line_ = line;
}

Progress::Progress(std::FILE* out, TerminalStyle style, std::size_t total, double estimated_seconds)
    : out_(out), style_(style), total_(total), estimated_seconds_(estimated_seconds) {}

std::string Progress::prefix() const {
  return fmt::format("[{:>{}}/{}] {}", std::min(finished_ + 1, total_),
                     std::to_string(total_).size(), total_, label_);
}

void Progress::begin(const std::string& label) {
  label_ = label;
  stage("starting");
}

void Progress::stage(const std::string& text) {
  print_transient(out_, style_,
                  fmt::format("{}  {} …  ETA {}", prefix(), text, format_duration(eta_seconds())));
}

void Progress::finish(const RunRecord& run) {
  const std::string line = prefix() + outcome(run, style_);
  ++finished_;
  measured_seconds_ += run.duration_seconds;
  if (style_.is_terminal) fmt::print(out_, "\r\033[K");
  fmt::print(out_, "{}  ETA {}\n", line, format_duration(eta_seconds()));
  std::fflush(out_);
}

double Progress::eta_seconds() const {
  const auto remaining = static_cast<double>(total_ - finished_);
  if (finished_ == 0) return estimated_seconds_;
  return remaining * measured_seconds_ / static_cast<double>(finished_);
}

}  // namespace numabench
