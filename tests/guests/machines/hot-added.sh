# shellcheck shell=bash disable=SC2034
# Two nodes, and a third that is only memory, plugged in later and movable, as CXL's is.
nodes=(2:640 2:640 0:0)
hotplug=2:384
prepare() {
  local block
  for block in /sys/devices/system/memory/memory*/state; do
    [[ $(<"$block") == online ]] || echo online_movable >"$block" || return
  done
}
