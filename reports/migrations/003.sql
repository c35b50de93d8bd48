-- Schema 3: a placement proof says how it was checked, and where the pool's memory really lay.

ALTER TABLE placement_proof ADD COLUMN differs TEXT NOT NULL DEFAULT '';  -- from what was expected, in words
ALTER TABLE placement_proof ADD COLUMN looks INTEGER NOT NULL DEFAULT 1;  -- how often the process was read back
ALTER TABLE placement_proof ADD COLUMN cpu_migrations INTEGER;  -- between the first and the last look
ALTER TABLE placement_proof ADD COLUMN cpu_migrations_reason TEXT NOT NULL DEFAULT '';  -- why there is no number

CREATE TABLE pool_memory (
  id         INTEGER PRIMARY KEY,
  run_id     INTEGER NOT NULL REFERENCES run (id),
  moment     TEXT NOT NULL CHECK (moment IN ('before', 'after')),  -- the measured window
  node       INTEGER NOT NULL,
  page_bytes INTEGER NOT NULL,  -- of base or huge pages
  pages      INTEGER NOT NULL
) STRICT;

CREATE INDEX pool_memory_of_run ON pool_memory (run_id);
