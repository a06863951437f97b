"""Choose motors: peaks, rms and regenerated energy over motions, and the worst case in a region.

The HexaSlide of Kim & Ryu 2002 runs circles at 20, 40 and 60 rpm. Each slider sits on a ball screw of
10 mm lead and 90 % efficiency, turned by a motor of 2·10⁻⁴ kg m² (coupling and screw included).
"""

from itertools import product

import numpy as np

import gough
from gough.data.paper_motions import paper_motion
from gough.show.pictures.sizing import torque_speed
from gough.show.plots import save
from gough.sizing import Drive, Region, size, worst_case, worst_in_region
from gough.sizing.table import requirements

robot = gough.load("kim-ryu-2002")
names = {f"{rpm} rpm": f"kim-ryu-2002/circle-{rpm}rpm" for rpm in (20, 40, 60)}
motions = {name: paper_motion(one).sample(301) for name, one in names.items()}
drive = Drive(lead=0.010, efficiency=0.9, rotor_inertia=2e-4)

# 1. What the motions demand, with a margin of 30 %.
sizing = size(robot, motions, drive)
table = requirements(sizing, margin=1.3)
table.write("size.csv")
save(torque_speed(sizing, margin=1.3), "size.png")
worst = sizing.worst()
print(f"peak force     {worst['peak_force']:8.2f} N,   rms {worst['rms_force']:.2f} N")
print(f"motor torque   {worst['peak_torque']:8.3f} N m, rms {worst['rms_torque']:.3f} N m")
print(f"motor speed    {worst['peak_motor_speed']:8.0f} rpm")
print(f"given back     {worst['motor_regenerated']:8.1f} J of {worst['motor_energy']:.1f} J")

# 2. No motion yet, only bounds: exact over all accelerations, loads and twists within them.
bounds = {
    "acceleration": [5, 5, 5, 10, 10, 10],  # ± m/s², rad/s²
    "load": [100, 100, 200, 5, 5, 5],  # ± N, N m at the platform's origin
    "twist": [0.5, 0.5, 0.5, 0, 0, 0],  # ± m/s, rad/s
}
here = worst_case(robot, robot.home, **bounds)
region = Region(robot.home, shift=[0.05, 0.05, 0.05])
there = worst_in_region(robot, region, **bounds)
print(
    f"worst force    {here.force.max():8.1f} N at home, {there.worst.force.max():.1f} N in the region"
)
print(f"worst speed    {here.speed.max():8.3f} m/s at home, {there.worst.speed.max():.3f} m/s")

# 3. The same by brute force: all 2¹² corners of acceleration and load, at rest.
still = worst_case(robot, robot.home, acceleration=bounds["acceleration"], load=bounds["load"])
corners = np.array(list(product((-1, 1), repeat=12)))
acceleration = corners[:, :6] * bounds["acceleration"]
poses = gough.Motion(
    np.broadcast_to(robot.home.position, (4096, 3)),
    acceleration=acceleration[:, :3],
    angular_acceleration=acceleration[:, 3:],
)
forces = robot.inverse_dynamics(poses, corners[:, 6:] * bounds["load"], friction=False).forces
print(
    f"brute force    {abs(forces).max():8.1f} N over 4096 corners, exact {still.force.max():.1f} N"
)
assert np.allclose(abs(forces).max(axis=0), still.force, rtol=1e-12)
assert there.worst.force.max() >= here.force.max()
