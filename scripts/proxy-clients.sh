#!/usr/bin/env bash
# Codex CLI, Claude Code, opencode, aider and Continue's CLI through the proxy, before a scripted upstream. They are large
# (430, 245, 185, 690 and 63 MB) and no part of scripts/test.sh. Those that are in CONSPECTUS_CLIENTS are run, the others are left out:
#
#   cd ~/.cache/conspectus-clients
#   npm install --ignore-scripts @openai/codex-linux-x64@npm:@openai/codex@0.171.0-linux-x64 @anthropic-ai/claude-code-linux-x64 opencode-linux-x64
#   npm install --ignore-scripts @continuedev/cli
#   python3 -m venv aider && aider/bin/pip install aider-chat
#
# It runs in a network of its own, so that nothing calls home. What went up is checked by our strict validators.
# ONLY="opencode aider": only these.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${ALONE:-}" != yes ]; then
  [ -n "${CONSPECTUS_BIN:-}" ] || cargo build --quiet -p conspectus-cli --features proxy
  export CONSPECTUS_BIN="${CONSPECTUS_BIN:-${CARGO_TARGET_DIR:-target}/debug/conspectus}"
  cargo build --quiet -p conspectus-wire --example valid
  ALONE=yes exec unshare -rn "$0" "$@"
fi
ip link set lo up
work=$(mktemp -d)
limit=1000000 window=34000
. scripts/proxy/proxy.sh
mkdir -p "$work/home" "$work/place"
clients="${CONSPECTUS_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-clients}"
bare() { env -i PATH=/usr/bin:/bin HOME="$work/home" "$@"; }
# wanted NAME PROGRAM: it is to be run and is there
wanted() {
  [[ " ${ONLY:-$1} " == *" $1 "* ]] || return 1
  [ -x "$2" ] && { echo "$1, $(bare "$2" --version 2>/dev/null | tail -1)"; marked=$(wc -l <"$work/proxy.log"); return; }
  echo "$1 is not in $clients: left out"
  return 1
}
# looked PATH CLIENT: what its requests looked like, and that it was compacted
looked() {
  local compactions
  compactions=$(tail -n +$((marked + 1)) "$work/proxy.log" | grep -c "outcome=compacted\|outcome=recovered\|outcome=answered" || true)
  python3 scripts/proxy/looked.py "$upstream" "$1" "$2" "$compactions"
  [ "$compactions" -gt 0 ] || { echo "it was never compacted"; exit 1; }
}
long=$(for n in $(seq 100); do printf 'The lantern build %s failed with E-4417 while the mast was lowered; its valve is turned by hand. ' "$n"; done)
CODEX="$clients/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
if wanted codex "$CODEX"; then
  mkdir -p "$work/codex"
  printf 'model = "gpt-5.6-sol"\nmodel_auto_compact_token_limit = 500\nopenai_base_url = "%s/v1"\n' "$proxy" >"$work/codex/config.toml"
  codex() {
    (cd "$work/place" && env -i PATH=/usr/bin:/bin HOME="$work/home" CODEX_HOME="$work/codex" OPENAI_API_KEY=k CODEX_API_KEY=k timeout 90 "$CODEX" exec \
      --skip-git-repo-check "$@" </dev/null 2>&1 | tail -4) || true
  }
  echo "  a question, then another one, before which it compacts"
  codex "say hi"
  codex resume --last "say hi again"
  looked /responses codex
  echo "  compactions that were answered by a capsule: $(grep -c 'responses .*outcome=answered' "$work/proxy.log")"
fi
CLAUDE="$clients/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
if wanted claude "$CLAUDE"; then
  echo "  a question with calls of a tool, then seven more in the same session, until it is compacted"
  claude() {
    (cd "$work/place" && env -i PATH=/usr/bin:/bin HOME="$work/home" CLAUDE_CONFIG_DIR="$work/claude" ANTHROPIC_BASE_URL="$proxy" \
      ANTHROPIC_API_KEY=test-key CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 DISABLE_AUTO_COMPACT=1 timeout 120 "$CLAUDE" \
      --model claude-opus-5-5 --output-format json "$@" </dev/null 2>&1 | tail -1 | grep -o '"subtype":"[a-z_]*"\|"num_turns":[0-9]*' | paste -s) || true
  }
  claude -p "say hi"
  for n in $(seq 7); do claude -c -p "Request $n. $long"; done
  looked /messages claude-cli
