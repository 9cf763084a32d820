#!/usr/bin/env bash
# Writes what this version's stores hold of a small life into a folder, from where it goes into crates/store/tests/data once
# a version is released. What lies there already is never written again: later versions must read it.
#
#   scripts/store-fixtures.sh /tmp/fixtures        # needs PostgreSQL with pg_dump for its half
set -euo pipefail
cd "$(dirname "$0")/.."
export CONSPECTUS_STORE_FIXTURES="$(realpath -m "${1:?a folder}")"
mkdir -p "$CONSPECTUS_STORE_FIXTURES"
scripts/with-postgres.sh cargo test --quiet -p conspectus-store --all-features --test it threads::earlier
ls -l "$CONSPECTUS_STORE_FIXTURES"
