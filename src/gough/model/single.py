"""Single precision for large sweeps: floats where they will do, doubles where they will not.

Kernels read doubles, compute with floats, of which a vector holds twice as many, and write doubles.
Floats never judge a sample: where they see no margin above DOUBTFUL it is computed again with doubles,
which say whether it has an answer. How far the others are off is found on a sample of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import Function
from gough.errors import InputError
from gough.model.batch import Rows, Trouble

if TYPE_CHECKING:
    from gough.model.asking import Askable

Precision = Literal["double", "single"]
DOUBTFUL = 5e-3
"""Margin (cosines, sines, a floor under the reciprocal condition number; m, m²) up to which a sample is
computed with doubles. Rounding of 6e-8 is magnified by the inverse of it, in places squared or cubed."""
PARTS = 32
"""Of a batch, from each of which two samples are computed with doubles too, to compare."""


def is_single(robot: Askable, precision: Precision, friction: bool | None) -> bool:
    """Whether floats are asked for; an error where the robot, or what is asked of it, has none."""
    if not isinstance(precision, str) or precision not in ("double", "single"):
        raise InputError(f"precision is 'double' or 'single', not {precision!r}"[:120])
    if precision == "double":
        return False
    reasons = {
        "a rigid platform (robot.rigid)": robot.modes > 0,
        f"a platform that moves in 6 directions, not {robot.mobility}": robot.mobility < 6,
        "legs in closed form, not chains": robot.mechanism.legs.coordinates > 0,
        "friction=False": bool(friction and robot.rubs),
    }
    for needed, lacking in reasons.items():
        if lacking:
            raise InputError(f"{robot.name}: precision='single' needs {needed}")
    return True


def answer(
    robot: Askable, function: Function, rows: Rows, friction: bool | None
) -> tuple[dict[str, Array], list[Trouble], float]:
    """Outputs of rows, those without an answer, and the error of the outputs.

    The error is the largest difference |x − x_double|∞/|x_double|∞ of any output x of a state, over two
    states from each of PARTS parts of the batch: that with the least margin, and the middle one. What a
    state's outputs are does not depend on whether it is one of these.
    """
    out = robot.in_single(function, rows.rows, rows.fields)
    margin = out.pop("margin")
    if friction is not None:
        out["residual"] = np.zeros(rows.rows)
    if not rows.rows:
        return out, [], 0.0
    least, middle = _spread(margin)
    doubtful = np.zeros(0, dtype=np.intp)
    if not margin[least].min() > DOUBTFUL:
        doubtful = np.flatnonzero(~(margin > DOUBTFUL))
    compared = np.setdiff1d([least, middle], doubtful)
    which = np.union1d(doubtful, compared)
    exact, troubles = robot.answer(function, _some(rows, which), friction)
    error, places = 0.0, np.searchsorted(which, compared)
    for name, value in out.items():
        error = max(error, _difference(value[compared], exact[name][places]))
        value[doubtful] = exact[name][np.searchsorted(which, doubtful)]
    return out, [one._replace(row=int(which[one.row])) for one in troubles], error


def _spread(margin: Array) -> tuple[Array, Array]:
    """From each part of a batch the state of least margin, NaN being less, and the middle one."""
    rows = len(margin)
    size = -(-rows // PARTS)
    whole = rows // size * size
    least = margin[:whole].reshape(-1, size).argmin(axis=1)
    if whole < rows:
        least = np.append(least, margin[whole:].argmin())
    starts = np.arange(0, rows, size)
    return starts + least, (starts + np.minimum(starts + size, rows)) // 2


def _some(rows: Rows, which: Array) -> Rows:
    fields = {name: v if len(v) == 1 else v[which] for name, v in rows.fields.items()}
    return Rows((len(which),), len(which), fields)


def _difference(found: Array, exact: Array) -> float:
    """Largest |x − x_exact|∞/|x_exact|∞ of a row; 0 where both are 0."""
    if not found.size:
        return 0.0
    off, size = (np.abs(one).reshape(len(found), -1).max(axis=1) for one in (found - exact, exact))
    with np.errstate(divide="ignore"):
        return float(np.max(np.divide(off, size, where=off > 0, out=np.zeros(len(off)))))
