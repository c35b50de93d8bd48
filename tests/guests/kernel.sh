#!/usr/bin/env bash
# Makes sure that the guests' kernel lies in the cache and prints that folder: `vmlinux`, which QEMU
# enters without unpacking it first, and `drivers/` with the order in which they are loaded. The kernel
# is the distribution's, downloaded and unpacked once, never installed. Exit status 125 when there is
# none.
set -euo pipefail

cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/numabench/guests
# What the root is read through, what its writes go to, and how both reach the guest.
drivers=(virtio_pci 9pnet_virtio 9p overlay)

die() {
  printf 'kernel.sh: %s\n' "$*" >&2
  exit 125
}

# The package that linux-image-amd64 stands for today; nothing when the package lists are not there.
kernel_package() {
  apt-cache depends linux-image-amd64 2>/dev/null | awk '$1 == "Depends:" { print $2; exit }'
}

# unpack_package PACKAGE FOLDER: the files of the kernel's package, below FOLDER.
unpack_package() {
  local download=$2.download
  rm -rf "${2%/*}"
  mkdir -p "$download"
  (cd "$download" && apt-get download "$1" >log 2>&1) || die "apt-get download $1: $(cat "$download/log")"
  dpkg-deb -x "$download"/*.deb "$2.new"
  mv "$2.new" "$2"
  rm -rf "$download"
}

# number_at FILE FORMAT OFFSET: a little-endian field of the kernel image; od names its FORMAT.
number_at() { od -An -t"$2" -j"$3" -N"${2#?}" "$1" | tr -d ' '; }

# extract_vmlinux IMAGE FILE: the ELF kernel that the setup header of a compressed IMAGE describes
# (Documentation/x86/boot.rst: setup_sects, payload_offset, payload_length; the last four bytes of the
# payload are its unpacked length).
extract_vmlinux() {
  local image=$1 start length unpack
  start=$((($(number_at "$image" u1 497) + 1) * 512 + $(number_at "$image" u4 584)))
  length=$(($(number_at "$image" u4 588) - 4))
  case $(number_at "$image" x4 "$start") in
    587a37fd) unpack=(xz -dc) ;;
    fd2fb528) unpack=(zstd -dc) ;;
    *) die "$image is packed in a way that kernel.sh does not know" ;;
  esac
  head -c "$((start + length))" "$image" | tail -c "$length" | "${unpack[@]}" >"$2"
}

# add_driver MODULES NAME FOLDER: copies a driver after those it needs; FOLDER/order is the order in
# which they are loaded. One that is built into the kernel has no file.
add_driver() {
  local modules=$1 name=$2 folder=$3 file needed
  grep -qsx "$name" "$folder/order" && return
  file=$(find "$modules/" -name "${name//[-_]/[-_]}.ko*" -print -quit)
  [[ -n $file ]] || return 0
  for needed in $(modinfo -F depends "$file" | tr , ' '); do
    add_driver "$modules" "$needed" "$folder"
  done
  case $file in
    *.xz) xz -dc "$file" ;;
    *.zst) zstd -qdc "$file" ;;
    *) cat "$file" ;;
  esac >"$folder/$name.ko"
  echo "$name" >>"$folder/order"
}

# cached: the folder of a kernel that is there; nothing if none is. What is taken from the package goes
# by this script: another one asks for another folder.
version=$(sha256sum "${BASH_SOURCE[0]}" | head -c 12)
cached() {
  local mark
  mark=$(find "$cache" -maxdepth 2 -path "*-$version/complete" 2>/dev/null | sort --version-sort | tail -n 1)
  [[ -z $mark ]] || dirname "$mark"
}

# fetch: a kernel into the cache.
fetch() {
  local package folder driver
  package=$(kernel_package)
  if [[ -z $package && $(id -u) -eq 0 ]]; then
    apt-get update >/dev/null 2>&1 || :
    package=$(kernel_package)
  fi
  [[ -n $package ]] || die "apt does not know linux-image-amd64: run apt-get update, on Debian"
  folder=$cache/$package-$version
  unpack_package "$package" "$folder/files"
  extract_vmlinux "$folder"/files/boot/vmlinuz-* "$folder/vmlinux"
  mkdir -p "$folder/drivers"
  for driver in "${drivers[@]}"; do
    add_driver "$folder/files/lib/modules" "$driver" "$folder/drivers"
  done
  rm -rf "$folder/files"
  touch "$folder/complete"
}

[[ $(uname -m) == x86_64 ]] || die "guests are made for x86_64 only"
if [[ -z $(cached) ]]; then
  mkdir -p "$cache"
  exec {lock}>"$cache/lock"
  flock "$lock" # tests that run side by side fetch one
  [[ -n $(cached) ]] || fetch
fi
cached
