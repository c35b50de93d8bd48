#include "hosts/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "hosts/error.h"
#include "hosts/file_descriptor.h"

namespace numabench {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

std::optional<std::string> read_text_file(const std::string& path) {
  // read(2) and not a stream: some files of /sys open but fail to read, with an errno that says
  // why.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  text.erase(text.find_last_not_of(kBlanks) + 1);
  return text;
}

void write_text_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    throw Error(ErrorKind::kUsage, "cannot write '" + path + "'",
                "check that the folder exists and is writable");
  }
}

std::optional<std::string> labelled_value(std::string_view text, std::string_view label) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == label) {
      return std::string(trim(line.substr(colon + 1)));
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

std::string chosen_word(const std::string& text) {
  const auto open = text.find('[');
  const auto close = text.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return text;
  return text.substr(open + 1, close - open - 1);
}

IdSet numbered_entries(const std::string& directory, const std::string& prefix) {
  IdSet ids;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(directory, unreadable)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    const auto id = parse_id_list(name.substr(prefix.size()));
    if (id && id->size() == 1) ids.insert(*id->begin());
  }
  return ids;
}

}  // namespace numabench
