"""Any parallel robot by Pinocchio: legs of every kind in groups, mobility, reactions.

`ParallelOracle(robot)` takes a robot file as a dictionary; its methods take ONE state. Written from
the robot file's definitions; nothing here imports the library.

- `tree`: the robot file as one Pinocchio tree of opened legs and a free platform.
- `closure`: closed loops, mobility, coordinates.
- `reactions`: what holds the platform and what each joint carries.
- `friction`: of all joints, at given load magnitudes.
- `dynamics`: forces, accelerations, energies; `ParallelOracle`.
- `as_chains`: legs of kind UPS, PUS, RUS written as chains.
"""

from .dynamics import JointMotion, ParallelOracle
from .reactions import Reactions

__all__ = ["JointMotion", "ParallelOracle", "Reactions"]
