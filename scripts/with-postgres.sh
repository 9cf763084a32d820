#!/usr/bin/env bash
# Runs a command with a PostgreSQL server of its own, which ends with the command:
#
#   scripts/with-postgres.sh cargo test -p conspectus-store
#
# CONSPECTUS_POSTGRES says where the server is (words as libpq takes them, without a database). If it is set, that one is
# taken. Else one is started in a temporary folder from the programs that are installed, reachable by a socket in that
# folder and by nothing else. With CONSPECTUS_INSTALL_POSTGRES=1, and as root on Debian, the programs are installed first
# if there are none. Without a server the command runs all the same, and what needs one says that it is left out.
# CONSPECTUS_POSTGRES_FSYNC=on: what is committed is on the disk, as it has to be where figures are taken.
set -euo pipefail

without() {
  echo "PostgreSQL: $1; its tests are left out (apt-get install postgresql, or set CONSPECTUS_POSTGRES)" >&2
  exec "${command[@]}"
}

programs() {
  local found
  for found in "$(command -v initdb || true)" /usr/lib/postgresql/*/bin/initdb; do
    if [ -x "$found" ] && [ -x "$(dirname "$found")/pg_ctl" ]; then
      dirname "$found"
    fi
  done | sort -V | tail -1
}

# Debian's packages, without the cluster that they would make and start.
install() {
  local own=/etc/postgresql-common/createcluster.d
  local as_told=$own/conspectus.conf
  mkdir -p "$own" && echo 'create_main_cluster = false' >"$as_told"
  apt-get -o DPkg::Lock::Timeout=60 update &&
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=60 install -y --no-install-recommends postgresql
  local ended=$?
  rm -f "$as_told"
  return $ended
}

command=("$@")
[ $# -gt 0 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
[ -z "${CONSPECTUS_POSTGRES:-}" ] || exec "${command[@]}"

bin="$(programs)"
if [ -z "$bin" ] && [ "${CONSPECTUS_INSTALL_POSTGRES:-}" = 1 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "PostgreSQL: installing Debian's packages" >&2
  said="$(mktemp)"
  install >"$said" 2>&1 </dev/null || tail -3 "$said" >&2
  rm -f "$said"
  bin="$(programs)"
fi
[ -n "$bin" ] || without "not installed"

# It does not run as root.
as=()
if [ "$(id -u)" = 0 ]; then
  user=nobody
  ! id postgres >/dev/null 2>&1 || user=postgres
  command -v runuser >/dev/null || without "root cannot run it, and there is no runuser"
  as=(runuser -u "$user" --)
fi

folder="$(mktemp -d /tmp/conspectus-postgres.XXXXXX)"
[ "$(id -u)" != 0 ] || chown "$user" "$folder"
stop() {
  (cd / && "${as[@]}" "$bin/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1) || true
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start() {
  cd /
  "${as[@]}" "$bin/initdb" -D "$folder/data" -A trust -U conspectus -E UTF8 --locale=C &&
    "${as[@]}" "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 start \
      -o "-c listen_addresses= -c unix_socket_directories=$folder -c max_connections=200 -c fsync=${CONSPECTUS_POSTGRES_FSYNC:-off}"
}
if ! (start) >"$folder.out" 2>&1 </dev/null; then
  tail -3 "$folder.out" >&2
  rm -f "$folder.out"
  stop
  trap - EXIT
  without "could not be started"
fi
rm -f "$folder.out"

CONSPECTUS_POSTGRES="host=$folder user=conspectus" "${command[@]}"
