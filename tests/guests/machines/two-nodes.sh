# shellcheck shell=bash
# Two packages, a node each: the smallest NUMA machine.
