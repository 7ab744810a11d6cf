#!/usr/bin/env python3
"""Makes docs/img/impacting-bar.png from the files of a run, with `vtk` and `matplotlib` from PyPI.

    cargo run --release -- run cases/impacting-bar.toml -o out/picture --set output.vtk.every=5
    docs/img/make.py out/picture
"""

import csv
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

SHOWN = 1.7  # the rest of the run is flight


def frames(directory):
    """Times, positions of the nodes and axial forces of the elements, a row per frame."""
    times, places, forces = [], [], []
    for entry in ElementTree.parse(directory / "series.pvd").getroot().iter("DataSet"):
        reader = vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(directory / entry.get("file")))
        reader.Update()
        grid = reader.GetOutput()
        points = vtk_to_numpy(grid.GetPoints().GetData())
        displacement = vtk_to_numpy(grid.GetPointData().GetArray("displacement"))
        times.append(float(entry.get("timestep")))
        places.append((points + displacement)[:, 0])
        forces.append(vtk_to_numpy(grid.GetCellData().GetArray("N")))
    return np.array(times), np.array(places), np.array(forces)


def main():
    directory = Path(sys.argv[1])
    with open(directory / "history.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    column = {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0]}
    times, places, forces = frames(directory)

    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, (waves, force, energy) = plt.subplots(
        3, 1, figsize=(8, 7.6), sharex=True, height_ratios=[2.6, 1.2, 1.2], layout="constrained"
    )
    # A cell of the picture is one element over one interval between frames.
    mesh = waves.pcolormesh(
        np.broadcast_to(times[:, None], places.shape),
        places,
        0.5 * (forces[1:] + forces[:-1]),
        cmap="RdBu_r",
        vmin=-330,
        vmax=330,
        rasterized=True,
    )
    for end in (0, -1):
        waves.plot(times, places[:, end], color="0.25", lw=0.8)
    waves.axhspan(-1.2, 0, color="0.75")
    waves.text(0.02, -0.6, "wall", va="center", color="0.25")
    waves.set(ylim=(-1.2, 15.5), ylabel="place along the axis")
    figure.colorbar(mesh, ax=waves, label="axial force N", pad=0.01, aspect=25)

    time = column["time"]
    # Exact: contact lasts 2 L / c = 2/3, and the force is density * area * c * v = 300 all the while.
    exact = np.where((time > 0.5) & (time <= 0.5 + 2 / 3), 300.0, 0.0)
    force.plot(time, exact, color="0.6", lw=4, label="exact")
    force.plot(time, column["contact.wall.force"], color="tab:red", lw=1.2, label="carom")
    force.set(ylabel="contact force", ylim=(-15, 340))
    force.legend(frameon=False, loc="upper right")

    energy.stackplot(
        time,
        column["kinetic"],
        column["strain"],
        -column["work_contact"],
        -column["work_scheme"],
        colors=["#4c78a8", "#e4a14b", "#b04a4a", "#777777"],
    )
    for place, word in [((0.25, 240), "kinetic"), ((0.836, 360), "strain"), ((1.43, 240), "kinetic")]:
        energy.text(*place, word, color="white", ha="center", va="center")
    lost = f"lost: {-column['work_contact'][-1]:.2f} to contact, {-column['work_scheme'][-1]:.2f} to the scheme"
    energy.text(SHOWN, 515, f"{lost}, of {column['energy'][0]:.0f}", ha="right", color="0.25")
    energy.set(ylabel="energy", xlabel="time", xlim=(0, SHOWN), ylim=(0, 500))
    figure.savefig(Path(__file__).with_name("impacting-bar.png"), dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
