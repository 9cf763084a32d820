#!/usr/bin/env bash
# LangGraph's own clients, from PyPI and npm, against a running service: they read threads, states and history, and run agents.
# They are installed once into a directory of the user's cache (CONSPECTUS_SDK_CACHE). Says what it leaves out.
set -euo pipefail
cd "$(dirname "$0")/.."
cache="${CONSPECTUS_SDK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-sdk}"
mkdir -p "$cache"
work=$(mktemp -d)
. scripts/sdk/service.sh
have() { command -v "$1" >/dev/null 2>&1; }

if ! have python3; then
  echo "python3 is not installed: the client of PyPI is left out"
elif ! scripts/sdk/install.sh "$cache" langgraph_sdk langgraph-sdk; then
  echo "langgraph-sdk cannot be installed: the client of PyPI is left out"
else
  "$cache/venv/bin/python" scripts/sdk/client.py "$url/api"
fi

if ! have npm; then
  echo "npm is not installed: the client of npm is left out"
elif ! [ -d "$cache/node_modules/@langchain/langgraph-sdk" ] &&
  ! npm install --silent --no-audit --no-fund --prefix "$cache" @langchain/langgraph-sdk; then
  echo "@langchain/langgraph-sdk cannot be installed: the client of npm is left out"
else
  # A module finds packages beside itself only.
  cp scripts/sdk/client.mjs "$cache/client.mjs"
  node "$cache/client.mjs" "$url/api"
fi
