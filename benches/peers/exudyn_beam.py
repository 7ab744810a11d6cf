"""cases/rotating-beam.toml in Exudyn: exudyn_beam.py END fastest|full

Four geometrically exact elements, generalized-alpha with the same radius and step. `full` is Newton's method with a new
Jacobian in every pass, as in carom; `fastest` builds one per step: the best of nine combinations of Newton's method and
linear solver (the default, a Jacobian when convergence is slow, lies between the two). Both take Eigen's dense solver and
Exudyn's own tolerance. The wall is a limit stop at the tip without damping, because a connector has no law of impact. So
until the first impact both programs compute the same motion, and afterwards each its own.
"""

import json
import sys
import time
import warnings

import exudyn as exu
import exudyn.itemInterface as item

warnings.simplefilter("ignore", DeprecationWarning)
end, step, elements, side = float(sys.argv[1]), 5e-4, 4, 0.01
young, poisson, density = 2.1e11, 0.3, 7800.0
area, second_moment, shear = side**2, side**4 / 12, young / 2 / (1 + poisson)

container = exu.SystemContainer()
model = container.AddSystem()


def marker(node, coordinate):
    return model.AddMarker(item.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))


nodes = [model.AddNode(item.NodeRigidBody2D(referenceCoordinates=[i / elements, 0, 0])) for i in range(elements + 1)]
for pair in zip(nodes, nodes[1:]):
    beam = model.AddObject(
        item.ObjectBeamGeometricallyExact2D(
            nodeNumbers=list(pair),
            physicsLength=1 / elements,
            physicsMassPerLength=density * area,
            physicsCrossSectionInertia=density * second_moment,
            physicsBendingStiffness=young * second_moment,
            physicsAxialStiffness=young * area,
            physicsShearStiffness=5 / 6 * shear * area,
        )
    )
    weight = model.AddMarker(item.MarkerBodyMass(bodyNumber=beam))
    model.AddLoad(item.LoadMassProportional(markerNumber=weight, loadVector=[0, -9.81, 0]))
ground = marker(model.AddNode(item.NodePointGround()), 0)
for coordinate in 0, 1:
    model.AddObject(item.CoordinateConstraint(markerNumbers=[ground, marker(nodes[0], coordinate)]))
state = model.AddNode(item.NodeGenericData(initialCoordinates=[0, 0, 0], numberOfDataCoordinates=3))
model.AddObject(
    item.CoordinateSpringDamperExt(
        markerNumbers=[ground, marker(nodes[-1], 0)],
        nodeNumber=state,
        useLimitStops=True,
        # In terms of the displacement.
        limitStopsLower=0.5**0.5 - 1,
        limitStopsUpper=1e9,
        limitStopsStiffness=1e5,
    )
)
model.Assemble()

settings = exu.SimulationSettings()
steps = round(end / step)
settings.timeIntegration.numberOfSteps = steps
settings.timeIntegration.endTime = end
settings.timeIntegration.generalizedAlpha.spectralRadius = 0.65
settings.timeIntegration.newton.useModifiedNewton = sys.argv[2] == "fastest"
settings.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = True
settings.linearSolverType = exu.LinearSolverType.EigenDense
settings.solutionSettings.writeSolutionToFile = False
solver = exu.MainSolverImplicitSecondOrder()
solver.InitializeSolver(model, settings)
begun = time.process_time()
done = solver.SolveSteps(model, settings)
seconds = (time.process_time() - begun) / steps
if not done:
    sys.exit("Exudyn did not converge")
speed = model.GetNodeOutput(nodes[-1], exu.OutputVariableType.Velocity)[0]
print(json.dumps({"version": f"Exudyn {exu.__version__}", "seconds": seconds, "check": float(speed)}))
