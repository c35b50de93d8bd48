// Figures are drawn by the real gnuplot and read back: the SVG as XML, the PNG by its header.
#include "reports/figures.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "fabricated_store.h"
#include "hosts/error.h"
#include "reports/figure_axes.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

boost::property_tree::ptree xml_of(const fs::path& svg) {
  std::istringstream text(content(svg));
  boost::property_tree::ptree tree;
  boost::property_tree::read_xml(text, tree);  // throws when it is not well formed
  return tree;
}

template <typename Visit>
void walk(const boost::property_tree::ptree& tree, const std::string& name, const Visit& visit) {
  visit(name, tree);
  for (const auto& [child_name, child] : tree) walk(child, child_name, visit);
}

std::string texts_of(const fs::path& svg) {
  std::string texts;
  walk(xml_of(svg), "", [&](const std::string& name, const auto& node) {
    if (name == "text") texts += node.data() + "\n";
  });
  return texts;
}

struct Stroke {
  double x1, y1, x2, y2;
};

/// The strokes of an SVG path of absolute moves and lines, all that gnuplot draws lines with.
std::vector<Stroke> strokes_of(const std::string& path) {
  std::istringstream words(path);
  std::vector<Stroke> strokes;
  double x = 0;
  double y = 0;
  for (std::string word; words >> word;) {
    if (word[0] != 'M' && word[0] != 'L') continue;
    const double to_x = std::stod(word.substr(1));
    const double to_y = std::stod(word.substr(word.find(',') + 1));
    if (word[0] == 'L') strokes.push_back({x, y, to_x, to_y});
    x = to_x;
    y = to_y;
  }
  return strokes;
}

/// One line of a figure as it was drawn.
struct DrawnLine {
  std::size_t points = 0;    ///< without the sample in the key
  std::size_t bars = 0;      ///< min–max bars of a visible length
  std::size_t segments = 0;  ///< between points
};

