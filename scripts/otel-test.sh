#!/usr/bin/env bash
# Spans of the running service at a real OTLP receiver: names, attributes, parents, one end for each beginning, and nothing
# of what was said in any of them. The receiver is scripts/otel/receiver.py over the package opentelemetry-proto (PyPI),
# which is installed once into a directory of the user's cache (CONSPECTUS_SDK_CACHE). Says what it leaves out.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v python3 >/dev/null 2>&1; then
  echo "python3 is not installed: left out"
  exit 0
fi
cache="${CONSPECTUS_SDK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-sdk}"
mkdir -p "$cache"
if ! scripts/sdk/install.sh "$cache" opentelemetry.proto.collector.trace.v1.trace_service_pb2 opentelemetry-proto; then
  echo "opentelemetry-proto cannot be installed: left out"
  exit 0
fi
bin="${CONSPECTUS_BIN:-}"
if [ -z "$bin" ]; then
  cargo build --quiet -p conspectus-cli --features otel
  bin="${CARGO_TARGET_DIR:-target}/debug/conspectus"
fi
"$cache/venv/bin/python" scripts/otel/check.py "$bin"
