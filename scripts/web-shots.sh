#!/usr/bin/env bash
# Draws docs/images again: the page as it is now, with threads that a scripted model ran on.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/web/ready.sh
mkdir -p docs/images
node "$cache/shots.mjs" "$PWD/docs/images"
