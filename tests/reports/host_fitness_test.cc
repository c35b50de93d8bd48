#include "reports/host_fitness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace numabench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> notes_of(const std::string& snapshot) {
  return fitness_notes(read_host_fitness({"db1", snapshot, ""}));
}

TEST(HostFitness, NamesWhatIsNotFitToPublish) {
  EXPECT_THAT(notes_of(R"({"checks": [
      {"name": "numa balancing", "value": "1", "rating": "red"},
      {"name": "swappiness", "value": "60", "rating": "warn"},
      {"name": "turbo", "value": "on", "rating": "note"},
      {"name": "governor", "value": "powersave", "rating": "warn"},
      {"name": "virtualisation", "value": null, "rating": "red"}]})"),
              ElementsAre("not fit to publish: numa balancing: 1",
                          "not fit to publish: virtualisation: unknown",
                          "may disturb: swappiness: 60, governor: powersave"));
}

TEST(HostFitness, HasNothingToSayOfAFitHost) {
  EXPECT_THAT(notes_of(R"({"checks": [{"name": "aslr", "value": "0", "rating": "ok"}]})"),
              IsEmpty());
}

TEST(HostFitness, SaysThatNobodyLooked) {
  EXPECT_THAT(notes_of(R"({"checks": []})"), ElementsAre(HasSubstr("host_checks is off")));
}

// Written by an earlier version, by hand or by nobody.
TEST(HostFitness, ReadsAnySnapshot) {
  for (const char* snapshot : {"", "{}", "[]", "{\"checks\": 3}", "{\"checks\": {\"a\": 1}}"}) {
    EXPECT_THAT(notes_of(snapshot), IsEmpty()) << snapshot;
  }
  EXPECT_THAT(notes_of(R"({"checks": [7, {"rating": 4}]})"), IsEmpty());
}

}  // namespace
}  // namespace numabench
