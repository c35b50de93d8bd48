// Errors of numabench: an exception with a kind, a place and a remedy.
//
// Start here: throw `Error(ErrorKind::kUsage, "what is wrong", "what to do")` wherever a user could
// have prevented the failure; main() prints it as one line and maps the kind to the exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace numabench {

/// What went wrong, from the point of view of whoever ran the command.
enum class ErrorKind {
  kUsage,        ///< a bad command line or config; exit code 2
  kPreflight,    ///< this host cannot do what the plan asks; exit code 3
  kRun,          ///< a run failed; exit code 4
  kInterrupted,  ///< Ctrl-C or TERM; exit code 130
  kInternal,     ///< a defect of numabench; exit code 70 (EX_SOFTWARE of sysexits.h)
};

/// The process exit code for an error of `kind`.
int exit_code(ErrorKind kind);

/// `what()` reads "place: problem; remedy", with the absent parts left out.
class Error : public std::runtime_error {
 public:
  /// `place` is "file:line:column" for a config, else empty.
  Error(ErrorKind kind, const std::string& problem, const std::string& remedy = "",
        const std::string& place = "");

  ErrorKind kind() const { return kind_; }
  const std::string& problem() const { return problem_; }
  const std::string& remedy() const { return remedy_; }
  const std::string& place() const { return place_; }

 private:
  ErrorKind kind_;
  std::string problem_;
  std::string remedy_;
  std::string place_;
};

}  // namespace numabench
