#!/usr/bin/env bash
# Installs the packages of hosts/packages/<distribution>.txt that are missing, and says which before
# it does. Usage: install_packages.sh SECTION...   (run: to build and use numabench; postgres: to
# build PostgreSQL from source; test: to work on numabench). With nothing missing it does nothing: no
# root, no network. Exit code 3 when it cannot.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf 'numabench: %s\n' "$*" >&2; }
die() {
  say "$*"
  exit 3
}

# "debian", "fedora" or "amazon": the name of the package list.
distribution() {
  # shellcheck source=/dev/null
  . "${NUMABENCH_OS_RELEASE:-/etc/os-release}"
  local id
  for id in ${ID:-} ${ID_LIKE:-}; do
    case $id in
      debian | ubuntu) echo debian && return ;;
      amzn) echo amazon && return ;;
      fedora) echo fedora && return ;;
    esac
  done
  die "no package list for ${PRETTY_NAME:-this system}; install the counterparts of" \
    "hosts/packages/debian.txt, then: cmake --preset release && cmake --build --preset release"
}

# packages_of LIST SECTION: the names, one a line.
packages_of() {
  awk -v section="[$2]" '/^\[/ { inside = ($0 == section); next } inside && NF && !/^#/' "$1"
}

is_installed() {
  case $family in
    debian) [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]] ;;
    *) rpm -q --quiet --whatprovides "$1" ;;
  esac
}

# run_quietly COMMAND...: shows its output only when it fails.
run_quietly() {
  local log
  log=$(mktemp)
  if ! "$@" </dev/null >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "this failed: $*"
  fi
  rm -f "$log"
}

# A package that no enabled repository has is better named at once than looked for in dnf's output.
require_available() {
  local package absent=()
  for package in "${missing[@]}"; do
    dnf --quiet list --available "$package" >/dev/null 2>&1 || absent+=("$package")
  done
  [[ ${#absent[@]} -gt 0 ]] || return 0
  local remedy="enable a repository that has them or install these from source"
  if [[ $family == amazon ]]; then
    remedy="enable SPAL (dnf install spal-release) or install these from source"
  fi
  die "the enabled repositories do not have ${absent[*]}; $remedy"
}

install_missing() {
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null ||
      die "only root can install packages and there is no sudo; ask an administrator to install" \
        "them, or run this as root once"
    as_root=(sudo)
  fi
  if [[ $family == debian ]]; then
    run_quietly "${as_root[@]}" apt-get update
    # Set on the far side of sudo, which drops the environment.
    run_quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install --yes --no-install-recommends "${missing[@]}"
  else
    require_available
    run_quietly "${as_root[@]}" \
      dnf install --assumeyes --setopt=install_weak_deps=False "${missing[@]}"
  fi
}

family=$(distribution)
missing=()
for section in "$@"; do
  packages=$(packages_of "$here/packages/$family.txt" "$section")
  for package in $packages; do
    is_installed "$package" || missing+=("$package")
  done
done
if [[ ${#missing[@]} -gt 0 ]]; then
  say "these ${#missing[@]} packages are missing and will be installed: ${missing[*]}"
  install_missing
fi
