#!/usr/bin/env bash
# Runs in a guest: the checks of checks/, one after another, each in an empty directory, and prints a
# line for each with its seconds, below it the output of one that failed. With names, only those.
#   run_checks.sh BUILD_FOLDER [CHECK...]
set -uo pipefail

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$1
NUMABENCH=$BUILD/numabench
export SOURCE BUILD NUMABENCH
shift
checks=("$@")
[[ $# -gt 0 ]] || mapfile -t checks < <(basename -as .sh "$SOURCE"/tests/guests/checks/*.sh)

failed=0
for check in "${checks[@]}"; do
  log=$TMPDIR/$check.log
  began=$EPOCHREALTIME
  mkdir "$TMPDIR/$check"
  (cd "$TMPDIR/$check" && bash "$SOURCE/tests/guests/checks/$check.sh") >"$log" 2>&1
  status=$?
  seconds=$(((${EPOCHREALTIME/./} - ${began/./}) / 100000))
  seconds=$((seconds / 10)).$((seconds % 10))
  case $status in
    0) printf 'ok       %6s s  %s\n' "$seconds" "$check" ;;
    77) printf 'skipped  %6s s  %s: %s\n' "$seconds" "$check" "$(tail -n 1 "$log")" ;;
    *)
      failed=1
      printf 'FAILED   %6s s  %s: exit status %s\n' "$seconds" "$check" "$status"
      sed 's/^/    /' "$log"
      ;;
  esac
done
exit "$failed"
