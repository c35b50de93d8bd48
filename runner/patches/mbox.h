// An mbox -> its messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace numabench {

struct MboxMessage {
  std::string from_line;  ///< "From 1234… Mon Sep 17 00:00:00 2001\n"
  std::string text;       ///< header and body, ">From " unquoted
};

/// Whether `line` separates messages: "From ", a sender and a date with time and year.
bool is_from_line(std::string_view line);

/// Whether git wrote the line: git-format-patch(1) puts a fixed date into it.
bool is_git_from_line(std::string_view line);

/// `text` begins with a from line. A from line inside an open multipart separates nothing: it is
/// that of an attached patch in a mailbox that does not quote.
std::vector<MboxMessage> split_mbox(std::string_view text);

}  // namespace numabench
