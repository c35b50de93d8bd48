# shellcheck shell=bash disable=SC2034
# Two packages of three nodes each, as a processor with sub-NUMA clusters has them.
nodes=(2:256 2:256 2:256 2:256 2:256 2:256)
packages=2
distances=(
  "10 12 12 21 21 21" "12 10 12 21 21 21" "12 12 10 21 21 21"
  "21 21 21 10 12 12" "21 21 21 12 10 12" "21 21 21 12 12 10")
