#!/usr/bin/env python3
"""Peak memory of a bar of a million elements, with schemes that need little and much of it.

    python3 tests/external/memory.py CAROM

Fails from one gigabyte on. The time to the first step is printed, but not judged, because it says as much about the
machine.
"""

import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALLOWED = 1e9
SCHEMES = ['{ name = "moreau-jean" }', '{ name = "generalized-alpha", rho_inf = 0.8 }']


def main():
    peak = 0
    for scheme in SCHEMES:
        sets = ["body.bar.line.elements=1000000", "time.step=4e-7", "time.end=4e-7", f"scheme={scheme}", "expect={}"]
        sets += ["output.vtk=false", "output.report=false", "output.history.every=100"]
        with tempfile.TemporaryDirectory() as directory:
            command = [sys.argv[1], "run", str(ROOT / "cases" / "impacting-bar.toml"), "-q", "-o", f"{directory}/run"]
            command += [word for setting in sets for word in ("--set", setting)]
            clock = time.monotonic()
            subprocess.run(command, check=True)
        # The largest of all children so far, in kilobytes.
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        print(f"{scheme:50} {time.monotonic() - clock:.1f} s for one step, at most {peak / 1e6:.0f} MB")
    if peak >= ALLOWED:
        sys.exit(f"more than {ALLOWED / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
