#!/usr/bin/env bash
# How soon a thread of 10,000 messages is seen: time of the server and of the page until its newest messages stand there, in a
# browser that has nothing of the page yet; how large the page is; and how one of 100,000 scrolls. Fails above 300 ms and 200 kB, or
# when a frame takes more than 250 ms.
#
#   scripts/web-speed.sh            with a release build
set -euo pipefail
cd "$(dirname "$0")/.."
export CONSPECTUS_WEB_RELEASE="${CONSPECTUS_WEB_RELEASE-1}"
. scripts/web/ready.sh
node "$cache/speed.mjs"
