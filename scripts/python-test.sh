#!/usr/bin/env bash
# The Python package: built, installed into a virtual environment of the user's cache, tested there against LangChain
# itself, and its types checked. Says what it leaves out.
#
#   scripts/python-test.sh [pytest's arguments]
#
# CONSPECTUS_PYTHON names another Python (3.10 or newer; scripts/pythons.sh prints those that are here), and
# CONSPECTUS_PYTHON_CACHE another place for the environment. CONSPECTUS_BIN names a built program conspectus, which then
# reads back what was imported; under scripts/with-postgres.sh stores in PostgreSQL are imported, too.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${CONSPECTUS_PYTHON:-python3}"
[ -z "${CONSPECTUS_BIN:-}" ] || CONSPECTUS_BIN="$(realpath "$CONSPECTUS_BIN")"
if ! command -v "$python" >/dev/null 2>&1; then
  echo "$python is not installed: the Python package is left out"
  exit 0
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
  echo "$python is older than 3.10: the Python package is left out"
  exit 0
fi
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
cache="${CONSPECTUS_PYTHON_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-python}/$version"
venv="$cache/venv"
needs=python/tests/requirements.txt
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
if ! cmp -s "$needs" "$cache/requirements.txt"; then
  if ! "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$needs"; then
    echo "what the tests need cannot be installed: the Python package is left out"
    exit 0
  fi
  cp "$needs" "$cache/requirements.txt"
fi

# The wheel holds what an installed package holds: a test that passes from the source tree alone would prove little.
wheels="$cache/wheels"
rm -rf "$wheels"
cd python
"$venv/bin/maturin" build --quiet --profile "${CONSPECTUS_PYTHON_PROFILE:-dev}" --interpreter "$venv/bin/python" \
  --out "$wheels"
"$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheels"/*.whl

cd tests
"$venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
# The stub against the module as it is installed.
"$venv/bin/python" -m mypy.stubtest conspectus._native
cd ..
if "$venv/bin/python" -c 'import langchain' 2>/dev/null; then
  "$venv/bin/mypy" --no-error-summary --cache-dir "$cache/mypy"
  echo "types: no complaint"
else
  echo "types: left out, LangChain is not installed for Python $version"
fi
