-- Schema 4: what verdicts need to know of the runs. The verdicts themselves are never stored.

ALTER TABLE arm ADD COLUMN copy_of TEXT NOT NULL DEFAULT '';  -- the arm that this is a second copy of (A/A)
ALTER TABLE run ADD COLUMN addition INTEGER NOT NULL DEFAULT 0;  -- round of --add-runs; 0: of the plan

-- Each run beside the baseline arm's of the same repetition in the same group: the pairs that verdicts
-- are made from. NULL beside a baseline of 0.
CREATE VIEW paired_ratio AS
SELECT cell.experiment_id, cell.group_hash, cell.id AS cell_id, cell.arm, value.metric,
       run.repetition, run.addition, value.value, baseline_value.value AS baseline_value,
       value.value / baseline_value.value AS ratio
FROM run
JOIN cell ON cell.id = run.cell_id
JOIN experiment ON experiment.id = cell.experiment_id
JOIN cell AS baseline_cell ON baseline_cell.experiment_id = cell.experiment_id
                          AND baseline_cell.group_hash = cell.group_hash
                          AND baseline_cell.arm = experiment.baseline_arm
JOIN run AS baseline_run ON baseline_run.cell_id = baseline_cell.id
                        AND baseline_run.repetition = run.repetition
                        AND baseline_run.status = 'ok'
JOIN value ON value.run_id = run.id AND value.value IS NOT NULL
JOIN value AS baseline_value ON baseline_value.run_id = baseline_run.id
                            AND baseline_value.metric = value.metric
                            AND baseline_value.value IS NOT NULL
WHERE run.status = 'ok' AND cell.arm <> experiment.baseline_arm AND run.repetition > 0;
