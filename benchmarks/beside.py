"""Every robot of `users` beside others: Pinocchio and MuJoCo on its MJCF file, JAX, and CasADi's C.

Pinocchio and MuJoCo know nothing of legs: they get the opened tree with its loops. MuJoCo's loops are
springs, as stiff as it takes them; it has no inverse dynamics of closed loops. Neither has modes.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gough
from benchmarks import cpp
from benchmarks.peers import require_equal
from benchmarks.timing import Contender
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS, RIGID_FIELDS

STATES = 256
"""Of a call of JAX."""
RNEA, RNEA_CPP, JAX, CASADI = "Pinocchio rnea", "rnea in C++", "JAX", "CasADi's C"
DYNAMICS, DYNAMICS_CPP = "Pinocchio constraintDynamics", "constraintDynamics in C++"
MUJOCO = "MuJoCo mj_forward"
INVERSE = (RNEA, RNEA_CPP, JAX, CASADI)
DIRECT = (DYNAMICS, DYNAMICS_CPP, MUJOCO)
AT_REST = 0.1
"""MuJoCo's accelerations, m/s² and rad/s², at home under gough's forces: its loops give way a little."""


def native(robot: gough.Robot) -> dict[str, float]:
    """Seconds of Pinocchio's calls in C++, in a process of its own; none of a flexible robot."""
    if robot.modes or not _has("pinocchio"):
        return {}
    with _exported(robot) as path:
        model, loops, state = _tree(path)
    with contextlib.suppress(cpp.MissingError):
        bare, constrained = cpp.measure_tree(model, loops, state)
        return {RNEA_CPP: bare, DYNAMICS_CPP: constrained}
    return {}


@contextlib.contextmanager
def _exported(robot: gough.Robot) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        robot.export_mjcf(path)
        yield path


def contenders(robot: gough.Robot, motion: gough.Motion) -> dict[str, Contender]:
    """All there are for a robot and its states, checked where they compute the same."""
    found: dict[str, Contender] = {}
    if not robot.modes:
        with _exported(robot) as path:
            found |= _pinocchio(path) | _mujoco(path)
    few = motion[:STATES]
    robot.remember(few, robot.chains_of(motion)[:STATES])
    states = {name: np.asarray(getattr(few, name)) for name in RIGID_FIELDS}
    if robot.modes:
        states |= {name: np.asarray(getattr(few, name)) for name in ELASTIC_FIELDS}
    if robot.mechanism.legs.coordinates:
        states[CHAINS] = robot.chains_of(few)
    expected = robot.inverse_dynamics(few, friction=False).forces
    return found | _jax(robot, states, expected) | _casadi(robot, states, expected)


def _has(*modules: str) -> bool:
    return all(importlib.util.find_spec(one) is not None for one in modules)


def _tree(path: Path) -> tuple[Any, Any, tuple[Any, Any, Any]]:
    """Pinocchio's model, its loops, and a state: home, with any rates and accelerations."""
    import pinocchio as pin

    model, points, frames = pin.buildModelAndConstraintsFromMJCF(str(path))
    rates = np.random.default_rng(0).normal(size=(2, model.nv))
    kinds = [(pin.ContactType.CONTACT_3D, one) for one in points]
    kinds += [(pin.ContactType.CONTACT_6D, one) for one in frames]
    loops = pin.StdVec_RigidConstraintModel()
    for kind, one in kinds:
        places = (one.joint1_id, one.joint1_placement, one.joint2_id, one.joint2_placement)
        loops.append(pin.RigidConstraintModel(kind, model, *places))
    return model, loops, (model.referenceConfigurations["home"], *rates)


def _pinocchio(path: Path) -> dict[str, Contender]:
    """Calls from Python with all joint coordinates known."""
    if not _has("pinocchio"):
        return {}
    import pinocchio as pin

    model, loops, (q, v, a) = _tree(path)
    data = model.createData()
    work = pin.StdVec_RigidConstraintData()
    for loop in loops:
        work.append(loop.createData())
    pin.initConstraintDynamics(model, data, loops, work)
    tau = np.zeros(model.nv)
    return {
        RNEA: Contender(lambda: pin.rnea(model, data, q, v, a)),
        DYNAMICS: Contender(
            lambda: pin.constraintDynamics(model, data, q, 0 * v, tau, loops, work)
        ),
    }


def _mujoco(path: Path) -> dict[str, Contender]:
    """Accelerations under the forces that hold the robot at home."""
    if not _has("mujoco"):
        return {}
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    mujoco.mj_forward(model, data)
    moved = np.abs(data.qacc).max()
    if not moved < AT_REST:
        raise SystemExit(f"MuJoCo is not at rest where gough is: {moved:.2g}: nothing to compare")
    return {MUJOCO: Contender(lambda: mujoco.mj_forward(model, data))}


def _jax(robot: gough.Robot, states: dict[str, Any], expected: Any) -> dict[str, Contender]:
    """gough's own program compiled by XLA for many states."""
    if not _has("jax"):
        return {}
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax

    jax.config.update("jax_enable_x64", True)
    given = {name: jax.numpy.asarray(value) for name, value in states.items()}
    function = jax.jit(jax.vmap(robot.to_jax("inverse_dynamics")))
    require_equal("JAX", np.asarray(function(given)["forces"]), expected)
    return {JAX: Contender(lambda: jax.block_until_ready(function(given)), STATES)}


def _casadi(robot: gough.Robot, states: dict[str, Any], expected: Any) -> dict[str, Contender]:
    """gough's own program as CasADi's C, by the compiler of this machine; one state a call."""
    compiler = shutil.which("cc")
    if not _has("casadi") or compiler is None:
        return {}
    function = robot.to_casadi("inverse_dynamics")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        function.generate("program.c")
        flags = ["-O2", "-march=native", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, "program.c", "-o", "program.so", "-lm"], check=True)
        library = ctypes.CDLL(str(Path(folder) / "program.so"))
    inputs = [
        np.ravel(states[name][0] if name in states else np.zeros(function.size_in(i)), "F")
        for i, name in enumerate(function.name_in())
    ]
    outputs = [np.zeros(function.numel_out(i)) for i in range(function.n_out())]
    given, found = (
        (ctypes.c_void_p * len(arrays))(*(one.ctypes.data for one in arrays))
        for arrays in (inputs, outputs)
    )
    call = getattr(library, function.name())

    def run(keep: Any = (inputs, outputs)) -> None:
        call(given, found, None, None, 0)

    run()
    require_equal("CasADi's C", outputs[function.name_out().index("forces")], expected[0])
    return {CASADI: Contender(run)}
