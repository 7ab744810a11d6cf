"""The bar in OpenSees: opensees_bar.py ELEMENTS STEPS newton|linear

Trusses with consistent mass, the trapezoidal rule, a band solver of bandwidth one, matrices factorized once. The wall is
an elastic no-tension spring as stiff as an element; with ten times that the trapezoidal rule chatters and Newton's method
fails. `newton` asks in every step whether the contact still holds. `linear` does not iterate: good while the contact
holds, and the least that a step can cost here.
"""

import sys

import openseespy.opensees as ops
from bar import AREA, DENSITY, SPEED, STRETCH, YOUNG, Bar, Clock, report

bar, steps = Bar(int(sys.argv[1])), int(sys.argv[2])
algorithm = {"newton": "ModifiedNewton", "linear": "Linear"}[sys.argv[3]]

WALL, FOOT = 1, 2
ops.model("basic", "-ndm", 1, "-ndf", 1)
ops.node(WALL, 0.0)
ops.fix(WALL, 1)
for i in range(bar.nodes):
    ops.node(FOOT + i, i * bar.size)
    ops.setNodeVel(FOOT + i, 1, -SPEED, "-commit")
ops.uniaxialMaterial("Elastic", 1, YOUNG)
ops.uniaxialMaterial("ENT", 2, bar.stiffness)
for i in range(bar.elements):
    ops.element("Truss", 1 + i, FOOT + i, FOOT + i + 1, AREA, 1, "-rho", DENSITY * AREA, "-cMass", 1)
ops.element("zeroLength", bar.elements + 1, WALL, FOOT, "-mat", 2, "-dir", 1)

ops.constraints("Plain")
ops.numberer("Plain")
ops.system("BandSPD")
ops.test("NormDispIncr", 1e-10, 20)
ops.algorithm(algorithm, "-factorOnce")
ops.integrator("Newmark", 0.5, 0.25)
ops.analysis("Transient")

clock = Clock()
for _ in range(steps // STRETCH):
    if ops.analyze(STRETCH, bar.step) != 0:
        sys.exit("OpenSees did not converge")
    clock.tick()
speeds = [ops.nodeVel(FOOT + i, 1) for i in range(bar.nodes)]
report(f"OpenSees {ops.version()}", bar, steps, clock.best(STRETCH), speeds)
