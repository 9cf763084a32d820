#!/usr/bin/env bash
# LangGraph's own clients, from PyPI and npm, against a running service: they read threads, states and history.
# They are installed once into a directory of the user's cache (CONSPECTUS_SDK_CACHE). Says what it leaves out.
set -euo pipefail
cd "$(dirname "$0")/.."
cache="${CONSPECTUS_SDK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-sdk}"
mkdir -p "$cache"
work=$(mktemp -d)
. scripts/sdk/service.sh
have() { command -v "$1" >/dev/null 2>&1; }

if have python3; then
  if [ ! -x "$cache/venv/bin/python" ]; then
    python3 -m venv "$cache/venv"
  fi
  "$cache/venv/bin/python" -c 'import langgraph_sdk' 2>/dev/null ||
    "$cache/venv/bin/pip" install --quiet langgraph-sdk
  "$cache/venv/bin/python" scripts/sdk/client.py "$url/api"
else
  echo "python3 is not installed: the client of PyPI is left out"
fi

if have npm; then
  [ -d "$cache/node_modules/@langchain/langgraph-sdk" ] ||
    npm install --silent --no-audit --no-fund --prefix "$cache" @langchain/langgraph-sdk
  # A module finds packages beside itself only.
  cp scripts/sdk/client.mjs "$cache/client.mjs"
  node "$cache/client.mjs" "$url/api"
else
  echo "npm is not installed: the client of npm is left out"
fi
