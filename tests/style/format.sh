#!/usr/bin/env bash
# Every source of ours is as clang-format leaves it. To mend: clang-format -i FILE.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
find hosts workloads reports runner tests -name '*.cc' -print0 -o -name '*.h' -print0 |
  xargs -0 clang-format --dry-run -Werror
