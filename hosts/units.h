// Sizes, durations and counts as people write and read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace numabench {

/// "4GiB" -> 4294967296, "63GB" -> 63000000000, "8192" and "8192B" -> 8192; decimal fractions are
/// allowed ("1.5GiB"). Units: B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of
/// 1024), with or without a blank before them. nullopt if the text is not a size.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// "1.5s", "200ms", "5min", "2h" -> seconds. nullopt if the text is not a duration with a unit.
std::optional<double> parse_seconds(std::string_view text);

/// A decimal number, whole text, always with '.' as the decimal sign whatever the locale; rejects
/// leading zeros ("0010"), hexadecimal, infinities and NaN. nullopt if the text is not a number.
std::optional<double> parse_number(std::string_view text);

/// The largest binary unit that keeps the number at or above one, three significant digits:
/// "4 GiB", "1.15 GiB", "640 KiB".
std::string format_bytes(double bytes);

/// Seconds as "0.8 s", "45 s", "3:10", "2:03:04".
std::string format_duration(double seconds);

/// With thousands separators: 412332 -> "412,332"; `decimals` digits after the point.
std::string format_count(double value, int decimals = 0);

/// The shortest text that reads back as the same double ("1.15", "2"): for hashes, exports, YAML.
std::string format_exact(double value);

}  // namespace numabench
