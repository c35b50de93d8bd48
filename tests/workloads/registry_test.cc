#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "hosts/error.h"
#include "workloads/workload.h"

namespace numabench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

/// The error of making the workload; its what() is what the user reads.
std::string usage_error(const std::string& name, const ParameterValues& values) {
  try {
    make_workload(name, values);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "no error";
}

TEST(Registry, MakesEachWorkloadUnderItsName) {
  EXPECT_THAT(workload_names(),
              ElementsAre("zipfian", "uniform", "hotscan", "seqscan", "prewarm", "script"));
  for (const std::string& name : workload_names()) {
    EXPECT_EQ(make_workload(name, {})->name(), name);
  }
}

TEST(Registry, AcceptsEachDefaultWhenWritten) {
  for (const std::string& name : workload_names()) {
    ParameterValues values;
    for (const ParameterSpec& spec : workload_parameters(name)) {
      EXPECT_FALSE(spec.description.empty()) << spec.name;
      values[spec.name] = spec.default_value;
    }
    EXPECT_EQ(make_workload(name, values)->name(), name);
  }
}

TEST(Registry, TellsTheParametersAndDefaults) {
  EXPECT_THAT(
      workload_parameters("zipfian"),
      ElementsAre(Field(&ParameterSpec::name, "s"), Field(&ParameterSpec::name, "permute"),
                  Field(&ParameterSpec::name, "fill"), Field(&ParameterSpec::name, "ratio_of")));
  EXPECT_THAT(workload_parameters("hotscan"),
              Contains(AllOf(Field(&ParameterSpec::name, "range_rows"),
                             Field(&ParameterSpec::default_value, "10000"))));
}

TEST(Registry, SuggestsTheWorkloadThatWasMeant) {
  EXPECT_THAT(usage_error("zipfain", {}),
              AllOf(HasSubstr("zipfain"), HasSubstr("did you mean 'zipfian'")));
  EXPECT_THROW(workload_parameters("hotscann"), Error);
}

TEST(Registry, SuggestsTheParameterThatWasMeant) {
  EXPECT_THAT(usage_error("hotscan", {{"scaners", "2"}}),
              AllOf(HasSubstr("hotscan"), HasSubstr("did you mean 'scanners'")));
  EXPECT_THAT(usage_error("uniform", {{"s", "1.1"}}), HasSubstr("'s'"));
}

TEST(Registry, SuggestsTheChoiceThatWasMeant) {
  EXPECT_THAT(usage_error("zipfian", {{"fill", "index_frist"}}),
              AllOf(HasSubstr("'fill'"), HasSubstr("did you mean 'index_first'")));
  EXPECT_THAT(usage_error("zipfian", {{"ratio_of", "pool"}}), HasSubstr("working_set"));
  EXPECT_THAT(usage_error("seqscan", {{"fill", "index_first"}}), HasSubstr("'fill'"));
  EXPECT_THAT(usage_error("zipfian", {{"permute", "yes"}}), HasSubstr("true"));
}

struct BadValue {
  const char* workload;
  const char* parameter;
  const char* text;
  const char* remedy;
};

TEST(Registry, RefusesValuesOfTheWrongTypeOrRange) {
  constexpr BadValue kBad[] = {
      {"zipfian", "s", "0", "a number greater than 0"},
      {"zipfian", "s", "-1", "a number greater than 0"},
      {"zipfian", "s", "", "a number"},
      {"zipfian", "s", "1,1", "a number"},
      {"zipfian", "s", "1.1x", "a number"},
      {"zipfian", "s", "inf", "a number"},
      {"zipfian", "s", "nan", "a number"},
      {"hotscan", "scanners", "0", "an integer of at least 1"},
      {"hotscan", "scanners", "1.5", "an integer"},
      {"hotscan", "scanners", "1e12", "an integer"},
      {"hotscan", "range_rows", "-5", "an integer of at least 1"},
      {"seqscan", "tables", "two", "an integer"},
      {"seqscan", "partitions", "0", "an integer of at least 1"},
  };
  for (const BadValue& bad : kBad) {
    EXPECT_THAT(usage_error(bad.workload, {{bad.parameter, bad.text}}),
                AllOf(HasSubstr(bad.parameter), HasSubstr(bad.remedy)))
        << bad.text;
  }
}

TEST(Registry, TakesAnyPositiveExponent) {
  // REQUIREMENTS 24: pgbench takes 1.001 to 1000 only.
  for (const char* s : {"0.001", "0.99", "1", "1.0", "1.1", "2000"}) {
    EXPECT_EQ(make_workload("zipfian", {{"s", s}})->name(), "zipfian") << s;
  }
}

}  // namespace
}  // namespace numabench
