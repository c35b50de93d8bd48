# shellcheck shell=bash disable=SC2034
# The first node has CPUs and no memory.
nodes=(2:0 2:768 2:768)
