#include "runner/patches/mail_patches.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "hosts/error.h"
#include "reports/digest.h"
#include "runner/patches/compressed.h"
#include "runner/patches/diff_text.h"
#include "runner/patches/mail.h"
#include "runner/patches/mail_encoding.h"
#include "runner/patches/mail_text.h"
#include "runner/patches/subject.h"
#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

// git-am(1) knows a mailbox by such a line.
constexpr const char* kFromLine =
    "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n";

void collect_leaves(const MailPart& part, std::vector<const MailPart*>& leaves) {
  if (part.parts.empty()) leaves.push_back(&part);
  for (const MailPart& inner : part.parts) collect_leaves(inner, leaves);
}

bool is_named_as_patch(std::string_view name) {
  return name.ends_with(".patch") || name.ends_with(".diff");
}

// "x.patch" of "x.patch.gz".
std::string without_compression(const std::string& name) {
  for (const std::string_view suffix : {".gz", ".bz2", ".xz", ".zst"}) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

bool is_attached(const MailPart& part) {
  const std::string type = part.content_type();
  return !part.file_name().empty() || type == "text/x-patch" || type == "text/x-diff";
}

// What a failed regression test leaves is a diff, but nobody's patch.
bool is_test_output(std::string_view name) { return name.ends_with(".diffs"); }

bool holds_patch(const MailPart& part, const std::string& name) {
  if (is_test_output(name)) return false;
  return is_named_as_patch(name) || has_diff(with_unix_line_ends(part.decoded()));
}

std::string unix_diff(const std::string& text) {
  return headers_have_cr(text) ? with_unix_line_ends(text) : text;
}

[[noreturn]] void refuse_damaged(const std::string& origin, const std::string& damage) {
  throw Error(ErrorKind::kUsage,
              fmt::format("the diff in the text of {} was damaged on its way: {}", origin, damage),
              "take the patch from an attachment or from its author's branch");
}

// format=flowed joins what the sender's program has wrapped, but also lines of a diff that end in
// a space. The counts of the hunks say which reading is the diff that was sent.
std::string unflowed_diff(const MailPart& part, const std::string& text,
                          const std::string& origin) {
  const bool delete_space = lower_case(part.type_parameter("delsp")) == "yes";
  for (std::string reading :
       {undo_flowed(text, delete_space), undo_stuffing(text), std::string(text)}) {
    if (has_diff(reading) && diff_damage(reading).empty()) return reading;
  }
  refuse_damaged(origin, "format=flowed has wrapped or joined its lines, " + diff_damage(text));
}

// The text of a mail with its diff, as it was sent; nullopt when there is no diff in it.
std::optional<std::string> sent_text(const MailPart& part, const std::string& origin) {
  std::string text = unix_diff(part.decoded());
  if (!has_diff(text) && !has_diff(undo_stuffing(text))) return std::nullopt;
  if (lower_case(part.type_parameter("format")) == "flowed") {
    text = unflowed_diff(part, text, origin);
  }
  text = below_scissors(text);
  if (!has_diff(text)) return std::nullopt;
  const std::string damage = diff_damage(text);
  if (!damage.empty()) refuse_damaged(origin, damage);
  return text;
}

std::string raw_field(const MailPart& mail, std::string_view name) {
  for (const HeaderField& field : mail.fields) {
    if (lower_case(field.name) == lower_case(name)) return field.raw;
  }
  return "";
}

// A message that git-am(1) takes: the sender's header, and `text` as it is.
std::string compose(const MailPart& mail, const MailPart& part, const std::string& text) {
  std::string charset = part.type_parameter("charset");
  if (charset.empty()) charset = "UTF-8";
  return kFromLine + raw_field(mail, "From") + raw_field(mail, "Date") +
         raw_field(mail, "Subject") +
         "MIME-Version: 1.0\nContent-Type: text/plain; charset=" + charset +
         "\nContent-Transfer-Encoding: 8bit\n\n" + text;
}

Patch finished(Patch patch) {
  // The line end before a MIME boundary belongs to the boundary; git calls a diff without it
  // corrupt.
  if (!patch.text.ends_with('\n')) patch.text += '\n';
  patch.keep_cr = hunks_have_cr(patch.text);
  patch.sha256 = sha256_hex(patch.text);
  if (patch.number == 0) patch.number = number_of_file_name(patch.name);
  return patch;
}

Patch mail_patch(const MailPart& mail, std::string text, const std::string& origin) {
  const std::string subject = decode_words(mail.field("Subject"));
  return finished({.name = file_name_of_subject(subject),
                   .origin = origin,
                   .form = Patch::Form::kMail,
                   .text = std::move(text),
                   .sha256 = "",
                   .number = number_of_subject(subject)});
}

// `git format-patch --attach` puts the message of the commit into the text and only the diff into
// the attachment.
bool is_made_by_git(const MboxMessage& message, const MailPart& mail) {
  return is_git_from_line(message.from_line) ||
         mail.field("X-Mailer").starts_with("git-send-email");
}

std::vector<Patch> attached_patches(const std::vector<const MailPart*>& leaves,
                                    const std::string& origin) {
  std::vector<Patch> patches;
  std::string archive;
  int number = 0;
  for (const MailPart* leaf : leaves) {
    if (!is_attached(*leaf)) continue;
    ++number;
    const std::string name = leaf->file_name();
    const std::string content = leaf->decoded();
    const std::string place = fmt::format("{}, attachment {}", origin, number);
    if (!unreadable_form(content).empty()) {
      if (is_named_as_patch(without_compression(name))) refuse_unreadable_form(content, name);
      if (archive.empty()) archive = name;
      continue;
    }
    if (!holds_patch(*leaf, name)) continue;
    for (Patch& patch : split_patches(content, name.empty() ? place : name)) {
      patch.origin = place;
      patches.push_back(std::move(patch));
    }
  }
  if (patches.empty() && !archive.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the only attachment of {} that may hold patches is the archive '{}'",
                            origin, archive),
                "unpack it and name the patches in it");
  }
  return patches;
}

