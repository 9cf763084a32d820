#!/usr/bin/env bash
# install.sh DIR MODULE PACKAGE: a Python package in a virtual environment of its own, installed once.
set -euo pipefail
[ -x "$1/venv/bin/python" ] || python3 -m venv "$1/venv"
"$1/venv/bin/python" -c "import $2" 2>/dev/null || "$1/venv/bin/pip" install --quiet "$3"
