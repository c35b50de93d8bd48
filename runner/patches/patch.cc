#include "runner/patches/patch.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "hosts/error.h"
#include "runner/patches/compressed.h"
#include "runner/patches/diff_text.h"
#include "runner/patches/mail.h"
#include "runner/patches/mail_patches.h"
#include "runner/patches/mbox.h"
#include "runner/patches/subject.h"
#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string without_byte_order_mark(const std::string& text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

bool first_line_has_cr(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end != std::string_view::npos && end > 0 && text[end - 1] == '\r';
}

std::vector<MboxMessage> messages_of(const std::string& text) {
  if (is_from_line(lines_of(text).front())) return split_mbox(text);
  if (begins_like_mail(text)) return {{.from_line = "", .text = text}};
  return {};
}

std::vector<Patch> patches_of_messages(const std::vector<MboxMessage>& messages,
                                       const std::string& name) {
  std::vector<Patch> patches;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string origin =
        messages.size() == 1 ? name : fmt::format("{}, message {}", name, i + 1);
    for (Patch& patch : patches_of_message(messages[i], origin)) {
      patches.push_back(std::move(patch));
    }
  }
  // One patch that is the file has the file's name.
  if (patches.size() == 1 && patches[0].origin == name) {
    patches[0].name = base_name(name);
    if (patches[0].number == 0) patches[0].number = number_of_file_name(patches[0].name);
  }
  sort_by_number(patches);
  return patches;
}

[[noreturn]] void refuse_without_patch(const std::string& text, const std::string& name) {
  if (has_context_diff(text)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("'{}' is a context diff, which git cannot apply", name),
                "make it unified: filterdiff --format=unified (patchutils), or diff -u");
  }
  throw Error(ErrorKind::kUsage, fmt::format("'{}' holds no patch", name),
              "expected a unified diff, an mbox of git format-patch, or a mail with one of them");
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("cannot read the patch '{}': {}", path, std::strerror(errno)),
                "name a patch file, an mbox or a saved mail");
  }
  return text;
}

}  // namespace

std::vector<Patch> split_patches(const std::string& original, const std::string& name) {
  refuse_unreadable_form(original, name);
  const std::string marked = without_byte_order_mark(original);
  if (marked.empty()) refuse_without_patch(marked, name);
  // A mail saved with the line ends of its transport; encoded parts keep their own.
  const std::string unix_text = first_line_has_cr(marked) ? with_unix_line_ends(marked) : marked;
  const std::vector<MboxMessage> messages = messages_of(unix_text);
  std::vector<Patch> patches;
  if (!messages.empty()) {
    patches = patches_of_messages(messages, name);
  } else if (has_diff(with_unix_line_ends(marked))) {
    patches = {patch_of_diff(marked, base_name(name), name)};
  }
  if (patches.empty()) refuse_without_patch(marked, name);
  return patches;
}

std::vector<Patch> read_patches(const std::vector<std::string>& paths) {
  std::vector<Patch> patches;
  for (const std::string& path : paths) {
    for (Patch& patch : split_patches(read_file(path), path)) patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace numabench
