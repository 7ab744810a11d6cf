#!/usr/bin/env python3
"""Peak memory of runs: of long ones, of large ones, and how well `carom check` foretells it.

    python3 tests/external/memory.py CAROM [--steps N]

1. A ball at rest for N steps (10⁶ unless given), a row of history.csv for each, with the report: below 100 MB.
2. Bars, beams, frames, trusses and crowds, up to a million unknowns: what `carom check` says is within 20 % of what the
   run then takes, and so is what `carom check` itself takes at most. Bars of a million elements take less than 1 GB.
3. A bar of ten million elements under a limit of the system (ulimit -v) is refused with exit code 3.

Peaks are those of the resident set, from the operating system. Times are printed, but not judged, because they say as
much about the machine.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
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
MILLION = 1e9
SHARE = 0.2

BODY = """
format = 1
gravity = {gravity}
time = {{ end = 1e-6, step = 1e-6 }}
scheme = {{ name = "{scheme}"{more} }}
{bodies}
{contact}
[output]
vtk = false
report = false
"""
LINE = """[[body]]
name = "b"
element = "{element}"
line = {{ from = {start}, to = {end}, elements = {count} }}
{made}
"""
MESH = """[[body]]
name = "b"
element = "{element}"
mesh = "grid.msh"
{made}
"""
MADE = {
    "bar": "material = { young = 900.0, density = 1.0 }\nsection = { area = 1.0 }",
    "beam": "material = { young = 900.0, poisson = 0.3, density = 1.0 }\nsection = { shape = \"rectangle\", width = 0.1, height = 0.1 }",
}
MADE["linear-beam"] = MADE["beam"]
FLOOR = """[[contact]]
name = "floor"
nodes = "b"
plane = {{ point = {point}, normal = {normal} }}
"""
PAIRS = """[[set]]
name = "all"
box = [[-1.0, -1.0], [1e5, 1e5]]
[[contact]]
name = "pairs"
between = ["all", "all"]
radius = 0.05
"""


def grid(path, across, up):
    """A triangulated grid of lines as a Gmsh file."""
    number = lambda i, j: j * (across + 1) + i + 1
    lines = []
    for j in range(up + 1):
        for i in range(across + 1):
            lines += [(number(i, j), number(i + 1, j))] if i < across else []
            lines += [(number(i, j), number(i, j + 1))] if j < up else []
            lines += [(number(i, j), number(i + 1, j + 1))] if i < across and j < up else []
    n = (across + 1) * (up + 1)
    with open(path, "w") as file:
        print(f"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 {n} 1 {n}\n1 1 0 {n}", file=file)
        print("\n".join(str(k + 1) for k in range(n)), file=file)
        print("\n".join(f"{0.1 * (k % (across + 1)):g} {0.1 * (k // (across + 1)):g} 0" for k in range(n)), file=file)
        print(f"$EndNodes\n$Elements\n1 {len(lines)} 1 {len(lines)}\n1 1 1 {len(lines)}", file=file)
        print("\n".join(f"{k + 1} {a} {b}" for k, (a, b) in enumerate(lines)), file=file)
        print("$EndElements", file=file)


def models(work):
    """Name and text of cases of all kinds, from ten thousand to a million unknowns."""
    def case(bodies, contact="", dimension=2, alpha=True):
        gravity = [0.0] * (dimension - 1) + [-10.0]
        scheme, more = ("generalized-alpha", ", rho_inf = 0.8") if alpha else ("moreau-jean", "")
        return BODY.format(gravity=gravity, scheme=scheme, more=more, bodies=bodies, contact=contact)

    def line(element, count, dimension=2):
        start, end = ([0.0], [10.0]) if dimension == 1 else ([0.0, 0.0], [10.0, 0.0])
        return LINE.format(element=element, start=start, end=end, count=count, made=MADE[element])

    floor = FLOOR.format(point=[0.0, 0.0], normal=[0.0, 1.0])
    grid(work / "grid.msh", 200, 100)
    for count in [10**4, 10**5, 10**6]:
        yield f"bar of {count} elements", case(line("bar", count, 1), dimension=1)
    yield "bar of a million elements, Moreau-Jean", case(line("bar", 10**6, 1), dimension=1, alpha=False)
    for element in ["bar", "beam", "linear-beam"]:
        for count in [10**4, 10**5, 3 * 10**5]:
            yield f"{element} in the plane, {count} elements", case(line(element, count))
        yield f"{element} on a floor, 30000 elements", case(line(element, 30000), floor)
        yield f"{element} on a floor, Moreau-Jean", case(line(element, 30000), floor, alpha=False)
        yield f"{element} in a grid of 60300", case(MESH.format(element=element, made=MADE[element]))
        yield f"{element} in a grid on a floor, Moreau-Jean", case(MESH.format(element=element, made=MADE[element]), floor, alpha=False)
    balls = "".join(
        f'[[body]]\nname = "b{k}"\nelement = "mass"\nat = [{0.11 * (k % 100):.2f}, {0.11 * (k // 100):.2f}]\nmass = 1.0\n'
        for k in range(10000)
    )
    yield "crowd of 10000 balls", case(balls, PAIRS, alpha=False)


def foretold(carom, work):
    wrong = []
    for name, text in models(work):
        case = work / "model.toml"
        case.write_text(text)
        out = work / "out"
        shutil.rmtree(out, ignore_errors=True)
        said = json.loads(subprocess.run([carom, "check", str(case), "--json"], check=True, capture_output=True).stdout)
        _, checked, _ = peak([carom, "check", str(case)])
        code, took, seconds = peak([carom, "run", str(case), "-q", "-o", str(out)])
        ratio = said["memory_bytes"] / took
        print(
            f"{name:50} {said['unknowns']:8} unknowns: {said['memory_bytes'] / 1e6:6.0f} MB said, {took / 1e6:6.0f} taken, "
            f"{ratio:.2f}; check itself {checked / 1e6:6.0f}; {seconds:.1f} s",
            flush=True,
        )
        if code != 0 or abs(ratio - 1) > SHARE:
            wrong.append(f"{name}: exit code {code}, {ratio:.2f} of what it took")
        if checked > (1 + SHARE) * said["memory_bytes"]:
            wrong.append(f"{name}: check took {checked / 1e6:.0f} MB itself")
        if "million" in name and took >= MILLION:
            wrong.append(f"{name}: more than {MILLION / 1e6:.0f} MB")
    return wrong


def refused(carom, work):
    """Ten million elements under a limit of the system."""
    case = work / "large.toml"
    case.write_text(BODY.format(gravity=[0.0], scheme="moreau-jean", more="", contact="", bodies=LINE.format(
        element="bar", start=[0.0], end=[1.0], count=10**7, made=MADE["bar"])))
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (2 * 10**9, 2 * 10**9))
    done = subprocess.run([carom, "run", str(case), "-q", "-o", str(work / "large")], preexec_fn=limit, capture_output=True, text=True)
    print(f"ten million elements within 2 GB of addresses: exit code {done.returncode}\n{done.stderr}", end="")
    return [] if done.returncode == 3 and "is the limit" in done.stderr else ["ten million elements were not refused"]


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
        work = pathlib.Path(work)
        long_runs(carom, work, options.steps)
        wrong = foretold(carom, work) + refused(carom, work)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
