"""High passes of a washout, each a filter of third order with three outputs.

    z⃛ = (u − l₀ z − l₁ ż − l₂ z̈)/l₃        value ż, rate z̈, second derivative z⃛

of an input u that is straight between samples, from rest. In this form rounding stays small at any step;
the polynomials of a recursion cancel where it is short.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

from gough.base.arrays import Array


class ThirdOrder(NamedTuple):
    """x = (z, ż, z̈) goes to next x + before u(last sample) + now u(this sample)."""

    next: Array
    """(3, 3)"""
    before: Array
    now: Array
    lag: Array
    """l₀ to l₃, (4,)."""

    @classmethod
    def of(cls, denominator: Array, step: float) -> ThirdOrder:
        """From l₃ s³ + l₂ s² + l₁ s + l₀, (4,) in falling powers, and the time of a step in s."""
        lag = np.asarray(denominator, dtype=np.float64)[::-1]
        whole = np.zeros((5, 5))  # x, u and its slope times the step
        whole[0, 1] = whole[1, 2] = step
        whole[2, :3], whole[2, 3] = -step * lag[:3] / lag[3], step / lag[3]
        whole[3, 4] = 1.0
        found = expm(whole)
        now = found[:3, 4]
        return cls(found[:3, :3], found[:3, 3] - now, now, lag)

    def __call__(self, values: Array) -> list[Array]:
        """Value, rate and second derivative (n, k) of inputs (n, k)."""
        states = np.zeros((len(values), 3, values.shape[1]))
        pushed = self.now[:, np.newaxis] * values[:, np.newaxis]
        pushed[1:] += self.before[:, np.newaxis] * values[:-1, np.newaxis]
        x = np.zeros_like(pushed[0])
        for i, push in enumerate(pushed):
            x = self.next @ x + push
            states[i] = x
        third = (values - np.einsum("i,nik->nk", self.lag[:3], states)) / self.lag[3]
        return [states[:, 1], states[:, 2], third]
