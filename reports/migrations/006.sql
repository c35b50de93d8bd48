-- Schema 6: what `numabench probe` measured of a host; a row a pair of nodes, a number of threads or a figure
-- of the storage.

CREATE TABLE probe (
  id          INTEGER PRIMARY KEY,
  host_id     INTEGER NOT NULL REFERENCES host (id),
  measured_at TEXT NOT NULL,
  name        TEXT NOT NULL,  -- "load latency"
  unit        TEXT NOT NULL,
  from_part   TEXT NOT NULL,  -- "node 0", "4 threads", a directory
  to_part     TEXT NOT NULL,  -- "node 1"; empty where there is no other side
  value       REAL,
  reason      TEXT,           -- why there is no value
  CHECK ((value IS NULL) <> (reason IS NULL))
) STRICT;

CREATE INDEX probe_of_host ON probe (host_id);
