# shellcheck shell=bash
# The doctor on a real kernel of two nodes: what it finds, sets, puts back, also after kill -9.
# The truth is the kernel's files, read by cat.
[[ $GUEST == two-nodes ]] || { echo "two-nodes only"; exit 77; }
set -u

vm=/proc/sys/vm
node=/sys/devices/system/node
files=(/proc/sys/kernel/numa_balancing "$vm"/{swappiness,zone_reclaim_mode}
       "$vm"/dirty_{background_bytes,background_ratio,bytes,ratio}
       /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/mm/transparent_hugepage/shmem_enabled
       "$node"/node{0,1}/hugepages/hugepages-2048kB/nr_hugepages)
state() { head -n 1 "${files[@]}"; }
fail() { echo "FAILED: $1"; exit 1; }
has() { [[ $1 == *"$2"* ]] || fail "no '$2' in: $1"; }

cat > it.yaml <<'YAML'
name: it
arms: [{name: stock}]
workloads: zipfian
pools: 192MiB
ratios: 1.15
clients: 2
huge_pages: on
host_checks: enforce
host_settings: {swappiness: 7, dirty_bytes: 67108864, dirty_background_bytes: 33554432}
runs: 1
warmup: 0.1s
duration: 0.1s
YAML
echo always > /sys/kernel/mm/transparent_hugepage/enabled
echo 1 > $vm/zone_reclaim_mode
before=$(state)

echo "== before"
sheet=$($NUMABENCH doctor it.yaml) || fail "doctor"
grep -E '^(red|warn)' <<< "$sheet"
for line in 'red   numa balancing' 'red   transparent huge pages' 'red   huge pages node 0' \
            'red   huge pages node 1' 'warn  zone reclaim mode' 'warn  swappiness' \
            'red   virtualisation'; do
  has "$sheet" "$line"
done
refusal=$($NUMABENCH run it.yaml --no-figures 2>&1) && fail "run on an unfit host"
has "$refusal" "not fit for experiment 'it'"
has "$refusal" "numa balancing 1 (wanted: 0)"
[[ $before == "$(state)" ]] || fail "doctor changed something"

echo "== apply"
$NUMABENCH doctor it.yaml --apply || fail "apply"
applied=$(state)
for line in $'numa_balancing <==\n0' $'swappiness <==\n7' $'dirty_bytes <==\n67108864' \
            $'dirty_ratio <==\n0' $'zone_reclaim_mode <==\n0' 'madvise [never]'; do
  has "$applied" "$line"
done
for i in 0 1; do  # 48 pages hold a node's half; one more for the byte that rounds it up
  pages=$(< $node/node$i/hugepages/hugepages-2048kB/free_hugepages)
  ((pages >= 48)) || fail "$pages huge pages free on node $i"
done
has "$($NUMABENCH topology 2>&1 > /dev/null)" "doctor --restore puts them back"
$NUMABENCH doctor it.yaml --apply 2> again.txt && fail "a second journal"
has "$(< again.txt)" "still in place"

echo "== after"
sheet=$($NUMABENCH doctor it.yaml)
grep -E '^(red|warn)' <<< "$sheet"
[[ $sheet != *'red   numa balancing'* ]] || fail "numa balancing is still red"
run=$($NUMABENCH run it.yaml --force --no-figures 2> run.txt) || fail "run --force: $(< run.txt)"
has "$run" "not fit to publish: virtualisation"

echo "== restore"
$NUMABENCH doctor --restore || fail "restore"
[[ $before == "$(state)" ]] || fail "not put back: $(diff <(echo "$before") <(state))"
[[ -z $($NUMABENCH topology 2>&1 > /dev/null) ]] || fail "a journal is left"

echo "== kill -9"
journal=/var/lib/numabench/tuning.json
reached() {
  case $1 in
    journal) [[ -e $journal ]] ;;
    balancing) [[ $(< /proc/sys/kernel/numa_balancing) == 0 ]] ;;
    pages) (($(< "$node/node0/hugepages/hugepages-2048kB/nr_hugepages") > 0)) ;;
    swappiness) [[ $(< "$vm/swappiness") == 7 ]] ;;
  esac
}
for point in journal balancing pages swappiness; do
  $NUMABENCH doctor it.yaml --apply > /dev/null 2>&1 &
  apply=$!
  until reached "$point" || ! kill -0 "$apply" 2> /dev/null; do :; done
  kill -9 "$apply" 2> /dev/null
  wait "$apply" 2> /dev/null
  complete=$(grep -o '"complete": [a-z]*' "$journal") || fail "no journal after $point"
  echo "killed at $point: $complete"
  has "$($NUMABENCH topology 2>&1 > /dev/null)" "numabench doctor --restore"
  $NUMABENCH doctor --restore > /dev/null || fail "restore after kill -9"
  [[ ! -e $journal ]] || fail "the journal is left"
  [[ $before == "$(state)" ]] || fail "not put back: $(diff <(echo "$before") <(state))"
done

echo "== somebody else's change"
$NUMABENCH doctor it.yaml --apply > /dev/null || fail "apply"
echo 33 > $vm/swappiness
$NUMABENCH doctor --restore && fail "overwrote another's change"
[[ $(< $vm/swappiness) == 33 ]] || fail "swappiness is $(< $vm/swappiness)"
$NUMABENCH doctor --restore --force || fail "restore --force"
[[ $before == "$(state)" ]] || fail "not put back: $(diff <(echo "$before") <(state))"

echo "== more huge pages than there is memory"
$NUMABENCH doctor it.yaml --set pools=8GiB --apply > cut.txt 2>&1 && fail "a cut was taken for done"
has "$(< cut.txt)" "did not take"
grep 'did not take' cut.txt
$NUMABENCH doctor --restore > /dev/null || fail "restore after a cut"
[[ $before == "$(state)" ]] || fail "not put back: $(diff <(echo "$before") <(state))"
