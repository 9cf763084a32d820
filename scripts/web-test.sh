#!/usr/bin/env bash
# The web page in Debian's Chromium against a running service on SQLite with a scripted model: everything that can be done
# there, hostile conversations, connections that break, two windows at once, and what axe finds. Says what it leaves out.
#
#   scripts/web-test.sh              all of it
#   scripts/web-test.sh fold axe     tests whose names have one of these words
#
# CONSPECTUS_WEB_FILES=DIR takes the page's files from there instead of the binary's: for whoever changes them.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/web/ready.sh
node "$cache/test.mjs" "$@"
