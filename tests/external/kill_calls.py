#!/usr/bin/env python3
"""Kills carom at every call to the file system, goes on as a user would, and compares all files with those of a command
that was left in peace.

    kill_calls.py CAROM

Needs strace, which delivers SIGKILL when the n-th call of a kind is entered, for every n and every kind of call that
changes files. Commands: run, resume, sweep, sweep that keeps its runs, merge, report, film as one file and as pictures. Everything but the object `timing`
of summary.json must be the same to the byte. Exit code 1 if not.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from kill_resume import contents

# Kinds of calls by what they do; a machine knows some of each.
CALLS = ["open,openat,creat", "write,pwrite64,writev", "fsync,fdatasync", "syncfs", "ftruncate", "flock",
         "rename,renameat,renameat2", "unlink,unlinkat", "mkdir,mkdirat", "rmdir"]
SHORT = ["--set", "time.end=0.06", "--set", "time.step=2e-3", "--set",
         "output={ vtk = { every = 8 }, checkpoint = { steps = 10 } }"]
FILM = ["--frames", "3", "--size", "64x64"]
VARY = ["--vary", "scheme.rho_inf=0.5,0.6,0.7"]


def files(directory):
    """Digests of all files but locks: one that a kill left keeps nobody out."""
    return {name: digest for name, digest in contents(directory).items() if not name.endswith(".carom.lock")}


class Job:
    """A command for a directory, with what must be there before it and how it is made good."""

    def __init__(self, carom, work, kind):
        self.carom, self.work, self.kind = carom, work, kind
        self.out = os.path.join(work, "out")
        self.before = os.path.join(work, f"before {kind}")
        if kind == "resume":
            self.call("run", "bar.toml", *SHORT, "-o", self.before, "--max-wall", "0", codes=[8])
        elif kind in ["report", "film", "pictures"]:
            self.call("run", "bar.toml", *SHORT, "-o", self.before)
        elif kind == "merge":
            for part in ["1", "2"]:
                self.call("sweep", "bar.toml", *SHORT, *VARY, "--shard", part + "/2", "-o", os.path.join(work, part))

    def call(self, *arguments, tracer=(), codes=(0,)):
        """Runs carom; without a tracer its exit code must be one of these."""
        done = subprocess.run([*tracer, self.carom, *arguments, "-q", "--threads", "1"], cwd=self.work,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if not tracer and done.returncode not in codes:
            sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
        return done.returncode

    def lay(self):
        shutil.rmtree(self.out, ignore_errors=True)
        if os.path.exists(self.before):
            shutil.copytree(self.before, self.out)

    def command(self):
        keep = ["--keep-runs"] if "files" in self.kind else []
        return {
            "run": ["run", "bar.toml", *SHORT, "-o", self.out],
            "resume": ["resume", self.out],
            "merge": ["merge", "1", "2", "-o", self.out],
            "report": ["report", self.out],
            "film": ["film", self.out, *FILM],
            "pictures": ["film", self.out, *FILM, "--format", "png"],
        }.get(self.kind, ["sweep", "bar.toml", *SHORT, *VARY, *keep, "-o", self.out])

    def go_on(self):
        """What a user does who does not know how far it came."""
        has = lambda name: os.path.exists(os.path.join(self.out, name))
        if self.kind in ["merge", "report", "film", "pictures"]:
            return self.call(*self.command(), *(["--force"] if self.kind == "merge" else []))
        if has("checkpoint.bin") or has("sweep.json"):
            return self.call("resume", self.out)
        if has("summary.json"):
            return 0
        if self.kind == "resume":
            sys.exit("a kill of resume left neither checkpoint nor summary")
        return self.call(*self.command(), "--force")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("carom")
    carom = os.path.abspath(parser.parse_args().carom)
    cases = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../cases")
    total = 0
    # In memory where that can be had: thousands of short runs need no disk.
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as work:
        shutil.copy(os.path.join(cases, "impacting-bar.toml"), os.path.join(work, "bar.toml"))
        for kind in ["run", "resume", "sweep", "sweep with files", "merge", "report", "film", "pictures"]:
            job = Job(carom, work, kind)
            job.lay()
            job.call(*job.command())
            expected, kills = files(job.out), 0
            for calls in CALLS:
                which = ",".join("?" + call for call in calls.split(","))
                n = 0
                while True:
                    n += 1
                    job.lay()
                    inject = f"inject={which}:signal=SIGKILL:when={n}"
                    tracer = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={which}", "-e", inject]
                    code = job.call(*job.command(), tracer=tracer)
                    if code == 0:
                        break
                    if code != -9 and code != 137:
                        sys.exit(f"{kind}: exit code {code} instead of a kill at {calls} {n}")
                    kills += 1
                    job.go_on()
                    found = files(job.out)
                    for file in sorted(set(expected) | set(found)):
                        if expected.get(file) != found.get(file):
                            sys.exit(f"{kind}: {file} differs after a kill at {calls} {n}")
            print(f"{kind}: {kills} kills, {len(expected)} files the same", flush=True)
            total += kills
    print(f"{total} kills survived")


if __name__ == "__main__":
    main()
