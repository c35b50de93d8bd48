#!/usr/bin/env bash
# Every shell script passes shellcheck.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
find hosts tests -name '*.sh' -print0 | xargs -0 shellcheck .ci/run
