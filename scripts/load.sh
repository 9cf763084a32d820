#!/usr/bin/env bash
# What stored threads cost under load, as tables in markdown with machine and date: writers, many threads, a long thread, and
# the memory of a service over time. SQLite writes into a temporary folder; PostgreSQL is a server of its own that syncs
# (scripts/with-postgres.sh), or where CONSPECTUS_POSTGRES says. Ends with an error when memory is not flat.
#
#   scripts/load.sh                        everything, with a soak of 20 minutes
#   scripts/load.sh soak --minutes 2       a part: appends, threads, long or soak
#   scripts/load.sh short                  a little of everything in seconds: whether it works, not what it costs
#
# Programs are built in release mode, unless CONSPECTUS_BIN names a `conspectus` with `load` beside it.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${CONSPECTUS_BIN:-}" ]; then
  cargo build --quiet --release -p conspectus-bench -p conspectus-cli --features conspectus-cli/serve \
    --bin load --bin conspectus
  CONSPECTUS_BIN="${CARGO_TARGET_DIR:-target}/release/conspectus"
fi
bin="$(realpath "$CONSPECTUS_BIN")"

processor="$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -1)"
echo "$(nproc) cores (${processor:-$(uname -m)}), $(uname -sr), load $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null), $(date -u '+%F %H:%M') UTC"
CONSPECTUS_POSTGRES_FSYNC=on scripts/with-postgres.sh "$(dirname "$bin")/load" --service "$bin" "$@"
