"""The geometry a hexapod really has, from a tracker's measurements.

The machine is simulated: a hexapod of public course material as drawn and as built, up to 5 mm off
its drawing. A tracker that stands anywhere sees a target somewhere on the platform, with 10 µm and
50 µrad of noise.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import gough
from gough.calibration import Frames, Geometry, calibrate, corrected, random_poses, simulate, untold

base = [[305.4001, 111.1565, 0], [-56.4357, 320.0625, 0], [-248.9644, 208.9060, 0]]
platform = [[92.1597, 84.4488, 0], [27.055, 122.0370, 0], [-119.2146, 37.5882, 0]]
mirrored = [1.0, -1.0, 1.0]
legs = {
    "kind": "UPS",
    "base": (1e-3 * np.array([*base, *(np.array(base[::-1]) * mirrored)])).tolist(),
    "platform": (1e-3 * np.array([*platform, *(np.array(platform[::-1]) * mirrored)])).tolist(),
    "limits": {"stroke": [0.58, 0.74]},
}
home = {"position": [0.0, 0.0, 0.65]}
robot = gough.Robot.from_dict({"format": 1, "name": "hexapod", "home": home, "legs": legs})

rng = np.random.default_rng(1)
errors = 5e-3 * rng.uniform(-1, 1, Geometry(robot).count)  # of joints and of encoders' zeros, m
somewhere = Frames(
    tracker_position=np.array([[2.0, -1.5, 0.4]]),
    tracker_rotation=Rotation.from_euler("z", [[70]], degrees=True).as_matrix(),
    target_position=np.array([[0.03, -0.02, 0.12]]),
    target_rotation=np.eye(3)[np.newaxis],
    center=np.zeros((1, 3)),
)
measured = simulate(
    robot,
    errors,
    random_poses(robot, 40, turn=0.35),
    noise={"position": 1e-5, "rotation": 5e-5},
    frames=somewhere,
)

found = calibrate(robot, measured)
print(f"{found.spectrum.rank} combinations of {found.free.sum()} unknowns are told; not told:")
for one in untold(found):
    print(f"  {one.text}")
print(f"noise of the tracker, found: {1e6 * found.noise.position:.1f} µm")
print(
    f"pose error on {len(found.held_back)} poses held back: {1e3 * found.before.position:.2f} mm as "
    f"drawn, {1e3 * found.after.position:.3f} mm as found"
)
machine = corrected(found)  # its file has the numbers found, and the comments of the old one
print(f"encoder of leg 1 reads {1e3 * found.offsets[0]:+.2f} mm too much")
assert found.before.position > 1e-3
assert found.after.position < 3e-5
assert machine.name == robot.name
