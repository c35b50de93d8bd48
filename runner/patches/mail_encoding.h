// The encodings of mail: quoted-printable and base64 (RFC 2045), encoded words of headers (RFC
// 2047), percent-encoded parameters (RFC 2231). All give bytes: charsets are not converted.
#pragma once

#include <string>
#include <string_view>

namespace numabench {

/// Characters outside the alphabet are skipped, as RFC 2045 asks; what follows '=' is not read.
std::string decode_base64(std::string_view text);

/// A '=' that begins no escape is kept as it is.
std::string decode_quoted_printable(std::string_view text);

/// "%20" -> " ".
std::string decode_percent(std::string_view text);

/// "=?UTF-8?Q?Z=C3=A4hler?=" -> "Zähler"; white space between encoded words is dropped.
std::string decode_words(std::string_view header);

}  // namespace numabench
