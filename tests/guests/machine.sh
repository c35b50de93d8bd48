# shellcheck shell=bash disable=SC2034
# What a machine's file can say, and what holds where it says nothing. guest.sh reads it to start QEMU,
# start.sh inside the guest for prepare().

# CPUs:MiB of each node; either can be 0. Linux gives the lower ids to the nodes with CPUs.
nodes=(2:768 2:768)
# A row of distances for each node: ("10 16" "20 10"). None: 10 and 21.
distances=()
# None: as many as there are nodes with CPUs.
packages=
dies=1
threads=1
# QEMU's richest CPU under a name at which the kernel takes dies and several nodes in a package for real.
cpu=max,vendor=GenuineIntel,family=6,model=85,stepping=7
# NODE:MiB of memory that is plugged in, offline until prepare() brings it online.
hotplug=
kernel_arguments=

# Runs as root in the guest, in the shell from which the command is started.
prepare() { :; }
