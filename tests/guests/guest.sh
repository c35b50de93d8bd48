#!/usr/bin/env bash
# Runs a command in a guest: a virtual machine with a made-up NUMA topology whose files are this
# machine's, except that what it writes is gone at its end.
#
#   guest.sh [--limit SECONDS] [--share FOLDER] [--kernel 'ARGUMENTS'] MACHINE COMMAND [ARGUMENT...]
#   guest.sh two-nodes numactl -H
#
# MACHINE is the name of a file in machines/, or the path of another. The command runs as root in the
# current directory; its output is printed when the guest has ended, and its exit status is returned:
# 124 when the limit of 300 seconds was reached, 125 when there was no guest. What it writes to the
# FOLDER of --share stays. A guest that never came to the command is started anew, twice.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  sed -n '2,/^set/ s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 125
}

die() {
  printf 'guest.sh: %s\n' "$*" >&2
  exit 125
}

# Sets `topology` and `memory`, QEMU's arguments, from what the machine's file says.
describe_topology() {
  local node cpus mib next_cpu=0 total_mib=0 nodes_with_cpus=0 hotplug_mib numa
  topology=()
  for node in "${!nodes[@]}"; do
    cpus=${nodes[node]%:*} mib=${nodes[node]#*:} numa=node,nodeid=$node
    if ((cpus > 0)); then
      numa+=,cpus=$next_cpu-$((next_cpu + cpus - 1))
      nodes_with_cpus=$((nodes_with_cpus + 1))
      next_cpu=$((next_cpu + cpus))
    fi
    if ((mib > 0)); then
      topology+=(-object "memory-backend-ram,id=memory$node,size=${mib}M")
      numa+=,memdev=memory$node
      total_mib=$((total_mib + mib))
    fi
    topology+=(-numa "$numa")
  done
  describe_distances
  local sockets=${packages:-$nodes_with_cpus}
  local cores=$((next_cpu / sockets / dies / threads))
  topology+=(-smp "$next_cpu,sockets=$sockets,dies=$dies,cores=$cores,threads=$threads")
  memory=(-m "${total_mib}M")
  [[ -n $hotplug ]] || return 0
  hotplug_mib=${hotplug#*:}
  memory=(-m "${total_mib}M,slots=1,maxmem=$((total_mib + hotplug_mib))M"
    -object "memory-backend-ram,id=plugged,size=${hotplug_mib}M"
    -device "pc-dimm,memdev=plugged,node=${hotplug%:*}")
}

# A row of distances for each node; without any, 10 and 21 as QEMU would have it, except that QEMU
# then leaves them out.
describe_distances() {
  local from to row
  for from in "${!nodes[@]}"; do
    read -ra row <<<"${distances[from]:-}"
    for to in "${!nodes[@]}"; do
      ((from == to)) || topology+=(-numa "dist,src=$from,dst=$to,val=${row[to]:-21}")
    done
  done
}

# A guest that measures the speed of its own clock on a busy machine can be wrong tenfold.
clock_arguments() {
  local khz
  khz=$(awk '/^cpu MHz/ { print int($4 * 1000); exit }' /proc/cpuinfo)
  # Only a virtual machine's /proc/cpuinfo has the clock's own speed and not the CPU's of this moment.
  if grep -qw hypervisor /proc/cpuinfo && ((${khz:-0} > 0)); then
    echo "tsc=reliable tsc_early_khz=$khz"
  else
    echo "tsc=unstable clocksource=hpet"
  fi
}

# make_initrd KERNEL FILE: what a guest starts with.
make_initrd() {
  local tree=$work/initrd.tree
  mkdir -p "$tree"/{bin,proc,sys,dev,host,guest,writes,root}
  cp "$(command -v busybox)" "$tree/bin/busybox"
  cp -r "$1/drivers" "$tree/drivers"
  install -m 755 "$here/initramfs.sh" "$tree/init"
  (cd "$tree" && find . | cpio --create --format=newc --owner=0:0 --quiet) >"$2"
}

# boot KERNEL: in place of this shell, until the guest has ended.
boot() {
  local firmware=()
  [[ -r /usr/share/qemu/qboot.rom ]] && firmware=(-bios qboot.rom)
  exec timeout --foreground --signal=KILL "$limit" qemu-system-x86_64 \
    -machine q35 -accel tcg,thread=multi,tb-size=256 -cpu "$cpu" "${firmware[@]}" \
    "${memory[@]}" "${topology[@]}" \
    -nodefaults -no-user-config -display none -no-reboot -serial "file:$work/console" \
    -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
    -virtfs "local,path=$work/guest,mount_tag=guest,security_model=none" \
    "${shares[@]}" \
    -kernel "$1/vmlinux" -initrd "$work/initrd" \
    -append "console=ttyS0 quiet panic=-1 oops=panic mitigations=off nokaslr random.trust_cpu=on \
no_timer_check lpj=4000000 cryptomgr.notests=1 rcupdate.rcu_expedited=1 $(clock_arguments) \
$kernel_arguments"
}

# await_start PID: until the guest has come to its command, or QEMU has ended; ends it after the time
# that the busiest machine needs to boot.
await_start() {
  local seconds
  for ((seconds = 0; seconds < 180; seconds++)); do
    [[ ! -e $work/guest/started ]] && kill -0 "$1" 2>/dev/null || return 0
    sleep 1
  done
  kill "$1" 2>/dev/null || :
}

limit=300 shares=() more_kernel_arguments='' shared_folder=''
while [[ ${1:-} == --* && $# -ge 2 ]]; do
  case $1 in
    --limit) limit=$2 ;;
    --kernel) more_kernel_arguments=$2 ;;
    --share) shared_folder=$(realpath "$2") ;;
    *) usage ;;
  esac
  shift 2
