#!/usr/bin/env bash
# Everything CI checks, on a fresh machine or this one: installs the packages that are missing, builds
# with the dev, asan-ubsan and tsan presets, and runs all their tests and the style checks in one
# ctest, whose summary is the last that is printed. Arguments go to ctest:
#   tests/run.sh -L unit            unit tests, in every build
#   tests/run.sh -L asan-ubsan      all tests of one build
#   tests/run.sh -LE 'style|e2e'    all but these
#   tests/run.sh -R hosts/Topology  by name; `asan-ubsan/` and `tsan/` begin the names of those builds
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stage() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }

# build PRESET TARGET...: quiet unless it fails.
build() {
  local preset=$1 log=build/$1.log
  shift
  stage "building $preset"
  mkdir -p build
  if ! { cmake --preset "$preset" && cmake --build --preset "$preset" --target "$@"; } \
    </dev/null >"$log" 2>&1; then
    tail -n 60 "$log"
    stage "building $preset failed; the whole log is $log"
    exit 1
  fi
}

stage "packages"
hosts/install_packages.sh run postgres test
tests/guests/kernel.sh >/dev/null || stage "no kernel for guests: tests of label guest are skipped"
build dev all
build asan-ubsan all
# Its tests use the pool from threads; what processes share, tsan cannot follow.
build tsan runner_engines_embedded_storm_test

stage "testing"
printf 'subdirs(dev asan-ubsan tsan)\n' >build/CTestTestfile.cmake
ctest --test-dir build --parallel "$(nproc)" --output-on-failure --no-tests=error "$@" </dev/null |
  tee build/ctest.log || {
  status=$?
  # What failed stands thousands of lines above: once more, before the summary.
  stage "failures"
  grep -nE -A 25 ': Failure$|: error:|SUMMARY: .*Sanitizer|terminate called|^FAILED|guest.sh:' build/ctest.log |
    tail -n 400 || true
  sed -n '/% tests passed/,$p' build/ctest.log
  exit "$status"
}
