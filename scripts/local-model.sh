#!/usr/bin/env bash
# Compacts a few real sessions by a small model that runs here, through the same crates that everybody uses, and prints
# what was asked, answered, accepted and refused. Needs the shared data with its folder `model`:
#   CONSPECTUS_SHARED=/path/to/shared scripts/local-model.sh [smollm2|qwen-0.5b|qwen-1.5b] [option=value…]
# Models are kept in CONSPECTUS_MODEL_CACHE. Options go to the program: tokens=3000 (of each session), output=500.
# A llama-server in the cache is used; otherwise the server is local-model/server.mjs over node-llama-cpp. Both hold the
# model to a JSON schema and tell cached tokens. `sections` as an option asks for free text.
# CONSPECTUS_RUN=rolling runs the comparison of docs/real-models.md instead. One thread: on a shared machine two wait
# for each other. A URL of a server that is up already can be given as CONSPECTUS_MODEL_URL.
set -euo pipefail
cd "$(dirname "$0")/.."
shared=$(cd "${CONSPECTUS_SHARED:-../shared}" 2>/dev/null && pwd) || true
if [ -z "$shared" ] || [ ! -d "$shared/data" ] || [ ! -d "$shared/model" ]; then
    echo "shared data not found: set CONSPECTUS_SHARED" >&2
    exit 2
fi
name=${1:-smollm2}
[ $# -eq 0 ] || shift
run=${CONSPECTUS_RUN:-real-model}
threads=${CONSPECTUS_THREADS:-1}
limit=${CONSPECTUS_LIMIT:-900}
export CONSPECTUS_MODEL_CACHE="${CONSPECTUS_MODEL_CACHE:-$HOME/.cache/conspectus-models}"

# Before the server: a compiler and a model beside each other only wait.
cargo build --quiet -p conspectus-judge --bin "$run"

server=
end() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; }
trap end EXIT
options=(schema "$@")
url=${CONSPECTUS_MODEL_URL:-}
if [ -z "$url" ]; then
    model=$("$shared/model/get-model" "$name")
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    url="http://127.0.0.1:$port"
    llama="$CONSPECTUS_MODEL_CACHE/llama-server"
    log="$CONSPECTUS_MODEL_CACHE/$name.log"
    if [ -x "$llama" ]; then
        "$llama" -m "$model" --host 127.0.0.1 --port "$port" -c 8192 -t "$threads" -np 1 --no-webui >"$log" 2>&1 &
    else
        node="$CONSPECTUS_MODEL_CACHE/node"
        if [ ! -d "$node/node_modules/node-llama-cpp" ]; then
            mkdir -p "$node"
            npm --prefix "$node" install --silent --omit=optional --ignore-scripts \
                node-llama-cpp@3.21.1 @node-llama-cpp/linux-x64@3.21.1 >&2
        fi
        cp scripts/local-model/server.mjs "$node/server.mjs"
        node "$node/server.mjs" "$model" "$port" 8192 "$threads" >"$log" 2>&1 &
    fi
    server=$!
    tries=120
    until curl --silent --fail --max-time 2 "$url/health" >/dev/null; do
        tries=$((tries - 1))
        if [ "$tries" -eq 0 ] || ! kill -0 "$server" 2>/dev/null; then
            echo "the server did not start, see $log" >&2
            exit 1
        fi
        sleep 1
    done
fi

first() { find "$shared/data/$1" -name "$2" | sort | head -n 1; }
if [ "$run" = rolling ]; then
    sessions=("$(first mini-swe-agent '*pydicom*.json')")
else
    sessions=(
        "$(first tau-bench '*.json')"
        "$(first claude-code-spotter 'tool_heavy.jsonl')"
        "$(first mini-swe-agent '*pydicom*.json')"
    )
fi
echo "$name at $(date -u +%FT%TZ), limit ${limit} s"
timeout "$limit" "target/debug/$run" "$url/v1" "$name" ${options[@]+"${options[@]}"} "${sessions[@]}"
