"""Arrays of numbers, or of symbols under tracing."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gough.errors import InputError

Array = NDArray[Any]
DOUBLE = np.dtype(np.float64)
LARGEST = 1e60
"""Inputs that are not below are not finite, or beyond all reason: such a state has no margin.

What kernels compare is Σ x² over all inputs x, in which they cannot cancel.
"""
MOST_TURN = 1e6
"""Largest angle or component of a rotation vector, rad: rounding leaves ten digits of it."""


def real_numbers(value: Any) -> Array:
    """An array of doubles; a TypeError or ValueError for what would lose something on the way to them.

    Masked, complex and dated arrays, texts, and whole numbers beyond all doubles are none.
    """
    if type(value) is np.ndarray and value.dtype is DOUBLE:
        return value
    if _masked(value):
        raise TypeError("a masked array")
    array = np.asarray(value)
    if array.dtype.kind == "O":
        for one in array.flat:
            if not isinstance(one, Real):
                raise TypeError(f"holds a {type(one).__name__}")
    elif array.dtype.kind not in "fiub":
        raise TypeError(f"an array of {array.dtype}")
    try:
        return np.asarray(array, dtype=np.float64)
    except OverflowError:
        raise ValueError("a number that is not finite") from None


def _masked(value: Any) -> bool:
    """Whether a value is a masked array, or a list that has some in it: NumPy would forget the mask."""
    if isinstance(value, list | tuple):
        return any(
            _masked(one) for one in value if isinstance(one, list | tuple | np.ma.MaskedArray)
        )
    return isinstance(value, np.ma.MaskedArray)


def given_numbers(name: str, value: Any) -> Array:
    """The same of an argument, with an error that names it."""
    try:
        return real_numbers(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} is not an array of numbers") from None


def refuse_turns(name: str, angles: Array) -> None:
    """Refuse angles, rad, that have not the digits of an angle; NaN is passed over."""
    largest = np.fmax.reduce(np.abs(angles), axis=None, initial=0.0)
    if largest > MOST_TURN:
        raise InputError(f"{name} has an angle of {largest:g} rad; limit {MOST_TURN:g}")


def unit(vectors: Array, axis: int = -1) -> Array:
    """Vectors along an axis made of length 1, however short they are; those of length 0 stay.

    Squares of 1e-160 lose their digits: by a power of 2 that loses none, the largest component is first
    brought near 1.
    """
    _, power = np.frexp(np.abs(vectors).max(axis=axis, keepdims=True))
    near = np.ldexp(vectors, -power)
    length = np.linalg.norm(near, axis=axis, keepdims=True)
    return np.asarray(near / np.where(length == 0, 1.0, length))


def condition(matrices: Array) -> Array:
    """2-norm condition number (...) of matrices (..., rows, columns); NaN where one is not finite.

    Infinity of a matrix without rows.
    """
    if not matrices.shape[-2]:
        return np.full(matrices.shape[:-2], np.inf)
    finite = np.asarray(np.isfinite(matrices).all(axis=(-2, -1)))
    known: Array = np.where(finite[..., np.newaxis, np.newaxis], matrices, 0.0)
    values = np.linalg.svd(known.astype(np.float64), compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = values[..., 0] / values[..., -1]
    return np.asarray(np.where(finite, worst, np.nan))


def wrapped(angles: Array) -> Array:
    """Angles, rad, less whole turns: in (−π, π]."""
    return np.asarray(np.pi - np.remainder(np.pi - angles, 2 * np.pi))


def continuous(angles: Array, axis: int) -> Array:
    """Angles, rad, with whole turns added so that they do not jump along an axis; NaN is passed over."""
    along = np.moveaxis(angles, axis, 0)
    known = ~np.isnan(along)
    place = np.arange(len(along)).reshape(-1, *(1,) * (along.ndim - 1))
    last = np.maximum.accumulate(np.where(known, place, 0), axis=0)
    filled = np.nan_to_num(np.take_along_axis(along, last, axis=0)) if len(along) else along
    turned = np.where(known, np.unwrap(filled, axis=0), np.nan)
    return np.moveaxis(turned, 0, axis)
