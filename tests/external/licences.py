#!/usr/bin/env python3
"""Licences and origins of all crates that carom is built from, tests and build scripts included.

    python3 tests/external/licences.py

Fails on a licence that is not on the list below, on a crate without one, and on a crate that does not come from crates.io.
Reads `cargo metadata --locked`, so the list is that of Cargo.lock.
"""

import json
import re
import subprocess
import sys

# Licences under which a program may be given away as MIT OR Apache-2.0, with their notices kept.
ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC",
    "MIT", "MIT-0", "MPL-2.0", "Unicode-3.0", "Unlicense", "Zlib",
}  # fmt: skip
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def allowed(expression):
    """Whether an SPDX expression can be met with allowed licences; `/` is an old way to write OR."""
    words = re.findall(r"\(|\)|\bAND\b|\bOR\b|[\w.+-]+(?: WITH [\w.+-]+)?", expression.replace("/", " OR "))
    python = {"(": "(", ")": ")", "AND": "and", "OR": "or"}
    return eval(" ".join(python.get(word) or str(word in ALLOWED) for word in words))


def main():
    # A check that lets everything pass is none.
    assert allowed("MIT/Apache-2.0") and allowed("(GPL-3.0-only OR MIT) AND Zlib")
    assert not allowed("GPL-3.0-only") and not allowed("MIT AND GPL-2.0-or-later") and not allowed("Unknown")
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    root = metadata["resolve"]["root"]
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    runtime, ahead = set(), [root]
    while ahead:
        here = ahead.pop()
        if here not in runtime:
            runtime.add(here)
            normal = lambda dep: any(kind["kind"] is None for kind in dep["dep_kinds"])
            ahead += [dep["pkg"] for dep in nodes[here]["deps"] if normal(dep)]
    wrong = []
    for key, package in sorted(packages.items()):
        name = f"{package['name']} {package['version']}"
        if not package["license"] or not allowed(package["license"]):
            wrong.append(f"{name}: licence {package['license']}")
        if key != root and package["source"] != REGISTRY:
            wrong.append(f"{name}: from {package['source']}")
    used = sorted({package["license"].replace("/", " OR ") for package in packages.values() if package["license"]})
    print(f"{len(packages)} crates, {len(runtime)} of them in the program; licences: {'; '.join(used)}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
