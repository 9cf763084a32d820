#!/usr/bin/env bash
# conspectus.batch under the engines that it is for: Ray Data, and PySpark where there is a Java (apt-get install
# default-jre-headless). Both are large and are installed into the user's cache. Says what it leaves out.
#
#   scripts/batch-test.sh [WHEEL]           # without one, it is built
set -euo pipefail
cd "$(dirname "$0")/.."
python="${CONSPECTUS_PYTHON:-python3}"
cache="${CONSPECTUS_PYTHON_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-python}/batch"
venv="$cache/venv"
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
engines=("ray[data]")
if command -v java >/dev/null 2>&1; then
  engines+=(pyspark "pandas<3")
else
  echo "there is no Java: PySpark is left out"
fi
if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check pytest pytest-asyncio pyarrow "${engines[@]}"; then
  echo "the engines cannot be installed: left out"
  exit 0
fi
wheel="${1:-}"
if [ -z "$wheel" ]; then
  CONSPECTUS_PYTHON_PROFILE="${CONSPECTUS_PYTHON_PROFILE:-dev}" scripts/wheels.sh "$cache/wheels"
  wheel="$(ls "$cache"/wheels/*-abi3-*.whl | head -1)"
fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
cd python/tests
"$venv/bin/python" -m pytest -q -p no:cacheprovider -rs test_batch.py
