// The machine's apt sources of binary packages -> the same for source packages.
#pragma once

#include <string>

namespace numabench {

/// A line of a *.list file: "deb [options] URL …" -> "deb-src …"; any other: empty.
std::string source_line(const std::string& line);

/// A *.sources file (deb822): each "Types:" field -> "Types: deb-src". Other fields, the keys among
/// them, stay.
std::string source_stanzas(const std::string& text);

/// Writes those of `etc_apt` (sources.list, sources.list.d) to the folder `parts`.
void write_source_entries(const std::string& etc_apt, const std::string& parts);

}  // namespace numabench
