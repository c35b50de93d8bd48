#!/usr/bin/env bash
# From a clone to a running numabench on a fresh machine: installs the packages that are missing,
# builds what has changed, then becomes numabench with the arguments given. Everything it says
# itself goes to standard error, so that numabench's output can be piped.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release

usage() {
  cat <<'USAGE'
Usage: hosts/bootstrap.sh [NUMABENCH ARGUMENTS]

Installs the missing packages (apt or dnf, as root or through sudo; it says which first), builds
numabench and runs it in the current directory. Safe to repeat: what is there is left alone.

  hosts/bootstrap.sh                            build, then show numabench's help
  hosts/bootstrap.sh run configs/quick.yaml     build, then run an experiment
  hosts/bootstrap.sh run --help                 help of one of numabench's commands

CXX chooses another compiler for the first build. Exit codes are numabench's; 3 when the packages
cannot be installed or the build fails.
USAGE
}

say() { printf 'numabench: %s\n' "$*" >&2; }

# A build started with sudo must not leave root's files in the clone of an ordinary user.
as_owner() {
  if [[ $(id -u) -eq 0 && -n ${SUDO_USER:-} && $(stat -c %U "$root") == "$SUDO_USER" ]]; then
    sudo -u "$SUDO_USER" -- "$@"
  else
    "$@"
  fi
}

# Reads the output of a step and says WHAT once there is something to do; on a terminal it shows
# ninja's [12/87] in place.
show_progress() {
  local what=$1 line announced=
  while IFS= read -r line; do
    [[ ! $line =~ (Re-checking globbed|no work to do|Reading the commit) ]] || continue
    [[ -n $announced ]] || say "$what ..."
    announced=yes
    if [[ -t 2 && $line =~ ^\[([0-9]+/[0-9]+)\] ]]; then
      printf '\r%s ' "${BASH_REMATCH[1]}" >&2
    fi
  done
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# step WHAT COMMAND...: quiet; the end of the log only when it fails.
step() {
  local what=$1 log=$build/bootstrap.log
  shift
  as_owner mkdir -p "$build"
  if ! as_owner "$@" </dev/null 2>&1 | as_owner tee "$log" | show_progress "$what"; then
    tail -n 40 "$log" >&2
    say "$what failed; the whole log is $log"
    exit 3
  fi
}

case ${1:-} in
  -h | --help)
    usage
    exit
    ;;
  "") set -- --help ;;
esac

"$root/hosts/install_packages.sh" run

# Amazon Linux's default compiler is too old for C++20.
if [[ -z ${CXX:-} ]] && command -v gcc14-g++ >/dev/null; then
  CXX=gcc14-g++
fi
if [[ ! -f $build/build.ninja ]]; then
  step "configuring" cmake -S "$root" --preset release ${CXX:+-DCMAKE_CXX_COMPILER="$CXX"}
fi
step "building numabench on $(nproc) CPUs, a few minutes the first time" \
  cmake --build "$build" --target numabench
exec "$build/numabench" "$@"
