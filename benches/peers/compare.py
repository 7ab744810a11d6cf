"""Runs carom and its peers by turns and prints what a step costs as Markdown: compare.py CAROM PEERS_PYTHON SYSTEM_PYTHON

Called by run.sh, which installs the peers. Exit code 1 if a peer did not run or a check failed.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "..", "..", "cases")
CAROM, PEERS_PYTHON, SYSTEM_PYTHON = sys.argv[1:]

ROUNDS, BEAM_ROUNDS = 3, 20
# A peer gets no further round at a size that has taken this many seconds.
PATIENCE = 20.0
# rho c v A, exact while the bar touches the wall.
FORCE = 300.0

# Steps of carom by elements: a run takes a few milliseconds, so that some runs escape other work on the machine.
SIZES = {200: 300, 2_000: 300, 20_000: 100}
MOREAU = '{ name = "moreau-jean" }'
ALPHA = '{ name = "generalized-alpha", rho_inf = 0.6 }'
SCHEMES = {MOREAU: "carom, Moreau–Jean", ALPHA: "carom, generalized-α"}

EXUDYN, OPENSEES = [PEERS_PYTHON, "exudyn_bar.py"], [PEERS_PYTHON, "opensees_bar.py"]
SICONOS = [SYSTEM_PYTHON, "siconos_bar.py"]
# Program, variant, command, options, the same scheme in carom (the trapezoidal rule is Moreau–Jean with theta = 1/2),
# and steps by elements. Exudyn's first step with 20,000 elements takes minutes; Siconos' matrices would take 3 GB each.
PEERS = [
    ("Exudyn", "generalized-α, one linear system", EXUDYN, ["system"], ALPHA, {200: 300, 2_000: 300, 20_000: 40}),
    ("Exudyn", "generalized-α, chain, lumped mass", EXUDYN, ["chain"], ALPHA, {200: 300, 2_000: 300, 20_000: 100}),
    ("OpenSees", "trapezoidal rule", OPENSEES, ["newton"], MOREAU, {200: 300, 2_000: 300, 20_000: 50}),
    ("OpenSees", "the same without iterations", OPENSEES, ["linear"], MOREAU, {200: 300, 2_000: 300, 20_000: 50}),
    ("Siconos", "Moreau–Jean, dense", SICONOS, [], MOREAU, {200: 300, 2_000: 30}),
]

failures = []


def check(who, value, expected, tolerance):
    if not abs(value / expected - 1) < tolerance:
        failures.append(f"{who}: {value:.7g} instead of {expected:.7g}")


def peer(who, command):
    """What a peer prints, or nothing and a failure."""
    try:
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
        if done.returncode == 0:
            return json.loads(done.stdout.strip().splitlines()[-1])
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    except OSError as error:
        reason = error
    failures.append(f"{who}: {reason}")
    return None


def carom(case, settings, repeats):
    """The summary of the best run, and its seconds per step."""
    settings = ["output.history.every=100", "output.vtk=false", "output.report=false", "expect={}"] + settings
    runs = []
    with tempfile.TemporaryDirectory() as out:
        command = [CAROM, "run", os.path.join(CASES, case), "-q", "--force", "-o", out]
        for setting in settings:
            command += ["--set", setting]
        for _ in range(repeats):
            subprocess.run(command, check=True)
            with open(os.path.join(out, "summary.json")) as file:
                runs.append(json.load(file))
    best = min(runs, key=lambda run: run["timing"]["steps_s"])
    return best, best["timing"]["steps_s"] / best["steps"]


def carom_bar(elements, scheme):
    step = 0.4 / elements
    end = SIZES[elements] * step
    line = f"body.bar.line={{ from = [0.0], to = [10.0], elements = {elements} }}"
    settings = [line, f"scheme={scheme}", f"time.step={step}", f"time.end={end}"]
    # Of a peer the best of many stretches in a run counts; carom tells the time of the run only.
    run, seconds = carom("impacting-bar.toml", settings, repeats=10)
    check(f"{SCHEMES[scheme]}, {elements} elements, wall force", run["contacts"]["wall"]["impulse"] / end, FORCE, 0.1)
    return seconds


def number(value):
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.1f}"


def bars():
    """Seconds per step by (scheme or index of the peer, elements), and the names of the peers with their versions."""
    best, names, broken = {}, [program for program, *_ in PEERS], set()
    for size in SIZES:
        spent = [0.0] * len(PEERS)
        for _ in range(ROUNDS):
            for scheme in SCHEMES:
                best[scheme, size] = min(best.get((scheme, size), 1e9), carom_bar(size, scheme))
            for i, (program, variant, command, options, _, steps) in enumerate(PEERS):
                if size not in steps or spent[i] > PATIENCE or i in broken:
                    continue
                who, begun = f"{program}, {variant}, {size} elements", time.monotonic()
                run = peer(who, [*command, str(size), str(steps[size]), *options])
                spent[i] += time.monotonic() - begun
                if run is None:
                    broken.add(i)
                    continue
                names[i] = run["version"]
                check(f"{who}, wall force", run["check"], FORCE, 0.1)
                best[i, size] = min(best.get((i, size), 1e9), run["seconds"])
    return best, names


def print_bars(best, names):
    print("Impacting bar in contact, ns per unknown and step (ratio to carom with the same scheme):\n")
    print("| program | " + " | ".join(f"{size:,} elements" for size in SIZES) + " |\n|---|" + "---|" * len(SIZES))
    cost = {(who, size): number(seconds * 1e9 / (size + 1)) for (who, size), seconds in best.items()}
    for scheme, name in SCHEMES.items():
        print(f"| {name} | " + " | ".join(cost[scheme, size] for size in SIZES) + " |")
    for i, (_, variant, _, _, scheme, _) in enumerate(PEERS):
        cells = [
            f"{cost[i, size]} ({number(best[i, size] / best[scheme, size])})" if (i, size) in best else "–"
            for size in SIZES
        ]
        print(f"| {names[i]}, {variant} | " + " | ".join(cells) + " |")


def beams():
    print("\nRotating beam of four elements, generalized-α, µs per step (ratio to carom):\n")
    print("| | carom | Exudyn, fastest settings | Exudyn, full Newton |\n|---|---|---|---|")
    for end, what in [(0.33, "fall, the same motion in both"), (1.5, "with impacts, each by its own law")]:
        own, theirs = [], {"fastest": [], "full": []}
        for _ in range(BEAM_ROUNDS):
            run, seconds = carom("rotating-beam.toml", [f"time.end={end}"], repeats=1)
            own.append(seconds)
            for settings, seconds in theirs.items():
                other = peer("Exudyn, beam", [PEERS_PYTHON, "exudyn_beam.py", str(end), settings])
                if other is None:
                    continue
                seconds.append(other["seconds"])
                # After the first impact there is nothing to compare: the motion is chaotic.
                if end == 0.33:
                    check("Exudyn, beam, speed of the tip", other["check"], run["probes"]["tip"]["vx"], 1e-6)
        cells = [number(min(own) * 1e6)]
        for seconds in theirs.values():
            cells.append(f"{number(min(seconds) * 1e6)} ({number(min(seconds) / min(own))})" if seconds else "–")
        print(f"| {what} | " + " | ".join(cells) + " |")


print_bars(*bars())
beams()
if failures:
    print("\nFailed:\n\n" + "\n".join(f"- {failure}" for failure in dict.fromkeys(failures)))
    sys.exit(1)
