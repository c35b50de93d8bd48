#include "runner/patches/mail.h"

#include <algorithm>
#include <map>
#include <optional>

#include "runner/patches/mail_encoding.h"
#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

// Deeper than any mail program nests; a crafted message ends here.
constexpr int kDeepestPart = 16;

bool is_folded(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }

// "Subject" of "Subject: text"; empty when the line is no field.
std::string_view field_name(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view name = line.substr(0, colon);
  const bool printable =
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127; });
  return printable ? name : std::string_view();
}

std::vector<HeaderField> parse_fields(std::string_view header) {
  std::vector<HeaderField> fields;
  for (const std::string_view line : lines_of(header)) {
    const std::string_view content = without_line_end(line);
    if (is_folded(line)) {
      if (fields.empty()) continue;
      fields.back().value += content;
      fields.back().raw += line;
      continue;
    }
    const std::string_view name = field_name(content);
    if (name.empty()) continue;
    fields.push_back({std::string(name), std::string(trimmed(content.substr(name.size() + 1))),
                      std::string(line)});
  }
  return fields;
}

// One `; name=value` of a field; the value's quotes are undone.
struct Parameter {
  std::string name;
  std::string value;
};

std::string take_quoted(std::string_view& text) {
  std::string value;
  std::size_t i = 1;
  for (; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    value += text[i];
  }
  text.remove_prefix(std::min(i + 1, text.size()));
  return value;
}

std::string take_token(std::string_view& text) {
  const std::size_t end = std::min(text.find(';'), text.size());
  std::string value(trimmed(text.substr(0, end)));
  text.remove_prefix(end);
  return value;
}

std::vector<Parameter> parameters_of(std::string_view field) {
  std::vector<Parameter> parameters;
  for (std::size_t semicolon = field.find(';'); semicolon != std::string_view::npos;
       semicolon = field.find(';')) {
    field.remove_prefix(semicolon + 1);
    const std::size_t equals = field.find_first_of("=;");
    if (equals == std::string_view::npos || field[equals] == ';') continue;
    std::string name = lower_case(trimmed(field.substr(0, equals)));
    field.remove_prefix(equals + 1);
    const std::size_t start = std::min(field.find_first_not_of(" \t"), field.size());
    field.remove_prefix(start);
    std::string value = field.starts_with('"') ? take_quoted(field) : take_token(field);
    parameters.push_back({std::move(name), std::move(value)});
  }
  return parameters;
}

// Without the charset'language' that an extended parameter begins with.
std::string_view without_charset(std::string_view value) {
  const std::size_t charset = value.find('\'');
  const std::size_t language =
      charset == std::string_view::npos ? charset : value.find('\'', charset + 1);
  return language == std::string_view::npos ? value : value.substr(language + 1);
}

// RFC 2231: name*=UTF-8''a%20b, or in pieces name*0="a"; name*1*=b%20c.
std::string parameter(std::string_view field, std::string_view name) {
  std::map<int, std::string> pieces;
  for (const Parameter& candidate : parameters_of(field)) {
    std::string_view suffix = candidate.name;
    if (!suffix.starts_with(name)) continue;
    suffix.remove_prefix(name.size());
    if (suffix.empty()) return decode_words(candidate.value);
    if (suffix.front() != '*') continue;
    const bool encoded = suffix.ends_with('*');
    suffix.remove_prefix(1);
    const int index = suffix.empty() || suffix.front() == '*' ? 0 : std::atoi(suffix.data());
    const std::string_view value =
        index == 0 && encoded ? without_charset(candidate.value) : candidate.value;
    pieces[index] = encoded ? decode_percent(value) : std::string(value);
  }
  std::string joined;
  for (const auto& [index, piece] : pieces) joined += piece;
  return joined;
}

bool is_boundary(std::string_view line, std::string_view boundary, bool closing) {
  line = without_line_end(line);
  if (!line.starts_with("--")) return false;
  line.remove_prefix(2);
  if (!line.starts_with(boundary)) return false;
  const std::string_view rest = trimmed(line.substr(boundary.size()));
  return closing ? rest == "--" : rest.empty();
}

// The texts between the boundary lines of a multipart. The line end before a boundary belongs to
// the boundary.
std::vector<std::string> split_multipart(std::string_view body, std::string_view boundary) {
  std::vector<std::string> texts;
  std::optional<std::string> current;
  const auto finish = [&] {
    if (!current) return;
    if (current->ends_with('\n')) current->pop_back();
    texts.push_back(std::move(*current));
    current.reset();
  };
  for (const std::string_view line : lines_of(body)) {
    if (is_boundary(line, boundary, true)) {
      finish();
      return texts;
    }
    if (is_boundary(line, boundary, false)) {
      finish();
      current.emplace();
    } else if (current) {
      *current += line;
    }
  }
  finish();
  return texts;
}

MailPart parse_part(std::string_view text, int depth) {
  MailPart part;
  const std::size_t header = header_length(text);
  part.fields = parse_fields(text.substr(0, header));
  part.body = text.substr(header);
  if (depth == kDeepestPart) return part;
  const std::string type = part.content_type();
  if (type == "message/rfc822") {
    part.parts.push_back(parse_part(part.decoded(), depth + 1));
  } else if (type.starts_with("multipart/")) {
    const std::string boundary = part.type_parameter("boundary");
    if (boundary.empty()) return part;
    for (const std::string& piece : split_multipart(part.body, boundary)) {
      part.parts.push_back(parse_part(piece, depth + 1));
    }
  }
  return part;
}

}  // namespace

std::string_view MailPart::field(std::string_view name) const {
  const std::string wanted = lower_case(name);
  for (const HeaderField& candidate : fields) {
    if (lower_case(candidate.name) == wanted) return candidate.value;
  }
  return {};
}

std::string MailPart::content_type() const {
  const std::string_view value = field("Content-Type");
  const std::string type = lower_case(trimmed(value.substr(0, value.find(';'))));
  return type.empty() ? "text/plain" : type;
}

std::string MailPart::type_parameter(std::string_view name) const {
  return parameter(field("Content-Type"), name);
}

std::string MailPart::file_name() const {
  std::string name = parameter(field("Content-Disposition"), "filename");
  if (name.empty()) name = type_parameter("name");
  return name.substr(name.find_last_of("/\\") + 1);
}

std::string MailPart::decoded() const {
  const std::string encoding = lower_case(trimmed(field("Content-Transfer-Encoding")));
  if (encoding == "base64") return decode_base64(body);
  if (encoding == "quoted-printable") return decode_quoted_printable(body);
  return body;
}

bool begins_like_mail(std::string_view text) {
  bool has_sender_or_subject = false;
  for (const std::string_view line : lines_of(text.substr(0, header_length(text)))) {
    if (is_folded(line) || without_line_end(line).empty()) continue;
    const std::string name = lower_case(field_name(without_line_end(line)));
    if (name.empty()) return false;
    has_sender_or_subject = has_sender_or_subject || name == "from" || name == "subject";
  }
  return has_sender_or_subject;
}

std::size_t header_length(std::string_view text) {
  std::size_t length = 0;
  for (const std::string_view line : lines_of(text)) {
    length += line.size();
    if (without_line_end(line).empty()) break;
  }
  return length;
}

MailPart parse_mail(std::string_view text) { return parse_part(text, 0); }

}  // namespace numabench
