#!/usr/bin/env bash
# How long a clean release build takes, and how large what comes of it is, as a table in markdown with machine and date.
#
#   scripts/size.sh             the first command, and the binary with everything
#   scripts/size.sh first       the first command alone (or: all)
#
# Built in a folder of its own, which is removed; needs 2 GB there (TMPDIR).
set -euo pipefail
cd "$(dirname "$0")/.."
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
unset CARGO_INCREMENTAL RUSTFLAGS

processor="$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -1)"
echo "$(nproc) cores (${processor:-$(uname -m)}), $(uname -sr), load $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null), $(rustc --version | cut -d' ' -f1,2), $(date -u '+%F %H:%M') UTC"
echo
echo "| binary | packages | clean release build | processor time | size | without symbols |"
echo "|---|--:|--:|--:|--:|--:|"

row() {
  local what="$1"
  shift
  local packages before after built
  packages="$(cargo tree -p conspectus-cli --edges normal,build --prefix none "$@" | sed 's/ (\*)$//' | sort -u | wc -l)"
  cargo fetch --quiet --locked
  times="$work/times"
  before=$(date +%s%N)
  TIMEFORMAT='%U %S'
  { time cargo build --quiet --locked --release -p conspectus-cli --target-dir "$work/target" "$@"; } 2>"$times"
  after=$(date +%s%N)
  built="$work/target/release/conspectus"
  cp "$built" "$work/stripped" && strip "$work/stripped"
  awk -v what="$what" -v packages="$packages" -v wall=$(((after - before) / 1000000)) -v size="$(stat -c %s "$built")" \
    -v stripped="$(stat -c %s "$work/stripped")" '
    END { printf "| %s | %d | %.0f s | %.0f s | %.1f MB | %.1f MB |\n", what, packages, wall / 1000, $1 + $2, size / 1e6, stripped / 1e6 }' "$times"
  rm -rf "$work/target"
}

[ "${1:-}" = all ] || row "the first command (no features)"
[ "${1:-}" = first ] || row "everything (all features)" --all-features
