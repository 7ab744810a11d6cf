"""The bar of cases/impacting-bar.toml, started at the wall, and how a peer is timed: shared by all peers."""

import json
import time

YOUNG, DENSITY, AREA, LENGTH, SPEED = 900.0, 1.0, 1.0, 10.0, 10.0
STRETCH = 10


class Bar:
    def __init__(self, elements):
        self.elements, self.nodes = elements, elements + 1
        self.size = LENGTH / elements
        self.stiffness = YOUNG * AREA / self.size
        self.mass = DENSITY * AREA * self.size
        # 1.2 times the time of a wave through an element, at every size.
        self.step = 0.4 / elements


class Clock:
    """Processor time, because other work on the machine must not count against a peer."""

    def __init__(self):
        self.ticks = [time.process_time()]

    def tick(self):
        self.ticks.append(time.process_time())

    def best(self, steps_per_tick):
        """Seconds per step in the best stretch; the first steps, which build and factorize matrices, drop out."""
        ticks = self.ticks[:: STRETCH // steps_per_tick]
        return min(b - a for a, b in zip(ticks, ticks[1:])) / STRETCH


def report(version, bar, steps, seconds, speeds):
    """Prints a line for compare.py. The wall force is the change of momentum by time: no program can flatter it."""
    momentum = bar.mass * (sum(speeds) - (speeds[0] + speeds[-1]) / 2)
    force = (momentum + DENSITY * AREA * LENGTH * SPEED) / (steps * bar.step)
    print(json.dumps({"version": version, "seconds": seconds, "check": float(force)}))
