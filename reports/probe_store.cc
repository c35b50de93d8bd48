#include "reports/probe_store.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <memory>

#include "reports/store_file.h"

namespace numabench {

void add_probes(const std::string& path, std::int64_t host_id, const std::string& measured_at,
                const std::vector<ProbeRecord>& probes) {
  const std::unique_ptr<SQLite::Database> database = open_store_for_writing(path);
  with_store_errors(path, [&] {
    SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement statement(*database,
                                "INSERT INTO probe (host_id, measured_at, name, unit, from_part,"
                                " to_part, value, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    for (const ProbeRecord& probe : probes) {
      statement.reset();
      statement.bind(1, host_id);
      statement.bind(2, measured_at);
      statement.bind(3, probe.name);
      statement.bind(4, probe.unit);
      statement.bind(5, probe.from_part);
      statement.bind(6, probe.to_part);
      if (probe.value) {
        statement.bind(7, *probe.value);
        statement.bind(8);
      } else {
        statement.bind(7);
        statement.bind(8, probe.reason);
      }
      statement.exec();
    }
    transaction.commit();
  });
}

std::vector<ProbeRecord> read_probes(const std::string& path, std::int64_t host_id) {
  const std::unique_ptr<SQLite::Database> database = open_store_for_reading(path);
  return with_store_errors(path, [&] {
    std::vector<ProbeRecord> probes;
    SQLite::Statement row(*database,
                          "SELECT name, unit, from_part, to_part, value, reason FROM probe"
                          " WHERE host_id = ? ORDER BY id");
    row.bind(1, host_id);
    while (row.executeStep()) {
      ProbeRecord& probe = probes.emplace_back();
      probe.name = row.getColumn(0).getString();
      probe.unit = row.getColumn(1).getString();
      probe.from_part = row.getColumn(2).getString();
      probe.to_part = row.getColumn(3).getString();
      if (!row.getColumn(4).isNull()) probe.value = row.getColumn(4).getDouble();
      if (!row.getColumn(5).isNull()) probe.reason = row.getColumn(5).getString();
    }
    return probes;
  });
}

}  // namespace numabench
