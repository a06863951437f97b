"""Where is the platform when the legs are this long? Up to forty answers.

Dietmaier (1998) found a geometry with 40 real ones. A controller follows the one it is in.
"""

import numpy as np

import gough

robot = gough.load("dietmaier-1998")
q = [1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071]  # leg lengths, m

modes = robot.assembly_modes(q)
print(f"{modes.shape[0]} postures with the same leg lengths")
back = robot.inverse_kinematics(modes).q
print(f"all of them have these lengths, to {np.abs(back - q).max():.1e} m")

# Following one: from a guess nearby, as a controller does every millisecond.
start = modes[7]
guess = gough.Motion(start.position + 0.001, start.rotation)
found = robot.forward_kinematics(q, guess)
print(
    f"from 1 mm beside posture 7 back to it: {np.abs(found.position - start.position).max():.1e} m"
)

assert modes.shape == (40,)
assert np.abs(back - q).max() < 1e-12
assert np.allclose(found.position, start.position, atol=1e-9)
