# Starts `conspectus serve` on a free port with threads in memory and agents on a scripted model, for scripts that source this: $url is where it is.
# Needs $work, a directory of the script's own. The server ends with the script.
bin="${CONSPECTUS_BIN:-}"
if [ -z "$bin" ]; then
  cargo build --quiet -p conspectus-cli --features serve
  bin="${CARGO_TARGET_DIR:-target}/debug/conspectus"
fi
# Its agents run on a scripted model; without Python it runs none.
model=
if command -v python3 >/dev/null 2>&1; then
  python3 "$(dirname "${BASH_SOURCE[0]}")/model.py" >"$work/model.out" &
  model=$!
fi
trap 'kill $model $service 2>/dev/null; wait $model $service 2>/dev/null; rm -rf "$work"' EXIT
: >"$work/config.yaml"
for _ in $(seq 100); do
  [ -n "$model" ] || break
  [ -s "$work/model.out" ] && { echo "models: [{name: scripted, base_url: '$(cat "$work/model.out")'}]" >"$work/config.yaml"; break; }
  sleep 0.1
done
"$bin" serve --config "$work/config.yaml" --listen 127.0.0.1:0 --store memory >"$work/service.out" 2>"$work/service.log" &
service=$!
for _ in $(seq 100); do
  url=$(sed -n 's/^listening on //p' "$work/service.out")
  [ -n "$url" ] && break
  kill -0 "$service" 2>/dev/null || { cat "$work/service.log" >&2; exit 1; }
  sleep 0.1
done
[ -n "${url:-}" ] || { echo "the service did not come up" >&2; exit 1; }
