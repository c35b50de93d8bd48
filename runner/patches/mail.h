// A mail message: header fields (RFC 5322), and its body as a tree of parts (RFC 2046).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace numabench {

struct HeaderField {
  std::string name;
  std::string value;  ///< unfolded, not decoded
  std::string raw;    ///< as it stands, folded, with line ends
};

struct MailPart {
  std::vector<HeaderField> fields;
  std::string body;             ///< as transmitted, without the header
  std::vector<MailPart> parts;  ///< of a multipart or of an enclosed message; else empty

  /// The first of this name, whatever its case; "" when there is none.
  std::string_view field(std::string_view name) const;
  /// "text/plain" in lower case; text/plain when the header says nothing.
  std::string content_type() const;
  /// Of Content-Type: "flowed" of "text/plain; format=flowed"; "" when absent.
  std::string type_parameter(std::string_view name) const;
  /// Of Content-Disposition, else the name of Content-Type, without folders; "" when absent.
  std::string file_name() const;
  /// The body with its transfer encoding undone.
  std::string decoded() const;
};

/// Whether `text` begins with header fields, From: or Subject: among them.
bool begins_like_mail(std::string_view text);

/// Where the header of `text` ends: behind its empty line.
std::size_t header_length(std::string_view text);

/// `text` has Unix line ends and no "From " line before the header. Anything parses: what is no
/// header is body, and a multipart without its boundary has no parts.
MailPart parse_mail(std::string_view text);

}  // namespace numabench
