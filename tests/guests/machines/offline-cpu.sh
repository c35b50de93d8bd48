# shellcheck shell=bash disable=SC2034
# Two nodes, a CPU of the second offline.
prepare() { echo 0 >/sys/devices/system/cpu/cpu3/online; }
