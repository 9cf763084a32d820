#!/usr/bin/env bash
# What the proxy adds below the trigger, beside nginx as a plain reverse proxy and LiteLLM's, in one run on one machine, all
# before the same static nginx. Needs nginx and wrk (Debian: nginx-light, wrk); LiteLLM is installed once into the cache of the
# SDKs unless LITELLM=no. SECONDS_EACH (5) is the time of one measurement. Prints a table, whose figures are microseconds, and
# at its end what was aimed at beside what was reached.
set -euo pipefail
cd "$(dirname "$0")/.."
have() { command -v "$1" >/dev/null 2>&1; }
for tool in nginx wrk python3 curl; do have "$tool" || { echo "$tool is not installed"; exit 2; }; done
cache="${CONSPECTUS_SDK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/conspectus-sdk}"
seconds="${SECONDS_EACH:-5}"
work=$(mktemp -d)
pids=""
trap 'kill $pids 2>/dev/null; wait $pids 2>/dev/null; rm -rf "$work"' EXIT
bin="${CONSPECTUS_BIN:-}"
if [ -z "$bin" ]; then
  cargo build --quiet --release -p conspectus-cli --features proxy
  bin="${CARGO_TARGET_DIR:-target}/release/conspectus"
fi
python3 scripts/proxy/bodies.py "$work/bodies"

