#!/usr/bin/env bash
# The wheels of the Python package, each tested by installing it into fresh environments, away from the source tree:
#
#   scripts/wheels.sh [FOLDER]              # python/dist, unless another one is said
#
# One for the stable ABI, for every Python from 3.10 on, and one for each free-threaded Python that is here. It says what
# it leaves out. CONSPECTUS_PYTHON_PROFILE=dev builds faster and larger ones; CONSPECTUS_PYTHONS adds Pythons.
set -euo pipefail
cd "$(dirname "$0")/.."
out="$(realpath -m "${1:-python/dist}")"
work="$(mktemp -d /tmp/conspectus-wheels.XXXXXX)"
trap 'rm -rf "$work"' EXIT
mapfile -t pythons < <(scripts/pythons.sh)
mapfile -t free < <(scripts/pythons.sh --free-threaded)
if [ ${#pythons[@]} -eq 0 ]; then
  echo "no Python from 3.10 on is installed: the wheels are left out"
  exit 0
fi
"${pythons[-1]}" -m venv "$work/tools"
if ! "$work/tools/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.7,<2'; then
  echo "maturin cannot be installed: the wheels are left out"
  exit 0
fi

build() {
  rm -rf "$work/made"
  if ! (cd python && "$work/tools/bin/maturin" build --quiet --profile "${CONSPECTUS_PYTHON_PROFILE:-release}" \
    --interpreter "$1" --out "$work/made") >"$work/said" 2>&1; then
    cat "$work/said" >&2
    return 1
  fi
  mkdir -p "$out"
  local wheel
  for wheel in "$work"/made/*.whl; do
    mv -f "$wheel" "$out/"
    echo "$out/$(basename "$wheel")"
  done
}

check() {
  local venv
  venv="$(mktemp -d "$work/venv.XXXX")"
  "$2" -m venv "$venv"
  # By itself: the engine needs nothing else.
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$1"
  (cd "$work" && "$venv/bin/python" -I "$here/scripts/wheel-check.py" "$(basename "$1")")
}

here="$PWD"
wheel="$(build "${pythons[0]}")"
for python in "${pythons[@]}"; do
  check "$wheel" "$python"
done
for python in ${free[@]+"${free[@]}"}; do
  if "$python" -c 'import sys; sys.exit(sys.version_info >= (3, 14))'; then
    echo "$("$python" -V), free-threaded, is older than what PyO3 builds for (3.14): its wheel is left out"
    continue
  fi
  wheel="$(build "$python")"
  check "$wheel" "$python"
done
[ ${#free[@]} -gt 0 ] || echo "no free-threaded Python is installed: its wheel is left out"
