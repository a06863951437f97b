"""Motions that a robot can make: timing within limits, paths, room to move.

found = retime(robot, motion, force=500)
motion = found.sample(601)
"""

from gough.planning.clamping import Clamped, clamp
from gough.planning.demands import MotionLimit, MotionLimits
from gough.planning.path import Path
from gough.planning.pose_limits import PoseLimit
from gough.planning.retimed import Binding, Retimed
from gough.planning.retiming import retime
from gough.planning.room import Room, room

__all__ = [
    "Binding",
    "Clamped",
    "MotionLimit",
    "MotionLimits",
    "Path",
    "PoseLimit",
    "Retimed",
    "Room",
    "clamp",
    "retime",
    "room",
]
