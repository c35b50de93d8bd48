# shellcheck shell=bash disable=SC2034
# A node without CPUs between two that have some; Linux makes it the last.
nodes=(2:640 0:384 2:640)
distances=("10 17 21" "17 10 28" "21 28 10")
