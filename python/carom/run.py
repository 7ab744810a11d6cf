"""The directory of a run."""

import json
import os
import xml.etree.ElementTree as ElementTree

import numpy as np

from .frames import Frame


class Run:
    """A run of carom by its directory. Files are read when they are asked for first."""

    def __init__(self, directory):
        self.directory = os.fspath(directory)
        if not os.path.isdir(self.directory):
            raise FileNotFoundError(f"{self.directory}: there is no such directory")
        self._history = None
        self._summary = None

    def __repr__(self):
        return f"carom.Run({self.directory!r})"

    def _path(self, *names):
        return os.path.join(self.directory, *names)

    @property
    def history(self):
        """The table of every step: a structured array with a field for each column, NaN where there is no value."""
        if self._history is None:
            binary = self._path("history.npy")
            self._history = np.load(binary) if os.path.exists(binary) else _read_csv(self._path("history.csv"))
        return self._history

    @property
    def columns(self):
        """Names of the columns of the history."""
        return list(self.history.dtype.names)

    def __getitem__(self, column):
        """A column of the history as an array of floats."""
        if column not in self.history.dtype.names:
            near = [name for name in self.columns if column.split(".")[-1] in name]
            raise KeyError(f"there is no column {column!r}; similar: {', '.join(near[:8]) or 'none'}")
        return self.history[column]

    def dataframe(self):
        """The history as a pandas data frame, with the step as its index."""
        import pandas

        table = pandas.DataFrame({name: self.history[name] for name in self.columns})
        return table.set_index(table["step"].astype(int).rename(None)).drop(columns="step")

    @property
    def summary(self):
        """summary.json as a dictionary; only a complete run has one."""
        if self._summary is None:
            path = self._path("summary.json")
            with open(path, encoding="utf-8") as file:
                summary = json.load(file)
            if summary.get("schema") != 1:
                raise ValueError(f"{path}: `schema` is {summary.get('schema')}, but this version reads 1")
            self._summary = summary
        return self._summary

    @property
    def key_results(self):
        """Of every column max, min, max_time, min_time, rms and final, as a dictionary of dictionaries."""
        return self.summary["key_results"]

    def frame_times(self):
        """Instants of the frames for ParaView."""
        return np.array([time for time, _ in self._series()])

    def frames(self):
        """The frames for ParaView, one after the other."""
        for time, name in self._series():
            yield Frame.read(self._path(*name.split("/")), time)

    def frame(self, index):
        """One of the frames; negative numbers count from the end."""
        time, name = self._series()[index]
        return Frame.read(self._path(*name.split("/")), time)

    def _series(self):
        path = self._path("series.pvd")
        try:
            root = ElementTree.parse(path).getroot()
        except ElementTree.ParseError as error:
            raise ValueError(f"{path}: {error}") from None
        return [(float(entry.get("timestep")), entry.get("file")) for entry in root.iter("DataSet")]


def _read_csv(path):
    with open(path, encoding="ascii") as file:
        names = file.readline().strip().split(",")
        try:
            cells = np.genfromtxt(file, delimiter=",", ndmin=2)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    if cells.size and cells.shape[1] != len(names):
        raise ValueError(f"{path}: {len(names)} names, but {cells.shape[1]} columns")
    table = np.empty(len(cells), dtype=[(name, float) for name in names])
    for k, name in enumerate(names):
        table[name] = cells[:, k]
    return table
