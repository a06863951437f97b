"""FMUs of chain robots start with the joints of the straight line from home, or do not start.

A spherical robot's leg folds after 44 % of the way to the turn below, by dense stepping of its closure
(`test_chain_continuation.py`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from cases.exported import COMPILER
from gough import Motion, Robot

pytest.importorskip("fmpy", reason="FMPy is not installed")
from cases.mockups import Mockup

pytestmark = [
    pytest.mark.usefixtures("on_numpy"),
    pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine"),
]
AXES = [[np.sqrt(2), 0.0, -1.0], [0.5, np.sqrt(0.75), 0.0], [np.sqrt(2), 0.0, 1.0]]
FAR = np.array([-1.81585, 1.856846, 0.090708])


def test_a_start_beyond_a_folded_leg_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFLAGS", "-O0")
    joints = [
        {"type": "revolute", "point": (np.array(axis) / 10).tolist(), "axis": axis, "body": {}}
        for axis in AXES
    ]
    joints[0]["actuated"] = True
    del joints[2]["body"]
    turns = [[0.0, 0.0, turn] for turn in (0.0, 2 * np.pi / 3, -2 * np.pi / 3)]
    robot = Robot.from_dict(
        {
            "format": 1,
            "name": "wrist",
            "home": {"position": [0, 0, 0]},
            "legs": {"kind": "chain", "rotation_vector": turns, "joints": joints},
            "platform": {"mass": 1.0, "inertia": np.diag([0.01, 0.02, 0.03]).tolist()},
        }
    )
    path = robot.export_fmu(tmp_path / "robot.fmu")
    for share in (0.2, 0.42):
        turn = Rotation.from_rotvec(share * FAR)
        with Mockup(path, quaternion=turn.as_quat(scalar_first=True)) as one:
            q = robot.inverse_kinematics(Motion(np.zeros(3), turn)).q
            assert_allclose(one.get("q"), q, rtol=0, atol=1e-9)
    for share in (0.5, 1.0):
        start = Rotation.from_rotvec(share * FAR).as_quat(scalar_first=True)
        with pytest.raises(Exception, match=r"ExitInitializationMode|failed|fmi"):
            Mockup(path, quaternion=start)
