// A workload as a PostgreSQL server sees it: the tables to load and the pgbench scripts to run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workloads/workload.h"

namespace numabench {

/// A table with the columns of pgbench_accounts: aid int, bid int, abalance int, filler char(84);
/// aid runs from 1 to `rows` in physical order, fillfactor 100.
struct SqlTable {
  std::string name;
  std::uint64_t rows = 0;
  int partitions = 1;  ///< by ranges of aid of equal size; 1: not partitioned
  bool primary_key = true;
};

/// A script as pgbench takes it by -f.
struct SqlScript {
  std::string name;  ///< "zipfian.pgb": for the file and for errors
  std::string text;
  int weight = 1;
};

/// What one pgbench process does.
struct SqlRole {
  std::string name;  ///< "clients" or "scanners": also the name of its placement
  Role::Kind kind = Role::Kind::kPoint;
  int clients = 0;
  std::vector<SqlScript> scripts;
  std::map<std::string, std::string> variables;  ///< -D name=value
  std::map<std::string, std::string> settings;   ///< of its sessions: {"enable_seqscan", "off"}
  double rate = 0;       ///< transactions a second of all its clients; 0: unlimited
  int transactions = 0;  ///< of each client, after which it ends; 0: until the window ends
  /// Buffers that a transaction asks for on average, to the nearest; 0: not known.
  int pages_per_transaction = 0;
};

struct SqlWorkload {
  std::vector<SqlTable> tables;
  /// Executed once after `tables` are loaded: further tables, indexes. Part of the dataset.
  std::vector<std::string> setup;
  /// Tables whose size, with their indexes and partitions, is the measured working set.
  std::vector<std::string> working_set;
  std::vector<SqlRole> roles;
  bool writes = false;  ///< the data directory is cloned for each run, so that none sees another's
  /// What one session reads into the pool before the warm-up (pg_prewarm); kCold: nothing, the
  /// server has just been started. kRandom is not possible here: sql() refuses it.
  FillOrder fill = FillOrder::kCold;
  bool partitioned_scan = false;  ///< scans must not use rings: checked with pg_stat_io
};

}  // namespace numabench
