#!/usr/bin/env python3
"""Hashes of the columns of history.csv, by name, for every case with every scheme: shows that a change of structure changes no number.

    tests/external/history_hashes.py CAROM --record FILE [CASE ...]     write the hashes of one program
    tests/external/history_hashes.py CAROM --compare FILE [CASE ...]    compare another program with them; exit code 1 if they differ

Cases are those of cases/ and of tests/data/hashed/, which has what no shipped case has. --quick leaves out `crowd` and
`two-ball-oscillator-stiff`, which take most of the time. Scheme `-` is the one of the case; cases that are static or of first order run
with that one only. A run that is refused or fails has its exit code instead of hashes.

A comparison looks at the columns that the record names: a new column changes nothing, a column that is gone is a difference. The
combined hash of both is printed for commit messages. Bits depend on the processor and the compiler, so records are compared on
one machine and are not kept in the repository."""
import argparse
import csv
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
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
# Their tables are tens of megabytes otherwise; the last rows are the same.
SAMPLED = {"two-ball-oscillator-stiff": 50, "crowd": 10}


def columns_of(path):
    """Hash of every column of a table, by name."""
    hashes = []
    with open(path, newline="") as file:
        rows = csv.reader(file)
        names = next(rows)
        hashes = [hashlib.sha256() for _ in names]
        for row in rows:
            for hash, value in zip(hashes, row, strict=True):
                hash.update(value.encode() + b"\n")
    return {name: hash.hexdigest()[:16] for name, hash in zip(names, hashes)}


def run(carom, case, scheme):
    """Hashes of one run, or its exit code."""
    with tempfile.TemporaryDirectory() as directory:
        command = [carom, "run", str(case), "-q", "-o", f"{directory}/run"]
        command += ["--set", "output.vtk=false", "--set", "output.report=false"]
        if case.stem in SAMPLED:
            command += ["--set", f"output.history.every={SAMPLED[case.stem]}"]
        if SCHEMES[scheme]:
            command += ["--set", f"scheme={SCHEMES[scheme]}"]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            return {"exit code": str(done.returncode)}
        return columns_of(f"{directory}/run/history.csv")


def combined(hashes):
    return hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()[:16]


def tasks(names, quick):
    """Names of runs with their case and scheme."""
    folders = [ROOT / "cases", ROOT / "tests" / "data" / "hashed"]
    cases = sorted(path for folder in folders for path in folder.glob("*.toml"))
    unknown = set(names) - {path.stem for path in cases}
    if unknown:
        sys.exit(f"no case of this name: {', '.join(sorted(unknown))}")
    for case in cases:
        if (names and case.stem not in names) or (quick and case.stem in SAMPLED):
            continue
        own_only = any(f'analysis = "{kind}"' in case.read_text() for kind in ("static", "first-order"))
        for scheme in ["-"] if own_only else SCHEMES:
            yield f"{case.stem} {scheme}", case, scheme


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("carom")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--record", metavar="FILE", type=pathlib.Path)
    way.add_argument("--compare", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_intermixed_args()

    chosen = list(tasks(arguments.cases, arguments.quick))
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda task: run(arguments.carom, *task[1:]), chosen)
        hashes = {name: result for (name, *_), result in zip(chosen, results)}
    if arguments.record:
        arguments.record.write_text(json.dumps(hashes, indent=1) + "\n")
        print(f"{len(hashes)} runs, combined hash {combined(hashes)}")
        return

    record = json.loads(arguments.compare.read_text())
    # A record of all cases serves a comparison of some.
    record = {name: columns for name, columns in record.items() if name in hashes}
    if not record:
        sys.exit("the record has none of these runs")
    different = 0
    for name, columns in record.items():
        new = hashes[name]
        if "exit code" in columns or "exit code" in new:
            wrong = [] if columns.get("exit code") == new.get("exit code") else [
                f"exit code {columns.get('exit code', '0')} -> {new.get('exit code', '0')}"
            ]
        else:
            gone = [f"{column} (gone)" for column in columns if column not in new]
            wrong = gone + [column for column in columns if column in new and columns[column] != new[column]]
        if wrong:
            different += 1
            print(f"{name}: {', '.join(wrong)}")
    named = {name: {column: hashes[name].get(column) for column in columns} for name, columns in record.items()}
    only_new = [name for name in hashes if name not in record]
    print(f"{len(record)} runs compared, {different} different; combined hash {combined(record)} -> {combined(named)}")
    if only_new:
        print(f"{len(only_new)} runs without a record: {', '.join(only_new)}")
    sys.exit(1 if different else 0)


main()
