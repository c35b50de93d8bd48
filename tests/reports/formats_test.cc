// The truths here: texts written by hand, the C library's wcwidth(), and readers of CSV and JSON
// that know nothing of how these were written.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <locale.h>
#include <wchar.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "fabricated_store.h"
#include "hosts/error.h"
#include "reports/formats/format.h"
#include "reports/formats/text_width.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string render(const std::string& format, const Comparison& comparison,
                   FormatOptions options = {}) {
  return find_report_format(format).render(comparison, options);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Three arms at one ratio, one of them failed, and a workload without scanners.
Comparison small_comparison() {
  FabricatedStore fabricated({"stock", "numa-only", "full-series"});
  const auto measured = [](double tps, double tail) {
    return std::vector<MetricValue>{MetricValue::of("tps", tps), MetricValue::of("tail", tail),
                                    MetricValue::absent("scans_per_s", "no scanners")};
  };
  fabricated.cell("stock", 1.15);
  fabricated.run(measured(664155, 9552));
  fabricated.run(measured(660000.4, 7696));
  fabricated.run(measured(1001234, 12378));
  fabricated.cell("numa-only", 1.15);
  fabricated.run({}, RunStatus::kFailed, "killed by\n\x1b[31msignal 9\x1b[0m");
  fabricated.cell("full-series", 1.15);
  fabricated.run(measured(660104, 442)).events.push_back({"warning", "2.1 laps"});
  fabricated.run(measured(670104, 442));
  const Store store = fabricated.write();
  ComparisonOptions options;
  options.experiment_id = fabricated.experiment.id;
  options.metrics = {"tps", "scans_per_s", "tail"};
  return compare_arms(store, options);
}

/// Two arms at two ratios, all default metrics.
Comparison wide_comparison() {
  FabricatedStore fabricated({"stock", "numa-only"});
  for (const double ratio : {1.15, 8.0}) {
    for (const char* arm : {"stock", "numa-only"}) {
      fabricated.cell(arm, ratio);
      for (const double factor : {1.0, 1.1, 1.2}) {
        std::vector<MetricValue> values;
        for (const std::string& metric : default_metrics()) {
          values.push_back(MetricValue::of(metric, 1234567 * factor));
        }
        fabricated.run(std::move(values));
      }
    }
  }
  const Store store = fabricated.write();
  ComparisonOptions options;
  options.experiment_id = fabricated.experiment.id;
  return compare_arms(store, options);
}

TEST(DisplayWidth, AgreesWithTheCLibrary) {
  const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  ASSERT_NE(utf8, nullptr);
  const locale_t previous = uselocale(utf8);
  for (const wchar_t character : std::wstring(L"aZ9 ·–→µ÷éßДΩ한日本語ａ✓€█｜\u0301\u200b😀")) {
    char bytes[16] = {};
    mbstate_t state{};
    const std::size_t length = wcrtomb(bytes, character, &state);
    ASSERT_NE(length, static_cast<std::size_t>(-1));
    EXPECT_EQ(display_width({bytes, length}), static_cast<std::size_t>(wcwidth(character)))
        << bytes;
  }
  uselocale(previous);
  freelocale(utf8);
}

TEST(DisplayWidth, CountsABrokenByteAsOneColumn) {
  EXPECT_EQ(display_width("a\xff"
                          "b"),
            3u);
  EXPECT_EQ(display_width("\xe2\x80"), 2u);  // an en dash that was cut
  EXPECT_EQ(display_width(""), 0u);
}

TEST(Pad, AlignsByDisplayWidth) {
  EXPECT_EQ(pad("1–2", 5, true), "  1–2");
  EXPECT_EQ(pad("日本", 5, false), "日本 ");
  EXPECT_EQ(pad("too long", 3, true), "too long");
}

TEST(OneLine, LeavesNothingThatMovesTheCursor) {
  EXPECT_EQ(one_line("  a\n\tb\x1b[1;31mred\x1b[0m\x7f!\r\n", 80), "a b red !");
  EXPECT_EQ(one_line("cut \x1b[12", 80), "cut");
  EXPECT_EQ(one_line("12345–7890", 8), "12345–7…");
  EXPECT_EQ(one_line("", 80), "");
}

TEST(TerminalFormat, LooksLikeThis) {
  EXPECT_EQ(
      render("terminal", small_comparison()),
      R"(experiment  fabricated · id 1 · 2026-11-30T20:00:00Z · engine embedded · seed 42 · 3 runs a cell
host        z1d · Xeon · 2 GiB · kernel 6.1.0
software    numabench 0.1.0
regime      none: descriptors and mapping only, a miss moves no data
verdicts    tps: 1 inconclusive · tail: 1 inconclusive (permutation of pairs, 5 %, Benjamini–Hochberg; held to no noise floor)
note        cells without a run that counts: 1 of 3

zipfian · pool 512 MiB · 24 clients · placement free · regime none
  s=1.1
  ratio  arm              runs        tps           min–max  vs stock   tps in pairs (95 %)  verdict            tail      min–max
   1.15  stock            3       664,155 660,000–1,001,234  baseline                                          9,552 7,696–12,378
         numa-only        0 of 3  FAILED: killed by signal 9
         full-series [1]  2 of 3  665,104   660,104–670,104   100.1 %  100.5 % (87.7–115.0)  inconclusive [2]    442      442–442

  ratio  arm              runs    tail in pairs (95 %)  verdict
   1.15  stock            3
         numa-only        0 of 3  FAILED: killed by signal 9
         full-series [1]  2 of 3      5.2 % (1.3–20.3)  inconclusive [2]
  [1] 2.1 laps
  [2] inconclusive: 2 pairs, 6 needed
  not measured: scans/s (no scanners)
)");
}

TEST(TerminalFormat, ColoursTheBaselineAndFailuresOnlyWhenAsked) {
  const Comparison comparison = small_comparison();
  const std::string plain = render("terminal", comparison);
  const std::string coloured = render("terminal", comparison, {.color = true});
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(coloured, HasSubstr("\x1b[31m         numa-only        0 of 3  FAILED"));
  EXPECT_THAT(coloured, HasSubstr("\x1b[2m   1.15  stock"));
  EXPECT_EQ(std::regex_replace(coloured, std::regex("\x1b\\[[0-9]+m"), ""), plain);
}

TEST(TerminalFormat, FoldsToTheWidthAndLosesNothing) {
  const Comparison comparison = wide_comparison();
  for (const int width : {80, 100, 140, 400}) {
    const std::string text = render("terminal", comparison, {.color = false, .width = width});
    const auto tables = text.substr(text.find("zipfian · pool"));
    for (const std::string& line : lines_of(tables)) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
    }
    std::size_t medians = 0;
    for (const char* title : {"tps", "scans/s", "scan bytes/s", "hit %", "reads", "adv/victim",
                              "tail", "ticks p99.99", "latency p99 µs", "laps"}) {
      medians += tables.find(std::string(" ") + title) != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(medians, 10u) << width;
  }
}

TEST(TerminalFormat, RepeatsTheLabelsInEveryBand) {
  const std::string text = render("terminal", wide_comparison(), {.color = false, .width = 80});
  std::size_t headings = 0;
  std::size_t stock_rows = 0;
  for (const std::string& line : lines_of(text.substr(text.find("zipfian · pool")))) {
    headings += line.starts_with("  ratio  arm") ? 1 : 0;
    stock_rows += line.starts_with("   1.15  stock") ? 1 : 0;
  }
  EXPECT_GT(headings, 2u);
  EXPECT_EQ(stock_rows, headings);
}

/// Published: three arms on two hosts; here two ratios stand for the hosts.
Comparison published_comparison() {
  FabricatedStore fabricated({"stock", "numa-only"});
  const double tps[2][2] = {{664155, 657125}, {1339205, 1335287}};
  for (const int i : {0, 1}) {
    fabricated.cell("stock", 1 + i);
    fabricated.runs_of("tps", {tps[i][0]});
    fabricated.cell("numa-only", 1 + i);
    fabricated.runs_of("tps", {tps[i][1]});
  }
  const Store store = fabricated.write();
  ComparisonOptions options;
  options.experiment_id = fabricated.experiment.id;
  options.metrics = {"tps"};
  return compare_arms(store, options);
}

TEST(Overview, HasArmsAsColumnsInPercentOfTheBaseline) {
  EXPECT_THAT(render("terminal", published_comparison()), HasSubstr(R"(
tps in percent of stock (medians)
  workload  ratio      stock           numa-only
  zipfian       1    664,155    98.9 % (657,125)
                2  1,339,205  99.7 % (1,335,287)
)"));
}

TEST(Overview, IsLeftOutWhereItWouldRepeatTheOnlyRow) {
  EXPECT_THAT(render("terminal", small_comparison()), Not(HasSubstr("in percent of")));
}

TEST(MarkdownFormat, HasTablesWithEqualRowsAndEscapedText) {
  Comparison comparison = small_comparison();
  comparison.tables[0].rows[0].cell.arm = "a|b_c";
  const std::string text = render("markdown", comparison);
  std::vector<std::string> table;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("|")) table.push_back(std::regex_replace(line, std::regex(R"(\\\|)"), ""));
  }
  ASSERT_THAT(table, SizeIs(5));  // heading, rule, three arms
  std::vector<long> bars;
  for (const std::string& line : table) bars.push_back(std::count(line.begin(), line.end(), '|'));
  EXPECT_THAT(bars, Each(bars[0]));
  EXPECT_THAT(text, HasSubstr(R"(a\|b\_c)"));
  EXPECT_THAT(text, HasSubstr("| FAILED: killed by signal 9 | – |"));
  EXPECT_THAT(text, HasSubstr("| 665,104 | 660,104–670,104 | 100.1 % |"));
}

