#!/bin/sh
# Measures how much the digest keeps. Needs python3 and the shared data:
#   CONSPECTUS_SHARED=/path/to/shared scripts/retention.sh [format…]
set -eu
cd "$(dirname "$0")/.."
shared=${CONSPECTUS_SHARED:-../shared}
if [ ! -d "$shared/data" ]; then
    echo "shared data not found at $shared: set CONSPECTUS_SHARED" >&2
    exit 2
fi
cargo build --quiet --release -p conspectus-judge
COMPACT_CMD="${CARGO_TARGET_DIR:-target}/release/compact-parts"
export COMPACT_CMD
python3 scripts/retention.py "$shared" "$@"
if [ $# -eq 0 ]; then
    echo
    echo "Questions over chat (LongMemEval evidence):"
    python3 "$shared/data/tools/retention_eval.py" lme "$shared/data/longmemeval-evidence/lme_evidence_shared.json"
    echo
    echo "Beside real products' summaries at equal size:"
    python3 "$shared/data/tools/retention_eval.py" real claude "$shared"/data/claude-code-spotter/[0-9a-f]*[0-9a-f].jsonl
    python3 "$shared/data/tools/retention_eval.py" real pi "$shared"/data/pi/*.jsonl
fi
