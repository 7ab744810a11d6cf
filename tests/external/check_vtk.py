#!/usr/bin/env python3
"""Reads finished carom runs with the real VTK and compares them with the runs' own tables.

    check_vtk.py OUTDIR...

Needs the package `vtk` from PyPI. For every frame of OUTDIR/series.pvd, in either encoding:
  * arrays, component counts and types are as promised; no NaN or infinity; the mesh never changes;
  * TimeValue is the time in the list and of a row of history.csv, and the energies are those of the row, exactly;
  * probes: point + displacement and velocity are the probe's columns of the row;
  * bodies of bars: N is the axial stiffness times the strain of the displacements.
Prints one line per directory; exit code 1 on any mismatch, or when there was nothing to check.
"""

import csv
import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import VTK_DOUBLE
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

ENERGIES = ["kinetic", "strain", "potential", "energy"]
POINT_DATA = {"displacement": 3, "velocity": 3, "contact_force": 3}
CELL_DATA = {"N": 1}
SHOWN = 10  # mismatches printed per directory


class Unreadable(Exception):
    """A frame or table from which nothing can be compared."""


class Frame:
    """One VTU file as numpy arrays."""

    def __init__(self, path, time):
        self.time, self.name = time, path.name
        if not path.is_file():
            raise Unreadable(f"{path} is listed but missing")
        reader, errors = vtkXMLUnstructuredGridReader(), []
        reader.AddObserver("ErrorEvent", lambda *_: errors.append(1))
        reader.SetFileName(str(path))
        reader.Update()
        grid = reader.GetOutput()
        if errors or grid.GetNumberOfPoints() == 0:
            raise Unreadable(f"{path}: VTK cannot read it, or it has no points")
        self.points = vtk_to_numpy(grid.GetPoints().GetData())
        self.connectivity = vtk_to_numpy(grid.GetCells().GetConnectivityArray())
        self.offsets = vtk_to_numpy(grid.GetCells().GetOffsetsArray())
        self.cells = grid.GetNumberOfCells()
        self.point_data = arrays(grid.GetPointData())
        self.cell_data = arrays(grid.GetCellData())
        self.field_data = arrays(grid.GetFieldData())

    def ends(self, body):
        """Point numbers of the two ends of each cell of a body."""
        cells = slice(body["first_cell"], body["first_cell"] + body["cells"])
        start, stop = self.offsets[:-1][cells], self.offsets[1:][cells]
        if len(start) != body["cells"] or np.any(stop - start != 2):
            raise Unreadable(f"{self.name}: the cells of body {body['name']} are not {body['cells']} lines")
        return self.connectivity[start], self.connectivity[start + 1]


def arrays(data):
    """Name -> (is Float64, components, values)."""
    found = {}
    for k in range(data.GetNumberOfArrays()):
        array = data.GetArray(k)
        found[array.GetName()] = (
            array.GetDataType() == VTK_DOUBLE,
            array.GetNumberOfComponents(),
            vtk_to_numpy(array),
        )
    return found


def read_series(directory):
    path = directory / "series.pvd"
    try:
        entries = list(ElementTree.parse(path).getroot().iter("DataSet"))
    except (OSError, ElementTree.ParseError) as error:
        raise Unreadable(f"{path}: {error}") from error
    if not entries:
        raise Unreadable(f"{path}: no frames, nothing to check")
    return [Frame(directory / entry.get("file"), float(entry.get("timestep"))) for entry in entries]


def read_history(directory):
    path = directory / "history.csv"
    try:
        with open(path, newline="") as file:
            return {float(row["time"]): row for row in csv.DictReader(file)}
    except (OSError, KeyError, ValueError) as error:
        raise Unreadable(f"{path}: {error!r}") from error


def read_summary(directory):
    path = directory / "summary.json"
    try:
        summary = json.loads(path.read_text())
        return summary["probes"], summary["bodies"]
    except (OSError, KeyError, ValueError) as error:
        raise Unreadable(f"{path}: {error!r}") from error


