# shellcheck shell=bash
# Placements as a user meets them: refused at plan time by what each machine has not, and proved.
set -uo pipefail
failed=0
mkdir data

config='name: t
arms: {name: stock}
workloads: zipfian
pools: 16MiB
ratios: 0.5
clients: 2
huge_pages: off
regimes: page-cache
data_directory: data
warmup: 0.1s
duration: 1s
runs: 1
'

# plan 'PLACEMENT': its output, and its status.
plan() {
  printf '%splacements: [{name: p, %s}]\n' "$config" "$1" >placement.yaml
  "$NUMABENCH" plan placement.yaml 2>&1
}

# refuses 'PLACEMENT' 'TEXT': planning ends with exit code 3 and a message with TEXT in it.
refuses() {
  local output status
  output=$(plan "$1")
  status=$?
  echo "$output"
  [[ $status -eq 3 && $output == *"$2"* ]] && return
  echo "^ exit code $status instead of 3, or without: $2"
  failed=1
}

# notes 'PLACEMENT' 'TEXT': planning succeeds and says TEXT.
notes() {
  local output status
  output=$(plan "$1")
  status=$?
  tail -n 1 <<<"$output"
  [[ $status -eq 0 && $output == *"$2"* ]] && return
  echo "^ exit code $status instead of 0, or without: $2"
  failed=1
}

refuses 'server: {membind: 7}' 'there is no node 7'
refuses 'server: {interleave: +9}' 'there is no node with memory +9'
refuses 'server: {weighted_interleave: all}' 'it needs Linux 6.9, this is 6.1'
case $GUEST in
  cpu-only)
    notes 'server: {cpunodebind: 0}' 'node 0 has no memory: that of CPUs'
    notes 'server: {interleave: all}' 'leaves out node 0, without memory'
    refuses 'server: {membind: 0}' 'node 0 has no memory; allowed nodes with memory:'
    ;;
  memory-only) refuses 'server: {cpunodebind: 2}' 'node 2 has no CPUs; nodes with CPUs: 0-1' ;;
  sparse-ids) refuses 'server: {membind: 1}' 'there is no node 1; allowed nodes with memory: 0,2' ;;
  offline-cpu) refuses 'clients: {physcpubind: 3}' 'CPU 3 is offline; allowed CPUs: 0-2' ;;
  cpuset)
    refuses 'clients: {physcpubind: 0-2}' 'CPU 0 is not allowed for this process (cpuset); allowed CPUs: 2-4'
    refuses 'server: {membind: 0}' 'node 0 is not allowed for this process (cpuset); allowed nodes with memory: 1-2'
    ;;
  two-nodes)
    plan 'server: {cpunodebind: 0, membind: 0, touch: true}, clients: {cpunodebind: 1, spread: nodes}' >plan.txt || cat plan.txt
    "$NUMABENCH" run placement.yaml --db t.db --no-figures >run.txt || cat run.txt
    "$NUMABENCH" report t.db --proof | tee proof.txt || failed=1
    grep -Eq 'server +1 +cpus 0-1, bind 0, touch +cpus 0-1, bind:0 ' proof.txt || failed=1
    grep -Eq 'clients +2 +cpus 2-3 \(one each\) +cpus 2-3 \(one each\), default ' proof.txt || failed=1
    grep -Eq '^  pool after the window: node 0 [0-9.]+ MiB in [0-9,]+ pages of 4 KiB(, node 1 [0-9]+ KiB in [0-9]+ pages of 4 KiB)?$' proof.txt || failed=1
    ;;
esac
exit "$failed"
