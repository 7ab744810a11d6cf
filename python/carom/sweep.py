"""The directory of a sweep."""

import json
import os

import numpy as np


class Sweep:
    """A complete sweep, or shard, of carom by its directory: parameters and figures of every run, in the order of the runs."""

    def __init__(self, directory):
        self.directory = os.fspath(directory)
        path = os.path.join(self.directory, "table.jsonl")
        self.rows = []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    self.rows.append(json.loads(line))
                except json.JSONDecodeError as error:
                    raise ValueError(f"{path}:{number}: {error}") from None

    def __len__(self):
        return len(self.rows)

    @property
    def parameters(self):
        """Paths of what was varied."""
        return list(self.rows[0]["parameters"]) if self.rows else []

    @property
    def figures(self):
        """Names of all figures, in the order of their first appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row["figures"]))

    @property
    def failed(self):
        """Which runs failed, as an array of flags."""
        return np.array([row["code"] != 0 for row in self.rows])

    def __getitem__(self, name):
        """A parameter or a figure, one entry per run: floats, with NaN where a run has none, or else objects."""
        if name in self.parameters:
            values = [row["parameters"][name] for row in self.rows]
        elif name in self.figures:
            values = [row["figures"].get(name) for row in self.rows]
        else:
            near = [known for known in self.parameters + self.figures if name.split(".")[-1] in known]
            raise KeyError(f"there is no parameter or figure {name!r}; similar: {', '.join(near[:8]) or 'none'}")
        numbers = all(value is None or isinstance(value, (int, float)) for value in values)
        return np.array([np.nan if value is None else value for value in values], dtype=float if numbers else object)

    def dataframe(self):
        """Everything as a pandas data frame, with the number of the run as its index."""
        import pandas

        columns = {name: self[name] for name in self.parameters}
        columns.update({key: [row[key] for row in self.rows] for key in ("status", "code", "error")})
        columns.update({name: self[name] for name in self.figures})
        return pandas.DataFrame(columns, index=[row["run"] for row in self.rows])
