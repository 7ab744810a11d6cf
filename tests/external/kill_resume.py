#!/usr/bin/env python3
"""Kills runs at random instants, resumes them, and compares all files with those of an uninterrupted run.

    kill_resume.py CAROM [--kills N] [--seed S]

N is the number of kills (SIGKILL) to be survived by each of three cases: linear with frames, nonlinear with contact,
many contacts. Everything but the object `timing` of summary.json must be the same to the byte. Exit code 1 if not.
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

CASES = {
    "impacting-bar": ["--set", "time.step=1e-3"],
    "rotating-beam": ["--set", "time.step=2.5e-4"],
    "truss": [],
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
    process = subprocess.Popen(command)
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
        # Before the first checkpoint there is nothing to go on from.
        begun = os.path.exists(os.path.join(directory, "checkpoint.bin"))
        if not begun and os.path.exists(os.path.join(directory, "summary.json")):
            return done
        process = subprocess.Popen(resume if begun else command + ["--force"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("carom")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    total = 0
    with tempfile.TemporaryDirectory() as work:
        for name, settings in CASES.items():
            settings = settings + ["--set", "output.checkpoint={ steps = 20 }"]
            start = [options.carom, "run", f"cases/{name}.toml", "-q", *settings]
            whole = os.path.join(work, name)
            clock = time.monotonic()
            subprocess.run([*start, "-o", whole], check=True)
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
