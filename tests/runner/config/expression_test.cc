#include "runner/config/expression.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "hosts/error.h"
#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

struct Case {
  std::string text;
  double amount;
  bool bytes;
};

TEST(Expression, NamesOfTheTopologyAndArithmetic) {
  const Case cases[] = {
      {"24", 24, false},
      {"cpus", 16, false},
      {"cores", 8, false},
      {"nodes", 2, false},
      {"packages", 2, false},
      {"memory", 32 * kGiB, true},
      {"2 * cpus", 32, false},
      {"2*cpus", 32, false},
      {"cpus / 2", 8, false},
      {"cpus - 1", 15, false},
      {"8 - 4 - 2", 2, false},
      {"16 / 4 / 2", 2, false},
      {"2 + 3 * 4", 14, false},
      {"(2 + 3) * 4", 20, false},
      {"25% memory", 8 * kGiB, true},
      {"25 % of memory", 8 * kGiB, true},
      {"50% cpus", 8, false},
      {"50% (cores + cpus)", 12, false},
      {"memory / 4", 8 * kGiB, true},
      {"memory / 4GiB", 8, false},
      {"4GiB", 4 * kGiB, true},
      {"1.5 GiB", 1.5 * kGiB, true},
      {"63GB", 63e9, true},
      {"2 * 1GiB + 512MiB", 2.5 * kGiB, true},
      {"nodes * 1GiB", 2 * kGiB, true},
  };
  for (const Case& each : cases) {
    const Quantity quantity = evaluate_expression(each.text, two_nodes());
    EXPECT_DOUBLE_EQ(quantity.amount, each.amount) << each.text;
    EXPECT_EQ(quantity.bytes, each.bytes) << each.text;
  }
}

TEST(Expression, RefusesWhatIsNone) {
  for (const char* text : {"",           " ",          "*",      "2 *",
                           "* 2",        "2 2",        "2 cpus", "cpus 2",
                           "(2",         "2)",         "()",     "cpu",
                           "4 GX",       "1..2",       "0x10",   "010",
                           "1e3",        "2 ** 3",     "-1",     "memory * memory",
                           "memory + 1", "1 / memory", "1 / 0",  "1 / (cpus - cpus)",
                           "50%",        "50% of",     "of",     "2,5",
                           "\xc3\xb7",   "$",          "cpus;"}) {
    EXPECT_THROW(evaluate_expression(text, two_nodes()), Error) << text;
  }
  EXPECT_THROW(evaluate_expression(std::string(100'000, '('), two_nodes()), Error);
}

/// An expression of counts built together with its value: the truth that the parser is held to.
struct Built {
  std::string text;
  double value;
};

Built build(std::mt19937& random, int depth) {
  if (depth == 0 || random() % 4 == 0) {
    if (random() % 3 == 0) return {"cpus", 16};
    const int number = static_cast<int>(random() % 99) + 1;
    return {std::to_string(number), static_cast<double>(number)};
  }
  const Built left = build(random, depth - 1);
  const Built right = build(random, depth - 1);
  const char* blank = random() % 2 == 0 ? " " : "";
  switch (random() % 4) {
    case 0:
      return {fmt::format("({}{}+{}{})", left.text, blank, blank, right.text),
              left.value + right.value};
    case 1:
      return {fmt::format("({}{}-{}{})", left.text, blank, blank, right.text),
              left.value - right.value};
    case 2:
      return {fmt::format("({}{}*{}{})", left.text, blank, blank, right.text),
              left.value * right.value};
    default:
      if (right.value == 0) return left;
      return {fmt::format("({}{}/{}{})", left.text, blank, blank, right.text),
              left.value / right.value};
  }
}

TEST(Expression, RandomExpressionsAgreeWithTheirConstruction) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const Built built = build(random, 5);
    EXPECT_DOUBLE_EQ(evaluate_expression(built.text, two_nodes()).amount, built.value)
        << built.text;
  }
}

TEST(Expression, NamesCountOnlyWhatIsAllowed) {
  const Topology host = Topology::of_this_host();
  EXPECT_EQ(evaluate_expression("cpus", host).amount,
            static_cast<double>(host.allowed_cpus().size()));
  EXPECT_EQ(evaluate_expression("memory", host).amount, static_cast<double>(host.memory_bytes()));
}

TEST(Expression, LiteralsReadTheSameOnEveryHost) {
  for (const char* text : {"24", "1.15", "512MiB", "63 GB"}) EXPECT_TRUE(is_literal(text)) << text;
  for (const char* text : {"cpus", "2 * 3", "25% memory", "four"}) {
    EXPECT_FALSE(is_literal(text)) << text;
  }
}

}  // namespace
}  // namespace numabench
