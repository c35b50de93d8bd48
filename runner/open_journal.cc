#include "runner/open_journal.h"

#include <fmt/format.h>

#include <cstdio>
#include <set>
#include <string>

#include "hosts/error.h"
#include "hosts/tuning.h"

namespace numabench {
namespace {

std::string describe(const TuningJournal& journal) {
  const std::size_t files = journal.entries.size();
  if (journal.complete) {
    return fmt::format("the host settings of {} ({} file{}) are still in place", journal.started_at,
                       files, files == 1 ? "" : "s");
  }
  return fmt::format("doctor --apply of {} was cut off: some of {} host setting{} are changed",
                     journal.started_at, files, files == 1 ? "" : "s");
}

}  // namespace

void tell_of_open_journal() {
  // Root's is everybody's business.
  for (const std::string& directory :
       std::set<std::string>{HostTuning::default_state_directory(), "/var/lib/numabench"}) {
    const HostTuning tuning(directory);
    try {
      const auto journal = tuning.open_journal();
      if (!journal || tuning.is_locked()) continue;
      fmt::print(stderr, "numabench: {}; numabench doctor --restore puts them back\n",
                 describe(*journal));
    } catch (const Error& error) {
      fmt::print(stderr, "numabench: {}\n", error.what());
    }
  }
}

}  // namespace numabench
