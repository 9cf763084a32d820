#!/usr/bin/env bash
# Writes what programs print now into the documents and the picture that show it. Read the difference before you commit it.
set -euo pipefail
cd "$(dirname "$0")/.."
CONSPECTUS_UPDATE_DOCS=1 cargo test --quiet -p conspectus-cli --test it docs
CONSPECTUS_UPDATE_DOCS=1 cargo test --quiet -p conspectus-cli --features threads --test it threads::docs
CONSPECTUS_UPDATE_DOCS=1 cargo test --quiet -p conspectus-core --lib losses
cargo run --quiet -- plan examples/conversations/openai.json --json | python3 scripts/picture.py > docs/picture.svg.new
mv docs/picture.svg.new docs/picture.svg
