# Starts a scripted upstream and `conspectus proxy` before it, for scripts that source this: $upstream and $proxy are where
# they are. Needs $work, a directory of the script's own, and $limit, the bytes that the upstream takes. Both end with the
# script. $window: the tokens that the proxy is told of, if any.
bin="${CONSPECTUS_BIN:-}"
if [ -z "$bin" ]; then
  cargo build --quiet -p conspectus-cli --features proxy
  bin="${CARGO_TARGET_DIR:-target}/debug/conspectus"
fi
printf 'summarization:\n  preset: default\n' >"$work/config.yaml"
[ -n "${window:-}" ] && printf '  max_context: %s\n' "$window" >>"$work/config.yaml"
python3 scripts/proxy/upstream.py crates/proxy/tests/bodies "$limit" >"$work/upstream.out" 2>"$work/upstream.log" &
pids=$!
trap 'kill $pids 2>/dev/null; wait $pids 2>/dev/null; rm -rf "$work"' EXIT
# waits for FILE to say something, and prints it
said() {
  for _ in $(seq 100); do
    [ -s "$1" ] && { cat "$1"; return; }
    sleep 0.1
  done
  echo "nothing came up: $1" >&2
  cat "$work"/*.log >&2
  exit 1
}
upstream=$(said "$work/upstream.out")
"$bin" proxy --upstream "$upstream" --config "$work/config.yaml" --listen 127.0.0.1:0 --store "sqlite:$work/threads.db" --log \
  >"$work/proxy.out" 2>"$work/proxy.log" &
pids="$pids $!"
proxy=$(said "$work/proxy.out" | sed 's/^listening on //')
# What went up, by our strict validators: none of their rules is broken.
valid() {
  python3 scripts/proxy/seen.py "$upstream" >"$work/seen.jsonl"
  cargo run --quiet -p conspectus-wire --example valid <"$work/seen.jsonl"
}
