// What a real server does in a window, of its own accord or because another session tells it to.
#include "runner/engines/postgres/window_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/runner/engines/postgres/installed_server.h"

namespace numabench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class WindowEvents : public WithDataDirectory {
 protected:
  /// False when `condition` does not hold within a minute.
  static bool comes_true(const std::function<bool()>& condition) {
    for (int i = 0; i < 600; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }

  Server server_ = Server::start(options());
  Connection connection_ = server_.connect();
};

TEST_F(WindowEvents, ACheckpointHasItsTimeInTheWindow) {
  LogEvents events(options().log_path);
  events.look(1);
  server_.connect().execute("CHECKPOINT");
  std::vector<EventRecord> seen;
  EXPECT_TRUE(comes_true([&] {
    events.look(7);
    std::ranges::move(events.take(), std::back_inserter(seen));
    return std::ranges::any_of(seen, [](const EventRecord& event) {
      return event.text.starts_with("checkpoint complete");
    });
  }));
  ASSERT_FALSE(seen.empty());
  EXPECT_THAT(seen.front().text, HasSubstr("checkpoint starting"));
  EXPECT_EQ(seen.front().t_seconds, 7);
}

TEST_F(WindowEvents, WhatTheLogHadBeforeTheWindowIsNoEvent) {
  server_.connect().execute("CHECKPOINT");
  LogEvents events(options().log_path);
  events.look(1);
  EXPECT_THAT(events.take(), IsEmpty());
}

TEST_F(WindowEvents, ASettingThatAnotherSessionSwitchesIsFound) {
  const auto before = settings_not_default(connection_);
  EXPECT_EQ(settings_change(before, settings_not_default(connection_)), "");
  Connection other = server_.connect();
  other.execute("ALTER SYSTEM SET work_mem = '8MB'");
  other.execute("SELECT pg_reload_conf()");
  std::string change;
  EXPECT_TRUE(comes_true([&] {
    change = settings_change(before, settings_not_default(connection_));
    return !change.empty();
  }));
  EXPECT_EQ(change, "work_mem was its default as the window began and 8MB as it ended");
  other.execute("ALTER SYSTEM RESET work_mem");
  other.execute("SELECT pg_reload_conf()");
  EXPECT_TRUE(comes_true(
      [&] { return settings_change(before, settings_not_default(connection_)).empty(); }));
}

TEST_F(WindowEvents, CountsWhatAutovacuumDid) {
  const BackgroundWork now = read_background_work(connection_);
  EXPECT_GE(now.vacuums, 0);
  EXPECT_THAT(background_events(now, now), IsEmpty());
  const auto events = background_events({1, 5}, {2, 7});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text, "autovacuum in the window: 1 vacuum, 2 analyzes");
  EXPECT_THAT(background_events({3, 3}, {0, 0}), IsEmpty()) << "somebody reset the counters";
}

}  // namespace
}  // namespace numabench
