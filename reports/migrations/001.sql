-- Schema 1: every run of every experiment, raw and for ever.
--
-- Conventions: absent numbers are NULL, with a reason where a column says so; times of day are UTC in
-- ISO 8601, for people; durations are seconds of a monotonic clock; seeds are unsigned 64-bit numbers,
-- which an INTEGER column cannot hold, and so are decimal text.

CREATE TABLE host (
  id            INTEGER PRIMARY KEY,
  hostname      TEXT NOT NULL,
  snapshot_json TEXT NOT NULL,  -- whatever can explain a number: kernel, governor, mounts, ...
  topology_xml  TEXT NOT NULL   -- hwloc's
) STRICT;

CREATE TABLE experiment (
  id            INTEGER PRIMARY KEY,
  name          TEXT NOT NULL,  -- not unique: a rerun is a new experiment
  engine        TEXT NOT NULL,
  baseline_arm  TEXT NOT NULL,
  source_text   TEXT NOT NULL,  -- as its author wrote it
  expanded_text TEXT NOT NULL,  -- canonical YAML, every value resolved
  config_hash   TEXT NOT NULL,  -- SHA-256 of expanded_text
  seed          TEXT NOT NULL CHECK (seed <> '' AND seed NOT GLOB '*[^0-9]*'),
  runs_per_cell INTEGER NOT NULL,  -- as planned
  smoke         INTEGER NOT NULL CHECK (smoke IN (0, 1)),
  notes         TEXT NOT NULL,
  started_at    TEXT NOT NULL,
  software      TEXT NOT NULL,  -- version, commit, build type and compiler of numabench
  host_id       INTEGER NOT NULL REFERENCES host (id)
) STRICT;

CREATE TABLE arm (
  id            INTEGER PRIMARY KEY,
  experiment_id INTEGER NOT NULL REFERENCES experiment (id),
  name          TEXT NOT NULL,
  description   TEXT NOT NULL,
  definition    TEXT NOT NULL,  -- canonical text of everything that makes the arm what it is
  UNIQUE (experiment_id, name)
) STRICT;

CREATE TABLE cell (
  id                  INTEGER PRIMARY KEY,
  experiment_id       INTEGER NOT NULL REFERENCES experiment (id),
  hash                TEXT NOT NULL,
  group_hash          TEXT NOT NULL,     -- of everything but the arm
  position            INTEGER NOT NULL,  -- in the plan
  arm                 TEXT NOT NULL,
  workload            TEXT NOT NULL,
  workload_parameters TEXT NOT NULL,
  placement           TEXT NOT NULL,
  pages               TEXT NOT NULL,
  pool_bytes          INTEGER NOT NULL CHECK (pool_bytes >= 0),
  working_set_bytes   INTEGER NOT NULL CHECK (working_set_bytes >= 0),
  ratio               REAL NOT NULL,     -- as asked
  clients             INTEGER NOT NULL,
  UNIQUE (experiment_id, hash),
  UNIQUE (experiment_id, group_hash, arm),
  FOREIGN KEY (experiment_id, arm) REFERENCES arm (experiment_id, name)
) STRICT;

CREATE TABLE run (
  id               INTEGER PRIMARY KEY,
  cell_id          INTEGER NOT NULL REFERENCES cell (id),
  repetition       INTEGER NOT NULL,  -- from 1
  run_order        INTEGER NOT NULL,  -- position in the whole plan, from 1
  block            INTEGER NOT NULL,
  block_position   INTEGER NOT NULL,
  seed             TEXT NOT NULL CHECK (seed <> '' AND seed NOT GLOB '*[^0-9]*'),
  status           TEXT NOT NULL CHECK (status IN ('ok', 'failed', 'void', 'interrupted')),
  reason           TEXT CHECK ((reason IS NULL) = (status = 'ok')),
  started_at       TEXT NOT NULL,
  duration_seconds REAL NOT NULL
) STRICT;

CREATE INDEX run_of_cell ON run (cell_id);

-- A repetition that went wrong is repeated under its number, and counts once: two processes that
-- resume the same experiment cannot both contribute it.
CREATE UNIQUE INDEX repetition_counts_once ON run (cell_id, repetition) WHERE status = 'ok';

