"""Simulation and control: a robot, a controller and a reference over time.

from gough.simulation import ComputedTorque
result = gough.simulate(robot, ComputedTorque(frequency=20), trajectory)
"""

from gough.simulation.actuators import Actuators
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
from gough.simulation.disturbances import Push, Shake
from gough.simulation.linear import LinearModel, equilibrium_forces, linear_model
from gough.simulation.loop import simulate
from gough.simulation.result import Simulation
from gough.simulation.sensors import Sensors

__all__ = [
    "Actuators",
    "ComputedTorque",
    "Controller",
    "FeedForward",
    "GivenForces",
    "GravityPD",
    "LegPD",
    "LinearModel",
    "Measured",
    "Push",
    "Sensors",
    "Shake",
    "Simulation",
    "equilibrium_forces",
    "linear_model",
    "paper_loop",
    "simulate",
]
