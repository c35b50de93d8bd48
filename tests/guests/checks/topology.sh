# shellcheck shell=bash
# `numabench topology` held against the kernel's /sys: a row for each node with its CPUs, as a table
# and as JSON.
set -euo pipefail
"$NUMABENCH" topology | tee table
"$NUMABENCH" topology --format json -o topology.json
for node in /sys/devices/system/node/node*; do
  id=${node##*/node}
  cpus=$(<"$node/cpulist")
  grep -Eq "^$id +.* ${cpus:-none}(, near .*)?\$" table ||
    { echo "the table has not node $id with CPUs '$cpus'" && exit 1; }
  tr -d ' \n' <topology.json | grep -Fq "{\"id\":$id,\"cpus\":\"$cpus\"," ||
    { echo "the JSON has not node $id with CPUs '$cpus'" && exit 1; }
done
