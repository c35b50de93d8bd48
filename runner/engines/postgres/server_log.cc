#include "runner/engines/postgres/server_log.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace numabench {
namespace {

constexpr std::size_t kMostLines = 4;
constexpr std::uint64_t kMostBytes = 65536;

std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

// "2026-08-01 12:00:00.123 UTC [17] FATAL:  text" -> "FATAL:  text"; a line without a severity (of
// the dynamic linker, say) as it is.
std::string without_prefix(const std::string& line) {
  static constexpr std::array<std::string_view, 8> kSeverities{
      "LOG:  ",   "WARNING:  ", "ERROR:  ", "FATAL:  ",
      "PANIC:  ", "DETAIL:  ",  "HINT:  ",  "STATEMENT:  "};
  for (const std::string_view severity : kSeverities) {
    const auto at = line.find(severity);
    if (at != std::string::npos) return line.substr(at);
  }
  return line;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(without_prefix(line));
  }
  return lines;
}

bool is_failure(const std::string& line) {
  return line.starts_with("FATAL:") || line.starts_with("PANIC:") || line.starts_with("ERROR:");
}

std::string joined(const std::vector<std::string>& lines, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < std::min(lines.size(), first + kMostLines); ++i) {
    text += (text.empty() ? "" : " ") + lines[i];
  }
  return text;
}

}  // namespace

ServerLog::ServerLog(std::string path)
    : path_(std::move(path)), start_(size_of(path_)), seen_(start_) {}

std::string ServerLog::read_from(std::uint64_t offset) const {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string ServerLog::failure() const {
  const std::uint64_t size = size_of(path_);
  const std::uint64_t tail = size > kMostBytes ? size - kMostBytes : 0;
  const std::vector<std::string> lines = lines_of(read_from(std::max(start_, tail)));
  for (std::size_t i = lines.size(); i-- > 0;) {
    if (is_failure(lines[i])) return joined(lines, i);
  }
  return joined(lines, lines.size() > kMostLines ? lines.size() - kMostLines : 0);
}

std::string ServerLog::unseen() const {
  if (size_of(path_) <= seen_) return "";
  const std::string text = read_from(seen_);
  // A line that is still being written is looked at next time.
  const auto end = text.rfind('\n');
  return end == std::string::npos ? "" : text.substr(0, end + 1);
}

std::string ServerLog::crash() {
  const std::string text = unseen();
  for (const std::string& line : lines_of(text)) {
    constexpr std::string_view kLog = "LOG:  ";
    const bool is_crash =
        line.find("was terminated by signal") != std::string::npos ||
        line.find("terminating any other active server processes") != std::string::npos ||
        line.find(" shutdown request") != std::string::npos;  // "received fast shutdown request"
    if (line.starts_with(kLog) && is_crash) return line.substr(kLog.size());
  }
  seen_ += text.size();
  return "";
}

std::vector<std::string> ServerLog::new_lines() {
  const std::string text = unseen();
  seen_ += text.size();
  return lines_of(text);
}

}  // namespace numabench
