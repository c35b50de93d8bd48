# shellcheck shell=bash
# The installed PostgreSQL bound to node 0, then interleaved: its numa_maps, read beside the run, have
# the policy and the pages.
[[ $GUEST == two-nodes ]] || { echo "two-nodes only" && exit 77; }
[[ -x /usr/lib/postgresql/15/bin/postgres ]] || { echo "no package postgresql-15" && exit 77; }
set -euo pipefail

# The policy and the pages per node of the shared buffers, as the kernel lists them of the postmaster.
watch_pool() {
  local postmaster
  while sleep 1; do
    postmaster=$(pgrep -o -x postgres) || continue
    grep -h '/dev/zero' "/proc/$postmaster/numa_maps" 2>/dev/null || :
  done
}

cat >pg.yaml <<'YAML'
name: pg
engine: postgres
arms:
  - {name: installed, source: {bindir: /usr/lib/postgresql/15/bin}}
workloads: zipfian
pools: 32MiB
ratios: 1.15
clients: 2
huge_pages: off
placements:
  - {name: bound, server: {cpunodebind: 0, membind: 0}, clients: {cpunodebind: 1}}
  - {name: interleaved, server: {interleave: all}}
warmup: 1s
duration: 3s
runs: 1
YAML
watch_pool >maps.txt &
watcher=$!
trap 'kill "$watcher"' EXIT
"$NUMABENCH" run pg.yaml --db pg.db --no-figures >run.txt 2>&1 || { cat run.txt && exit 1; }
"$NUMABENCH" report pg.db --proof
sort maps.txt | uniq -c | sort -rn | head -n 20
grep ' bind:0 ' maps.txt | grep -q ' N0=' || { echo "no pool bound to node 0" && exit 1; }
! grep ' bind:0 ' maps.txt | grep -q ' N1=' || { echo "a bound pool has pages on node 1" && exit 1; }
# Of the fullest pool both nodes have a half, give or take a tenth.
awk '/ interleave:0-1 / {
    for (i = 1; i <= NF; i++) if (split($i, part, "=") == 2) pages[part[1]] = part[2]
    if (pages["N0"] + pages["N1"] > all) { all = pages["N0"] + pages["N1"]; first = pages["N0"] }
  }
  END { exit !(all > 0 && first > 0.45 * all && first < 0.55 * all) }' maps.txt ||
  { echo "no interleaved pool, or not by halves" && exit 1; }