std::vector<DrawnLine> drawn_lines(const fs::path& svg) {
  std::vector<DrawnLine> lines;
  walk(xml_of(svg), "", [&](const std::string&, const auto& node) {
    if (node.template get<std::string>("<xmlattr>.id", "").find("gnuplot_plot_") != 0) return;
    DrawnLine& line = lines.emplace_back();
    walk(node, "", [&](const std::string& name, const auto& element) {
      if (name == "use") ++line.points;
      if (name != "path") return;
      for (const Stroke& stroke : strokes_of(element.template get<std::string>("<xmlattr>.d"))) {
        const bool vertical = stroke.x1 == stroke.x2;
        const bool horizontal = stroke.y1 == stroke.y2;  // caps of the bars, sample in the key
        const bool cap_of_sample = vertical && std::abs(stroke.y2 - stroke.y1) < 10;
        if (vertical && !cap_of_sample) ++line.bars;
        if (!vertical && !horizontal) ++line.segments;
      }
    });
    if (line.points > 0) --line.points;
  });
  return lines;
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = (value << 8) | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Puts a folder alone in PATH for as long as it lives.
class OnlyInPath {
 public:
  explicit OnlyInPath(const fs::path& folder) : previous_(getenv("PATH")) {
    setenv("PATH", folder.c_str(), 1);
  }
  ~OnlyInPath() { setenv("PATH", previous_.c_str(), 1); }
  OnlyInPath(const OnlyInPath&) = delete;
  OnlyInPath& operator=(const OnlyInPath&) = delete;

 private:
  std::string previous_;
};

void write_program(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
  chmod(path.c_str(), 0755);
}

class Figures : public testing::Test {
 protected:
  /// `measure` gives the three values of an arm at a ratio; none: the cell failed.
  template <typename Measure>
  Comparison comparison(const std::vector<std::string>& arms, const std::vector<double>& ratios,
                        const Measure& measure) {
    FabricatedStore fabricated(arms);
    for (const double ratio : ratios) {
      for (const std::string& arm : arms) {
        fabricated.cell(arm, ratio);
        const std::vector<double> values = measure(arm, ratio);
        if (values.empty()) fabricated.run({}, RunStatus::kFailed, "planted");
        fabricated.runs_of("tail", values);
      }
    }
    const Store store = fabricated.write();
    ComparisonOptions options;
    options.experiment_id = fabricated.experiment.id;
    options.metrics = {"tail", "tps"};
    return compare_arms(store, options);
  }
  fs::path folder() const { return folder_.path() / "figures"; }

  TemporaryFolder folder_;
};

std::vector<double> published_tail(const std::string& arm, double ratio) {
  const double tail = arm == "stock" ? 9552 : arm == "numa-only" ? 43594 : 442;
  return {tail * ratio, 1.5 * tail * ratio, 2.5 * tail * ratio};
}

TEST_F(Figures, HaveALineForEachArmWithItsPointsAndBars) {
  const Comparison drawn =
      comparison({"stock", "numa-only", "full-series"}, {1, 1.15, 2, 8}, published_tail);
  const std::vector<std::string> images = draw_figures(drawn, drawn.metrics, folder().string());
  ASSERT_THAT(images, SizeIs(2));  // no run has tps, so it has no figure
  EXPECT_THAT(images[0],
              HasSubstr("zipfian-pool-512-mib-24-clients-placement-free-regime-none-tail"));
  const std::string texts = texts_of(images[0]);
  for (const char* text : {"stock", "numa-only", "full-series", "1.15", "10,000", "fabricated",
                           "tail, lower is better (logarithmic)",
                           "zipfian · pool 512 MiB · 24 clients · placement free · regime none"}) {
    EXPECT_THAT(texts, HasSubstr(text));
  }
  const std::vector<DrawnLine> lines = drawn_lines(images[0]);
  ASSERT_THAT(lines, SizeIs(3));
  for (const DrawnLine& line : lines) {
    EXPECT_EQ(line.points, 4u);
    EXPECT_EQ(line.bars, 4u);
    EXPECT_EQ(line.segments, 3u);
  }
}

TEST_F(Figures, ArePngOfTheirSizeToo) {
  const Comparison drawn = comparison({"stock"}, {1, 2}, published_tail);
  const std::vector<std::string> images = draw_figures(drawn, {"tail"}, folder().string());
  ASSERT_THAT(images, SizeIs(2));
  const std::string png = content(images[1]);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(big_endian(png, 16), 1440u);
  EXPECT_EQ(big_endian(png, 20), 840u);
}

TEST_F(Figures, LeaveAGapWhereACellFailed) {
  const Comparison drawn =
      comparison({"stock", "numa-only"}, {1, 2, 4, 8}, [](const std::string& arm, double ratio) {
        const bool failed = arm == "numa-only" && ratio == 2;
        return failed ? std::vector<double>{} : published_tail(arm, ratio);
      });
  const auto lines = drawn_lines(draw_figures(drawn, {"tail"}, folder().string()).at(0));
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0].segments, 3u);
  EXPECT_EQ(lines[1].points, 3u);
  EXPECT_EQ(lines[1].segments, 1u);  // from 4 to 8; 1 has no neighbour, and nothing leaps over 2
}

TEST_F(Figures, NameAnArmThatHasNoResultAtAll) {
  const Comparison drawn =
      comparison({"stock", "numa-only"}, {1, 2}, [](const std::string& arm, double ratio) {
        return arm == "stock" ? published_tail(arm, ratio) : std::vector<double>{};
      });
  EXPECT_THAT(texts_of(draw_figures(drawn, {"tail"}, folder().string()).at(0)),
              HasSubstr("numa-only (no result)"));
}

TEST_F(Figures, DrawOneRatioOneRunAndEqualValues) {
  for (const double value : {0.0, 5.0, 1e-9, 3e12}) {
    const Comparison drawn =
        comparison({"stock", "numa-only"}, {1.15},
                   [&](const std::string&, double) { return std::vector<double>{value}; });
    const auto images = draw_figures(drawn, {"tail"}, (folder() / fmt::to_string(value)).string());
    const auto lines = drawn_lines(images.at(0));
    ASSERT_THAT(lines, SizeIs(2)) << value;
    EXPECT_EQ(lines[0].points, 1u) << value;
    EXPECT_EQ(lines[1].points, 1u) << value;
  }
}

