"""Simulation and control: a robot, a controller and a reference over time.

from gough.simulation import ComputedTorque
result = gough.simulate(robot, ComputedTorque(frequency=20), trajectory)
"""

from gough.simulation.actuators import Actuators
from gough.simulation.adaptive import AdaptiveControl
from gough.simulation.controllers import (
    ComputedTorque,
    Controller,
    FeedForward,
    GivenForces,
    GravityPD,
    LegPD,
    Measured,
    paper_loop,
)
from gough.simulation.damping import (
    ForceFeedback,
    LegTuned,
    StableInversion,
    VelocityFeedback,
)
from gough.simulation.disturbances import Push, Shake
from gough.simulation.linear import LinearModel, equilibrium_forces, linear_model
from gough.simulation.loop import simulate
from gough.simulation.observer import ObservedTorque
from gough.simulation.result import Simulation
from gough.simulation.sensors import Sensors

__all__ = [
    "Actuators",
    "AdaptiveControl",
    "ComputedTorque",
    "Controller",
    "FeedForward",
    "ForceFeedback",
    "GivenForces",
    "GravityPD",
    "LegPD",
    "LegTuned",
    "LinearModel",
    "Measured",
    "ObservedTorque",
    "Push",
    "Sensors",
    "Shake",
    "Simulation",
    "StableInversion",
    "VelocityFeedback",
    "equilibrium_forces",
    "linear_model",
    "paper_loop",
    "simulate",
]
