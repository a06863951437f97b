"""Machines that were built otherwise than they are drawn: for calibrations.

The hexapod, drawn and built, is that of public course material.
"""

import numpy as np

import gough
from gough.calibration import Geometry

DRAWN = {
    "base": [[305.4001, 111.1565, 0], [-56.4357, 320.0625, 0], [-248.9644, 208.9060, 0],
             [-248.9644, -208.9060, 0], [-56.4357, -320.0625, 0], [305.4001, -111.1565, 0]],
    "platform": [[92.1597, 84.4488, 0], [27.055, 122.0370, 0], [-119.2146, 37.5882, 0],
                 [-119.2146, -37.5882, 0], [27.055, -122.0370, 0], [92.1597, -84.4488, 0]],
}  # fmt: skip
BUILT = {
    "base": [[305.2599, 115.0695, 2.6210], [-55.2814, 322.9819, 4.2181],
             [-244.7954, 208.0087, 3.9365], [-252.5755, -211.8783, -3.0128],
             [-53.9678, -320.6115, 4.3181], [302.4266, -109.4351, 3.3812]],
    "platform": [[96.6610, 81.7602, 1.0684], [22.2476, 125.2511, -0.5530],
                 [-122.4519, 36.6453, 4.3547], [-120.6859, -34.4565, -4.9014],
                 [24.7769, -125.0489, -4.8473], [91.3462, -80.9866, 0.2515]],
}  # fmt: skip
LENGTHS = [604.4299, 607.2473, 600.4441, 605.9031, 604.5251, 600.0616]
TEXT = """# a drawing
format = 1
name = "hexapod"
home = {{ position = [0, 0, 0.65] }}  # m

[legs]
kind = "UPS"
base = [  # joints on the ground
{base}]
platform = [
{platform}]
limits = {{ stroke = [0.58, 0.74] }}
"""


def hexapod() -> gough.Robot:
    """The hexapod as drawn, a comment at every joint."""
    lists = {
        key: "".join(
            f"    [{', '.join(f'{1e-3 * one:.7f}' for one in point)}],  # leg {i + 1}\n"
            for i, point in enumerate(points)
        )
        for key, points in DRAWN.items()
    }
    return gough.Robot.from_text(TEXT.format(**lists))


def hexapod_errors() -> np.ndarray:
    """What the hexapod was built off: base, platform, zeros of its encoders, m."""
    off = [1e-3 * (np.array(BUILT[key]) - np.array(DRAWN[key])).ravel() for key in DRAWN]
    return np.concatenate([*off, 1e-3 * (604.8652 - np.array(LENGTHS))])


def machine(name: str, off: float = 5e-3) -> tuple[gough.Robot, np.ndarray]:
    """A robot as drawn and what its machine is off, `off` m at most (of small robots less)."""
    if name == "hexapod":
        return hexapod(), hexapod_errors() * off / 5e-3
    robot = gough.load(name)
    geometry = Geometry(robot)
    size = off * min(1.0, robot.length_scale / 0.1)
    return robot, size * np.random.default_rng(7).uniform(-1, 1, geometry.count) * geometry.sizes
