"""gough's own contenders: the kernel alone, the robot's methods, one state, NumPy."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from benchmarks.timing import Contender
from gough import Motion, Robot
from gough.engine.run.compiled import BoundKernel, CompiledExecutor, SingleState
from gough.engine.run.threads import cores
from gough.mechanics import programs
from gough.mechanics.state import CHAINS, RIGID_FIELDS
from gough.model.execution import fields_of, numpy_executor, trace
from gough.show.speed import states

Array = np.ndarray[Any, Any]

BLOCK = 8192
"""States of the kernel alone: one block, as a thread takes it."""
BATCH = 65_536
FEW = 2048
"""States for NumPy."""
CORES = cores()


def inputs(robot: Robot, name: str) -> dict[str, tuple[int, ...]]:
    """Inputs of a program beside the state, by name and shape."""
    forces = {"forces": (robot.actuator_count,)} if name == "direct_dynamics" else {}
    return {"wrench": (6,), **forces}


class Setup(NamedTuple):
    """A robot with states and the forces that belong to them; friction stays out of all contenders."""

    robot: Robot
    motion: Motion
    forces: Array

    def fields(self, name: str, rows: slice) -> dict[str, Array]:
        """Contiguous inputs of a program."""
        fields = {
            one: np.ascontiguousarray(getattr(self.motion, one)[rows]) for one in RIGID_FIELDS
        }
        if self.robot.mechanism.legs.coordinates:
            fields[CHAINS] = np.ascontiguousarray(self.robot.chains_of(self.motion)[rows])
        fields["wrench"] = np.zeros((1, 6))
        if name == "direct_dynamics":
            fields["forces"] = np.ascontiguousarray(self.forces[rows])
        return fields


def setup(robot: Robot) -> Setup:
    """Random states of a robot and their forces."""
    motion = states(robot, BATCH)
    return Setup(robot, motion, robot.inverse_dynamics(motion, friction=False).forces)


def bound_kernel(robot: Robot, name: str, alone: bool = False) -> BoundKernel:
    """The compiled program of a robot; for one state alone on request."""
    return CompiledExecutor(robot.mechanism, fields_of(robot.mechanism)).bind(
        getattr(programs, name), inputs(robot, name), alone
    )


def operations(robot: Robot, name: str) -> int:
    """Operations a state, the 6×6 solve and the health column included."""
    program = getattr(programs, name)
    return trace(program, robot.mechanism, inputs(robot, name)).tally().total()


def contenders(given: Setup, name: str) -> dict[str, Contender]:
    """All of ours for a program."""
    robot, motion, forces = given
    plain = Robot.from_text(robot.text).rigid
    plain.__dict__["executor"] = numpy_executor(plain.mechanism)
    one, few = motion[0], motion[:FEW]
    single = SingleState(bound_kernel(robot, name, alone=True))
    for field, value in given.fields(name, slice(0, 1)).items():
        single.inputs[field][...] = value[0]

    def ask(which: Robot, states: Motion, pushed: Array, threads: int | None = None) -> object:
        if name == "direct_dynamics":
            return which.direct_dynamics(states, pushed, friction=False, threads=threads)
        return which.inverse_dynamics(states, friction=False, threads=threads)

    found = {
        "kernel, 1 thread": kernel(given, name),
        "robot, 1 thread": Contender(lambda: ask(robot, motion, forces, 1), BATCH),
    }
    if CORES > 1:
        every = Contender(lambda: ask(robot, motion, forces, CORES), BATCH)
        found[f"robot, {CORES} threads"] = every
    return found | {
        "NumPy": Contender(lambda: ask(plain, few, forces[:FEW]), FEW),
        "one state, compiled function": Contender(single),
        "one state, robot": Contender(lambda: ask(robot, one, forces[0])),
        "one state, NumPy": Contender(lambda: ask(plain, one, forces[0])),
    }


def kernel(given: Setup, name: str) -> Contender:
    """Calls of the kernel alone on plain arrays."""
    bound = bound_kernel(given.robot, name)
    fields = given.fields(name, slice(0, BLOCK))
    arrays = [fields[one] for one in bound.kernel.field_shapes]
    results = [np.empty((BLOCK, *shape)) for shape in bound.kernel.outputs.values()]
    pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    strides = (ctypes.c_int64 * len(arrays))(
        *(0 if len(a) == 1 else a.strides[0] // 8 for a in arrays)
    )
    outputs = (ctypes.c_void_p * len(results))(*(a.ctypes.data for a in results))
    hoisted = bound.hoisted.ctypes.data

    def call(keep: Any = (bound, arrays, results)) -> None:
        bound.function(BLOCK, pointers, strides, hoisted, outputs)

    return Contender(call, BLOCK)
