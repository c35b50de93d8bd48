#include "runner/arms/apt_sources.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "hosts/files.h"
#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

std::string source_lines(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string entry = source_line(line);
    if (!entry.empty()) result += entry + "\n";
  }
  return result;
}

void convert_file(const fs::path& from, const std::string& parts) {
  const std::string text = read_text_file(from).value_or("") + "\n";
  const bool is_deb822 = from.extension() == ".sources";
  std::ofstream(parts + "/" + from.filename().string())
      << (is_deb822 ? source_stanzas(text) : source_lines(text));
}

}  // namespace

std::string source_line(const std::string& line) {
  const std::string_view entry = trimmed(line);
  if (!entry.starts_with("deb ") && !entry.starts_with("deb\t")) return "";
  return "deb-src" + std::string(entry.substr(3));
}

std::string source_stanzas(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool is_types = lower_case(line).starts_with("types:");
    result += (is_types ? "Types: deb-src" : line) + "\n";
  }
  return result;
}

void write_source_entries(const std::string& etc_apt, const std::string& parts) {
  std::error_code ignored;
  if (fs::exists(etc_apt + "/sources.list", ignored)) {
    convert_file(etc_apt + "/sources.list", parts);
  }
  for (const auto& entry : fs::directory_iterator(etc_apt + "/sources.list.d", ignored)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".list" || extension == ".sources") convert_file(entry.path(), parts);
  }
}

}  // namespace numabench
