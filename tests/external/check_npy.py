#!/usr/bin/env python3
"""Reads history.npy with NumPy and compares it, bit by bit, with history.csv of the same case.

    check_npy.py CSV_RUN NPY_RUN
"""

import csv
import os
import sys

import numpy as np


def main():
    text, binary = sys.argv[1:]
    table = np.load(os.path.join(binary, "history.npy"))
    with open(os.path.join(text, "history.csv"), newline="") as file:
        rows = list(csv.reader(file))
    names, cells = rows[0], np.array([[float(cell or "nan") for cell in row] for row in rows[1:]])
    if list(table.dtype.names) != names or len(table) != len(cells):
        sys.exit(f"{len(table)} rows of {table.dtype.names}, but {len(cells)} of {names}")
    for k, name in enumerate(names):
        if not np.array_equal(table[name], cells[:, k], equal_nan=True):
            sys.exit(f"column {name} differs")
    print(f"numpy.load: {len(names)} columns, {len(table)} rows, the numbers of history.csv to the last bit")


if __name__ == "__main__":
    main()
