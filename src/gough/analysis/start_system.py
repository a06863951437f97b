"""The general six-leg platform from which all others are reached: parameters and 40 solutions.

`start_system.npz` holds a random complex geometry (anchors, points, constants of `gough.analysis.study`)
and its 40 solutions in Study coordinates. Made anew, with its checks, by

    python -m gough.analysis.start_system

Dietmaier's platform has 40 real postures, and no six-leg platform has more than 40 isolated ones,
complex ones included: so tracking those 40 to the random complex geometry gives all of its solutions.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gough.analysis import homotopy, multistart
from gough.analysis.homotopy import Line
from gough.analysis.study import quadrics, to_study
from gough.base.arrays import Array
from gough.description.rods import UNFRAMED, Rods, constants, framed
from gough.errors import ConvergenceError, Failure
from gough.model.forward import rods
from gough.model.model import Model

FILE = "start_system.npz"
SOLUTIONS = 40
LENGTHS = (1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071)
"""Dietmaier's leg lengths, m (Dietmaier 1998)."""
APART = 1e-3
"""Sine of the angle between solutions in projective space that counts as safely distinct."""


class Geometry(NamedTuple):
    """Anchors and points (6, 3), constants (6,), real or complex."""

    anchor: Array
    point: Array
    constant: Array


@cache
def start_system() -> tuple[Geometry, Array]:
    """The stored geometry and its solutions (40, 8)."""
    with (
        package_files("gough.analysis").joinpath(FILE).open("rb") as stream,
        np.load(stream, allow_pickle=False) as stored,
    ):
        geometry = Geometry(stored["anchor"], stored["point"], stored["constant"])
        return geometry, stored["solutions"]


def geometry_of(six: Rods) -> Geometry:
    """The real geometry of six rods."""
    return Geometry(six.anchor, six.point, constants(six))


def line_between(start: Geometry, end: Geometry) -> Line:
    """Quadrics along the complex line through two geometries, s = 0 at the first, 1 at the second."""

    def at(s: float) -> Array:
        return quadrics(*(a + s * (b - a) for a, b in zip(start, end, strict=True)))

    # A, b and c are linear in s and enter Q at most twice: three values give its three parts
    before, here, after = at(-1.0), at(0.0), at(1.0)
    return Line(here, (after - before) / 2, (after + before) / 2 - here)


def separation(z: Array) -> Array:
    """Sine of the angle (n,) from each unit vector (n, 8) to its nearest in projective space."""
    if len(z) < 2:
        return np.ones(len(z))
    gap = np.ones((len(z), len(z)))
    for i, one in enumerate(z):
        # ‖z_j − z_i ⟨z_i, z_j⟩‖ does not cancel where they are near
        gap[i] = np.linalg.norm(z - np.outer(z @ one.conj(), one), axis=1)
        gap[i, i] = 1.0
    return np.asarray(gap.min(axis=1))


def make(seed: int = 1998) -> tuple[Geometry, Array]:
    """A random complex geometry and its 40 solutions, from Dietmaier's 40 postures."""
    robot = Model.load("dietmaier-1998")
    anchor, length = rods(robot, np.array(LENGTHS, dtype=np.float64))
    small, _ = framed(Rods(anchor, robot.description.platform_points[..., 0].T, length))
    position, rotation, met = multistart.search(small)
    rng = np.random.default_rng(seed)

    def random(*shape: int) -> Array:
        both = rng.normal(size=(2, *shape))
        return np.asarray((both[0] + 1j * both[1]) / 2)

    geometry = Geometry(random(6, 3), random(6, 3), random(6))
    line = line_between(geometry_of(small), geometry)
    z, arrived = homotopy.track(line, to_study(position, rotation, UNFRAMED), 0.0, 1.0, 1e-5)
    for _ in range(2):
        z, _ = homotopy.newton(line, z, np.ones(len(z)))
    if not (met.found == SOLUTIONS and arrived.all() and separation(z).min() > APART):
        reason = f"{met.found} postures, {arrived.sum()} paths arrived"
        raise ConvergenceError([Failure((), None, reason)])
    return geometry, z


def main() -> None:
    """Write `start_system.npz` beside this file."""
    geometry, z = make()
    np.savez(
        Path(__file__).with_name(FILE),
        anchor=geometry.anchor,
        point=geometry.point,
        constant=geometry.constant,
        solutions=z,
    )
    print(f"{FILE}: {len(z)} solutions, {separation(z).min():.3g} apart")


if __name__ == "__main__":
    main()