class Check:
    """All comparisons of one directory, with what was counted and what was wrong."""

    def __init__(self, directory):
        self.frames = read_series(directory)
        self.history = read_history(directory)
        self.probes, self.bodies = read_summary(directory)
        self.counts = {"frames": 0, "field values": 0, "probe values": 0, "axial forces": 0}
        self.wrong = []

    def run(self):
        for frame in self.frames:
            if self.shape(frame):
                self.time_and_energies(frame)
                self.counts["frames"] += 1
        if not self.wrong:  # what follows trusts the shapes
            self.probe_motion()
            self.axial_forces()

    def expect(self, condition, frame, text):
        if not condition:
            self.wrong.append(f"{frame.name}: {text}")
        return bool(condition)

    def shape(self, frame):
        first, before = self.frames[0], len(self.wrong)
        self.expect(frame.cells == first.cells, frame, f"{frame.cells} cells, {first.cells} in the first frame")
        self.expect(np.array_equal(frame.points, first.points), frame, "points differ from those of the first frame")
        same = np.array_equal(frame.connectivity, first.connectivity) and np.array_equal(frame.offsets, first.offsets)
        self.expect(same, frame, "cells differ from those of the first frame")
        self.expect(np.all(np.isfinite(frame.points)), frame, "points: not finite")
        for kind, found, promised in [
            ("point", frame.point_data, POINT_DATA),
            ("cell", frame.cell_data, CELL_DATA),
            ("field", frame.field_data, dict.fromkeys(["TimeValue", *ENERGIES], 1)),
        ]:
            for name, components in promised.items():
                if self.expect(name in found, frame, f"no {kind} data {name}"):
                    n = found[name][1]
                    self.expect(n == components, frame, f"{kind} data {name}: {n} components, not {components}")
            for name, (is_double, _, values) in found.items():
                self.expect(is_double, frame, f"{kind} data {name}: not Float64")
                self.expect(np.all(np.isfinite(values)), frame, f"{kind} data {name}: not finite")
        return len(self.wrong) == before

    def time_and_energies(self, frame):
        time = float(frame.field_data["TimeValue"][2][0])
        self.expect(time == frame.time, frame, f"TimeValue {time!r}, series.pvd says {frame.time!r}")
        if self.expect(frame.time in self.history, frame, f"no row of history.csv has the time {frame.time!r}"):
            for name in ENERGIES:
                found, row = float(frame.field_data[name][2][0]), self.history[frame.time]
                self.expect(found == float(row[name]), frame, f"{name} {found!r}, history.csv says {row[name]}")
        self.counts["field values"] += 1 + len(ENERGIES)

    def probe_motion(self):
        points = self.frames[0].points
        diagonal = np.linalg.norm(points.max(axis=0) - points.min(axis=0))
        length = max(diagonal, np.abs(points).max())
        speed = max(np.abs(frame.point_data["velocity"][2]).max() for frame in self.frames)
        for frame in self.frames:
            row = self.history[frame.time]
            for name, probe in self.probes.items():
                point = probe["point"]
                if not self.expect(0 <= point < len(points), frame, f"probe {name}: no point {point}"):
                    continue
                position = points[point] + frame.point_data["displacement"][2][point]
                velocity = frame.point_data["velocity"][2][point]
                planar = any(f"probe.{name}.{column}" in row for column in ["y", "vy"])
                for k, axis in enumerate("xy" if planar else "x"):
                    self.probe_value(frame, f"probe.{name}.{axis}", float(position[k]), 1e-12 * length)
                    self.probe_value(frame, f"probe.{name}.v{axis}", float(velocity[k]), 1e-12 * speed)

    def probe_value(self, frame, column, found, tolerance):
        told = self.history[frame.time].get(column)
        if self.expect(told is not None, frame, f"history.csv has no column {column}"):
            close = abs(found - float(told)) <= tolerance
            self.expect(close, frame, f"{column} = {found!r}, history.csv says {told}")
            self.counts["probe values"] += 1

    def axial_forces(self):
        for body in self.bodies:
            if body["element"] != "bar":
                continue
            stiffness = body["axial_stiffness"]
            first, last = self.frames[0].ends(body)
            span = self.frames[0].points[last] - self.frames[0].points[first]
            length = np.linalg.norm(span, axis=1)
            direction = span / length[:, None]
            cells = slice(body["first_cell"], body["first_cell"] + body["cells"])
            largest = max(np.abs(frame.cell_data["N"][2][cells]).max() for frame in self.frames)
            for frame in self.frames:
                u = frame.point_data["displacement"][2]
                force = stiffness * np.sum((u[last] - u[first]) * direction, axis=1) / length
                # A bar that moves far and hardly strains loses digits in the difference of its displacements.
                roundoff = 4 * np.finfo(float).eps * stiffness * np.abs(u).max() / length
                error = np.abs(frame.cell_data["N"][2][cells] - force)
                worst = np.argmax(error - roundoff)
                close = np.all(error <= 1e-9 * largest + roundoff)
                self.expect(close, frame, f"body {body['name']}: N of its cell {worst} is off by {error[worst]:.3e}")
                self.counts["axial forces"] += body["cells"] if largest > 0 else 0


def check(directory):
    """True when the directory is fine; prints its line."""
    try:
        result = Check(directory)
        result.run()
        wrong = result.wrong
    except Unreadable as problem:
        wrong = [str(problem)]
    except (KeyError, TypeError, ValueError) as problem:  # a table without a promised key, or text for a number
        wrong = [f"malformed table: {problem!r}"]
    if wrong:
        print(f"{directory}: FAILED, mismatches: {len(wrong)}")
        for text in wrong[:SHOWN]:
            print(f"    {text}")
        return False
    print(f"{directory}: ok, " + ", ".join(f"{count} {what}" for what, count in result.counts.items()))
    return True


def main():
    directories = [Path(argument) for argument in sys.argv[1:]]
    if not directories:
        print(__doc__, file=sys.stderr)
        return 1
    return 0 if all([check(directory) for directory in directories]) else 1


if __name__ == "__main__":
    sys.exit(main())
