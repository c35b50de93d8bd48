# shellcheck shell=bash disable=SC2034
# Four nodes whose distances differ with the direction.
nodes=(2:384 2:384 2:384 2:384)
distances=("10 16 22 28" "20 10 18 24" "26 14 10 16" "32 22 20 10")
