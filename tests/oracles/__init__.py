"""Independent oracles: the robot file's mechanics worked out by other means than the library's.

Written from the robot file's definitions alone; nothing here imports the library. All functions
take the robot file as a plain dictionary and ONE state as a dictionary of arrays (see
`random_robot.random_motion`). SI units, radians, world axes unless a docstring says otherwise.

- `random_robot`: random robot files and motions.
- `legs`: what the oracles know of each kind of leg, one file a kind.
- `robot_parts`: reads a robot dictionary (one value or one per leg, defaults, bodies).
- `vector_kinematics`: leg motion by vector algebra.
- `friction_laws`: joint friction at given load magnitudes.
- `opened_tree`: minimal coordinates, Pinocchio on legs opened at their spherical joints.
- `parallel`: robots of any legs in groups, chains, mobility; Pinocchio on legs opened at the platform.
- `free_bodies`: maximal coordinates, Newton-Euler of every body with every joint reaction unknown.
"""
