// What a person sees while an experiment runs: a line a run, with an ETA.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "reports/store.h"

namespace numabench {

/// How to print to a stream: an updating line on a terminal, plain lines elsewhere; colour unless
/// NO_COLOR is set (https://no-color.org) or the stream is no terminal.
struct TerminalStyle {
  bool is_terminal = false;
  bool color = false;
  int width = 0;  ///< columns; 0 when unknown or no terminal

  static TerminalStyle of(std::FILE* stream);
};

/// Replaces the line that stands on the terminal; prints nothing elsewhere.
void print_transient(std::FILE* out, const TerminalStyle& style, const std::string& line);

/// What is at work: an updating line on a terminal, elsewhere a line for each stage.
class StageLines {
 public:
  StageLines(std::FILE* out, TerminalStyle style) : out_(out), style_(style) {}

  /// "arm stock", "compiling 512/1930": the count at the end of a stage is shown on terminals only.
  void show(const std::string& subject, const std::string& stage);
  void clear() const { print_transient(out_, style_, ""); }

 private:
  std::FILE* out_;
  TerminalStyle style_;
  std::string last_line_;
};

/// "[12/81] numa-only hotscan ratio=2 run 3  tps 412,332  hit 98.1 %  ETA 3:10"
class Progress {
 public:
  /// `total` runs will come, about `estimated_seconds` in all.
  Progress(std::FILE* out, TerminalStyle style, std::size_t total, double estimated_seconds);

  /// A run begins: `label` is "numa-only hotscan ratio=2 run 3".
  void begin(const std::string& label);
  /// Its stage ("warm-up", "measuring"); shown on terminals only.
  void stage(const std::string& text);
  /// It ended and is in the store.
  void finish(const RunRecord& run);

  double eta_seconds() const;

 private:
  std::string prefix() const;

  std::FILE* out_;
  TerminalStyle style_;
  std::size_t total_;
  std::size_t finished_ = 0;
  double estimated_seconds_;
  double measured_seconds_ = 0;
  std::string label_;
};

}  // namespace numabench
