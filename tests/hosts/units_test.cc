#include "hosts/units.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstring>
#include <limits>
#include <locale>
#include <random>

namespace numabench {
namespace {

TEST(Units, ParsesSizes) {
  EXPECT_EQ(parse_bytes("4GiB"), 4'294'967'296u);
  EXPECT_EQ(parse_bytes("63GB"), 63'000'000'000u);
  EXPECT_EQ(parse_bytes("8192"), 8192u);
  EXPECT_EQ(parse_bytes("8192B"), 8192u);
  EXPECT_EQ(parse_bytes("1.5GiB"), 1'610'612'736u);
  EXPECT_EQ(parse_bytes("1.5 GiB"), 1'610'612'736u);
  EXPECT_EQ(parse_bytes("128kB"), 128'000u);
  EXPECT_EQ(parse_bytes("2TiB"), 2'199'023'255'552u);
  EXPECT_EQ(parse_bytes("0"), 0u);
}

TEST(Units, KeepsEveryByteOfWholeNumbers) {
  EXPECT_EQ(parse_bytes("9007199254740993"), 9'007'199'254'740'993u);  // 2^53 + 1
  EXPECT_EQ(parse_bytes("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
}

TEST(Units, RefusesWhatIsNotASize) {
  for (const char* text : {"",
                           "GiB",
                           "4gib",
                           "4Gb",
                           "4 GB ",
                           " 4GB",
                           "4  GB",
                           "-1GB",
                           "0010",
                           "0x10",
                           "1,5GiB",
                           "1e",
                           "four",
                           "18446744073709551616",
                           "16777216TiB",
                           "nan",
                           "inf",
                           "1.GiB",
                           ".5GiB",
                           "4PB"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(Units, ParsesDurations) {
  EXPECT_EQ(parse_seconds("1.5s"), 1.5);
  EXPECT_EQ(parse_seconds("200ms"), 0.2);
  EXPECT_EQ(parse_seconds("5min"), 300.0);
  EXPECT_EQ(parse_seconds("2h"), 7200.0);
  EXPECT_EQ(parse_seconds("2 h"), 7200.0);
}

TEST(Units, RefusesDurationsWithoutUnit) {
  for (const char* text : {"", "5", "s", "-1s", "5m", "5sec", "1,5s", "05s"}) {
    EXPECT_EQ(parse_seconds(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(Units, ParsesNumbers) {
  EXPECT_EQ(parse_number("0.99"), 0.99);
  EXPECT_EQ(parse_number("-3"), -3.0);
  EXPECT_EQ(parse_number("1e9"), 1e9);
  EXPECT_EQ(parse_number("0"), 0.0);
  EXPECT_EQ(parse_number("10"), 10.0);
  EXPECT_EQ(parse_number("0.5e-3"), 0.0005);
}

TEST(Units, RefusesWhatLooksLikeANumber) {
  for (const char* text : {"", "0010", "0x10", "inf", "-inf", "nan", "1,5", "1.", ".5", "1e", "1e+",
                           "+1", "1 ", " 1", "--1", "1.2.3", "1e999", "00", "-"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << "'" << text << "'";
  }
}

class CommaNumbers : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

void expect_points_not_commas() {
  EXPECT_EQ(parse_number("0.1"), 0.1);
  EXPECT_EQ(parse_number("0,1"), std::nullopt);
  EXPECT_EQ(parse_bytes("1.5GiB"), 1'610'612'736u);
  EXPECT_EQ(format_exact(0.1), "0.1");
  EXPECT_EQ(format_bytes(1.5 * 1024), "1.5 KiB");
  EXPECT_EQ(format_duration(0.8), "0.8 s");
  EXPECT_EQ(format_count(412332.5, 1), "412,332.5");
}

TEST(Units, IgnoreTheLocaleOfCxx) {
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new CommaNumbers));
  expect_points_not_commas();
  std::locale::global(before);
}

TEST(Units, IgnoreTheLocaleOfC) {
  const bool has_comma_locale = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr ||
                                std::setlocale(LC_ALL, "de_DE") != nullptr;
  if (!has_comma_locale) GTEST_SKIP() << "no German locale (package locales-all)";
  ASSERT_STREQ(std::localeconv()->decimal_point, ",");
  expect_points_not_commas();
  std::setlocale(LC_ALL, "C");
}

TEST(Units, FormatsBytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(4'294'967'296.0), "4 GiB");
  EXPECT_EQ(format_bytes(1.15 * 1024 * 1024 * 1024), "1.15 GiB");
  EXPECT_EQ(format_bytes(640 * 1024.0), "640 KiB");
  EXPECT_EQ(format_bytes(1023.9 * 1024), "1 MiB");
  EXPECT_EQ(format_bytes(100 * 1024.0), "100 KiB");
  EXPECT_EQ(format_bytes(9.999 * 1024), "10 KiB");
  EXPECT_EQ(format_bytes(27.5 * 1024 * 1024), "27.5 MiB");
}

// Within the precision of three digits, what is written reads back as what it was.
TEST(Units, FormattedBytesReadBack) {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 5000; ++round) {
    const double bytes = static_cast<double>(random() >> (24 + random() % 36));
    const auto back = parse_bytes(format_bytes(bytes));
    ASSERT_TRUE(back) << format_bytes(bytes);
    ASSERT_NEAR(static_cast<double>(*back), bytes, 0.0051 * bytes) << format_bytes(bytes);
  }
}

TEST(Units, FormatsDurations) {
  EXPECT_EQ(format_duration(0.8), "0.8 s");
  EXPECT_EQ(format_duration(45), "45 s");
  EXPECT_EQ(format_duration(59.7), "1:00");
  EXPECT_EQ(format_duration(190), "3:10");
  EXPECT_EQ(format_duration(3599.6), "1:00:00");
  EXPECT_EQ(format_duration(7384), "2:03:04");
}

TEST(Units, FormatsCounts) {
  EXPECT_EQ(format_count(412332), "412,332");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(-1234567.891, 2), "-1,234,567.89");
  EXPECT_EQ(format_count(-123), "-123");
  EXPECT_EQ(format_count(999999.96, 1), "1,000,000.0");
  EXPECT_EQ(format_count(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Units, ExactNumbersReadBackBitForBit) {
  EXPECT_EQ(format_exact(1.15), "1.15");
  EXPECT_EQ(format_exact(2), "2");
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(parse_number(format_exact(value)), value) << format_exact(value);
  }
}

}  // namespace
}  // namespace numabench