const MailPart* commit_message(const std::vector<const MailPart*>& leaves) {
  for (const MailPart* leaf : leaves) {
    if (!is_attached(*leaf) && leaf->content_type() == "text/plain") return leaf;
  }
  return nullptr;
}

}  // namespace

void sort_by_number(std::vector<Patch>& patches) {
  std::set<int> numbers;
  for (const Patch& patch : patches) {
    if (patch.number == 0 || !numbers.insert(patch.number).second) return;
  }
  std::sort(patches.begin(), patches.end(),
            [](const Patch& a, const Patch& b) { return a.number < b.number; });
}

Patch patch_of_diff(const std::string& text, const std::string& name, const std::string& origin) {
  return finished({.name = name, .origin = origin, .text = unix_diff(text), .sha256 = ""});
}

std::vector<Patch> patches_of_message(const MboxMessage& message, const std::string& origin) {
  const MailPart mail = parse_mail(message.text);
  std::vector<const MailPart*> leaves;
  collect_leaves(mail, leaves);
  std::vector<Patch> attached = attached_patches(leaves, origin);
  if (attached.size() == 1 && attached[0].form == Patch::Form::kDiff &&
      is_made_by_git(message, mail) && commit_message(leaves) != nullptr) {
    const MailPart& text = *commit_message(leaves);
    return {
        mail_patch(mail, compose(mail, text, text.decoded() + "\n" + attached[0].text), origin)};
  }
  if (!attached.empty()) return attached;
  for (const MailPart* leaf : leaves) {
    if (leaf->content_type() != "text/plain") continue;
    const std::optional<std::string> text = sent_text(*leaf, origin);
    if (!text) continue;
    const bool untouched = leaf == &mail && *text == mail.body;
    const std::string& from_line = message.from_line.empty() ? kFromLine : message.from_line;
    return {mail_patch(mail, untouched ? from_line + message.text : compose(mail, *leaf, *text),
                       origin)};
  }
  return {};
}

}  // namespace numabench
