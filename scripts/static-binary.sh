#!/bin/sh
# Builds a program that needs no library of the machine it runs on, for clusters and containers.
#
#     scripts/static-binary.sh [OUTPUT]
#
# Writes OUTPUT, target/carom-static unless given. Linux with glibc: its static parts come with the package libc6-dev (Debian) or
# glibc-static (Fedora).
set -eu
cd "$(dirname "$0")/.."
output=${1:-target/carom-static}
host=$(rustc -vV | sed -n 's/^host: //p')
# With a target given, the flags are for the program alone, not for procedural macros, which cannot be static.
RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --locked --target "$host" --target-dir target/static --bin carom
cp "target/static/$host/release/carom" "$output"
if command -v ldd >/dev/null && ldd "$output" 2>/dev/null | grep -q '=>'; then
    echo "$output still needs libraries:" >&2
    ldd "$output" >&2
    exit 1
fi
"$output" --version