-- What a number meant to the numabench that first measured it.
CREATE TABLE metric (
  name        TEXT PRIMARY KEY,
  unit        TEXT NOT NULL,
  better      TEXT NOT NULL CHECK (better IN ('higher', 'lower', 'none')),
  description TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE value (
  run_id INTEGER NOT NULL REFERENCES run (id),
  metric TEXT NOT NULL REFERENCES metric (name),
  value  REAL,
  reason TEXT,  -- why there is no value
  PRIMARY KEY (run_id, metric),
  CHECK ((value IS NULL) <> (reason IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE sample (
  id     INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id),
  t      REAL NOT NULL,  -- seconds since the start of the window
  metric TEXT NOT NULL REFERENCES metric (name),
  value  REAL            -- NULL is a gap in the series
) STRICT;

CREATE INDEX sample_of_run ON sample (run_id);

CREATE TABLE event (
  id       INTEGER PRIMARY KEY,
  run_id   INTEGER NOT NULL REFERENCES run (id),
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'error')),
  text     TEXT NOT NULL
) STRICT;

CREATE INDEX event_of_run ON event (run_id);

CREATE TABLE placement_proof (
  id       INTEGER PRIMARY KEY,
  run_id   INTEGER NOT NULL REFERENCES run (id),
  role     TEXT NOT NULL,
  pid      INTEGER NOT NULL,
  expected TEXT NOT NULL,
  observed TEXT NOT NULL
) STRICT;

CREATE INDEX placement_proof_of_run ON placement_proof (run_id);

-- Compressed as sqlite3's sqlar is, so that its command line can read one back:
--   SELECT sqlar_uncompress(bytes, size_bytes) FROM artifact;
CREATE TABLE artifact (
  id         INTEGER PRIMARY KEY,
  run_id     INTEGER NOT NULL REFERENCES run (id),
  name       TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,  -- uncompressed
  bytes      BLOB NOT NULL,     -- zlib stream, or as it is where that would not be shorter
  UNIQUE (run_id, name)
) STRICT;

-- The runs of a cell that count, metric by metric; `runs` counts those with a value, and with none the
-- other columns are NULL. The median of an even number of runs is the mean of the two middle ones.
-- Partitioned by experiment too, so that asking for one does not rank the whole file.
CREATE VIEW median AS
WITH ranked AS (
  SELECT cell.experiment_id, run.cell_id, value.metric, value.value,
         count(value.value) OVER alike AS runs,
         min(value.value) OVER alike AS minimum,
         max(value.value) OVER alike AS maximum,
         row_number() OVER ascending AS place,
         lead(value.value) OVER ascending AS next_value
  FROM cell
  JOIN run ON run.cell_id = cell.id AND run.status = 'ok'
  JOIN value ON value.run_id = run.id
  WINDOW alike AS (PARTITION BY cell.experiment_id, run.cell_id, value.metric),
         ascending AS (PARTITION BY cell.experiment_id, run.cell_id, value.metric
                       ORDER BY value.value NULLS LAST)
)
SELECT experiment_id, cell_id, metric, runs,
       iif(runs % 2 = 1, value, (value + next_value) / 2) AS median,
       minimum, maximum
FROM ranked
WHERE place = max(1, (runs + 1) / 2);

-- Each cell's medians beside those of the baseline arm in the same group. `percent` of equal medians
-- is exactly 100; it is NULL without a median on either side and for a baseline of 0. A group has one cell of
-- an arm, so that max() picks the baseline's median; joining the view with itself would take time
-- quadratic in the number of cells.
CREATE VIEW comparison AS
WITH beside_baseline AS (
  SELECT cell.experiment_id, cell.group_hash, cell.id AS cell_id,
         cell.workload, cell.placement, cell.pages, cell.pool_bytes, cell.ratio, cell.clients,
         cell.arm, experiment.baseline_arm,
         median.metric, metric.unit, metric.better,
         median.runs, median.median, median.minimum, median.maximum,
         max(median.median) FILTER (WHERE cell.arm = experiment.baseline_arm)
           OVER (PARTITION BY cell.experiment_id, cell.group_hash, median.metric)
           AS baseline_median
  FROM median
  JOIN cell ON cell.id = median.cell_id AND cell.experiment_id = median.experiment_id
  JOIN experiment ON experiment.id = cell.experiment_id
  JOIN metric ON metric.name = median.metric
)
SELECT *, 100.0 * (median / baseline_median) AS percent
FROM beside_baseline;