/// RFC 4180, read character by character.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = rows.back().back();
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (quoted) {
      field += text[i];
    } else if (text[i] == ',') {
      rows.back().emplace_back();
    } else if (text[i] == '\n') {
      rows.emplace_back(1);
    } else {
      field += text[i];
    }
  }
  rows.pop_back();  // behind the last line break
  return rows;
}

TEST(CsvFormat, GivesBackEveryValue) {
  const Comparison comparison = small_comparison();
  const auto rows = parse_csv(render("csv", comparison));
  ASSERT_THAT(rows, SizeIs(1 + 3 * 3));
  EXPECT_THAT(rows, Each(SizeIs(rows[0].size())));
  const auto field = [&](std::size_t row, const std::string& column) {
    const auto found = std::find(rows[0].begin(), rows[0].end(), column);
    EXPECT_NE(found, rows[0].end()) << column;
    return rows[row][static_cast<std::size_t>(found - rows[0].begin())];
  };
  std::size_t line = 1;
  for (const ComparisonRow& row : comparison.tables[0].rows) {
    for (const ComparisonValue& value : row.values) {
      EXPECT_EQ(field(line, "arm"), row.cell.arm);
      EXPECT_EQ(field(line, "metric"), value.metric);
      EXPECT_EQ(field(line, "pool_bytes"), "536870912");
      EXPECT_EQ(field(line, "reason"), value.reason);
      if (value.summary) {
        EXPECT_EQ(std::stod(field(line, "median")), value.summary->median);
        EXPECT_EQ(std::stod(field(line, "min")), value.summary->minimum);
        EXPECT_EQ(std::stod(field(line, "max")), value.summary->maximum);
        EXPECT_EQ(std::stoi(field(line, "n")), value.summary->n);
      } else {
        EXPECT_EQ(field(line, "median") + field(line, "min") + field(line, "max"), "");
      }
      if (value.percent_of_baseline) {
        EXPECT_EQ(std::stod(field(line, "percent_of_baseline")), *value.percent_of_baseline);
      } else {
        EXPECT_EQ(field(line, "percent_of_baseline"), "");
      }
      ++line;
    }
  }
}

