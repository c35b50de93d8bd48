#include "hosts/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "hosts/error.h"
#include "hosts/file_descriptor.h"

namespace numabench {
namespace {

[[noreturn]] void fail(const std::string& path, const char* call) {
  throw Error(ErrorKind::kPreflight,
              fmt::format("cannot write {}: {}: {}", path, call, std::strerror(errno)),
              "make its folder writable");
}

void sync_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open() || ::fsync(descriptor.get()) != 0) fail(path, "fsync of its folder");
}

}  // namespace

void write_durably(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  const FileDescriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.is_open()) fail(path, "open");
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(file.get(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "write");
    written += static_cast<std::size_t>(count);
  }
  if (::fsync(file.get()) != 0) fail(path, "fsync");
  if (std::rename(beside.c_str(), path.c_str()) != 0) fail(path, "rename");
  sync_folder(path);
}

void remove_durably(const std::string& path) {
  if (::unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return;
    fail(path, "unlink");
  }
  sync_folder(path);
}

}  // namespace numabench
