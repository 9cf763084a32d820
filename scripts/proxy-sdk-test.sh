#!/usr/bin/env bash
# The SDKs of OpenAI and Anthropic, LangChain's models and the AI SDK, from PyPI and npm, through the proxy before a scripted
# upstream: streams, tools, pictures, thinking, and conversations beyond the window that the upstream enforces. What went up
# is checked by our strict validators. They are installed once into a directory of the user's cache (CONSPECTUS_SDK_CACHE).
# Says what it leaves out.
set -euo pipefail
cd "$(dirname "$0")/.."
have() { command -v "$1" >/dev/null 2>&1; }
have python3 || { echo "python3 is not installed: the SDKs are left out"; exit 0; }
cache="${CONSPECTUS_SDK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-sdk}"
mkdir -p "$cache"
work=$(mktemp -d)
limit=24000 window=6000
. scripts/proxy/proxy.sh

if ! scripts/sdk/install.sh "$cache" openai openai || ! scripts/sdk/install.sh "$cache" anthropic anthropic; then
  echo "openai and anthropic cannot be installed: the SDKs of PyPI are left out"
else
  "$cache/venv/bin/python" scripts/proxy/sdk.py "$proxy" "$upstream"
fi

if ! scripts/sdk/install.sh "$cache" langchain_openai langchain-openai || ! scripts/sdk/install.sh "$cache" langchain_anthropic langchain-anthropic; then
  echo "langchain-openai and langchain-anthropic cannot be installed: they are left out"
else
  "$cache/venv/bin/python" scripts/proxy/chains.py "$proxy" "$upstream"
fi

if ! have npm; then
  echo "npm is not installed: the SDKs of npm are left out"
elif ! { [ -d "$cache/node_modules/openai" ] && [ -d "$cache/node_modules/@anthropic-ai/sdk" ]; } &&
  ! npm install --silent --no-audit --no-fund --prefix "$cache" openai @anthropic-ai/sdk; then
  echo "openai and @anthropic-ai/sdk cannot be installed: the SDKs of npm are left out"
else
  # A module finds packages beside itself only.
  cp scripts/proxy/{common,sdk,ai}.mjs "$cache/"
  node "$cache/sdk.mjs" "$proxy" "$upstream"
  if ! { [ -d "$cache/node_modules/ai" ] && [ -d "$cache/node_modules/@ai-sdk/openai" ] && [ -d "$cache/node_modules/@ai-sdk/anthropic" ]; } &&
    ! npm install --silent --no-audit --no-fund --prefix "$cache" ai @ai-sdk/openai @ai-sdk/anthropic; then
    echo "ai, @ai-sdk/openai and @ai-sdk/anthropic cannot be installed: the AI SDK is left out"
  else
    node "$cache/ai.mjs" "$proxy" "$upstream"
  fi
fi
valid
if grep -q "outcome=failed_open" "$work/proxy.log"; then
  echo "something of ours failed:"
  grep "outcome=failed_open" "$work/proxy.log"
  exit 1
fi
