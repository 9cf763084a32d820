#!/usr/bin/env bash
# Is a binary fit to hand out? It must be static, do its work in an empty environment, keep threads, find a server by its name
# and speak TLS with it:
#
#   scripts/release-check.sh target/dist/conspectus
#
# Names and TLS are tried with a server of our own on localhost, which needs python3 and openssl, and with
# https://$CONSPECTUS_CHECK_HOST (api.openai.com) where that is known. What cannot be tried is said.
set -euo pipefail
cd "$(dirname "$0")/.."
bin="$(realpath "$1")"
host="${CONSPECTUS_CHECK_HOST:-api.openai.com}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

linked="$(ldd "$bin" 2>&1 || true)"
case "$linked" in
*"statically linked"* | *"not a dynamic executable"*) echo "static: yes" ;;
*)
  echo "static: no: $linked" >&2
  exit 1
  ;;
esac

cp examples/conversations/openai.json "$work/"
cd "$work"
alone() { env -i HOME="$work" "$bin" "$@"; }
alone compact openai.json --json >compacted.json
grep -q '"outcome": *"compacted"' compacted.json || { echo "compacts a file: no" >&2; exit 1; }
echo "compacts a file: yes"
alone thread import openai.json --id demo --store sqlite:demo.db >/dev/null
alone compact --thread demo --store sqlite:demo.db >/dev/null
alone thread log demo --store sqlite:demo.db | grep -q 'in force' || { echo "keeps threads: no" >&2; exit 1; }
echo "keeps threads: yes"

# A request that the server refuses: it was found, TLS was spoken, and its answer was read.
refused() {
  local said
  said="$(env -i HOME="$work" "$@" 2>&1 || true)"
  case "$said" in
  *[Uu]nauthorized* | *"API key"* | *"wrong key"*) return 0 ;;
  esac
  echo "names and TLS: no: $said" >&2
  exit 1
}
asking=(compact openai.json --force --model some-model --provider openai --on-failure error)

if command -v python3 >/dev/null && command -v openssl >/dev/null; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE \
    -keyout key.pem -out cert.pem 2>/dev/null
  python3 - >port <<'PYTHON' &
import http.server, ssl

class Refusing(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        body = b'{"error": {"message": "401 Unauthorized: wrong key"}}'
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Refusing)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
PYTHON
  server=$!
  trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
  for _ in $(seq 100); do [ -s port ] && break || sleep 0.1; done
  refused SSL_CERT_FILE="$work/cert.pem" "$bin" "${asking[@]}" --base-url "https://localhost:$(cat port)/v1"
  echo "names and TLS on this machine: yes"
else
  echo "python3 or openssl is not installed: names and TLS on this machine are left out"
fi
if getent hosts "$host" >/dev/null 2>&1; then
  refused OPENAI_API_KEY=none "$bin" "${asking[@]}" --base-url "https://$host/v1" --api-key-env OPENAI_API_KEY
  echo "names and TLS with $host: yes"
else
  echo "names and TLS with $host: its name is not known here, left out"
fi
