"""The floor under a robot."""

from __future__ import annotations

import itertools

import numpy as np

from gough.base.arrays import Array
from gough.show.layout import SceneLayout
from gough.show.solids import SurfaceMesh

DEEP = 0.002
"""How far the sheet lies under its lines, over the robot's size."""
RADII = (0.0, 0.9, 1.05, 1.2, 1.35, 1.5, 1.65, 1.8)
"""Of the sheet's rings, over the robot's size."""
SIDES = 48


def rings(layout: SceneLayout) -> list[SurfaceMesh]:
    """A round sheet under the robot in rings from its middle outward, which a picture lets fade."""
    main = int(np.argmax(np.abs(layout.up)))
    first, second = np.eye(3)[(main + 1) % 3], np.eye(3)[(main + 2) % 3]
    if layout.up[main] < 0:
        first, second = second, first  # its upper side is the outside
    height = layout.floor - DEEP * layout.size
    middle = layout.middle + (height - layout.middle @ layout.up) * layout.up
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    around = np.outer(np.cos(angle), first) + np.outer(np.sin(angle), second)
    one, two = np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES
    faces = np.concatenate(
        [np.stack([one, one + SIDES, two + SIDES], 1), np.stack([one, two + SIDES, two], 1)]
    )
    return [
        SurfaceMesh(np.concatenate([middle + r * layout.size * around for r in pair]), faces)
        for pair in itertools.pairwise(RADII)
    ]


def grid(layout: SceneLayout, cell: float, wide: float) -> tuple[SurfaceMesh, SurfaceMesh]:
    """Lines on the floor, `cell` apart and `wide` (m): the fine ones, and every fifth.

    Thin strips in place of lines: these are drawn much faster without a graphics card.
    """
    main = int(np.argmax(np.abs(layout.up)))
    first, second = np.eye(3)[(main + 1) % 3], np.eye(3)[(main + 2) % 3]
    count = int(np.ceil(1.1 * layout.size / cell))
    start = [np.round(layout.middle @ axis / cell) for axis in (first, second)]
    strips: tuple[list[Array], list[Array]] = ([], [])
    for across, along, k in ((first, second, 0), (second, first, 1)):
        ends = cell * (start[1 - k] + count * np.array([-1.0, 1.0]))
        for number in np.arange(-count, count + 1) + start[k]:
            sides = cell * number + wide * np.array([-0.5, 0.5])
            corners = [
                side * across + end * along + layout.floor * layout.up
                for side, end in zip(sides[[0, 1, 1, 0]], ends[[0, 0, 1, 1]], strict=True)
            ]
            strips[int(number % 5 == 0)].append(np.stack(corners))
    return _strips(strips[0]), _strips(strips[1])


def _strips(corners: list[Array]) -> SurfaceMesh:
    """Two triangles for each four corners."""
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    every = faces + 4 * np.arange(len(corners))[:, None, None]
    return SurfaceMesh(np.concatenate(corners), every.reshape(-1, 3))