TEST_F(Figures, ShowAnyNameAsItIsAndRunNoneOfIt) {
  const std::string hostile = "it's \"a\" `touch pwned`_{b}^c \\n <x> & ; system('touch pwned')";
  const Comparison drawn = comparison({"stock", hostile}, {1, 2}, published_tail);
  const auto images = draw_figures(drawn, {"tail"}, folder().string());
  EXPECT_THAT(texts_of(images.at(0)), HasSubstr(hostile));
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    EXPECT_NE(entry.path().filename(), "pwned");
  }
  EXPECT_FALSE(fs::exists("pwned"));
}

TEST_F(Figures, OfTablesThatReadAlikeHaveFilesOfTheirOwn) {
  Comparison drawn = comparison({"stock"}, {1, 2}, published_tail);
  drawn.tables.push_back(drawn.tables[0]);
  const auto images = draw_figures(drawn, {"tail"}, folder().string());
  EXPECT_EQ(std::set<std::string>(images.begin(), images.end()).size(), 4u);
}

TEST_F(Figures, CanBeDrawnAgainElsewhere) {
  const Comparison drawn = comparison({"stock"}, {1, 2}, published_tail);
  const fs::path svg = draw_figures(drawn, {"tail"}, folder().string()).at(0);
  const fs::path script = fs::path(svg).replace_extension(".gp");
  EXPECT_THAT(content(script), Not(HasSubstr(folder_.path().string())));
}

TEST_F(Figures, SayThatASmokeRunIsOne) {
  Comparison drawn = comparison({"stock"}, {1, 2}, published_tail);
  drawn.experiment.smoke = true;
  EXPECT_THAT(texts_of(draw_figures(drawn, {"tail"}, folder().string()).at(0)),
              HasSubstr("SMOKE RUN"));
}

/// The error of drawing, as kind and text.
std::pair<ErrorKind, std::string> drawing_error(const Comparison& drawn, const fs::path& folder) {
  try {
    draw_figures(drawn, {"tail"}, folder.string());
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {ErrorKind::kInternal, "no error"};
}

TEST_F(Figures, NameThePackageWhenGnuplotIsMissing) {
  const Comparison drawn = comparison({"stock"}, {1, 2}, published_tail);
  const OnlyInPath path(folder_.path());
  const auto [kind, text] = drawing_error(drawn, folder());
  EXPECT_EQ(kind, ErrorKind::kPreflight);
  EXPECT_THAT(text, HasSubstr("gnuplot-nox"));
  EXPECT_THROW(require_gnuplot(), Error);
}

TEST_F(Figures, AreRefusedByAGnuplotWithoutTheTerminals) {
  write_program(folder_.path() / "gnuplot",
                "#!/bin/sh\necho 'unknown or ambiguous terminal type' >&2\nexit 1\n");
  const OnlyInPath path(folder_.path());
  try {
    require_gnuplot();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("pngcairo"), HasSubstr("ambiguous terminal")));
  }
}

TEST_F(Figures, PassOnWhatGnuplotSays) {
  const Comparison drawn = comparison({"stock"}, {1, 2}, published_tail);
  write_program(folder_.path() / "gnuplot",
                "#!/bin/sh\n[ \"$1\" = -e ] && exit 0\necho 'line 7: bad font' >&2\nexit 1\n");
  const OnlyInPath path(folder_.path());
  const auto [kind, text] = drawing_error(drawn, folder());
  EXPECT_EQ(kind, ErrorKind::kRun);
  EXPECT_THAT(text, HasSubstr("line 7: bad font"));
}

