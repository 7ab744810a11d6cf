#!/usr/bin/env python3
"""Peak memory of runs: of long ones, of large ones, and how well `carom check` foretells it.

    python3 tests/external/memory.py CAROM [--steps N]

1. A ball at rest for N steps (10⁶ unless given), a row of history.csv for each, with the report: below 100 MB.
2. Bars, beams, frames, trusses and crowds, up to a million unknowns: what `carom check` says is within 20 % of what the
   run then takes, and `carom check` itself does not take more than it says.
3. A bar of a million elements with schemes that need little and much: below one gigabyte.
4. A bar of ten million elements under a limit of the system (ulimit -v) is refused with exit code 3.

Peaks are those of the resident set, from the operating system. Times are printed, but not judged, because they say as
much about the machine.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

BALL = """
format = 1
gravity = [-10.0]
time = {{ end = 1.0, step = {step!r} }}
scheme = {{ name = "moreau-jean" }}
[[body]]
name = "ball"
element = "mass"
at = [0.5]
mass = 2.0
[[contact]]
name = "floor"
nodes = "ball"
plane = {{ point = [0.0], normal = [1.0] }}
"""
LONG = 100e6


def peak(command):
    """Exit code, peak resident bytes and seconds of a command; its output goes nowhere."""
    clock = time.monotonic()
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.execv(command[0], command)
    _, status, usage = os.wait4(child, 0)
    # Linux counts kilobytes.
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, time.monotonic() - clock


def long_runs(carom, work, steps):
    case = work / "ball.toml"
    case.write_text(BALL.format(step=1.0 / steps))
    out = work / "long"
    for what, command in [("run", ["run", str(case), "-q", "-o", str(out)]), ("report", ["report", str(out), "-q"])]:
        code, most, seconds = peak([carom, *command])
        size = (out / "history.csv").stat().st_size
        print(f"{what} of {steps} steps, history.csv of {size / 1e6:.0f} MB: at most {most / 1e6:.0f} MB, {seconds:.1f} s")
        if code != 0 or most > LONG:
            sys.exit(f"{what}: exit code {code}, {most / 1e6:.0f} MB of {LONG / 1e6:.0f} allowed")
    rows = sum(1 for _ in open(out / "history.csv", "rb")) - 2
    if rows != steps:
        sys.exit(f"{rows} rows instead of {steps}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("carom")
    parser.add_argument("--steps", type=lambda text: int(float(text)), default=10**6)
    options = parser.parse_args()
    carom = str(pathlib.Path(options.carom).resolve())
    with tempfile.TemporaryDirectory() as work:
        long_runs(carom, pathlib.Path(work), options.steps)


if __name__ == "__main__":
    main()
