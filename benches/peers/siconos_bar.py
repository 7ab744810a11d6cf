"""The bar in Siconos: siconos_bar.py ELEMENTS STEPS

Moreau-Jean with theta = 1/2, Newton's impact law, the LCP solved by the default solver; consistent mass. Dense matrices,
because Debian's Python module takes no others (it refuses SciPy's, and its own sparse SimpleMatrix ends in a failed
assertion): O(n^2) per step.
"""

import subprocess
import sys

import numpy as np
import siconos.kernel as sk
from bar import SPEED, Bar, Clock, report

bar, steps = Bar(int(sys.argv[1])), int(sys.argv[2])


def matrix(diagonal, beside):
    """Sum of the element matrices [[diagonal, beside], [beside, diagonal]]."""
    sum, i = np.zeros((bar.nodes, bar.nodes)), np.arange(bar.elements)
    for k, l, value in [(0, 0, diagonal), (1, 1, diagonal), (0, 1, beside), (1, 0, beside)]:
        sum[i + k, i + l] += value
    return sum


body = sk.LagrangianLinearTIDS(np.zeros(bar.nodes), np.full(bar.nodes, -SPEED), matrix(bar.mass / 3, bar.mass / 6))
body.setKPtr(matrix(bar.stiffness, -bar.stiffness))
wall = sk.Interaction(sk.NewtonImpactNSL(0.0), sk.LagrangianLinearTIR(np.eye(1, bar.nodes)))
model = sk.NonSmoothDynamicalSystem(0.0, (steps + 1) * bar.step)
model.insertDynamicalSystem(body)
model.link(wall, body)
run = sk.TimeStepping(model, sk.TimeDiscretisation(0.0, bar.step), sk.MoreauJeanOSI(0.5), sk.LCP())

clock = Clock()
for _ in range(steps):
    run.computeOneStep()
    run.nextStep()
    clock.tick()
# The module of Debian's 4.4.0 calls itself 4.5.0: the package is asked.
version = subprocess.check_output(["dpkg-query", "-W", "-f", "${Version}", "python3-siconos"], text=True)
report(f"Siconos {version}", bar, steps, clock.best(1), body.velocity())
