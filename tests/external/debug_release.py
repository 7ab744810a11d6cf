#!/usr/bin/env python3
"""Runs every shipped case with a debug and a release build and measures how far their histories are apart.

    debug_release.py DEBUG_CAROM RELEASE_CAROM [TOLERANCE]

The difference of a column is measured against its largest value over the run. Exit code 1 beyond TOLERANCE (1e-12).
"""

import csv
import glob
import math
import os
import subprocess
import sys
import tempfile


def history(carom, case, out):
    quiet = ["-q", "--set", "output.vtk=false", "--set", "output.report=false"]
    subprocess.run([carom, "run", case, "-o", out, *quiet], check=True)
    with open(os.path.join(out, "history.csv"), newline="") as file:
        rows = list(csv.reader(file))
    values = [[float(cell) if cell else 0.0 for cell in row] for row in rows[1:]]
    if not all(math.isfinite(value) for row in values for value in row):
        sys.exit(f"{case}: not all numbers are finite")
    return rows[0], values


def main():
    debug, release = sys.argv[1:3]
    tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-12
    count, worst = 0, 0.0
    with tempfile.TemporaryDirectory() as work:
        for case in sorted(glob.glob("cases/*.toml")):
            name = os.path.basename(case)
            names, one = history(debug, case, os.path.join(work, name, "debug"))
            others, two = history(release, case, os.path.join(work, name, "release"))
            if len(one) != len(two) or names != others:
                sys.exit(f"{name}: {len(one)} rows and {len(two)}, columns {names} and {others}")
            count += 1
            apart, where = 0.0, "-"
            for k, column in enumerate(names):
                # Round-off is no quantity: what is left of a sum of works differs by itself.
                if column in ("defect", "storage_defect", "complementarity"):
                    continue
                size = max(abs(row[k]) for row in two) or 1.0
                difference = max(abs(a[k] - b[k]) for a, b in zip(one, two)) / size
                if difference > apart:
                    apart, where = difference, column
            print(f"{name}: {len(one)} rows, at most {apart:.1e} apart ({where})")
            worst = max(worst, apart)
    print(f"debug and release agree to {worst:.1e} in {count} cases")
    return 0 if count > 0 and worst <= tolerance else 1


if __name__ == "__main__":
    sys.exit(main())
