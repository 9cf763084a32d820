# What scripts about the page need: Chromium, Node with playwright-core and axe-core in a folder of the user's cache
# (CONSPECTUS_WEB_CACHE), and the service. Sourced; ends the script, and says so, where something is not there.
leave_out() {
  echo "$1: the web page is left out (apt-get install chromium nodejs npm)"
  exit 0
}
have() { command -v "$1" >/dev/null 2>&1; }
browser() { have chromium || have chromium-browser || have google-chrome || [ -x "${CONSPECTUS_CHROMIUM:-}" ]; }

# With CONSPECTUS_INSTALL_CHROMIUM=1, and as root on Debian, what is missing is installed first.
if [ "${CONSPECTUS_INSTALL_CHROMIUM:-}" = 1 ] && [ "$(id -u)" = 0 ] && have apt-get; then
  missing=()
  browser || missing+=(chromium fonts-dejavu-core)
  have node || missing+=(nodejs)
  have npm || missing+=(npm)
  if [ "${#missing[@]}" -gt 0 ]; then
    echo "installing Debian's packages ${missing[*]}"
    said=$(mktemp)
    { apt-get -o DPkg::Lock::Timeout=60 update &&
      DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=60 install -y --no-install-recommends "${missing[@]}"; } >"$said" 2>&1 </dev/null || tail -3 "$said"
    rm -f "$said"
  fi
fi
browser || leave_out "Chromium is not installed"
have node && have npm || leave_out "Node or npm is not installed"
[ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 20')" = true ] || leave_out "Node is older than 20"

export CONSPECTUS_ROOT="$PWD"
cache="${CONSPECTUS_WEB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-web}"
mkdir -p "$cache"
if ! cmp -s scripts/web/package-lock.json "$cache/package-lock.json" || ! [ -d "$cache/node_modules/playwright-core" ] || ! [ -d "$cache/node_modules/axe-core" ]; then
  cp scripts/web/package.json scripts/web/package-lock.json "$cache/"
  npm ci --prefix "$cache" --silent --ignore-scripts --no-audit --no-fund || { rm -f "$cache/package-lock.json"; leave_out "playwright-core cannot be installed"; }
fi
# A module finds packages beside itself only.
cp scripts/web/*.mjs "$cache/"
if [ -z "${CONSPECTUS_BIN:-}" ]; then
  cargo build --quiet -p conspectus-cli --features serve ${CONSPECTUS_WEB_RELEASE:+--release}
  built=debug
  [ -z "${CONSPECTUS_WEB_RELEASE:-}" ] || built=release
  CONSPECTUS_BIN="$PWD/${CARGO_TARGET_DIR:-target}/$built/conspectus"
fi
case "$CONSPECTUS_BIN" in /*) ;; *) CONSPECTUS_BIN="$PWD/$CONSPECTUS_BIN" ;; esac
export CONSPECTUS_BIN
