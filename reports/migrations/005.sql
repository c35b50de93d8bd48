-- Schema 5: an event can be of a time in the window; an experiment's first run can be repeated at its end,
-- as repetition 0, to show drift: it is no repetition of its cell and never enters a median.

ALTER TABLE event ADD COLUMN t REAL;  -- seconds since the start of the window; NULL: of no one time

DROP VIEW median;
CREATE VIEW median AS
WITH ranked AS (
  SELECT cell.experiment_id, run.cell_id, value.metric, value.value,
         count(value.value) OVER alike AS runs,
         min(value.value) OVER alike AS minimum,
         max(value.value) OVER alike AS maximum,
         row_number() OVER ascending AS place,
         lead(value.value) OVER ascending AS next_value
  FROM cell
  JOIN run ON run.cell_id = cell.id AND run.status = 'ok' AND run.repetition > 0
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
