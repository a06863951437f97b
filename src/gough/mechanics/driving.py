"""How actuators and held directions carry what the platform asks for: T Γ + C (λ, μ) = demand.

T (6, actuators) and C (6, k) are wrenches at the platform's origin on the platform's own axes. What is
held takes its part of the demand by itself; the m free components (`gough.mechanics.held`) are left for
the actuators: as many as m, and Γ is unique, or more, and it is the least ‖Γ‖.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from gough.mechanics.held import Held, combined, hold
from gough.mechanics.leg import MovingLeg
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.platforms.platform import MovingPlatform, jacobian_rows
from gough.mechanics.solves import eliminate, factor, least_norm, substitute
from gough.mechanics.vectors import Components, maximum, minimum, or_one, stacked, waist

SOLVERS: dict[str, tuple[Callable[..., Any], Callable[..., Components]]] = {
    "qr": (factor, least_norm),
    "lu": (eliminate, substitute),
}
"""How T Γ = demand is solved: stable, or with few operations and for six actuators only."""


class Driving(NamedTuple):
    """T and C, ready to be solved."""

    columns: Components
    """T, (6, actuators, samples)."""
    held: Held | None
    factors: Any
    """Of T, or of its free part, transposed."""
    solve: Callable[..., Components]
    scale: Components
    """(6, 1 or samples): wrenches times it are scaled."""
    evenness: Components
    """Smallest over largest row of what is solved, scaled, (samples,): a tiny one is rounding."""

    @property
    def health(self) -> Components:
        """Floor under the reciprocal condition number of the solves, (samples,)."""
        health: Components = self.factors.floor * self.evenness
        return health if self.held is None else minimum(health, self.held.health)

    def least(self, wanted: Components) -> Components:
        """The least Γ (actuators, samples) that carries (6, samples), less what is held."""
        if self.held is None:
            return self.solve(self.factors, wanted)
        return self.solve(self.factors, self.held.free(wanted * self.scale))

    def forces(self, wanted: Components, along: Components) -> tuple[Components, Components]:
        """Γ that carries (6, samples) and what actuators take directly, and Γ less that.

        (actuators, samples) each.
        """
        if len(along) == len(self.factors.per_diagonal):
            passed = waist(self.least(wanted))  # each takes what is along its own line
            return passed + along, passed
        forces = self.least(wanted + combined(self.columns, along))
        return forces, forces - along

    def internal(self, preload: Components) -> Components:
        """Its part (actuators, samples) that balances itself."""
        inner: Components = preload - self.least(combined(self.columns, preload))
        return inner


def drive(
    mechanism: Mechanism,
    columns: Components,
    held: Held | None,
    solver: str = "qr",
) -> Driving:
    """Factorise T, (6, actuators, samples)."""
    factorise, solve = SOLVERS[solver]
    scale = mechanism.scale()
    if held is None:
        factors = factorise(np.swapaxes(columns, 0, 1))
        sizes = [
            (row * row).sum(axis=0) * one * one for row, one in zip(columns, scale, strict=True)
        ]
    else:
        free = stacked(*(held.free(one * scale) for one in np.swapaxes(columns, 0, 1)))
        factors = factorise(free)
        sizes = [(row * row).sum(axis=0) for row in np.swapaxes(free, 0, 1)]
    evenness = np.sqrt(reduce(minimum, sizes) / or_one(reduce(maximum, sizes)))
    return Driving(columns, held, factors, solve, scale, evenness)


class Unheld(NamedTuple):
    """What holds a platform, before it is split."""

    columns: Components
    """C, (6, k, samples), scaled, own axes."""
    holders: tuple[int, ...]
    n: Components
    gap: Components
    second: Components


def unheld(mechanism: Mechanism, platform: MovingPlatform, legs: MovingLeg) -> Unheld | None:
    """All that legs and mobility hold of the platform; None where they hold nothing."""
    found, mobility = legs.holding(), mechanism.mobility
    if found is None and mobility is None:
        return None
    scale = mechanism.scale()[:, np.newaxis]
    columns, gaps, seconds = [], [], []
    holders: tuple[int, ...] = ()
    n = np.zeros((3, 0, 1))
    if found is not None:
        n, holders = found.n, found.holders
        columns.append(jacobian_rows(platform.tips, platform.own(n), holders) * scale)
        gaps.append(found.gap)
        # nᵀ v̇ = second, v̇ = Wᵀ ξ̇ + c
        bias = platform.tips.bias[:, list(holders)]
        seconds.append(found.second - (n[:3] * bias).sum(axis=0))
    if mobility is not None:
        own = platform.own(mobility.directions + 0 * platform.tips.position[0, 0]) * scale
        state = platform.state
        gaps.append(mobility.gap(state.position, state.rotation))
        seconds.append(0 * gaps[-1])
        columns.append(own)
        holders = (*holders, *[-1] * own.shape[1])
    like = 0 * columns[0][0, 0]
    return Unheld(
        np.concatenate([one + like for one in columns], axis=1),
        holders,
        n,
        np.concatenate([one + like for one in gaps]),
        np.concatenate([one + like for one in seconds]),
    )


def holding(mechanism: Mechanism, platform: MovingPlatform, legs: MovingLeg) -> Held | None:
    """What legs and mobility hold of the platform; None where it can move in all six directions."""
    found = unheld(mechanism, platform, legs)
    return None if found is None else hold(*found, 6 - mechanism.mobile)
