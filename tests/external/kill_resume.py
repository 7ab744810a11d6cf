#!/usr/bin/env python3
"""Kills runs at random instants, resumes them, and compares all files with those of an uninterrupted run.

    kill_resume.py CAROM [--kills N] [--seed S]

N is the number of kills (SIGKILL) to be survived by each of five jobs: linear with frames, nonlinear with contact, many
contacts, a sweep, a sweep that keeps the files of its runs. Everything but the object `timing` of summary.json must be
the same to the byte. Exit code 1 if not.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

CHECKPOINT = ["--set", "output.checkpoint={ steps = 20 }"]
VARY = ["--vary", "scheme.rho_inf=0:1:10", "--vary", "time.step=2e-3,1e-3"]
JOBS = {
    "impacting-bar": ["run", "cases/impacting-bar.toml", "--set", "time.step=1e-3", *CHECKPOINT],
    "rotating-beam": ["run", "cases/rotating-beam.toml", "--set", "time.step=2.5e-4", *CHECKPOINT],
    "truss": ["run", "cases/truss.toml", *CHECKPOINT],
    "sweep": ["sweep", "cases/impacting-bar.toml", *VARY, "--set", "output.checkpoint={ steps = 200 }"],
    "sweep with files": ["sweep", "cases/impacting-bar.toml", "--vary", "scheme.rho_inf=0:1:4", "--keep-runs", *CHECKPOINT],
}


def contents(directory):
    """Digest of every file by its relative name."""
    found = {}
    for root, _, files in os.walk(directory):
        for name in files:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                data = file.read()
            if name == "summary.json":
                summary = json.loads(data)
                del summary["timing"]
                data = json.dumps(summary).encode()
            found[os.path.relpath(path, directory)] = hashlib.sha256(data).hexdigest()
    return found


def survive(command, resume, directory, duration, kills):
    """Runs to the end with up to `kills` kills at random instants; returns how many there were."""
    done = 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while True:
        try:
            code = process.wait(timeout=random.uniform(0.0, duration) if done < kills else None)
            if code != 0:
                sys.exit(f"{' '.join(command)}: exit code {code} after {done} kills")
            return done
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            done += 1
        # Before the first checkpoint, or the plan of a sweep, there is nothing to go on from.
        begun = any(os.path.exists(os.path.join(directory, name)) for name in ["checkpoint.bin", "sweep.json"])
        if not begun and os.path.exists(os.path.join(directory, "summary.json")):
            # The report comes last.
            subprocess.run([command[0], "report", directory, "-q"], check=True)
            return done
        process = subprocess.Popen(resume if begun else command + ["--force"], stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("carom")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    total = 0
    with tempfile.TemporaryDirectory() as work:
        for name, job in JOBS.items():
            start = [options.carom, *job, "-q"]
            whole = os.path.join(work, name)
            clock = time.monotonic()
            subprocess.run([*start, "-o", whole], check=True, stdout=subprocess.DEVNULL)
            duration = time.monotonic() - clock
            expected = contents(whole)
            survived = 0
            while survived < options.kills:
                broken = os.path.join(work, "broken")
                shutil.rmtree(broken, ignore_errors=True)
                command = [*start, "-o", broken]
                resume = [options.carom, "resume", broken, "-q"]
                survived += max(1, survive(command, resume, broken, 0.9 * duration, options.kills - survived))
                found = contents(broken)
                for file in sorted(set(expected) | set(found)):
                    if expected.get(file) != found.get(file):
                        sys.exit(f"{name}: {file} differs after a kill")
            print(f"{name}: {survived} kills, {len(expected)} files the same")
            total += survived
    print(f"{total} kills survived")


if __name__ == "__main__":
    main()
