#!/usr/bin/env bash
# The shipped macro in the real ParaView: renders a run in batch and demands a picture and no error.
# Usage: tests/external/paraview.sh CAROM OUTDIR
set -euo pipefail
cd "$(dirname "$0")/../.."
carom=$1
out=$2

if ! command -v pvbatch >/dev/null || ! command -v xvfb-run >/dev/null; then
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    $as_root apt-get update -qq
    $as_root apt-get install -y -qq --no-install-recommends paraview python3-paraview xvfb xauth >/dev/null
fi

mkdir -p "$out"
"$carom" run cases/rotating-beam.toml -q --force -o "$out/beam" --set body.beam.line.elements=16 \
    --set 'output.vtk={ every = 10, surface = true }'
for list in series surface; do
    picture=$out/$list.png
    rm -f "$picture"
    # The virtual display sometimes refuses its first client; that says nothing about our files.
    for try in 1 2 3; do
        if xvfb-run -a pvbatch docs/paraview/carom.py "$out/beam/$list.pvd" "$picture" 0.345 >"$out/$list.log" 2>&1; then
            break
        fi
        echo "pvbatch failed (try $try)"
        sleep 2
    done
    if [ ! -s "$picture" ] || grep -q 'ERR|' "$out/$list.log"; then
        cat "$out/$list.log"
        echo "ParaView did not render $list.pvd"
        exit 1
    fi
    # A blank page compresses to a few kilobytes.
    [ "$(stat -c %s "$picture")" -gt 8000 ] || { echo "$picture is blank"; exit 1; }
    echo "ParaView rendered $list.pvd: $(stat -c %s "$picture") bytes"
done
