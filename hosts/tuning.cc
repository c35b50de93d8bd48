#include "hosts/tuning.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "hosts/durable_file.h"
#include "hosts/error.h"
#include "hosts/file_descriptor.h"
#include "hosts/files.h"
#include "hosts/tuning_journal.h"

namespace numabench {
namespace {

/// Files that the kernel sets to 0 when the other one is written.
constexpr std::array<std::pair<const char*, const char*>, 2> kAlternatives{
    {{"/proc/sys/vm/dirty_background_bytes", "/proc/sys/vm/dirty_background_ratio"},
     {"/proc/sys/vm/dirty_bytes", "/proc/sys/vm/dirty_ratio"}}};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The lock of a state directory; held while it lives, and gone with the process.
FileDescriptor try_lock(const std::string& state_directory) {
  const std::string path = state_directory + "/tuning.lock";
  FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.is_open()) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("cannot open {}: {}", path, std::strerror(errno)),
                "run as root, or set XDG_STATE_HOME to a folder of yours");
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) lock.reset();
  return lock;
}

FileDescriptor take_lock(const std::string& state_directory) {
  std::error_code failure;
  std::filesystem::create_directories(state_directory, failure);
  FileDescriptor lock = try_lock(state_directory);
  if (lock.is_open()) return lock;
  throw Error(ErrorKind::kPreflight, "another numabench is changing the settings of this host",
              "wait for it to end");
}

}  // namespace

HostTuning::HostTuning(std::string state_directory, std::string root)
    : state_directory_(std::move(state_directory)), root_(std::move(root)) {}

std::string HostTuning::default_state_directory() {
  const std::string state = environment("XDG_STATE_HOME");
  if (!state.empty()) return state + "/numabench";
  if (::geteuid() == 0) return "/var/lib/numabench";
  return environment("HOME") + "/.local/state/numabench";
}

std::string HostTuning::journal_path() const { return state_directory_ + "/tuning.json"; }

std::optional<TuningJournal> HostTuning::open_journal() const {
  const auto text = read_text_file(journal_path());
  if (!text) return std::nullopt;
  return parse_journal(*text, journal_path());
}

bool HostTuning::is_locked() const {
  std::error_code ignored;
  if (!std::filesystem::exists(state_directory_ + "/tuning.lock", ignored)) return false;
  const FileDescriptor lock(
      ::open((state_directory_ + "/tuning.lock").c_str(), O_RDONLY | O_CLOEXEC));
  return lock.is_open() && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
}

std::optional<std::string> HostTuning::read(const std::string& path) const {
  const auto text = read_text_file(root_ + path);
  if (!text) return std::nullopt;
  return chosen_word(*text);
}