fi
OPENCODE="$clients/node_modules/opencode-linux-x64/bin/opencode"
if wanted opencode "$OPENCODE"; then
  opencode() {
    (cd "$work/place" && bare XDG_DATA_HOME="$work/oc/data" XDG_CONFIG_HOME="$work/oc/config" XDG_STATE_HOME="$work/oc/state" \
      XDG_CACHE_HOME="$work/oc/cache" OPENCODE_DISABLE_AUTOUPDATE=1 timeout 120 "$OPENCODE" run "$@" </dev/null 2>&1 | tail -1 | cut -c1-150)
  }
  # opencode CONFIGURATION MODEL: its own compaction is off, so that the proxy's is seen
  sessions() {
    printf '{"model":"%s","small_model":"%s","autoupdate":false,"share":"disabled","compaction":{"auto":false},"provider":{%s}}' "$1" "$1" "$2" \
      >"$work/place/opencode.json"
    opencode "say hi"
    for n in $(seq 9); do opencode -c "Request $n. $long"; done
  }
  limits='"models":{"gpt-5.6-sol":{"name":"sol","limit":{"context":1000000,"output":4000}}}'
  echo "  chat: a question with calls of a tool, then nine more in the same session"
  sessions loop/gpt-5.6-sol "\"loop\":{\"npm\":\"@ai-sdk/openai-compatible\",\"name\":\"Loop\",\"options\":{\"baseURL\":\"$proxy/v1\",\"apiKey\":\"k\"},$limits}"
  looked /chat/completions opencode
  marked=$(wc -l <"$work/proxy.log")
  echo "  Anthropic: the same"
  limits=${limits//gpt-5.6-sol/claude-opus-5-5}
  sessions anthropic/claude-opus-5-5 "\"anthropic\":{\"options\":{\"baseURL\":\"$proxy/v1\",\"apiKey\":\"k\"},$limits}"
  looked /messages opencode
fi
AIDER="$clients/aider/bin/aider"
if wanted aider "$AIDER"; then
  echo "  twenty questions in one session"
  (cd "$work/place" && for n in $(seq 20); do echo "Request $n. $long"; done |
    bare LITELLM_LOCAL_MODEL_COST_MAP=True OPENAI_API_KEY=k timeout 200 "$AIDER" --openai-api-base "$proxy/v1" --model openai/gpt-5.6-sol \
      --chat-mode ask --max-chat-history-tokens 10000000 --no-check-update --no-show-model-warnings --no-analytics --yes --no-git --no-pretty \
      --no-fancy-input 2>&1 | tail -2 | cut -c1-150)
  looked /chat/completions OpenAI/Python
fi
CONTINUE="$clients/node_modules/.bin/cn"
if wanted continue "$CONTINUE"; then
  printf 'name: loop\nversion: 0.0.1\nschema: v1\nmodels:\n  - {name: sol, provider: openai, model: sol-1, apiBase: %s/v1, apiKey: k, roles: [chat],\n     defaultCompletionOptions: {contextLength: 1000000, maxTokens: 4000}}\n' "$proxy" >"$work/continue.yaml"
  continue_cli() {
    (cd "$work/place" && bare CONTINUE_TELEMETRY_ENABLED=0 timeout 60 "$CONTINUE" -p --auto --config "$work/continue.yaml" "$@" </dev/null 2>&1 | tail -1 | cut -c1-150)
  }
  echo "  a question with calls of a tool, then nine more in the same session"
  continue_cli "say hi"
  for n in $(seq 9); do continue_cli --resume "Request $n. $long"; done
  looked /chat/completions ls/JS
fi
valid
echo "outcomes:"
grep -o "^[a-z_]* \|outcome=[a-z_]*" "$work/proxy.log" | paste - - | sort | uniq -c
! grep -q "outcome=failed_open" "$work/proxy.log"
