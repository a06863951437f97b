"""The others on the same robot and states, checked first: Pinocchio from Python, and CasADi."""

from __future__ import annotations

import importlib.util
import tomllib
from typing import Any

import numpy as np

from benchmarks.ours import Setup
from benchmarks.timing import Contender
from gough.mechanics.state import RIGID_FIELDS

CHECKED = 16
"""States on which every peer must find what gough finds."""
AGREEMENT = 1e-9


def state(given: Setup, k: int) -> dict[str, Any]:
    """One state as a dictionary of arrays."""
    return {name: np.array(getattr(given.motion, name)[k]) for name in RIGID_FIELDS}


def acceleration(given: Setup, k: int) -> Any:
    """(v̇, ω̇) of a state."""
    motion = given.motion
    return np.concatenate([motion.acceleration[k], motion.angular_acceleration[k]])


def require_equal(who: str, found: Any, expected: Any) -> None:
    """Stop the benchmark if a peer computes something else."""
    error = np.max(np.abs(found - expected)) / np.max(np.abs(expected))
    if not error < AGREEMENT:
        raise SystemExit(f"{who} disagrees with gough by {error:.2g}: nothing to compare")


def pinocchio(given: Setup, name: str) -> dict[str, Contender]:
    """The bare call, all coordinates known, and the whole computation from the platform's motion."""
    if importlib.util.find_spec("pinocchio") is None:
        return {}
    import pinocchio as pin

    from benchmarks.tree import Tree

    tree = Tree(tomllib.loads(given.robot.text))
    for k in range(CHECKED):
        at, forces = state(given, k), given.forces[k]
        require_equal("Pinocchio's inverse dynamics", tree.inverse_dynamics(at), forces)
        found = tree.direct_dynamics(at, forces)
        require_equal("Pinocchio's direct dynamics", found, acceleration(given, k))
    one, forces = state(given, 0), given.forces[0]
    at, tau = tree.coordinates(one), tree.actuation(forces)
    model, data = tree.model, tree.data
    if name == "inverse_dynamics":
        return {
            "Pinocchio rnea, Python": Contender(lambda: pin.rnea(model, data, at.q, at.v, at.a)),
            "Pinocchio whole, Python": Contender(lambda: tree.inverse_dynamics(one)),
        }
    models, datas = tree.constraints, tree.constraint_data

    def bare() -> Any:
        return pin.constraintDynamics(model, data, at.q, at.v, tau, models, datas)

    return {
        "Pinocchio constraintDynamics, Python": Contender(bare),
        "Pinocchio whole, Python": Contender(lambda: tree.direct_dynamics(one, forces)),
    }


def casadi(given: Setup, name: str) -> dict[str, Contender]:
    """gough's own program in CasADi's virtual machine: one state, and a map over many."""
    if importlib.util.find_spec("casadi") is None or not hasattr(given.robot, "to_casadi"):
        return {}
    function = given.robot.to_casadi(name)
    many, count = given.fields(name, slice(0, 500)), 500
    batch = [
        np.hstack([value[k % len(value)].reshape(function.size_in(i)) for k in range(count)])
        for i, value in enumerate(many[one] for one in function.name_in())
    ]
    mapped = function.map(count)
    found = mapped(*batch)
    if name == "inverse_dynamics":
        forces = np.array(found[function.name_out().index("forces")]).T
        require_equal("CasADi", forces, given.forces[:count])
    # buffers: the call without conversions of the arguments
    buffer, run = function.buffer()
    arrays = [a[:, : a.shape[1] // count].ravel(order="F") for a in batch]
    results = [np.zeros(function.numel_out(i)) for i in range(function.n_out())]
    for i, array in enumerate(arrays):
        buffer.set_arg(i, memoryview(array))
    for i, array in enumerate(results):
        buffer.set_res(i, memoryview(array))
    return {
        "CasADi, one state": Contender(lambda keep=(function, buffer, arrays, results): run()),
        "CasADi, map": Contender(lambda: mapped(*batch), count),
    }
