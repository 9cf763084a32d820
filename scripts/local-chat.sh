#!/usr/bin/env bash
# Talks to a small model on this machine for thirty turns with a trigger of 1,100 tokens, so that the chat is compacted on the
# way, and prints what was said. Needs a server that speaks OpenAI's API: scripts/local-chat.sh http://127.0.0.1:8080/v1
set -euo pipefail
cd "$(dirname "$0")/.."
url=${1:?the URL of a model}
bin="${CONSPECTUS_BIN:-target/debug/conspectus}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/config.yaml" <<EOF
models:
  - {name: small, base_url: '$url', window: 2400, max_output: 700, form: fields}
agents:
  lead: {system_prompt: You help people with their heating. Answer in one or two short sentences., tools: [], max_output_tokens: 80}
summarization: {preset: default, enabled: true, trigger: {tokens: 1100}, keep: {messages: 6}, max_summary_tokens: 500, call_timeout_ms: 600000, deadline_ms: 900000}
EOF
chat() { "$bin" chat --config "$work/config.yaml" --store "sqlite:$work/chat.db" --thread boiler; }
# One process a turn: it is gone on with each time.
number=0
while IFS= read -r line; do
  number=$((number + 1))
  echo "$number> $line"
  echo "$line" | chat 2>&1 || echo "(exit code $?)"
done <scripts/local-model/turns.txt
"$bin" thread log boiler --summaries --store "sqlite:$work/chat.db"
"$bin" thread show boiler --store "sqlite:$work/chat.db" | sed -n 1,20p
