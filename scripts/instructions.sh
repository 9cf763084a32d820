#!/usr/bin/env bash
# Instructions of the hot paths, counted by callgrind: the same on a busy machine as on a quiet one. Compares with
# bench/instructions.txt and fails where one takes more than a tenth above that.
#
#   scripts/instructions.sh            compares
#   scripts/instructions.sh update     writes the file anew
#
# Needs valgrind (apt-get install valgrind); says so and leaves it out where it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "valgrind is not installed: instructions are left out"; exit 0; }
cargo build --quiet --release -p conspectus-bench --bins
bin="${CARGO_TARGET_DIR:-target}/release"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$bin/open" make openai 2000 400 "$work/chat.json"
"$bin/open" make claude 1000 400 "$work/log.jsonl"

# Millions of instructions that a program takes.
counted() {
  valgrind --tool=callgrind --callgrind-out-file="$work/out" "$@" >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
  awk '/^(summary|totals):/ { printf "%.1f\n", $2 / 1e6; exit }' "$work/out"
}
{
  echo "check $(counted "$bin/side" check 400 20000)"
  echo "session $(counted "$bin/side" session 400 4000)"
  echo "firing $(counted "$bin/side" firing 400 2000)"
  echo "read_chat $(counted "$bin/open" read "$work/chat.json")"
  echo "read_log $(counted "$bin/open" read "$work/log.jsonl")"
} >"$work/now"

if [ "${1:-}" = update ]; then
  cp "$work/now" bench/instructions.txt
  cat bench/instructions.txt
  exit 0
fi
awk 'NR == FNR { before[$1] = $2; next }
  !($1 in before) { printf "%-10s %10s  is new: scripts/instructions.sh update\n", $1, $2; bad = 1; next }
  { change = ($2 / before[$1] - 1) * 100
    printf "%-10s %10.1f million, recorded %10.1f: %+.1f %%%s\n", $1, $2, before[$1], change, (change > 10 ? "  MORE THAN A TENTH" : "")
    if (change > 10) bad = 1 }
  END { exit bad }' bench/instructions.txt "$work/now"
