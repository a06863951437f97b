"""JAX back end: a program as a pure function of arrays, for `jit`, `vmap` and `grad`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gough.base.arrays import Array
from gough.base.words import nearest, shown
from gough.engine.operations import OPERATIONS
from gough.engine.passes.lanes import Lanes, in_lanes
from gough.engine.program import Program
from gough.errors import InputError, MissingDataError

DOUBLE = 8
"""Bytes of a number in double precision."""
Pure = Callable[[Mapping[str, Any]], dict[str, Any]]
"""A function from inputs by name to outputs by name."""


def require() -> Any:
    """The jax module in double precision, or an error that says how to get it."""
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        raise MissingDataError(
            "JAX is not installed; it comes with the extra: pip install 'gough[jax]'"
        ) from None
    need_double(jax)
    return jax


def need_double(jax: Any) -> None:
    """Refuse single precision, wherever it was chosen: by the configuration or by a context."""
    if jax.numpy.zeros(()).dtype.itemsize < DOUBLE:
        raise InputError(
            "JAX computes in single precision, which is too coarse for closed loops: "
            'jax.config.update("jax_enable_x64", True) first'
        )


def function(
    program: Program,
    name: str,
    hoisted: Array,
    tables: Array,
    matrices: Array,
    *,
    needed: Sequence[str],
) -> Pure:
    """The program as a function of one state: a dictionary with its input fields.

    Inputs and outputs have the shapes that gough's have, without batch axes: `jax.vmap` adds them. Those
    of `needed` must be given, others are zero if they are not. The compiler sees a loop over steps
    (`engine.passes.lanes`): of thousands of single operations it would make seconds or minutes of work.
    Each trace checks that JAX still computes in double precision.
    """
    jax = require()
    numpy, shapes = jax.numpy, program.fields
    lanes = in_lanes(program, hoisted, tables, matrices)

    def compute(given: Mapping[str, Any]) -> dict[str, Any]:
        need_double(jax)
        fields = _complete(numpy, name, given, shapes, needed)
        registers = _run(jax, lanes, fields)
        found = {one: registers[places] for one, places in lanes.outputs.items()}
        return {
            one: numpy.where(numpy.isnan(lanes.known[one]), value, lanes.known[one])
            for one, value in found.items()
        }

    compute.__name__ = compute.__qualname__ = name
    return compute


def _complete(
    numpy: Any,
    name: str,
    given: Mapping[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
    needed: Sequence[str],
) -> dict[str, Any]:
    """All inputs, what is not given zero."""
    for one in given:
        if one not in shapes:
            raise InputError(f"{name} has no input {shown(one)}; nearest is {nearest(one, shapes)}")
    lacking = [one for one in needed if one in shapes and one not in given]
    if lacking:
        raise InputError(f"{name} needs {', '.join(lacking)}")
    found = {}
    for one, shape in shapes.items():
        value = numpy.asarray(given[one], dtype=float) if one in given else numpy.zeros(shape)
        if value.shape != shape:
            raise InputError(
                f"{one} has the shape {value.shape}, {name} takes {shape}: jax.vmap adds batch axes"
            )
        found[one] = value
    return found


def _run(jax: Any, lanes: Lanes, fields: Mapping[str, Any]) -> Any:
    """The registers at the end: a loop whose body is one step."""
    numpy = jax.numpy
    start = [numpy.ravel(fields[field])[index] for field, index in lanes.inputs]
    rest = numpy.ones(lanes.registers - len(start))
    registers = numpy.concatenate([numpy.stack(start), rest]) if start else rest
    sizes = [arguments * count for arguments, count in lanes.shapes]
    cuts = [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)]

    def step(registers: Any, row: Any) -> tuple[Any, None]:
        places, constant, numbers, targets = row
        read = registers.at[places].get(mode="promise_in_bounds")
        parts = numpy.split(numpy.where(constant, numbers, read), cuts)
        found = [
            OPERATIONS[operation].jax(jax, *part.reshape(shape))
            for operation, part, shape in zip(lanes.operations, parts, lanes.shapes, strict=True)
        ]
        written = registers.at[targets].set(
            numpy.concatenate(found), mode="promise_in_bounds", unique_indices=True
        )
        return written, None

    if not lanes.steps:
        return registers
    rows = (lanes.places, lanes.constant, lanes.numbers, lanes.targets)
    return jax.lax.scan(step, registers, rows)[0]


def columns(product: Pure, name: str, inputs: Mapping[str, int], outputs: Sequence[str]) -> Pure:
    """A matrix M as a function, from one of M x: its inputs are parts of x, its outputs of M x."""
    jax = require()
    numpy = jax.numpy

    def compute(given: Mapping[str, Any]) -> dict[str, Any]:
        for one in given:
            if one in inputs:
                raise InputError(f"{name} has no input {one!r}")

        def column(unit: Any) -> dict[str, Any]:
            parts, start = {}, 0
            for one, size in inputs.items():
                parts[one] = unit[start : start + size]
                start += size
            return product({**given, **parts})

        found = jax.vmap(column)(numpy.eye(sum(inputs.values())))
        whole = numpy.concatenate([found[one] for one in outputs], axis=-1)
        rest = {one: value[0] for one, value in found.items() if one not in outputs}
        return {name: whole.T, **rest}

    compute.__name__ = compute.__qualname__ = name
    return compute


def joined(product: Pure, name: str, other: str) -> Pure:
    """A function whose output `name` has another one at its end."""
    numpy = require().numpy

    def compute(given: Mapping[str, Any]) -> dict[str, Any]:
        found = product(given)
        whole = numpy.concatenate([found[name], found.pop(other)], axis=-1)
        return {**found, name: whole}

    compute.__name__ = compute.__qualname__ = name
    return compute
