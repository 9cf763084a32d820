#!/usr/bin/env bash
# Could every crate be published as it is?
#
#   scripts/publish-check.sh          # cargo publish --dry-run of all at once, in the order of their dependencies: each is
#                                     # packed and built from what was packed. Needs the registry
#   scripts/publish-check.sh quick    # packed only, in seconds and without a network
#
# Those that stay here say `publish = false`.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" != quick ]; then
  exec cargo publish --workspace --dry-run --allow-dirty
fi
stay=()
for manifest in crates/*/Cargo.toml; do
  if grep -q '^publish = false' "$manifest"; then
    stay+=(--exclude "$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -1)")
  fi
done
cargo package --quiet --workspace --no-verify --allow-dirty --offline "${stay[@]}"
