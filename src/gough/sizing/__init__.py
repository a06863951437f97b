"""What drives a robot needs: from motions, or from bounds on accelerations, loads and speeds.

found = size(robot, {"circle": motion}, Drive(lead=0.01, efficiency=0.9, rotor_inertia=2e-4))
found = size(rotary, {"circle": motion}, Drive(ratio=20, efficiency=0.8, rotor_inertia=5e-6))
worst = worst_case(robot, poses, acceleration=[5, 5, 5, 10, 10, 10], load=[200, 200, 500, 0, 0, 0])
"""

from gough.sizing.bounds import WorstCase, worst_case
from gough.sizing.demand import Sizing, size
from gough.sizing.drive import Drive
from gough.sizing.rating import Rating
from gough.sizing.region import Region, worst_in_region

__all__ = [
    "Drive",
    "Rating",
    "Region",
    "Sizing",
    "WorstCase",
    "size",
    "worst_case",
    "worst_in_region",
]
