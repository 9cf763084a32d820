#!/usr/bin/env bash
# Kills a process that writes to a store by SIGKILL, at every step of its transactions and at random times, and checks
# after each death that nothing is lost and nothing is half done: 500 times with SQLite, 200 times with PostgreSQL.
#
#   scripts/kill-test.sh [SQLITE [POSTGRES]]
set -euo pipefail
cd "$(dirname "$0")/.."
export CONSPECTUS_KILLS_SQLITE="${1:-500}" CONSPECTUS_KILLS_POSTGRES="${2:-200}"
scripts/with-postgres.sh cargo test --quiet -p conspectus-store --test it kill -- --nocapture
