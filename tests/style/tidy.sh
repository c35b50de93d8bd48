#!/usr/bin/env bash
# clang-tidy with the checks of .clang-tidy on every source of the program that the build directory
# $1 compiles. Tests are left to the compiler: their macros take clang-tidy longer than all the rest.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# On standard error run-clang-tidy counts what it suppressed, on standard output it repeats each
# command line; findings are the rest.
run-clang-tidy -quiet -j "$(nproc)" -p "$1" "^$root/(hosts|workloads|reports|runner)/" \
  2>/dev/null | sed -u '/^clang-tidy/d'
