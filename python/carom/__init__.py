"""Reads what carom wrote: runs and sweeps as numpy arrays and, where pandas is installed, as data frames.

    import carom

    run = carom.Run("out/impacting-bar")
    run["time"], run["contact.wall.force"]        # columns of the history as arrays
    run.summary["contacts"]["wall"]["peak"]       # summary.json
    run.key_results["probe.foot.x"]["max_time"]   # extremes of a column
    for frame in run.frames():                    # frames for ParaView, one after the other
        frame.time, frame.points + frame["displacement"]

    sweep = carom.Sweep("out/step-sweep")
    sweep["time.step"], sweep["energy.final"]     # parameters and figures, one entry per run

Nothing is computed here and nothing is written; a file that is not what it should be is a ValueError with its name.
"""

from .frames import Frame
from .run import Run
from .sweep import Sweep

__all__ = ["Frame", "Run", "Sweep"]
