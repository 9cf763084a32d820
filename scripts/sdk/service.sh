# Starts `conspectus serve` on a free port with threads in memory, for scripts that source this: $url is where it is.
# Needs $work, a directory of the script's own. The server ends with the script.
bin="${CONSPECTUS_BIN:-}"
if [ -z "$bin" ]; then
  cargo build --quiet -p conspectus-cli --features serve
  bin="${CARGO_TARGET_DIR:-target}/debug/conspectus"
fi
"$bin" serve --listen 127.0.0.1:0 --store memory >"$work/service.out" 2>"$work/service.log" &
service=$!
trap 'kill "$service" 2>/dev/null; wait "$service" 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 100); do
  url=$(sed -n 's/^listening on //p' "$work/service.out")
  [ -n "$url" ] && break
  kill -0 "$service" 2>/dev/null || { cat "$work/service.log" >&2; exit 1; }
  sleep 0.1
done
[ -n "${url:-}" ] || { echo "the service did not come up" >&2; exit 1; }
