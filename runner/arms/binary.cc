#include "runner/arms/binary.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "hosts/error.h"
#include "hosts/file_descriptor.h"

namespace numabench {
namespace {

using ElfHandle = std::unique_ptr<Elf, decltype(&elf_end)>;

std::string hex(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::string build_id(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t count = dwelf_elf_gnu_build_id(elf, &bytes);
  if (count <= 0) return "";
  return hex(static_cast<const unsigned char*>(bytes), static_cast<std::size_t>(count));
}

// The first compiler that .comment names: "GCC: (Debian 12.2.0-14) 12.2.0".
std::string compiler_of_comment(std::string_view comment) {
  const std::string_view first = comment.substr(0, comment.find('\0'));
  return first.starts_with("GCC: ") ? "gcc " + std::string(first.substr(5)) : std::string(first);
}

// Distributions strip .comment; a server has the compiler in the text of its version, too:
// "PostgreSQL 15.20 on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit".
std::string compiler_of_version(std::string_view constants) {
  constexpr std::string_view kBefore = ", compiled by ";
  const std::size_t found = constants.find(kBefore);
  if (found == std::string_view::npos) return "";
  const std::string_view rest = constants.substr(found + kBefore.size());
  return std::string(rest.substr(0, rest.find(", ")));
}

void read_libraries(Elf* elf, Elf_Data* data, const GElf_Shdr& header, BinaryIdentity& identity) {
  const std::size_t entries = header.sh_entsize == 0 ? 0 : header.sh_size / header.sh_entsize;
  for (std::size_t i = 0; i < entries; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) break;
    if (entry.d_tag != DT_NEEDED) continue;
    const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    if (name != nullptr) identity.libraries.emplace_back(name);
  }
}

void read_sections(Elf* elf, BinaryIdentity& identity) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && std::string_view(name) == ".comment") {
      identity.compiler =
          compiler_of_comment({static_cast<const char*>(data->d_buf), data->d_size});
    }
    if (identity.compiler.empty() && name != nullptr && std::string_view(name) == ".rodata") {
      identity.compiler =
          compiler_of_version({static_cast<const char*>(data->d_buf), data->d_size});
    }
    if (header.sh_type == SHT_DYNAMIC) read_libraries(elf, data, header, identity);
  }
}

}  // namespace

bool BinaryIdentity::needs(const std::string& library) const {
  return std::any_of(libraries.begin(), libraries.end(),
                     [&](const std::string& name) { return name.starts_with(library + ".so"); });
}

BinaryIdentity read_binary(const std::string& path) {
  elf_version(EV_CURRENT);
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    throw Error(ErrorKind::kRun, fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  }
  const ElfHandle elf(elf_begin(file.get(), ELF_C_READ, nullptr), &elf_end);
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) {
    throw Error(ErrorKind::kRun, fmt::format("'{}' is no ELF binary", path));
  }
  BinaryIdentity identity;
  identity.build_id = build_id(elf.get());
  read_sections(elf.get(), identity);
  return identity;
}

}  // namespace numabench
