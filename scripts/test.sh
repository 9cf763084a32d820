#!/usr/bin/env bash
# All tests of Conspectus, cheapest first. Needs the Rust toolchain and a C compiler; says what it leaves out.
#
#   scripts/test.sh          everything
#   scripts/test.sh quick    formatting, lints and unit tests
#
# The web page is tried in Chromium where that and Node are installed; CONSPECTUS_INSTALL_CHROMIUM=1 installs them (root, Debian).
# PostgreSQL is started from the programs that are installed (scripts/with-postgres.sh), or is where CONSPECTUS_POSTGRES says.
# Checks over real sessions run when ../shared (or CONSPECTUS_SHARED) is there and say so when it is not.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

export RUSTFLAGS="${RUSTFLAGS:-} -D warnings"
export RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings"

step "formatting"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --all-targets --all-features --quiet

step "tests, those of PostgreSQL on a server of their own"
scripts/with-postgres.sh cargo test --workspace --all-features --quiet --lib --bins --tests

if [ "${1:-}" != quick ]; then
  step "the service, as LangGraph's clients, schemathesis and an OpenTelemetry receiver see it"
  export CONSPECTUS_BIN="${CARGO_TARGET_DIR:-target}/debug/conspectus" # with all features, as the tests were given it
  scripts/sdk-test.sh
  scripts/api-test.sh
  scripts/otel-test.sh
  step "the proxy, as the SDKs of OpenAI and Anthropic see it"
  scripts/proxy-sdk-test.sh
  step "the web page in a browser"
  scripts/web-test.sh
  step "the Python package, beside that program and PostgreSQL"
  scripts/with-postgres.sh scripts/python-test.sh
  step "many threads, a long one, and a service for some seconds"
  scripts/load.sh short
fi

step "the command line without models"
cargo test --quiet -p conspectus-cli --test it nobody
cargo test --quiet -p conspectus-cli --test it unthreaded

[ "${1:-}" = quick ] && exit 0

step "examples in the documentation"
cargo test --workspace --quiet --doc

step "documentation"
cargo doc --workspace --no-deps --all-features --quiet

step "real sessions, at every trigger"
if [ -d "${CONSPECTUS_SHARED:-../shared}/data" ]; then
  cargo run --quiet --release -p conspectus-judge --bin sessions 2>/dev/null
else
  echo "no shared data beside the project: left out (the examples were tried above)"
fi

step "instructions of the hot paths"
scripts/instructions.sh

step "the wheel of the Python package"
CONSPECTUS_PYTHON_PROFILE=dev scripts/wheels.sh target/wheels-dev

step "the picture on the first page"
if have python3; then
  cargo run --quiet -p conspectus-cli -- plan examples/conversations/openai.json --json |
    python3 scripts/picture.py | cmp - docs/picture.svg || {
    echo "docs/picture.svg is not what the example comes to now; scripts/picture.py says how to draw it again"
    exit 1
  }
else
  echo "python3 is not installed, left out"
fi

step "features alone"
cargo check --quiet -p conspectus-tokens --no-default-features
cargo check --quiet -p conspectus-tokens --no-default-features --features o200k
cargo check --quiet -p conspectus-tokens --no-default-features --features cl100k

step "crates as they would be published"
scripts/publish-check.sh quick

step "licences and advisories"
if have cargo-deny; then
  cargo deny --offline check bans licenses sources
else
  echo "cargo-deny is not installed, left out (cargo install cargo-deny)"
fi

step "done"
