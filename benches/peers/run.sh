#!/usr/bin/env bash
# What a step costs in carom and in other programs, in one go on one machine: two tables of ratios in Markdown.
#
#     benches/peers/run.sh
#
# Installs Exudyn and OpenSees from PyPI into target/peers and Siconos from Debian; about five minutes. A peer that cannot
# be installed gets a line at the end, and the exit code is then not zero.
# Environment: CAROM, the program (default: built here).
set -euo pipefail
cd "$(dirname "$0")/../.."

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

packages() {
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# What is missing shows when compare.py calls it, with the reason; so a failed installation does not end the script.
venv=target/peers
python=$PWD/$venv/bin/python
{
    # Debian keeps a part of Python that this needs in a package of its own.
    "$python" -m pip --version 2>/dev/null || python3 -m venv $venv ||
        { packages python3-venv && python3 -m venv --clear $venv; } || echo "cannot make $venv"
    for wheel in numpy exudyn==1.13.6 openseespy==3.7.1.2; do
        "$python" -m pip install --quiet --disable-pip-version-check $wheel || echo "cannot install $wheel"
    done
    # The wheel of OpenSees brings a part of its libraries only.
    "$python" -c 'import openseespy.opensees' || packages libblas3 libgfortran5 || echo "cannot install BLAS"
    # Siconos belongs to the Python of Debian, whichever comes first on the path.
    /usr/bin/python3 -c 'import siconos.kernel' || packages python3-siconos || echo "cannot install Siconos"
} >&2

if [ -z "${CAROM:-}" ]; then
    cargo build --release
    CAROM=target/release/carom
fi
# One thread each, as in carom. No files beside the scripts.
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
exec python3 benches/peers/compare.py "$(realpath "$CAROM")" "$python" /usr/bin/python3