/// Empty, or what went wrong.
std::string HostTuning::write(const std::string& path, const std::string& value) const {
  const FileDescriptor file(::open((root_ + path).c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!file.is_open()) return std::strerror(errno);
  // One write: the kernel takes each as a whole value.
  const ssize_t count = ::write(file.get(), value.data(), value.size());
  if (count == static_cast<ssize_t>(value.size())) return "";
  return count < 0 ? std::strerror(errno) : "written in part only";
}

std::string HostTuning::boot_id() const {
  return read("/proc/sys/kernel/random/boot_id").value_or("");
}

void HostTuning::save(const TuningJournal& journal) const {
  write_durably(journal_path(), to_json(journal));
}

void HostTuning::close_journal() const { remove_durably(journal_path()); }

/// nullopt when nothing is to be changed: it has the value, or cannot have it.
std::optional<JournalEntry> HostTuning::plan(const HostSetting& setting,
                                             SettingOutcome& outcome) const {
  outcome.setting = setting;
  const auto before = read(setting.path);
  if (!before) {
    outcome.problem = std::strerror(errno);
    return std::nullopt;
  }
  outcome.before = *before;
  if (*before == setting.value) {
    outcome.kind = SettingOutcome::Kind::kAlready;
    return std::nullopt;
  }
  if (::access((root_ + setting.path).c_str(), W_OK) != 0) {
    outcome.problem = std::strerror(errno);
    return std::nullopt;
  }
  JournalEntry entry{setting, *before, "", setting.path, *before};
  for (const auto& [path, other] : kAlternatives) {
    if (setting.path != path || *before != "0") continue;
    entry.restore_path = other;
    entry.restore_value = read(other).value_or("");
  }
  return entry;
}

SettingOutcome HostTuning::set(JournalEntry& entry) const {
  SettingOutcome outcome{SettingOutcome::Kind::kFailed, entry.setting, entry.before, ""};
  outcome.problem = write(entry.setting.path, entry.setting.value);
  const auto observed = read(entry.setting.path);
  if (observed) entry.observed = *observed;
  if (!outcome.problem.empty()) return outcome;
  if (observed == entry.setting.value) {
    outcome.kind = SettingOutcome::Kind::kChanged;
  } else {
    outcome.problem = fmt::format("did not take: it is {} after {} was written",
                                  observed.value_or("unreadable"), entry.setting.value);
  }
  return outcome;
}

std::vector<SettingOutcome> HostTuning::apply(const std::vector<HostSetting>& settings,
                                              const Observer& observer) const {
  const FileDescriptor lock = take_lock(state_directory_);
  if (const auto open = open_journal()) {
    throw Error(
        ErrorKind::kPreflight,
        fmt::format("the settings of {} are still in place ({})", open->started_at, journal_path()),
        "put them back first: numabench doctor --restore");
  }
  std::vector<SettingOutcome> outcomes;
  TuningJournal journal;
  for (const HostSetting& setting : settings) {
    SettingOutcome outcome;
    const auto entry = plan(setting, outcome);
    if (entry) {
      journal.entries.push_back(*entry);
    } else {
      observer(outcome);
      outcomes.push_back(std::move(outcome));
    }
  }
  if (journal.entries.empty()) return outcomes;

  journal.started_at = fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
  journal.boot_id = boot_id();
  save(journal);
  for (JournalEntry& entry : journal.entries) {
    outcomes.push_back(set(entry));
    // What the kernel made of it must be known to restore(), too.
    if (outcomes.back().kind == SettingOutcome::Kind::kFailed) save(journal);
    observer(outcomes.back());
  }
  journal.complete = true;
  save(journal);
  return outcomes;
}

SettingOutcome HostTuning::put_back(const JournalEntry& entry, bool overwrite) const {
  using Kind = SettingOutcome::Kind;
  SettingOutcome outcome{
      Kind::kFailed, {entry.setting.name, entry.setting.path, entry.before}, "", ""};
  const auto current = read(entry.setting.path);
  if (!current) {
    outcome.problem = std::strerror(errno);
    return outcome;
  }
  outcome.before = *current;
  if (*current == entry.before) {
    outcome.kind = Kind::kAlready;
    return outcome;
  }
  if (!overwrite && !is_ours(entry, *current)) {
    outcome.kind = Kind::kForeign;
    outcome.problem = fmt::format("is {}, which is neither {} as before nor {} as set: left alone",
                                  *current, entry.before, entry.setting.value);
    return outcome;
  }
  outcome.problem = write(entry.restore_path, entry.restore_value);
  if (!outcome.problem.empty()) return outcome;
  const auto observed = read(entry.setting.path);
  if (observed == entry.before) {
    outcome.kind = Kind::kChanged;
  } else {
    outcome.problem =
        fmt::format("did not go back: it is {} after {} was written to {}",
                    observed.value_or("unreadable"), entry.restore_value, entry.restore_path);
  }
  return outcome;
}

std::vector<SettingOutcome> HostTuning::restore(bool overwrite, const Observer& observer) const {
  using Kind = SettingOutcome::Kind;
  const FileDescriptor lock = take_lock(state_directory_);
  std::optional<TuningJournal> journal = open_journal();
  if (!journal) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("nothing to put back: there is no journal {}", journal_path()),
                "as the user who applied the settings?");
  }
  std::vector<SettingOutcome> outcomes;
  const bool rebooted = journal->boot_id != boot_id();
  std::vector<JournalEntry> left;
  for (auto entry = journal->entries.rbegin(); entry != journal->entries.rend(); ++entry) {
    if (rebooted) break;
    outcomes.push_back(put_back(*entry, overwrite));
    observer(outcomes.back());
    const Kind kind = outcomes.back().kind;
    if (kind == Kind::kFailed || kind == Kind::kForeign) left.insert(left.begin(), *entry);
  }
  if (left.empty()) {
    close_journal();
  } else {
    journal->entries = std::move(left);
    save(*journal);
  }
  return outcomes;
}

}  // namespace numabench