answer='{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'
cat >"$work/nginx.conf" <<T
worker_processes 1;
daemon off;
pid $work/nginx.pid;
error_log $work/nginx.log error;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path $work/b; proxy_temp_path $work/p; fastcgi_temp_path $work/f; uwsgi_temp_path $work/u; scgi_temp_path $work/s;
  client_max_body_size 64m; client_body_buffer_size 2m; keepalive_requests 1000000000;
  upstream static { server 127.0.0.1:18090; keepalive 64; }
  server {
    listen 18090;
    location = /v1/chat/completions { default_type application/json; return 200 '$answer'; }
    location = /stream/v1/chat/completions { default_type text/event-stream; return 200 'data: {"choices":[]}\n\ndata: [DONE]\n\n'; }
  }
  server {
    listen 18091;
    location / { proxy_pass http://static; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
T
nginx -c "$work/nginx.conf" -p "$work" 2>>"$work/nginx.log" &
pids="$pids $!"
# A window that the largest body stays below: what is measured is what passing on costs.
cat >"$work/config.yaml" <<T
summarization:
  max_context: 2000000
T
"$bin" proxy --config "$work/config.yaml" --upstream http://127.0.0.1:18090 --upstream stream=http://127.0.0.1:18090/stream --listen 127.0.0.1:18092 \
  --store "sqlite:$work/threads.db" >"$work/proxy.out" 2>"$work/proxy.log" &
ours=$!
pids="$pids $ours"
litellm=""
if [ "${LITELLM:-yes}" = yes ]; then
  if [ -x "$cache/litellm/bin/litellm" ] || { python3 -m venv "$cache/litellm" && "$cache/litellm/bin/pip" install --quiet 'litellm[proxy]'; }; then
    litellm=18093
    cat >"$work/litellm.yaml" <<T
model_list:
  - model_name: m
    litellm_params: {model: openai/m, api_base: "http://127.0.0.1:18090/v1", api_key: made-up}
T
    LITELLM_LOCAL_MODEL_COST_MAP=True LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY=true "$cache/litellm/bin/litellm" --config "$work/litellm.yaml" --port $litellm --num_workers 1 --telemetry False \
      >"$work/litellm.log" 2>&1 &
    pids="$pids $!"
  else
    echo "litellm cannot be installed, left out"
  fi
fi
# waits for PORT to answer
up() {
  for _ in $(seq 300); do
    curl -s -o /dev/null -H 'content-type: application/json' -d @"$work/bodies/10k/0.json" "http://127.0.0.1:$1/v1/chat/completions" && return
    sleep 0.2
  done
  echo "nothing listens on $1" >&2
  cat "$work"/*.log >&2
  exit 1
}
names="direct:18090 nginx:18091 conspectus:18092${litellm:+ litellm:$litellm}"
for name in $names; do up "${name#*:}"; done

printf '%-11s %5s %12s %10s %10s %10s %10s %12s %7s\n' "" body connections p50 added p99 added requests/s errors
declare -A base50 base99 added50 added99 rates
for size in 10k 100k 1m; do
  for connections in 1 16; do
    for name in $names; do
      port=${name#*:} name=${name%:*}
      # Once before, so that what is known is known.
      BODIES="$work/bodies/$size" wrk -t1 -c"$connections" -d1 -s "$work/bodies/wrk.lua" "http://127.0.0.1:$port" >/dev/null
      read -r p50 p99 rate errors < <(BODIES="$work/bodies/$size" wrk -t1 -c"$connections" -d"$seconds" -s "$work/bodies/wrk.lua" "http://127.0.0.1:$port" | tail -1)
      [ "$name" = direct ] && base50[$size$connections]=$p50 base99[$size$connections]=$p99
      printf '%-11s %5s %12s %10s %10s %10s %10s %12s %7s\n' "$name" "$size" "$connections" "$p50" "$((p50 - ${base50[$size$connections]}))" "$p99" \
        "$((p99 - ${base99[$size$connections]}))" "$rate" "$errors"
      added50[$name$size$connections]=$((p50 - ${base50[$size$connections]}))
      added99[$name$size$connections]=$((p99 - ${base99[$size$connections]}))
      rates[$name$size$connections]=$rate
    done
  done
done

printf '\nuntil the first byte of a stream, 200 requests of 100 kB, milliseconds (median)\n'
for place in direct:18090/stream nginx:18091/stream conspectus:18092/stream; do
  times=$(for _ in $(seq 200); do
    curl -s -o /dev/null -w '%{time_starttransfer}\n' -H 'content-type: application/json' -d @"$work/bodies/100k/19.json" "http://127.0.0.1:${place#*:}/v1/chat/completions"
  done | sort -n | sed -n 100p)
  printf '%-11s %s\n' "${place%%:*}" "$(awk "BEGIN { print $times * 1000 }")"
done

rss() { awk '/VmRSS/ { print $2 }' "/proc/$ours/status"; }
printf '\nmemory of the proxy: %s kB before' "$(rss)"
python3 - <<'P'
import http.client, json
words = "The lantern build failed with E-4417 while the mast was lowered. " * 5
connection = http.client.HTTPConnection("127.0.0.1", 18092)
for n in range(10_000):
    said = [{"role": ["user", "assistant"][k % 2], "content": f"{n} {k} {words}"} for k in range(27)]
    body = json.dumps({"model": "m", "messages": said})
    connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json", "authorization": "Bearer x"})
    connection.getresponse().read()
P
printf ', %s kB after 10,000 conversations of 10 kB\n' "$(rss)"
curl -s http://127.0.0.1:18092/metrics | grep -E '^conspectus_proxy_(conversations|kept_bytes)'

printf '\nwhat was aimed at, on one connection\n'
# verdict WHAT REACHED AIM UNIT MOST: whether it is at most that (MOST 1), or at least (0)
verdict() {
  awk -v what="$1" -v reached="$2" -v aim="$3" -v unit="$4" -v most="$5" 'BEGIN {
    ok = most ? reached <= aim : reached >= aim
    printf "%-34s %9s %s, aim %s %s %s: %s\n", what, reached, unit, most ? "at most" : "at least", aim, unit, ok ? "reached" : "NOT REACHED"
  }'
}
for size in 10k 100k 1m; do
  case $size in 10k) aim=100 ;; 100k) aim=250 ;; *) aim=1500 ;; esac
  verdict "added at p50, bodies of $size" "${added50[conspectus${size}1]}" "$aim" us 1
  verdict "added at p99, bodies of $size" "${added99[conspectus${size}1]}" "$((5 * aim))" us 1
done
if [ -n "$litellm" ]; then
  for connections in 1 16; do
    times=$(awk "BEGIN { printf \"%.0f\", ${rates[conspectus10k$connections]} / ${rates[litellm10k$connections]} }")
    verdict "LiteLLM's requests a second, $connections conn." "$times" 100 times 0
  done
fi
