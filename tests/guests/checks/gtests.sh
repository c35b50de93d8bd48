# shellcheck shell=bash
# The gtests that need several nodes, or huge pages, or a kernel to hold a topology against.
set -uo pipefail
# reserve COUNT: so many huge pages on each node that can have them.
reserve() {
  local pages
  for pages in /sys/devices/system/node/node*/hugepages/hugepages-2048kB/nr_hugepages; do
    echo "$1" >"$pages" 2>/dev/null || echo "none for $pages"
  done
}

reserve 10
trap 'reserve 0' EXIT
failed=0
for tests in hosts_test runner_engines_embedded_test runner_test; do
  "$BUILD/tests/$tests" --gtest_filter='*OnManyNodes*:HugeRegion*:TopologyOfThisHost*' \
    --gtest_brief=1 || failed=1
done
exit "$failed"
