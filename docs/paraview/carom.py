"""ParaView macro: the deformed structure of a carom run, coloured by its bending moment or axial force.

In ParaView: Macros > Import new macro..., choose this file, open a run's series.pvd (or surface.pvd), select it, and press the
macro's button. It warps the reference configuration by `displacement`, draws the bodies as tubes and shows contact forces as
arrows. In batch: pvbatch carom.py RUN/series.pvd PICTURE.png [TIME]
"""

import sys

from paraview.simple import *  # noqa: F403  (the usual way of ParaView scripts)


def largest(source, association, name):
    """Largest modulus of an array over all instants; zero if it does not exist."""
    most = 0.0
    for time in source.TimestepValues or [0.0]:
        source.UpdatePipeline(time)
        data = source.CellData if association == "CELLS" else source.PointData
        if name not in data.keys():
            return 0.0
        array = data[name]
        for component in range(-1 if array.GetNumberOfComponents() > 1 else 0, array.GetNumberOfComponents()):
            low, high = array.GetRange(component)
            most = max(most, abs(low), abs(high))
    return most


def show(source, view):
    """Shows the run: tubes around the deformed bodies, arrows for contact forces."""
    bounds = source.GetDataInformation().GetBounds()
    size = max(bounds[1] - bounds[0], bounds[3] - bounds[2]) or 1.0
    if "radius" in source.PointData.keys():
        warp = WarpByVector(Input=source, Vectors=["POINTS", "displacement"])
        radius = largest(source, "POINTS", "radius")
        # The tube filter takes poly data only.
        drawn = Tube(Input=ExtractSurface(Input=warp), Radius=max(radius, 0.008 * size), NumberofSides=16)
    else:
        # surface.pvd is deformed already.
        warp = drawn = source
    picture = Show(drawn, view)
    name = "M" if largest(source, "CELLS", "M") > 0.0 else "N"
    reach = largest(source, "CELLS", name)
    ColorBy(picture, ("CELLS", name))
    if reach > 0.0:
        colours = GetColorTransferFunction(name)
        colours.ApplyPreset("Cool to Warm", True)
        colours.RescaleTransferFunction(-reach, reach)
        bar = GetScalarBar(colours, view)
        bar.Title, bar.ComponentTitle = {"M": "bending moment", "N": "axial force"}[name], ""
        bar.TitleColor = bar.LabelColor = [0.1, 0.1, 0.1]
        picture.SetScalarBarVisibility(view, True)
    force = largest(source, "POINTS", "contact_force")
    if force > 0.0:
        arrows = Glyph(Input=warp, GlyphType="Arrow", OrientationArray=["POINTS", "contact_force"])
        arrows.ScaleArray = ["POINTS", "contact_force"]
        arrows.ScaleFactor = 0.3 * size / force
        arrows.GlyphMode = "All Points"
        pushed = Show(arrows, view)
        ColorBy(pushed, ("POINTS", None))
        pushed.DiffuseColor = [0.1, 0.1, 0.1]


def plain(view):
    """A white page seen from the front."""
    view.UseColorPaletteForBackground = 0
    view.Background = [1.0, 1.0, 1.0]
    view.OrientationAxesVisibility = 0
    view.InteractionMode = "2D"


if len(sys.argv) > 2:
    run = PVDReader(FileName=sys.argv[1])
    run.UpdatePipeline()
    page = CreateView("RenderView")
    page.ViewSize = [1280, 720]
    plain(page)
    show(run, page)
    page.ViewTime = float(sys.argv[3]) if len(sys.argv) > 3 else run.TimestepValues[-1]
    page.ResetCamera(True)
    Render(page)
    SaveScreenshot(sys.argv[2], page)
else:
    active = GetActiveSource()
    if active is None:
        raise RuntimeError("open a run's series.pvd and select it first")
    page = GetActiveViewOrCreate("RenderView")
    plain(page)
    Hide(active, page)
    show(active, page)
    page.ResetCamera(True)
    Render(page)
