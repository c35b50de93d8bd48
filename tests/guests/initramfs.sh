#!/bin/busybox sh
# shellcheck shell=dash
# The first process of a guest: makes a root of the host's files, on which writes stay in memory, and
# goes on with start.sh there.

give_up() {
  echo "guest: $*" >/dev/console
  busybox reboot -f
}

mount_share() { # TAG FOLDER OPTIONS
  busybox mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2" ||
    give_up "cannot mount the share $1"
}

busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
while read -r driver; do
  busybox insmod "/drivers/$driver.ko" || give_up "cannot load $driver"
done </drivers/order
mount_share host /host cache=loose,ro
mount_share guest /guest cache=none
busybox mount -t tmpfs -o size=60% writes /writes
busybox mkdir /writes/upper /writes/work
busybox mount -t overlay -o lowerdir=/host,upperdir=/writes/upper,workdir=/writes/work root /root ||
  give_up "cannot lay the root over the host's"

busybox mount -t tmpfs -o mode=755 run /root/run
busybox mkdir /root/run/guest
busybox mount --move /guest /root/run/guest
busybox mount --move /dev /root/dev
busybox umount /proc /sys
read -r source </root/run/guest/source
exec busybox switch_root /root /bin/bash "$source/start.sh"
