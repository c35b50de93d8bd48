# shellcheck shell=bash
# A run of the numa-only arm with numa_balancing off: each node with memory has its share of the pool
# after the window, and by the kernel's own count no page has moved.
case $GUEST in
  six-nodes | memory-only | sparse-ids | hot-added) ;;
  *) echo "not a machine for it" && exit 77 ;;
esac
set -euo pipefail

migrated() { awk '$1 == "numa_pages_migrated" { print $2 }' /proc/vmstat; }

# 0-2,4 as "0 1 2 4"
expand() {
  local range
  for range in ${1//,/ }; do seq -s ' ' "${range%-*}" "${range#*-}"; done
}

balancing=$(</proc/sys/kernel/numa_balancing)
trap 'echo "$balancing" >/proc/sys/kernel/numa_balancing' EXIT
echo 0 >/proc/sys/kernel/numa_balancing
before=$(migrated)
cp -r "$SOURCE/configs/arms" .
cat >numa.yaml <<YAML
name: numa
arms: [numa-only]
workloads: {name: zipfian, fill: index_then_heap}
pools: 12MiB
ratios: 1.15
require_full_pool: true
clients: 2
regimes: page-cache
data_directory: $PWD/data
huge_pages: off
warmup: 4s
duration: 0.5s
runs: 1
YAML
"$NUMABENCH" run numa.yaml --db numa.db --no-figures >run.txt 2>&1 || { cat run.txt && exit 1; }
read -ra nodes < <(expand "$(</sys/devices/system/node/has_memory)" | xargs)
share=$((12 * 1024 * 1024 / ${#nodes[@]}))
for node in "${nodes[@]}"; do
  bytes=$(sqlite3 numa.db "SELECT CAST(value AS INTEGER) FROM value WHERE metric = 'pool_bytes_node$node'")
  echo "node $node: $bytes bytes of the pool"
  # Descriptors and the mapping come on top.
  ((bytes >= share && bytes < share + share / 10)) || { echo "not its share, $share" && exit 1; }
done
[[ $(migrated) == "$before" ]] || { echo "pages moved though numa_balancing is off" && exit 1; }
