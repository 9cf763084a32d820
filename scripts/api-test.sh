#!/usr/bin/env bash
# schemathesis (PyPI) makes requests from /api/openapi.json, good ones and bad ones, and holds every answer of a running
# service against the document. It is installed once into a directory of the user's cache (CONSPECTUS_SDK_CACHE).
#
#   scripts/api-test.sh          short, as CI runs it
#   scripts/api-test.sh 200      so many requests an operation
#   scripts/api-test.sh 200 7    others of them: the seed, 5 unless told
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v python3 >/dev/null 2>&1; then
  echo "python3 is not installed: left out"
  exit 0
fi
cache="${CONSPECTUS_SDK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-sdk}"
mkdir -p "$cache"
if ! scripts/sdk/install.sh "$cache" schemathesis schemathesis; then
  echo "schemathesis cannot be installed: left out"
  exit 0
fi
work=$(mktemp -d)
. scripts/sdk/service.sh
# Something to ask about: one name that generated requests find.
curl --silent --fail --output /dev/null -H 'Content-Type: application/json' \
  -d '{"thread_id": "tea"}' "$url/api/threads"
# Not asked for: streams, which do not end, and imports, whose lines are no JSON document.
root=$PWD
cd "$work" # it keeps notes where it runs
"$cache/venv/bin/schemathesis" --config-file "$root/scripts/sdk/schemathesis.toml" run "$url/api/openapi.json" --url "$url" \
  --no-color --seed "${2:-5}" --max-examples "${1:-15}" --phases examples,coverage,fuzzing --workers 1 \
  --exclude-operation-id get_events --exclude-operation-id get_changes --exclude-operation-id import_thread