TEST(JsonFormat, GivesBackEveryValue) {
  const Comparison comparison = small_comparison();
  const auto json = nlohmann::json::parse(render("json", comparison));
  EXPECT_EQ(json["experiment"]["name"], "fabricated");
  EXPECT_EQ(json["baseline"], "stock");
  const auto& rows = json["tables"][0]["rows"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["values"]["tps"]["median"], 664155);
  EXPECT_EQ(rows[0]["values"]["tps"]["max"], 1001234);
  EXPECT_TRUE(rows[0]["values"]["tps"]["percent_of_baseline"].is_null());
  EXPECT_TRUE(rows[0]["values"]["scans_per_s"]["median"].is_null());
  EXPECT_EQ(rows[0]["values"]["scans_per_s"]["reason"], "no scanners");
  EXPECT_EQ(rows[1]["problem"], "FAILED: killed by\n\x1b[31msignal 9\x1b[0m");
  EXPECT_EQ(rows[2]["warnings"], std::vector<std::string>{"2.1 laps"});
  EXPECT_DOUBLE_EQ(rows[2]["values"]["tail"]["percent_of_baseline"], 100 * 442 / 9552.0);
}

TEST(JsonFormat, SurvivesAReasonThatIsNotUtf8) {
  Comparison comparison = small_comparison();
  comparison.tables[0].rows[1].problem = "FAILED: \xff\xfe";
  EXPECT_TRUE(nlohmann::json::accept(render("json", comparison)));
}

