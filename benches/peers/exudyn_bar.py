"""The bar in Exudyn: exudyn_bar.py ELEMENTS STEPS system|chain

Generalized-alpha, modified Newton (one or two factorizations in a run), sparse matrices. `system`: the bar as one linear
system of given matrices, consistent mass; the fastest way found, after a first step of O(n^2). `chain`: a model of
springs and lumped masses. The wall is the limit stop of a connector, ten times as stiff as an element.
"""

import sys
import warnings

import exudyn as exu
import exudyn.itemInterface as item
import numpy as np
from bar import SPEED, Bar, Clock, report

warnings.simplefilter("ignore", DeprecationWarning)
bar, steps, kind = Bar(int(sys.argv[1])), int(sys.argv[2]), sys.argv[3]
container = exu.SystemContainer()
model = container.AddSystem()


def marker(node):
    return model.AddMarker(item.MarkerNodeCoordinate(nodeNumber=node, coordinate=0))


def matrix(diagonal, beside):
    """Sum of the element matrices [[diagonal, beside], [beside, diagonal]]."""
    i, one = np.arange(bar.elements), np.ones(bar.elements)
    entries = [(i, i, diagonal), (i + 1, i + 1, diagonal), (i, i + 1, beside), (i + 1, i, beside)]
    triplets = np.vstack([np.column_stack([row, column, value * one]) for row, column, value in entries])
    sum = exu.MatrixContainer()
    sum.SetWithSparseMatrix(triplets, bar.nodes, bar.nodes)
    return sum


if kind == "system":
    zero, speeds = np.zeros(bar.nodes), np.full(bar.nodes, -SPEED)
    node = model.AddNode(
        item.NodeGenericODE2(
            referenceCoordinates=zero,
            initialCoordinates=zero,
            initialCoordinates_t=speeds,
            numberOfODE2Coordinates=bar.nodes,
        )
    )
    mass, stiffness = matrix(bar.mass / 3, bar.mass / 6), matrix(bar.stiffness, -bar.stiffness)
    model.AddObject(item.ObjectGenericODE2(nodeNumbers=[node], massMatrix=mass, stiffnessMatrix=stiffness))
    foot = marker(node)
else:
    markers = []
    for i in range(bar.nodes):
        node = model.AddNode(item.Node1D(referenceCoordinates=[i * bar.size], initialVelocities=[-SPEED]))
        share = 1.0 if 0 < i < bar.elements else 0.5
        model.AddObject(item.Mass1D(nodeNumber=node, physicsMass=share * bar.mass))
        markers.append(marker(node))
    for pair in zip(markers, markers[1:]):
        model.AddObject(item.CoordinateSpringDamper(markerNumbers=list(pair), stiffness=bar.stiffness))
    foot = markers[0]
ground = marker(model.AddNode(item.NodePointGround()))
state = model.AddNode(item.NodeGenericData(initialCoordinates=[0, 0, 0], numberOfDataCoordinates=3))
model.AddObject(
    item.CoordinateSpringDamperExt(
        markerNumbers=[ground, foot],
        nodeNumber=state,
        useLimitStops=True,
        limitStopsLower=0.0,
        limitStopsUpper=1e9,
        limitStopsStiffness=10 * bar.stiffness,
    )
)

clock = Clock()
# Called before every step: about 1 microsecond each.
model.SetPreStepUserFunction(lambda model, t: clock.tick() or True)
model.Assemble()
settings = exu.SimulationSettings()
settings.timeIntegration.numberOfSteps = steps
settings.timeIntegration.endTime = steps * bar.step
settings.timeIntegration.generalizedAlpha.spectralRadius = 0.6
settings.timeIntegration.newton.useModifiedNewton = True
settings.linearSolverType = exu.LinearSolverType.EigenSparse
settings.solutionSettings.writeSolutionToFile = False
solver = exu.MainSolverImplicitSecondOrder()
solver.InitializeSolver(model, settings)
if not solver.SolveSteps(model, settings):
    sys.exit("Exudyn did not converge")
report(f"Exudyn {exu.__version__}", bar, steps, clock.best(1), model.systemData.GetODE2Coordinates_t())