TEST_F(Figures, AreMissedWhenGnuplotSucceedsWithoutThem) {
  const Comparison drawn = comparison({"stock"}, {1, 2}, published_tail);
  for (const char* leaves : {"", "for f in *.gp; do : > ${f%.gp}.svg; done\n"}) {
    write_program(folder_.path() / "gnuplot",
                  fmt::format("#!/bin/sh\n[ \"$1\" = -e ] && exit 0\n{}exit 0\n", leaves));
    const OnlyInPath path(folder_.path());
    const auto [kind, text] = drawing_error(drawn, folder());
    EXPECT_EQ(kind, ErrorKind::kRun);
    EXPECT_THAT(text, HasSubstr("tail.svg"));
  }
}

TEST_F(Figures, NameAFolderThatCannotBeMade) {
  const Comparison drawn = comparison({"stock"}, {1, 2}, published_tail);
  std::ofstream(folder_.path() / "file") << "in the way";
  const auto [kind, text] = drawing_error(drawn, folder_.path() / "file" / "figures");
  EXPECT_EQ(kind, ErrorKind::kRun);
  EXPECT_THAT(text, HasSubstr("file/figures"));
}

TEST(RatioAxis, KeepsPointsOfARatioTogetherAndInOrder) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    std::set<double> distinct;
    while (distinct.size() < 1 + random() % 6) {
      distinct.insert(0.05 * static_cast<double>(1 + random() % 400));
    }
    const std::vector<double> ratios(distinct.begin(), distinct.end());
    const std::size_t lines = 1 + random() % 9;
    const RatioAxis axis(ratios, lines);
    double before = axis.axis().low;
    for (const double ratio : ratios) {
      for (std::size_t line = 0; line < lines; ++line) {
        const double position = axis.position(ratio, line);
        EXPECT_GT(position, before);  // so no line's point is on or behind the next ratio's
        before = position;
      }
    }
    EXPECT_LT(before, axis.axis().high);
    EXPECT_EQ(axis.axis().tics.size(), ratios.size());
  }
}

TEST(ValueAxis, IsLogarithmicOnlyForPositiveValuesAnOrderApart) {
  const Metric tail = *find_metric("tail");
  EXPECT_TRUE(value_axis(tail, 442, 43594).logarithmic);
  EXPECT_FALSE(value_axis(tail, 442, 1000).logarithmic);
  EXPECT_FALSE(value_axis(tail, 0, 43594).logarithmic);
}

TEST(ValueAxis, StartsAtZeroUnlessThatHidesTheDifferences) {
  const Axis from_zero = value_axis(*find_metric("tps"), 300, 1000);
  EXPECT_EQ(from_zero.low, 0);
  EXPECT_EQ(from_zero.tics.front().label, "0");
  EXPECT_GT(value_axis(*find_metric("hit_pct"), 98.9, 99.2).low, 98);
}

TEST(ValueAxis, HoldsTheValuesAndLabelsTicsInsideIt) {
  std::mt19937_64 random(5);
  for (const char* name : {"tail", "tps", "hit_pct", "scan_bytes_per_s", "latency_p99_us"}) {
    std::uniform_real_distribution<double> magnitude(find_metric(name)->unit == "B/s" ? 0 : -3, 12);
    for (int round = 0; round < 500; ++round) {
      double minimum = std::pow(10, magnitude(random));
      double maximum = std::pow(10, magnitude(random));
      if (minimum > maximum) std::swap(minimum, maximum);
      if (round % 2 == 0) maximum = minimum * (1 + std::pow(10, -magnitude(random)));
      const Axis axis = value_axis(*find_metric(name), minimum, maximum);
      EXPECT_LT(axis.low, minimum);
      EXPECT_GT(axis.high, maximum);
      EXPECT_GE(axis.tics.size(), 2u) << name << " " << minimum << " " << maximum;
      EXPECT_LE(axis.tics.size(), 20u) << name << " " << minimum << " " << maximum;
      std::set<std::string> labels;
      for (const Tic& tic : axis.tics) {
        EXPECT_GE(tic.at, axis.low);
        EXPECT_LE(tic.at, axis.high * (1 + 1e-9));
        EXPECT_TRUE(labels.insert(tic.label).second) << name << " " << tic.label;
      }
    }
  }
}

}  // namespace
}  // namespace numabench
