// One step of a build: a program whose output goes to the build log.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/arms/arm_build.h"

namespace numabench {

/// Counts what a compilation's output tells of its progress.
class CompileProgress {
 public:
  /// A line of the output of ninja ("[512/1930] …") or make (the compiler's command).
  void take(const std::string& line);
  std::string text() const;  ///< "512/1930", "512"; empty before the first

 private:
  int done_ = 0;
  int total_ = 0;  ///< 0: not known
};

class BuildSteps {
 public:
  BuildSteps(std::string arm, std::string log_path, const BuildObserver& observer);

  /// Runs `arguments` in `directory`, telling the observer of `stage` with the progress that the
  /// output shows. False when it fails; it is in the log. Throws Error(kPreflight) when there is no
  /// such program, and what the observer throws, which ends the program.
  bool run(const std::string& stage, const std::vector<std::string>& arguments,
           const std::string& directory,
           const std::map<std::string, std::string>& environment = {}) const;
  /// The same; throws Error(kRun) with the first error of the output: "compiling failed: …".
  void require(const std::string& stage, const std::vector<std::string>& arguments,
               const std::string& directory,
               const std::map<std::string, std::string>& environment = {}) const;

  void tell(const std::string& stage) const;
  void log(const std::string& line) const;
  const std::string& log_path() const { return log_path_; }

 private:
  std::string arm_;
  std::string log_path_;
  const BuildObserver& observer_;
};

/// The first line that a compiler, linker, configure or meson calls an error, of the log from
/// `offset` on; else its last line.
std::string first_error(const std::string& log_path, std::uintmax_t offset);

}  // namespace numabench
