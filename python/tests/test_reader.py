"""Reads runs and a sweep that the program makes; needs CAROM, the path of the program.

    CAROM=target/release/carom python -m unittest discover python/tests
"""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import carom  # noqa: E402

PROGRAM = os.path.abspath(os.environ.get("CAROM", os.path.join(ROOT, "target", "release", "carom")))


def call(*arguments):
    subprocess.run([PROGRAM, *arguments, "--quiet"], check=True, cwd=ROOT)


class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="carom-python-")
        case = "cases/portal-frame-impact.toml"
        call("run", case, "-o", cls.at("csv"))
        call("run", case, "-o", cls.at("npy"), "--set", 'output.history.format="npy"')
        call("run", case, "-o", cls.at("lz4"), "--set", 'output.vtk.encoding="lz4"')
        call("sweep", "cases/bouncing-ball.toml", "--vary", "contact.floor.restitution=0.25,0.5", "-o", cls.at("sweep"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.place)

    @classmethod
    def at(cls, name):
        return os.path.join(cls.place, name)

    def test_history(self):
        run, binary = carom.Run(self.at("csv")), carom.Run(self.at("npy"))
        with open(self.at("csv/history.csv"), newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual(run.columns, rows[0])
        self.assertEqual(binary.columns, rows[0])
        for k, name in enumerate(rows[0]):
            cells = [float(row[k] or "nan") for row in rows[1:]]
            np.testing.assert_array_equal(run[name], cells)
            np.testing.assert_array_equal(binary[name], cells)
        with self.assertRaisesRegex(KeyError, "probe.girder.y"):
            run["girder.y"]

    def test_summary_and_key_results(self):
        run = carom.Run(self.at("csv"))
        result = run.key_results["support.feet.fy"]
        column = run["support.feet.fy"]
        self.assertEqual(result["max"], column.max())
        self.assertEqual(result["max_time"], run["time"][column.argmax()])
        self.assertEqual(run.summary["contacts"]["hit"]["peak"], run["contact.hit.force"].max())

    def test_frames(self):
        run = carom.Run(self.at("csv"))
        times = run.frame_times()
        self.assertTrue(np.all(np.diff(times) > 0) and times[0] == 0.0)
        last = run.frame(-1)
        self.assertEqual(last.time, run["time"][-1])
        self.assertEqual(last["energy"], run["energy"][-1])
        self.assertEqual(last["displacement"].shape, last.points.shape)
        # The probe is at its point of the last frame.
        probe = run.summary["probes"]["girder"]
        np.testing.assert_array_equal((last.points + last["displacement"])[probe["point"], :2], [probe["x"], probe["y"]])
        self.assertEqual(len(last.lines), 24)
        self.assertEqual(len(last["M"]), 25)
        self.assertEqual(sum(1 for _ in run.frames()), len(times))
        with self.assertRaisesRegex(ValueError, "raw"):
            carom.Run(self.at("lz4")).frame(0)

    def test_sweep(self):
        sweep = carom.Sweep(self.at("sweep"))
        np.testing.assert_array_equal(sweep["contact.floor.restitution"], [0.25, 0.5])
        self.assertEqual(len(sweep), 2)
        self.assertFalse(sweep.failed.any())
        energies = sweep["energy.final"]
        self.assertTrue(np.all(np.isfinite(energies)))
        with open(self.at("sweep/table.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        np.testing.assert_array_equal(energies, [float(row["energy.final"]) for row in rows])

    def test_data_frames(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        table = carom.Run(self.at("csv")).dataframe()
        self.assertEqual(table.index[-1], 2000)
        self.assertEqual(table["energy"].iloc[-1], carom.Run(self.at("csv"))["energy"][-1])
        sweep = carom.Sweep(self.at("sweep")).dataframe()
        self.assertEqual(list(sweep.index), [0, 1])
        self.assertEqual(list(sweep["status"]), ["completed"] * 2)

    def test_what_is_not_there_is_named(self):
        with self.assertRaisesRegex(FileNotFoundError, "absent"):
            carom.Run(self.at("absent"))
        with self.assertRaises(FileNotFoundError):
            carom.Sweep(self.at("csv"))


if __name__ == "__main__":
    unittest.main()