TEST(TwoExperiments, AreShownSideBySide) {
  FabricatedStore before({"stock"});
  FabricatedStore after({"stock"});
  for (const double ratio : {1.0, 2.0}) {
    before.cell("stock", ratio);
    before.runs_of("tps", {100, 110, 120});
    after.cell("stock", ratio);
    after.runs_of("tps", {121, 122, 123});
  }
  const Store old_store = before.write();
  const Store new_store = after.write();
  ComparisonOptions old_options;
  old_options.experiment_id = before.experiment.id;
  ComparisonOptions new_options;
  new_options.experiment_id = after.experiment.id;
  new_options.metrics = {"tps"};
  const Comparison comparison = compare_experiments(old_store, old_options, new_store, new_options);
  const std::string text = render("terminal", comparison);
  EXPECT_THAT(text, HasSubstr("  zipfian       1  110.9 % (110 → 122)\n"));
  EXPECT_THAT(text,
              HasSubstr("  ratio  arm    side    tps min–max  vs before      tps ratio (95 %)  "));
  EXPECT_THAT(text, HasSubstr("      1  stock  before  110 100–120   baseline\n"));
  EXPECT_THAT(text, HasSubstr("         stock  after   122 121–123    110.9 %  "));
  EXPECT_EQ(parse_csv(render("csv", comparison)).size(), 5u);
}

TEST(EveryFormat, KeepsTheConfigToItself) {
  for (const ReportFormat& format : report_formats()) {
    EXPECT_THAT(render(format.name, small_comparison()), Not(HasSubstr("hunter2"))) << format.name;
  }
}

TEST(EveryFormat, SaysThatASmokeRunIsOne) {
  Comparison comparison = small_comparison();
  comparison.experiment.smoke = true;
  comparison.notes = {"smoke run: not comparable, not fit to publish"};
  for (const char* format : {"terminal", "markdown", "json"}) {
    EXPECT_THAT(render(format, comparison), HasSubstr("not fit to publish")) << format;
  }
  EXPECT_THAT(render("csv", comparison), HasSubstr("fabricated,yes,"));
}

TEST(FindReportFormat, NamesTheKnownOnes) {
  try {
    find_report_format("jsno");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'jsno'"), HasSubstr("json")));
  }
}

}  // namespace
}  // namespace numabench
