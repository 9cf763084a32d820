#!/usr/bin/env bash
# Everything that a release hands out, in a folder: the static binary, its checksum, completions, pages for man, the
# licences. docs/release.md has the whole of a release.
#
#   scripts/release.sh [FOLDER]             # target/dist, unless another one is said
#
# The binary holds all features and links nothing dynamically: it runs on any Linux of its architecture. It is built for
# musl where that target is installed, else for glibc with crt-static, which asks the system's resolver by the files of
# /etc alone (no NSS modules). CONSPECTUS_TARGET names another target, CONSPECTUS_FEATURES others than all.
set -euo pipefail
cd "$(dirname "$0")/.."
out="$(realpath -m "${1:-target/dist}")"
features="${CONSPECTUS_FEATURES:-models,threads,serve,proxy,postgres,otel}"
host="$(rustc -vV | sed -n 's/^host: //p')"
libraries="$(rustc --print sysroot)/lib/rustlib"
musl="${host/-gnu/-musl}"
target="${CONSPECTUS_TARGET:-$host}"
if [ -z "${CONSPECTUS_TARGET:-}" ] && [ -d "$libraries/$musl/lib" ] && command -v musl-gcc >/dev/null; then
  target="$musl"
fi

export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static"
# With a target named, the flags are not for build scripts and procedural macros, which cannot be static.
cargo build --locked --release -p conspectus-cli --features "$features" --target "$target"
built="${CARGO_TARGET_DIR:-target}/$target/release/conspectus"

mkdir -p "$out/man" "$out/completions"
install -m 755 "$built" "$out/conspectus"
"$out/conspectus" man --out "$out/man" >/dev/null
for shell in bash zsh fish elvish powershell; do
  "$out/conspectus" completions "$shell" >"$out/completions/conspectus.$shell"
done
cp LICENSE-APACHE LICENSE-MIT CHANGELOG.md README.md "$out/"
(cd "$out" && sha256sum conspectus >conspectus.sha256)

scripts/release-check.sh "$out/conspectus"
echo "$out/conspectus: $target, $(stat -c %s "$out/conspectus") bytes, $("$out/conspectus" --version)"
