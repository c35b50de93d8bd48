#include "hosts/error.h"

namespace numabench {
namespace {

std::string join(const std::string& place, const std::string& problem, const std::string& remedy) {
  std::string text = place.empty() ? problem : place + ": " + problem;
  if (!remedy.empty()) text += "; " + remedy;
  return text;
}

}  // namespace

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kPreflight:
      return 3;
    case ErrorKind::kRun:
      return 4;
    case ErrorKind::kInterrupted:
      return 130;
    case ErrorKind::kInternal:
      break;
  }
  return 70;
}

Error::Error(ErrorKind kind, const std::string& problem, const std::string& remedy,
             const std::string& place)
    : std::runtime_error(join(place, problem, remedy)),
      kind_(kind),
      problem_(problem),
      remedy_(remedy),
      place_(place) {}

}  // namespace numabench
