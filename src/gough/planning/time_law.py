"""Time laws σ(t): how far along a stretch the platform is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from gough.base.arrays import Array


@dataclass(frozen=True)
class TimeLaw:
    """σ(t) in pieces of polynomials, from t = 0; played slower by a factor, smoothed by a window.

        σ(t) = 1/h ∫ σ₀(t′) dt′  over t′ from t/slower − h to t/slower,    σ₀ before and after its ends
                                                                          being 0 and the length

    which ends where σ₀ does, h later. With h = 0 it is σ₀ itself.
    """

    pieces: scipy.interpolate.PPoly
    """σ₀, m, from 0 to its own duration, s."""
    slower: float = 1.0
    window: float = 0.0
    """h, s, of σ₀'s own time."""

    @classmethod
    def of_profile(cls, sigma: Array, x: Array) -> TimeLaw:
        """Constant σ̈ between knots σ (n,) with x = σ̇² (n,)."""
        steps = np.diff(sigma)
        speed = np.sqrt(x)
        spans = 2 * steps / (speed[1:] + speed[:-1])
        u = np.diff(x) / (2 * steps)
        times = np.concatenate([[0.0], np.cumsum(spans)])
        return cls(scipy.interpolate.PPoly(np.array([u / 2, speed[:-1], sigma[:-1]]), times))

    @property
    def own(self) -> float:
        """Duration of σ₀, s."""
        return float(self.pieces.x[-1])

    @property
    def duration(self) -> float:
        """s."""
        return self.slower * (self.own + self.window)

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """σ, σ̇, σ̈ at times t (n,) from 0 to `duration`."""
        now = t / self.slower
        if not self.window:
            inside = np.clip(now, 0.0, self.own)
            found = [self.pieces(inside, order) for order in range(3)]
        else:
            last = now - self.window
            found = [
                (self._summed(now, order) - self._summed(last, order)) / self.window
                for order in range(3)
            ]
        sigma, speed, acceleration = found
        # rounding must not turn it round where it stops
        speed = np.where(speed > 1e-13 * np.max(self.pieces.c[1]), speed, 0.0)
        return sigma, speed / self.slower, acceleration / self.slower**2

    def time_at(self, sigma: Array) -> Array:
        """When lengths σ (n,) are reached, s."""
        low, high = np.zeros(len(sigma)), np.full(len(sigma), self.duration)
        for _ in range(50):
            middle = (low + high) / 2
            before = self(middle)[0] < sigma
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return high

    def _summed(self, t: Array, order: int) -> Array:
        """∫ σ₀ from 0 (order 0), σ₀, σ̇₀ at times t, of which some are before or after its own."""
        inside = np.clip(t, 0.0, self.own)
        if order == 2:
            return np.asarray(np.where((t > 0) & (t < self.own), self.pieces(inside, 1), 0.0))
        if order == 1:
            return np.asarray(self.pieces(inside))
        total = self.pieces.antiderivative()(inside)
        return np.asarray(total + np.maximum(t - self.own, 0.0) * self.pieces(self.own))
