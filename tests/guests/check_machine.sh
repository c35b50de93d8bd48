#!/usr/bin/env bash
# What ctest runs for each machine: boots it and runs all checks in it. Exit status 77, skipped, where
# there is no kernel and none to be had: tests/run.sh fetches it with the packages.
#   check_machine.sh BUILD_FOLDER MACHINE
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/kernel.sh" >/dev/null || exit 77
exec "$here/guest.sh" --limit 600 "$2" "$here/run_checks.sh" "$1"
