#!/usr/bin/env python3
"""Instructions per step of the hot loops, counted by valgrind, against the numbers in benches/instructions.json.

    python3 tests/external/instructions.py CAROM            check: fails if a count rose by more than 5 %
    python3 tests/external/instructions.py CAROM --record   write the counts of today

A count is the difference of two runs of the real program that differ in their number of steps alone, over that number:
what a run costs before its first step and after its last drops out. Counts depend on the compiler and on the vector
instructions of the processor, not on how busy the machine is. A change that is worth more instructions records them.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "benches" / "instructions.json"
ALLOWED = 1.05

MOREAU = '{ name = "moreau-jean" }'
ALPHA = '{ name = "generalized-alpha", rho_inf = 0.8 }'


def bar(elements, scheme):
    # From the wall, so that contact is closed from the first step on.
    line = f"body.bar.line={{ from = [0.0], to = [10.0], elements = {elements} }}"
    return "impacting-bar", [line, f"scheme={scheme}"], 0.1 / elements, 200


# Name: case, settings, step size, steps of the shorter run; the longer one has twice as many.
KERNELS = {
    "bar, 200 elements, moreau-jean": bar(200, MOREAU),
    "bar, 200 elements, generalized-alpha": bar(200, ALPHA),
    "bar, 2000 elements, moreau-jean": bar(2000, MOREAU),
    "bar, 2000 elements, generalized-alpha": bar(2000, ALPHA),
    "rotating beam, 4 exact elements": ("rotating-beam", [], 1e-3, 100),
    "rotating beam, 200 exact elements": ("rotating-beam", ["body.beam.line.elements=200"], 1e-3, 10),
    "portal frame, linear beams": ("portal-frame", [], 1e-3, 50),
    "beam on floor, 2000 contacts": ("beam-on-floor", [], None, 20),
    "crowd, bodies against bodies": ("crowd", [], None, 10),
    # From the first peg on, and from the first blow on.
    "peg-board, exact beam on circles": ("peg-board", [], None, 300),
    "crossed beams, thick bodies": ("crossed-beams", [], None, 200),
}


def counted(carom, case, settings, step, steps, directory):
    """Instructions of a run of so many steps."""
    sets = [*settings, "output.history.every=1000000", "output.vtk=false", "output.report=false"]
    sets += [f"time.end={steps * step!r}", f"time.step={step!r}"]
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={directory}/counts"]
    command += [carom, "run", str(ROOT / "cases" / f"{case}.toml"), "-q", "-o", f"{directory}/run", "--force"]
    command += [word for setting in sets for word in ("--set", setting)]
    done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return int(found[1])


def own_step(case):
    """Step size that a case asks for."""
    text = (ROOT / "cases" / f"{case}.toml").read_text()
    return float(re.search(r"^step = ([^\s#]+)", text, re.M)[1])


def main():
    carom, recording = sys.argv[1], "--record" in sys.argv[2:]
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    counts, worse = {}, []
    for name, (case, settings, step, steps) in KERNELS.items():
        step = step or own_step(case)
        with tempfile.TemporaryDirectory() as directory:
            short, long = (counted(carom, case, settings, step, n, directory) for n in (steps, 2 * steps))
        counts[name] = round((long - short) / steps)
        ratio = counts[name] / recorded[name] if name in recorded else float("nan")
        print(f"{name:40} {counts[name]:>12} per step, {ratio:.3f} of the record")
        if not recording and not ratio <= ALLOWED:
            worse.append(name)
    if recording:
        RECORD.write_text(json.dumps(counts, indent=2) + "\n")
    elif worse:
        sys.exit(f"more instructions than recorded: {'; '.join(worse)}. If they are worth it: {sys.argv[0]} {carom} --record")


if __name__ == "__main__":
    main()
