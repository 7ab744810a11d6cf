#!/bin/sh
# Opens reports of carom in headless Chromium, uses them as a reader would, and takes screenshots.
#
#     tests/external/report_browser.sh [OUTDIR...]
#
# OUTDIR are directories of finished runs; without any, eight shipped cases and a long run are made with $CAROM (default
# target/release/carom). Needs node and npm; Chromium comes from the Debian package, the driver from npm, both installed
# here if they are missing. Screenshots go to target/browser/shots. Exit code 1 on any failure.
set -eu
cd "$(dirname "$0")/../.."
home=target/browser
driver=24.43.1
mkdir -p "$home"

if ! command -v chromium >/dev/null; then
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium fonts-dejavu-core
fi
if ! grep -qs "\"version\": \"$driver\"" "$home/node_modules/puppeteer-core/package.json"; then
    npm install --prefix "$home" --no-save --no-audit --no-fund "puppeteer-core@$driver"
fi

if [ $# -eq 0 ]; then
    for name in impacting-bar rotating-beam portal-frame-impact beam-on-stop crowd swing newtons-cradle cantilever-roll-up; do
        "${CAROM:-target/release/carom}" run "cases/$name.toml" -o "$home/runs/$name" --force --quiet
        set -- "$@" "$home/runs/$name"
    done
    # A long run: 100,000 steps of 2,000 nodes.
    "${CAROM:-target/release/carom}" run cases/impacting-bar.toml -o "$home/runs/long" --force --quiet --set 'expect={}' \
        --set body.bar.line.elements=1999 --set time.step=3e-5 --set output.vtk=false
    set -- "$@" "$home/runs/long"
fi
exec node tests/external/report_browser.mjs "$home" "$@"
