#!/bin/sh
# Makes every mesh of this directory with Gmsh, by the commands in the heads of the .geo files.
#
#   meshes/make.sh          write the .msh files anew
#   meshes/make.sh --check  make them elsewhere and fail if a committed file differs in nodes,
#                           elements or groups (coordinates: to 12 digits)
set -eu
cd "$(dirname "$0")"

# The commands are the comment lines that start with "// gmsh".
make() {
    sed -n 's|^// \(gmsh .*\)|\1 -v 2|p' ./*.geo | sh -e
}

# Both files go through the same Gmsh, so that its version and the encoding do not matter.
plain() {
    gmsh "$1" -save -format msh41 -v 2 -o "$2.msh"
    awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^-?[0-9]+[.e]/) $i = sprintf("%.12g", $i); print }' "$2.msh" >"$2"
}

case "${1-}" in
'') make ;;
--check)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cp ./*.geo "$work"
    here=$PWD
    (cd "$work" && make)
    status=0
    for file in *.msh; do
        plain "$here/$file" "$work/committed"
        plain "$work/$file" "$work/fresh"
        if diff -u "$work/committed" "$work/fresh"; then
            echo "meshes/$file: same"
        else
            echo "meshes/$file: differs from what its .geo file makes; run meshes/make.sh" >&2
            status=1
        fi
    done
    exit $status
    ;;
*)
    echo "usage: meshes/make.sh [--check]" >&2
    exit 2
    ;;
esac
