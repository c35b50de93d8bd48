#include <stdlib.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "hosts/error.h"
#include "hosts/file_descriptor.h"
#include "hosts/files.h"
#include "hosts/process.h"
#include "hosts/topology.h"

namespace numabench {
namespace {

/// hwloc's program without a window; package hwloc-nox on Debian, hwloc on Fedora.
constexpr const char* kDrawingProgram = "lstopo-no-graphics";

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / "numabench-topology-XXXXXX") {
    const FileDescriptor file(::mkstemp(path_.data()));
    if (!file.is_open()) {
      throw Error(ErrorKind::kPreflight,
                  "cannot make a temporary file: " + std::string(std::strerror(errno)));
    }
    write_text_file(path_, text);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

CommandResult draw(const std::string& xml_path) {
  CommandOptions options;
  options.timeout = std::chrono::minutes(2);
  options.output_limit_bytes = 64 << 20;
  try {
    return run_command({kDrawingProgram, "--disallowed", "--input", xml_path, "--of", "svg", "-"},
                       options);
  } catch (const Error&) {
    throw Error(ErrorKind::kPreflight,
                std::string("there is no ") + kDrawingProgram + ", which draws the topology",
                "install hwloc-nox (Debian, Ubuntu) or hwloc (Fedora, Amazon Linux)");
  }
}

}  // namespace

std::string topology_svg(const Topology& topology) {
  const TemporaryFile xml(topology.xml());
  CommandResult drawing = draw(xml.path());
  if (!drawing.ok() || drawing.output_truncated || drawing.out.find("<svg") == std::string::npos) {
    throw Error(ErrorKind::kPreflight,
                std::string(kDrawingProgram) + " could not draw the topology: " + drawing.err);
  }
  return std::move(drawing.out);
}

}  // namespace numabench
