#!/usr/bin/env bash
# The Python package on Pythons that are newer than those installed here: a Debian of its own, in the user's cache, with
# newer Pythons; in it the wheel and the tests. Left out, and that is said, without root and debootstrap
# (apt-get install debootstrap).
#
#   scripts/python-newest.sh [WHEEL]        # without one, it is built
#
# CONSPECTUS_DEBIAN names another suite than sid, CONSPECTUS_NEWEST other versions than those below, which the suite must have.
set -euo pipefail
cd "$(dirname "$0")/.."
suite="${CONSPECTUS_DEBIAN:-sid}"
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  echo "needs root and debootstrap: newer Pythons are left out"
  exit 0
fi
versions="${CONSPECTUS_NEWEST:-3.14 3.15}"
root="${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-debian/$suite-${versions// /-}"
mirror="$(sed -n 's/^URIs: *//p; s/^deb [^#]*\(https\?:[^ ]*\).*/\1/p' /etc/apt/sources.list.d/*.sources /etc/apt/sources.list \
  2>/dev/null | head -1 || true)"
if [ ! -e "$root/made" ]; then
  rm -rf "$root"
  mkdir -p "$root"
  packages="$(printf 'python%s,' $versions)$(printf 'python%s-venv,' $versions)ca-certificates"
  debootstrap --variant=minbase --include="$packages" "$suite" "$root" ${mirror:+"$mirror"} >/dev/null
  touch "$root/made"
fi

inside() {
  local said=()
  while IFS= read -r variable; do said+=("$variable"); done < <(env | grep -iE '^(pip_(index|default|cert)|https?_proxy|no_proxy)' || true)
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 ${said[@]+"${said[@]}"} "$@"
}

# Whoever answers for the registry here answers there, too.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
wheel="${1:-}"
if [ -z "$wheel" ]; then
  CONSPECTUS_PYTHON_PROFILE="${CONSPECTUS_PYTHON_PROFILE:-dev}" scripts/wheels.sh "$root/wheels"
  wheel="$(ls "$root"/wheels/*-abi3-*.whl | head -1)"
fi

rm -rf "$root/tree" && mkdir -p "$root/tree/python" "$root/tree/scripts"
cp "$wheel" "$root/tree/"
cp -r docs examples "$root/tree/"
cp -r python/tests python/examples python/pyproject.toml "$root/tree/python/"
cp scripts/wheel-check.py "$root/tree/scripts/"
wheel="$(basename "$wheel")"
for version in $versions; do
  inside bash -c "
    set -euo pipefail
    cd /tree
    [ -x /venv-$version/bin/python ] || python$version -m venv /venv-$version
    pip='/venv-$version/bin/pip install --quiet --disable-pip-version-check --only-binary :all:'
    if ! \$pip -r python/tests/requirements.txt 2>/dev/null; then
      echo 'Python $version: LangChain cannot be installed'
      \$pip pytest pytest-asyncio openai anthropic pyarrow
    fi
    \$pip --no-index --no-deps --force-reinstall '/tree/$wheel'
    cd /tmp && /venv-$version/bin/python -I /tree/scripts/wheel-check.py '$wheel'
    cd /tree/python/tests && /venv-$version/bin/python -m pytest -q -p no:cacheprovider
  "
done
