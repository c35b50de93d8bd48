#include "runner/arms/build_step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "hosts/background_process.h"
#include "hosts/error.h"

namespace numabench {
namespace {

constexpr std::chrono::milliseconds kPollInterval{200};
constexpr std::size_t kLongestError = 300;

std::uintmax_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

bool is_error(const std::string& line) {
  for (const char* mark : {"error:", "ERROR:", "fatal:", "undefined reference", "No such file"}) {
    if (line.find(mark) != std::string::npos) return true;
  }
  return false;
}

// Reads the complete lines that were added to a growing file.
class LogFollower {
 public:
  LogFollower(const std::string& path, std::uintmax_t offset) : file_(path) {
    file_.seekg(static_cast<std::streamoff>(offset));
  }
  void take_new(CompileProgress& progress) {
    for (std::string piece; std::getline(file_, piece);) {
      line_ += piece;
      if (file_.eof()) break;
      progress.take(line_);
      line_.clear();
    }
    file_.clear();
  }

 private:
  std::ifstream file_;
  std::string line_;
};

}  // namespace

void CompileProgress::take(const std::string& line) {
  int done = 0;
  int total = 0;
  if (std::sscanf(line.c_str(), "[%d/%d]", &done, &total) == 2) {
    done_ = done;
    total_ = total;
  } else if (line.find(" -c -o ") != std::string::npos) {
    ++done_;
  }
}

std::string CompileProgress::text() const {
  if (done_ == 0) return "";
  return total_ == 0 ? std::to_string(done_) : fmt::format("{}/{}", done_, total_);
}

BuildSteps::BuildSteps(std::string arm, std::string log_path, const BuildObserver& observer)
    : arm_(std::move(arm)), log_path_(std::move(log_path)), observer_(observer) {}

void BuildSteps::tell(const std::string& stage) const {
  if (observer_) observer_(arm_, stage);
}

void BuildSteps::log(const std::string& line) const {
  std::ofstream(log_path_, std::ios::app) << line << '\n';
}

bool BuildSteps::run(const std::string& stage, const std::vector<std::string>& arguments,
                     const std::string& directory,
                     const std::map<std::string, std::string>& environment) const {
  log(fmt::format("\n== {}: {}", stage, fmt::join(arguments, " ")));
  tell(stage);
  BackgroundProcess::Options options;
  options.command.working_directory = directory;
  options.command.environment = environment;
  options.output_path = log_path_;
  options.error_path = log_path_;
  LogFollower follower(log_path_, size_of(log_path_));
  CompileProgress progress;
  BackgroundProcess process = BackgroundProcess::start(arguments, options);
  while (true) {
    const std::optional<ProcessExit> exit = process.wait(kPollInterval);
    if (exit) return exit->ok();
    follower.take_new(progress);
    const std::string count = progress.text();
    tell(count.empty() ? stage : stage + " " + count);
  }
}

void BuildSteps::require(const std::string& stage, const std::vector<std::string>& arguments,
                         const std::string& directory,
                         const std::map<std::string, std::string>& environment) const {
  const std::uintmax_t offset = size_of(log_path_);
  if (run(stage, arguments, directory, environment)) return;
  throw Error(ErrorKind::kRun, fmt::format("{} failed: {}", stage, first_error(log_path_, offset)),
              "see the log " + log_path_);
}

std::string first_error(const std::string& log_path, std::uintmax_t offset) {
  std::ifstream file(log_path);
  file.seekg(static_cast<std::streamoff>(offset));
  std::string last = "no output";
  for (std::string line; std::getline(file, line);) {
    if (is_error(line)) return line.substr(0, kLongestError);
    if (!line.empty()) last = line;
  }
  return last.substr(0, kLongestError);
}

}  // namespace numabench
