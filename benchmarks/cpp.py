"""Pinocchio in C++: builds peer.cpp once, with the headers in the packages pin and cmeel-eigen.

`python -m benchmarks.cpp` builds, which takes about two minutes, once; the benchmarks then run it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import REPOSITORY
from benchmarks.ours import Setup
from benchmarks.peers import acceleration, require_equal, state
from gough.engine.run.cache import folder

SOURCE = REPOSITORY / "benchmarks" / "peer.cpp"
FLAGS = [
    "-std=c++17",
    "-O2",
    "-DNDEBUG",
    # as Pinocchio's own CMake targets have them; the algorithms come compiled (-O3) in its library
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
    "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
]
STATES = 64


class MissingError(Exception):
    """What the C++ benchmark lacks here."""


def command() -> tuple[Path, list[str]]:
    """Where the program belongs, and how to build it."""
    compiler = shutil.which(os.environ.get("CXX", "")) or shutil.which("g++")
    compiler = compiler or shutil.which("clang++")
    if compiler is None:
        raise MissingError("no C++ compiler")
    package = importlib.util.find_spec("pinocchio")
    if package is None or package.origin is None:
        raise MissingError("Pinocchio is not installed")
    prefix = Path(package.origin).parents[4]
    eigen = [prefix / "include" / "eigen3", Path("/usr/include/eigen3")]
    eigen = [path for path in eigen if (path / "Eigen" / "Core").exists()]
    if not (prefix / "include" / "pinocchio").exists() or not list(prefix.glob("lib/libpin*")):
        raise MissingError(f"no Pinocchio headers under {prefix}")
    if not eigen:
        raise MissingError("no Eigen headers (pip install cmeel-eigen)")
    library = ["-L", str(prefix / "lib"), "-lpinocchio_default", f"-Wl,-rpath,{prefix / 'lib'}"]
    arguments = [compiler, *FLAGS, "-isystem", str(prefix / "include"), "-isystem", str(eigen[0])]
    arguments += [str(SOURCE), *library]
    text = SOURCE.read_bytes() + repr(arguments).encode()
    program = folder() / "benchmarks" / f"peer-{hashlib.sha256(text).hexdigest()[:16]}"
    return program, arguments


def built() -> Path:
    """The program, if it has been built."""
    program, _ = command()
    if not program.exists():
        raise MissingError("not built yet: python -m benchmarks.cpp builds it, two minutes, once")
    return program


def build() -> Path:
    """The program, built if it has to be."""
    program, arguments = command()
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        temporary = program.with_suffix(f".{os.getpid()}")
        result = subprocess.run([*arguments, "-o", str(temporary)], capture_output=True, text=True)
        if result.returncode:
            first = next((line for line in result.stderr.splitlines() if "error" in line), "")
            raise MissingError(f"peer.cpp does not compile here: {first}")
        temporary.replace(program)
    return program


def measure(given: Setup) -> dict[str, float]:
    """Seconds a state of rnea, of the whole inverse dynamics and of constraintDynamics in C++."""
    first, found = _asked(_numbers(given))
    require_equal("Pinocchio in C++", found[:, :6], given.forces[:STATES])
    for k in range(STATES):
        rotation, motion = given.motion.rotation[k], given.motion
        twist = np.cross(rotation.T @ motion.angular_velocity[k], rotation.T @ motion.velocity[k])
        rate = np.concatenate([rotation @ (found[k, 6:9] + twist), rotation @ found[k, 9:]])
        require_equal("Pinocchio's C++ constraintDynamics", rate, acceleration(given, k))
    bare, whole, constrained = first
    return {"rnea": bare, "whole": whole, "constraintDynamics": constrained}


def measure_tree(model: Any, loops: Any, state: tuple[Any, Any, Any]) -> tuple[float, float]:
    """Seconds of rnea at (q, v, a) and of constraintDynamics at rest, of a tree with its loops.

    `model` and `loops` are Pinocchio's own, from Python, which must find the same.
    """
    import pinocchio as pin

    data, none = model.createData(), np.zeros(model.nv)
    (bare, constrained), found = _asked(_tree_numbers(model, loops, state))
    require_equal("Pinocchio's C++ rnea", found[0], pin.rnea(model, data, *state))
    work = pin.StdVec_RigidConstraintData()
    work.extend([loop.createData() for loop in loops])
    pin.initConstraintDynamics(model, data, loops, work)
    rates = pin.constraintDynamics(model, data, state[0], none, none, loops, work)
    require_equal("Pinocchio's C++ constraintDynamics", found[1], rates)
    return bare, constrained


def _asked(numbers: list[float]) -> tuple[list[float], Any]:
    """Seconds, and the rows of results that follow them."""
    program = built()
    with tempfile.NamedTemporaryFile() as file:
        np.array(numbers, dtype=np.float64).tofile(file)
        file.flush()
        result = subprocess.run([program, file.name], capture_output=True, text=True, check=True)
    first, *rows = result.stdout.splitlines()
    times = [float(one) * 1e-9 for one in first.split()]
    return times, np.array([row.split() for row in rows], dtype=float)


JOINTS = (
    "RX",
    "RY",
    "RZ",
    "PX",
    "PY",
    "PZ",
    "RevoluteUnaligned",
    "PrismaticUnaligned",
    "Spherical",
)
"""Kinds of joints in the order in which peer.cpp counts them."""


def _tree_numbers(model: Any, loops: Any, state: tuple[Any, Any, Any]) -> list[float]:
    numbers = [2.0, *model.gravity.linear, model.njoints - 1]
    for number in range(1, model.njoints):
        joint = model.joints[number]
        composite = joint.shortname() == "JointModelComposite"
        parts = list(joint.extract().joints) if composite else [joint]
        numbers += [model.parents[number], *_place(model.jointPlacements[number])]
        numbers += [*_body(model.inertias[number]), len(parts)]
        for part in parts:
            axis = getattr(part.extract(), "axis", np.zeros(3))
            numbers += [JOINTS.index(part.shortname().removeprefix("JointModel")), *axis]
    numbers += [*model.armature, len(loops)]
    for loop in loops:
        numbers.append(3 if loop.type.name == "CONTACT_3D" else 6)
        numbers += [loop.joint1_id, *_place(loop.joint1_placement)]
        numbers += [loop.joint2_id, *_place(loop.joint2_placement)]
    return numbers + [float(one) for part in state for one in part]


def _place(placement: Any) -> list[float]:
    return [*np.ravel(placement.rotation), *placement.translation]


def _numbers(given: Setup) -> list[float]:
    """The robot and some states in the order in which peer.cpp reads them."""
    from benchmarks.tree import Tree

    robot: dict[str, Any] = tomllib.loads(given.robot.text)
    tree = Tree(robot)
    numbers = [0.0 if tree.is_ups else 1.0, len(tree.legs), *tree.model.gravity.linear]
    for i, leg in enumerate(tree.legs):
        for vector in (leg.origin, leg.rail, leg.platform_point, leg.axis, leg.reference):
            numbers += list(vector)
        numbers += [leg.length, leg.branch, leg.rotor_mass]
        for k in range(3):
            numbers += _body(tree.model.inertias[3 * i + k + 1])
    numbers += _body(tree.model.inertias[tree.platform])
    numbers.append(STATES)
    for k in range(STATES):
        for value in state(given, k).values():
            numbers += list(np.ravel(value))
        numbers += list(given.forces[k])
    return numbers


def _body(inertia: Any) -> list[float]:
    return [inertia.mass, *inertia.lever, *np.ravel(inertia.inertia)]


if __name__ == "__main__":
    try:
        print("— building Pinocchio's C++ peer (about two minutes, once)", flush=True)
        print(build())
    except MissingError as missing:
        print(f"skipped: {missing}")
    sys.exit(0)
