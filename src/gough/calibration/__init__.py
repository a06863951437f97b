"""Calibration: the geometry that a robot really has, from measured poses."""

from gough.calibration.calibration import Calibration, PoseErrors, calibrate
from gough.calibration.candidates import random_poses
from gough.calibration.corrected import corrected, save_corrected
from gough.calibration.files import read_poses, write_poses
from gough.calibration.frames import Frames
from gough.calibration.geometry import Geometry
from gough.calibration.measurements import PoseMeasurements, together
from gough.calibration.plan import Plan, plan
from gough.calibration.simulated import simulate
from gough.calibration.untold import advice, untold

__all__ = [
    "Calibration",
    "Frames",
    "Geometry",
    "Plan",
    "PoseErrors",
    "PoseMeasurements",
    "advice",
    "calibrate",
    "corrected",
    "plan",
    "random_poses",
    "read_poses",
    "save_corrected",
    "simulate",
    "together",
    "untold",
    "write_poses",
]