done
[[ $# -ge 2 && $1 != --* ]] || usage
machine=$1
shift
[[ $machine == */* ]] || machine=$here/machines/$machine.sh
[[ -r $machine ]] || die "no machine $machine; known: $(basename -as .sh "$here"/machines/* | xargs)"
command -v qemu-system-x86_64 >/dev/null || die "no qemu-system-x86_64: hosts/install_packages.sh test"

# What the guest is told, and what it leaves.
work=$(mktemp -d)
qemu=
trap 'if [[ -n $qemu ]]; then kill "$qemu" 2>/dev/null || :; fi; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/guest"
cat "$here/machine.sh" "$machine" >"$work/guest/machine"
# shellcheck source=tests/guests/machine.sh
. "$work/guest/machine"
kernel_arguments+=" $more_kernel_arguments"
basename -s .sh "$machine" >"$work/guest/name"
printf '%s\0' "$@" >"$work/guest/command"
pwd >"$work/guest/working_directory"
echo "$here" >"$work/guest/source"
if [[ -n $shared_folder ]]; then
  echo "$shared_folder" >"$work/guest/shared_folder"
  shares=(-virtfs "local,path=$shared_folder,mount_tag=share,security_model=none,multidevs=remap")
fi

describe_topology
kernel=$("$here/kernel.sh")
make_initrd "$kernel" "$work/initrd"
for attempt in 1 2 3; do
  boot "$kernel" </dev/null >"$work/qemu.log" 2>&1 &
  qemu=$!
  await_start "$qemu"
  ended=0
  wait "$qemu" 2>/dev/null || ended=$?
  [[ ! -e $work/guest/started ]] || break
  printf 'guest.sh: %s did not start, attempt %s; its console ends:\n' "$(basename "$machine")" "$attempt" >&2
  tail -n 5 "$work/qemu.log" "$work/console" >&2 2>/dev/null || :
done
cat "$work/guest/stdout" 2>/dev/null || :
cat "$work/guest/stderr" >&2 2>/dev/null || :
if [[ ! -s $work/guest/status ]]; then
  printf 'guest.sh: no status from %s; its console:\n' "$(basename "$machine")" >&2
  cat "$work/qemu.log" >&2
  tail -n 40 "$work/console" >&2 2>/dev/null || :
  # timeout(1) that had to kill says 137.
  ((ended == 137)) && exit 124
  exit 125
fi
exit "$(<"$work/guest/status")"
