# shellcheck shell=bash disable=SC2034
# Three nodes, of which a control group allows two: CPUs 2-4, memory of nodes 1 and 2.
nodes=(2:512 2:512 2:512)
prepare() {
  echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control &&
    mkdir /sys/fs/cgroup/guest &&
    echo 2-4 >/sys/fs/cgroup/guest/cpuset.cpus &&
    echo 1-2 >/sys/fs/cgroup/guest/cpuset.mems &&
    echo $$ >/sys/fs/cgroup/guest/cgroup.procs
}
