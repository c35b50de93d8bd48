// Patch files as people have them -> the patches in them, in order.
//
// Start here: `read_patches()` takes plain diffs, `git format-patch` files, mboxes and saved mails,
// and gives one Patch for each commit or diff that they hold. Nothing here runs git.
#pragma once

#include <string>
#include <vector>

namespace numabench {

struct Patch {
  enum class Form {
    kMail,  ///< From:, Subject:, message, diff: for `git am`
    kDiff,  ///< a bare diff: for `git apply`
  };
  std::string name;    ///< "v3-0002-Add-a-bit.patch": the file's, the attachment's or the subject
  std::string origin;  ///< the file it came from: "/home/u/mail.eml", "… attachment 2"
  Form form = Form::kDiff;
  std::string text;  ///< decoded, as git takes it
  /// Lines of its hunks end in CR LF: files of the tree have them, and git am must be told to keep
  /// them. A patch whose every line does was converted on its way; its CRs are gone from `text`.
  bool keep_cr = false;
  std::string sha256;  ///< of `text`
  int number = 0;      ///< 2 of "[PATCH v3 2/7]" or "v3-0002-"; 0 when it has none
};

/// The patches in the files at `paths`, file by file in this order; in a mail, attachments in their
/// order, sorted by number when all have one. A mail with attached patches: the attachments, not
/// the text around them. A mail without: its text, with format=flowed, quoted-printable and base64
/// undone and what stands above a scissors line dropped. Throws Error(kUsage) naming the file that
/// cannot be read, that holds no patch, or whose diff format=flowed has damaged.
std::vector<Patch> read_patches(const std::vector<std::string>& paths);

/// The same from one text; `name` stands for the file.
std::vector<Patch> split_patches(const std::string& text, const std::string& name);

}  // namespace numabench
