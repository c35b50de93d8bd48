#include "runner/patches/compressed.h"

#include <fmt/format.h>

#include "hosts/error.h"

namespace numabench {

std::string unreadable_form(std::string_view content) {
  using namespace std::string_view_literals;
  struct Form {
    std::string_view magic;
    const char* name;
    std::size_t offset = 0;
  };
  static const Form forms[] = {
      {"\x1f\x8b"sv, "a gzip file"},     {"BZh"sv, "a bzip2 file"},
      {"\xfd\x37zXZ"sv, "an xz file"},   {"\x28\xb5\x2f\xfd"sv, "a zstd file"},
      {"PK\x03\x04"sv, "a ZIP archive"}, {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive"},
      {"ustar"sv, "a tar archive", 257}, {"\xff\xfe"sv, "UTF-16 text"},
      {"\xfe\xff"sv, "UTF-16 text"},
  };
  for (const Form& form : forms) {
    if (content.size() > form.offset && content.substr(form.offset).starts_with(form.magic)) {
      return form.name;
    }
  }
  return "";
}

void refuse_unreadable_form(std::string_view content, const std::string& name) {
  const std::string form = unreadable_form(content);
  if (form.empty()) return;
  throw Error(ErrorKind::kUsage, fmt::format("'{}' is {}, not a patch", name, form),
              form == "UTF-16 text" ? "save it as UTF-8" : "unpack it and name the patches in it");
}

}  // namespace numabench
