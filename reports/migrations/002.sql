-- Schema 2: what a miss is answered from is a factor of a cell, no longer a word of the embedded
-- engine's; arms can be builds of a server, and steps of a series of patches.

ALTER TABLE cell RENAME COLUMN pages TO regime;  -- in the views too
UPDATE cell SET regime = CASE regime WHEN 'memory' THEN 'page-cache'
                                     WHEN 'direct' THEN 'real-io'
                                     ELSE regime END;

ALTER TABLE arm ADD COLUMN build_json TEXT;  -- how its server was built; NULL for an arm without sources
ALTER TABLE arm ADD COLUMN series TEXT NOT NULL DEFAULT '';  -- `series: each-prefix` it is a step of
ALTER TABLE arm ADD COLUMN series_position INTEGER NOT NULL DEFAULT 0;  -- patches in this step

ALTER TABLE experiment ADD COLUMN scale REAL NOT NULL DEFAULT 1;  -- what sizes were multiplied by
