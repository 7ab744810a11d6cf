#!/usr/bin/env python3
"""SHA-256 of history.csv for every shipped case with every scheme, and one over all: what a change of structure must not change.

    tests/external/history_hashes.py CAROM [CASE ...] > hashes.txt

Scheme `-` is the one of the case. A run that is refused or fails has its exit code instead of a hash. Static cases run once.
Compare two files with diff; a line that differs is a case and scheme whose numbers changed."""
import hashlib
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SCHEMES = {
    "-": None,
    "moreau-jean-0.5": '{ name = "moreau-jean", theta = 0.5 }',
    "moreau-jean-1": '{ name = "moreau-jean", theta = 1.0 }',
    "moreau-jean-dissipative": '{ name = "moreau-jean-dissipative" }',
    "newmark": '{ name = "newmark" }',
    "hht-0.1": '{ name = "hht", alpha = 0.1 }',
    "generalized-alpha-0.8": '{ name = "generalized-alpha", rho_inf = 0.8 }',
    "generalized-alpha-0.8-ggl": '{ name = "generalized-alpha", rho_inf = 0.8, position = "ggl" }',
    "central-difference": '{ name = "central-difference" }',
}
# Their tables are tens of megabytes otherwise; the last rows are in all the same.
THINNED = {"two-ball-oscillator-stiff": 50, "crowd": 10}


def digest(carom, case, scheme):
    with tempfile.TemporaryDirectory() as out:
        command = [carom, "run", str(case), "-q", "-o", f"{out}/run", "--set", "output.vtk=false", "--set", "output.report=false"]
        if case.stem in THINNED:
            command += ["--set", f"output.history.every={THINNED[case.stem]}"]
        if SCHEMES[scheme]:
            command += ["--set", f"scheme={SCHEMES[scheme]}"]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            return f"exit {done.returncode}"
        return hashlib.sha256(pathlib.Path(out, "run", "history.csv").read_bytes()).hexdigest()


def main():
    carom, names = sys.argv[1], sys.argv[2:]
    cases = sorted(path for path in pathlib.Path("cases").glob("*.toml") if not names or path.stem in names)
    static = [path for path in cases if 'analysis = "static"' in path.read_text()]
    tasks = [(case, scheme) for case in cases for scheme in SCHEMES if scheme == "-" or case not in static]
    with ThreadPoolExecutor(2) as pool:
        lines = list(pool.map(lambda task: f"{task[0].stem} {task[1]} {digest(carom, *task)}", tasks))
    print("\n".join(lines))
    print("all", len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest())


main()
