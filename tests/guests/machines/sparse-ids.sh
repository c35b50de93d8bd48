# shellcheck shell=bash disable=SC2034
# Nodes 0 and 2: the one CPU of node 1, which has no memory, is ignored, and not kept for later either.
nodes=(2:768 1:0 2:768)
packages=1
kernel_arguments="disable_cpu_apicid=2 possible_cpus=4"
