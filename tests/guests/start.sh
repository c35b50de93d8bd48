#!/usr/bin/env bash
# The second part of a guest's start, on the root that initramfs.sh made: mounts what a machine has,
# prepares the machine as its file says, runs the command and leaves its output and status in
# /run/guest, which is a folder of the host.
set -uo pipefail

mount_file_systems() {
  mount -t proc proc /proc
  mount -t sysfs sys /sys
  mkdir -p /dev/pts /dev/shm /dev/hugepages /run/lock /run/tmp
  mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
  mount -t tmpfs -o mode=1777 shm /dev/shm
  mount -t hugetlbfs -o mode=1777 huge /dev/hugepages
  mount -t cgroup2 cgroup /sys/fs/cgroup
  chmod 1777 /run/lock /run/tmp
  ln -sf /proc/self/fd /dev/fd
  ln -sf fd/0 /dev/stdin
  ln -sf fd/1 /dev/stdout
  ln -sf fd/2 /dev/stderr
}

# Of guest.sh's --share.
mount_shared_folder() {
  local folder
  [[ -e /run/guest/shared_folder ]] || return 0
  folder=$(</run/guest/shared_folder)
  mkdir -p "$folder" &&
    mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none share "$folder"
}

# Sets `status`. Through pipes, since a program that opens /dev/stdout anew would begin a file again.
run_command() {
  local command readers
  mapfile -d '' -t command </run/guest/command
  cd "$(</run/guest/working_directory)" || return
  mkfifo /run/stdout /run/stderr
  cat /run/stdout >/run/guest/stdout &
  readers=($!)
  cat /run/stderr >/run/guest/stderr &
  readers+=($!)
  "${command[@]}" </dev/null >/run/stdout 2>/run/stderr
  status=$?
  # A process that the command left behind may hold them open for ever.
  for ((i = 0; i < 50; i++)); do
    kill -0 "${readers[@]}" 2>/dev/null || break
    sleep 0.1
  done
}

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root TMPDIR=/run/tmp LC_ALL=C.UTF-8
mount_file_systems
busybox ip link set lo up
busybox hostname guest
GUEST=$(</run/guest/name)
export GUEST
# shellcheck source=/dev/null
. /run/guest/machine
status=125
touch /run/guest/started
if mount_shared_folder && prepare; then run_command; fi >>/dev/console 2>&1
echo "$status" >/run/guest/status
sync
busybox reboot -f
