#!/usr/bin/env bash
# A conversation four times as long as the window of a small model that runs here, by the openai SDK: once at the model's
# own server, where it must fail, once through the proxy, and once through `conspectus proxy --summarize`, where it must not.
# Prints what is asked at the end about the beginning, and the answers. No part of scripts/test.sh: takes about half an hour.
#
#   LLAMA_SERVER=…/llama-server MODEL=….gguf scripts/proxy-local-model.sh [WINDOW]
#
# Without them the server and the model of scripts/local-model.sh are used (qwen-1.5b in CONSPECTUS_MODEL_CACHE).
# CONSPECTUS_THREADS: the threads of the server. CONSPECTUS_RUN=direct, digest or summarize: only that part.
set -euo pipefail
cd "$(dirname "$0")/.."
size=${1:-2048}
models="${CONSPECTUS_MODEL_CACHE:-$HOME/.cache/conspectus-models}"
llama="${LLAMA_SERVER:-$models/llama-server}" model="${MODEL:-$models/qwen-1.5b.gguf}"
if [ ! -x "$llama" ] || [ ! -f "$model" ]; then
  echo "there is no $llama or no $model: set LLAMA_SERVER and MODEL" >&2
  exit 2
fi
cache="${CONSPECTUS_SDK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-sdk}"
mkdir -p "$cache"
scripts/sdk/install.sh "$cache" openai openai
bin="${CONSPECTUS_BIN:-}"
if [ -z "$bin" ]; then
  cargo build --quiet -p conspectus-cli --features proxy
  bin="${CARGO_TARGET_DIR:-target}/debug/conspectus"
fi
work=$(mktemp -d)
pids=
trap 'kill $pids 2>/dev/null; wait $pids 2>/dev/null; rm -rf "$work"' EXIT
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
server="http://127.0.0.1:$port"
"$llama" -m "$model" --host 127.0.0.1 --port "$port" -c "$size" -t "${CONSPECTUS_THREADS:-1}" -np 1 --no-webui --jinja >"$work/llama.log" 2>&1 &
pids=$!
for _ in $(seq 120); do
  curl --silent --fail --max-time 2 "$server/health" >/dev/null && break
  kill -0 "$pids" || { tail -5 "$work/llama.log" >&2; exit 1; }
  sleep 1
done
talk() { "$cache/venv/bin/python" scripts/proxy/local_model.py "$1/v1" "$server" "$size"; }
printf 'summarization:\n  preset: default\n  max_context: %s\n' "$size" >"$work/config.yaml"
echo "$(basename "$model"), window $size"
parts="${CONSPECTUS_RUN:-direct digest summarize}"
for part in $parts; do
  echo "== $part"
  if [ "$part" = direct ]; then
    status=0
    talk "$server" || status=$?
    [ "$status" = 3 ] || { echo "it did not fail: the conversation fits, or something else is wrong" >&2; exit 1; }
    continue
  fi
  option=
  [ "$part" = summarize ] && option=--summarize
  "$bin" proxy --upstream "$server" --config "$work/config.yaml" --listen 127.0.0.1:0 --store "sqlite:$work/$part.db" --log $option \
    >"$work/$part.out" 2>"$work/$part.log" &
  pids="$pids $!"
  for _ in $(seq 100); do [ -s "$work/$part.out" ] && break; sleep 0.1; done
  proxy=$(sed 's/^listening on //' "$work/$part.out")
  talk "$proxy" || { cat "$work/$part.log" >&2; exit 1; }
  echo "requests by outcome:"
  grep -o "outcome=[a-z_]*" "$work/$part.log" | sort | uniq -c
  curl --silent "$proxy/metrics" | grep -v '^#' | grep -i "compaction\|overflow\|saved" || true
  thread=$("$bin" thread ls --store "sqlite:$work/$part.db" 2>/dev/null | grep -o 'px-[0-9a-z-]*' | head -1)
  echo "the newest summary:"
  "$bin" thread log "$thread" --summaries --store "sqlite:$work/$part.db" | sed -n 1,24p
  if grep -q "outcome=failed_open" "$work/$part.log"; then exit 1; fi
done
