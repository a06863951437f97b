"""A mechanism in the engine: executors, programs and kernels of a robot's numbers and states."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gough.base.arrays import Array
from gough.engine import trace as tracing
from gough.engine.functions import Fields, Function
from gough.engine.program import Program
from gough.engine.run import execute
from gough.engine.run.evaluate import hoisted
from gough.engine.run.execute import Executor, NumPyExecutor
from gough.errors import InputError
from gough.mechanics import state
from gough.mechanics.mechanism import Mechanism

MOST_LEGS = 40
"""Of a robot whose programs are compiled: with 200 legs that takes half a minute."""


def fields_of(mechanism: Mechanism) -> Fields:
    """What a state of this robot is made of."""
    modes, chains = mechanism.platform.mode_count, mechanism.legs.coordinates
    shapes = state.shapes(modes, chains)
    return Fields(shapes, state.state_of, state.PER_MODE if modes else None)


def executor(mechanism: Mechanism, variants: bool = False) -> Executor:
    """The fastest executor there is; see `gough.engine.run.execute.executor`."""
    if mechanism.legs.count > MOST_LEGS and not variants:
        return numpy_executor(mechanism)
    return execute.executor(mechanism, fields_of(mechanism), variants)


def single_executor(mechanism: Mechanism) -> Executor:
    """In single precision, which compiled programs alone have."""
    compiled = None
    if mechanism.legs.count <= MOST_LEGS:
        compiled = execute.single_executor(mechanism, fields_of(mechanism))
    if compiled is None:
        raise InputError(
            f"precision='single' needs compiled programs: llvmlite, and at most {MOST_LEGS} legs"
        )
    return compiled


def numpy_executor(mechanism: Mechanism) -> NumPyExecutor:
    """The equations on NumPy, whatever else there is."""
    return NumPyExecutor(mechanism, fields_of(mechanism))


def trace(
    function: Function,
    mechanism: Mechanism,
    inputs: Mapping[str, tuple[int, ...]],
    single: bool = False,
) -> Program:
    """The program of a function for this robot; inputs beside the state by name and shape."""
    return tracing.trace(function, mechanism, fields_of(mechanism), inputs, single)


def trace_stages(
    function: Callable[..., Mapping[str, Mapping[str, Array]]],
    mechanism: Mechanism,
    inputs: Mapping[str, tuple[int, ...]],
) -> dict[str, Program]:
    """The programs of all stages of a function for this robot, as `trace` makes one."""
    return tracing.trace_stages(function, mechanism, fields_of(mechanism), inputs)


def robot_numbers(program: Program, mechanism: Mechanism) -> Array:
    """What the body of a program reads of one robot, (numbers,)."""
    found: Array = hoisted(program.prologue, program.hoisted, tracing.parameters(mechanism))[0]
    return found
