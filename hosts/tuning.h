// Changes settings of the host through a journal on disk, and puts back exactly what was there,
// also after a kill -9 or a crash in the middle.
//
// Start here: `apply()` writes the journal with all old values, durably, before the first change;
// `restore()` needs nothing but the journal. A value that somebody else has changed meanwhile is
// reported and left alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace numabench {

/// A one-value file of /proc or /sys and the value wanted in it.
struct HostSetting {
  std::string name;  ///< "numa balancing"; for people
  std::string path;
  std::string value;
};

/// One file of a journal.
struct JournalEntry {
  HostSetting setting;   ///< as asked for
  std::string before;    ///< its value then
  std::string observed;  ///< read back after the change; empty while that is not known
  /// What brings `before` back: another file for vm.dirty_bytes, which the kernel sets to 0 when
  /// vm.dirty_ratio is written, and in no other way.
  std::string restore_path;
  std::string restore_value;
};

struct TuningJournal {
  std::string started_at;  ///< UTC, ISO 8601
  std::string boot_id;     ///< of the kernel: settings do not outlive it
  bool complete = false;   ///< apply() came to its end
  std::vector<JournalEntry> entries;
};

/// What became of one setting.
struct SettingOutcome {
  enum class Kind {
    kChanged,  ///< and read back
    kAlready,  ///< it had the value
    kFailed,   ///< could not be read or written, or did not take
    kForeign,  ///< of restore(): neither the old value nor ours, so somebody else's
  };
  Kind kind = Kind::kFailed;
  HostSetting setting;  ///< with the value that was to be set
  std::string before;
  std::string problem;  ///< of kFailed and kForeign
};

class HostTuning {
 public:
  /// `root` is put before the paths of all settings; tests pass a directory of their own.
  explicit HostTuning(std::string state_directory, std::string root = "");

  /// $XDG_STATE_HOME/numabench where that is set, else /var/lib/numabench for root and
  /// ~/.local/state/numabench for others.
  static std::string default_state_directory();

  /// nullopt when nothing is to be put back. Throws Error(kPreflight) for a file that is no
  /// journal.
  std::optional<TuningJournal> open_journal() const;
  std::string journal_path() const;
  /// True while another process is in apply() or restore().
  bool is_locked() const;

  using Observer = std::function<void(const SettingOutcome&)>;
  /// In the order given; hears of each setting as soon as it is done. A failed one does not keep
  /// the others from being set. Throws Error(kPreflight) when a journal is open already, another
  /// process holds the lock, or the journal cannot be written; nothing is changed then.
  std::vector<SettingOutcome> apply(const std::vector<HostSetting>& settings,
                                    const Observer& observer) const;

  /// Puts everything back, in reverse order. What could not be put back stays in the journal. With
  /// `overwrite`, also what somebody else has changed. Throws Error(kPreflight) when no journal is
  /// open or another process holds the lock. After a reboot nothing is written: the kernel began
  /// with its own values.
  std::vector<SettingOutcome> restore(bool overwrite, const Observer& observer) const;

 private:
  std::optional<std::string> read(const std::string& path) const;
  std::string write(const std::string& path, const std::string& value) const;
  std::string boot_id() const;
  std::optional<JournalEntry> plan(const HostSetting& setting, SettingOutcome& outcome) const;
  SettingOutcome set(JournalEntry& entry) const;
  SettingOutcome put_back(const JournalEntry& entry, bool overwrite) const;
  void save(const TuningJournal& journal) const;
  void close_journal() const;

  std::string state_directory_;
  std::string root_;
};

}  // namespace numabench
