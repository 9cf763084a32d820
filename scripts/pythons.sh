#!/usr/bin/env bash
# The Pythons from 3.10 on that are installed here, a path a line, the oldest first; one of each version, free-threaded
# ones with --free-threaded only:
#
#   for python in $(scripts/pythons.sh); do CONSPECTUS_PYTHON="$python" scripts/python-test.sh; done
#
# CONSPECTUS_PYTHONS adds some (paths, separated by spaces).
set -euo pipefail
wanted=0
[ "${1:-}" != --free-threaded ] || wanted=1
{
  for python in ${CONSPECTUS_PYTHONS:-} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3 \
    $(compgen -c python3. | grep -E '^python3\.[0-9]+t?$' | sort -u) python3; do
    path="$(command -v "$python" || true)"
    [ -n "$path" ] || continue
    # What only stands for another one, as pyenv's do, may run none.
    "$path" -c 'import os, sys, sysconfig
free = int(bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
if sys.version_info >= (3, 10): print("%d.%02d" % sys.version_info[:2], free, os.path.realpath(sys.executable))' 2>/dev/null || true
  done
} | sort -s -k1,2 -u | awk -v wanted="$wanted" '$2 == wanted && !seen[$1]++ { print $3 }'
