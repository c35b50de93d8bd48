#include "reports/gnuplot.h"

#include <fmt/format.h>

#include <cctype>
#include <system_error>

#include "hosts/error.h"
#include "hosts/process.h"
#include "reports/formats/text_width.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

void require_image(const fs::path& image) {
  std::error_code error;
  const auto size = fs::file_size(image, error);
  if (!error && size > 0) return;
  throw Error(ErrorKind::kRun,
              fmt::format("gnuplot did not write {}: it gave no reason", image.string()),
              "check the free space of the folder");
}

}  // namespace

std::string gnuplot_string(const std::string& text) {
  std::string result = "'";
  for (const char c : one_line(text, 200)) {
    if (c == '\'') result += '\'';
    result += c;
  }
  return result + "'";
}

std::string file_slug(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) != 0 || c == '.')) {
      result += static_cast<char>(std::tolower(byte));
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result;
}

void make_figure_directory(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error) return;
  throw Error(ErrorKind::kRun,
              fmt::format("cannot make the folder {}: {}", directory, error.message()),
              "choose another folder");
}

std::vector<std::string> run_gnuplot(const std::string& directory, const std::string& base) {
  CommandOptions options;
  options.working_directory = directory;
  const std::string script = base + ".gp";
  const CommandResult result = run_command({"gnuplot", script}, options);
  if (!result.ok()) {
    throw Error(ErrorKind::kRun,
                fmt::format("gnuplot failed on {}: {}", (fs::path(directory) / script).string(),
                            result.timed_out ? "it did not end in time" : result.err));
  }
  std::vector<std::string> images;
  for (const char* extension : {".svg", ".png"}) {
    const fs::path image = fs::path(directory) / (base + extension);
    require_image(image);
    images.push_back(image.string());
  }
  return images;
}

}  // namespace numabench
