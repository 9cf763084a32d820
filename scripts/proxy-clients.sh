#!/usr/bin/env bash
# Codex CLI and Claude Code through the proxy, before a scripted upstream. They are large (430 and 245 MB) and no part of
# scripts/test.sh: install them first, then name their programs.
#
#   npm install --ignore-scripts --prefix DIR @openai/codex-linux-x64@npm:@openai/codex@0.171.0-linux-x64 @anthropic-ai/claude-code-linux-x64
#   CODEX=DIR/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex \
#   CLAUDE=DIR/node_modules/@anthropic-ai/claude-code-linux-x64/claude scripts/proxy-clients.sh
#
# It runs in a network of its own, so that nothing calls home.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${ALONE:-}" != yes ]; then
  [ -n "${CONSPECTUS_BIN:-}" ] || cargo build --quiet -p conspectus-cli --features proxy
  export CONSPECTUS_BIN="${CONSPECTUS_BIN:-${CARGO_TARGET_DIR:-target}/debug/conspectus}"
  ALONE=yes exec unshare -rn "$0" "$@"
fi
ip link set lo up
work=$(mktemp -d)
limit=1000000 window=34000
. scripts/proxy/proxy.sh
mkdir -p "$work/home" "$work/place"
seen() {
  python3 - "$upstream" "$1" <<'P'
import json, sys, urllib.request
seen = json.load(urllib.request.urlopen(sys.argv[1] + "/seen"))
mine = [entry for entry in seen if entry["path"].endswith(sys.argv[2])]
for entry in mine:
    print(f'  {entry["path"]} {entry["bytes"]} bytes, {entry["messages"]} messages', "a capsule of ours" if "cnsp1." in entry["raw"] else "")
assert mine, "nothing came"
assert not any("cnsp1." in entry["raw"] for entry in mine), "a capsule went up"
P
}
if [ -x "${CODEX:-}" ]; then
  mkdir -p "$work/codex"
  printf 'model = "gpt-5.6-sol"\nmodel_auto_compact_token_limit = 500\nopenai_base_url = "%s/v1"\n' "$proxy" >"$work/codex/config.toml"
  codex() {
    (cd "$work/place" && env -i PATH=/usr/bin:/bin HOME="$work/home" CODEX_HOME="$work/codex" OPENAI_API_KEY=k CODEX_API_KEY=k timeout 90 "$CODEX" exec \
      --skip-git-repo-check "$@" </dev/null 2>&1 | tail -4) || true
  }
  echo "Codex: a question, then another one, before which it compacts"
  codex "say hi"
  codex resume --last "say hi again"
  seen /responses
  echo "  compactions that were answered by a capsule: $(grep -c 'responses .*outcome=answered' "$work/proxy.log")"
fi
if [ -x "${CLAUDE:-}" ]; then
  echo "Claude Code: a question with calls of a tool, then seven more in the same session, until it is compacted"
  claude() {
    (cd "$work/place" && env -i PATH=/usr/bin:/bin HOME="$work/home" CLAUDE_CONFIG_DIR="$work/claude" ANTHROPIC_BASE_URL="$proxy" \
      ANTHROPIC_API_KEY=test-key CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 DISABLE_AUTO_COMPACT=1 timeout 120 "$CLAUDE" \
      --model claude-opus-5-5 --output-format json "$@" </dev/null 2>&1 | tail -1 | grep -o '"subtype":"[a-z_]*"\|"num_turns":[0-9]*' | paste -s) || true
  }
  long=$(for n in $(seq 100); do printf 'The lantern build %s failed with E-4417 while the mast was lowered; its valve is turned by hand. ' "$n"; done)
  claude -p "say hi"
  for n in $(seq 7); do claude -c -p "Request $n. $long"; done
  seen /messages
fi
echo "outcomes:"
grep -o "^[a-z_]* \|outcome=[a-z_]*" "$work/proxy.log" | paste - - | sort | uniq -c
! grep -q "outcome=failed_open" "$work/proxy.log"
