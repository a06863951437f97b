"""The part of a workspace that a robot reaches from home: boxes that hang together with home's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.analysis.leaves import Leaves
from gough.analysis.octree import Tree
from gough.base.arrays import Array

MOSTLY = 0.5
"""Least over largest volume of a box through which a path is taken to exist."""


class Part(NamedTuple):
    """The part of a tree that hangs together with a point."""

    tree: Tree
    doubtful: float
    """Largest volume of what may hang together with it, too."""
    whole: bool
    """Nothing is left out."""


def reached(tree: Tree, low: Array, home: Array) -> Part | None:
    """The boxes that are reached from the point `home` (3,); None where no box holds it.

    A path is taken to exist through boxes of which most is inside, from face to face. So the part is
    those which hang together with home's, and the boundary's boxes that are nearer to these than to
    others. All others that hang together with home's, whatever is known of them, are in doubt. `low` is
    the first corner of the grid that the boxes came from.
    """
    leaves = Leaves(tree.centre, tree.half, low)
    start = int(leaves.holding(home[np.newaxis])[0]) if len(tree.centre) else -1
    if start < 0:
        return None
    inside = tree.lower >= MOSTLY * tree.upper
    first = np.arange(len(inside)) == start
    if not inside[start]:  # home is near a limit: begin with what is beside it
        first |= leaves.beside(first) & inside
    parts = leaves.parts(inside | first)
    near = np.isin(parts, parts[first])
    far = inside & ~near
    while True:
        grown = leaves.beside(near) & ~near & ~far
        if not grown.any():
            break
        far = far | (leaves.beside(far) & ~near & ~grown)
        near = near | grown
    every = leaves.parts(np.ones(len(inside), dtype=bool))
    doubtful = float(tree.upper[(every == every[start]) & ~near].sum())
    kept = Tree(tree.centre[near], tree.half[near], tree.lower[near], tree.upper[near], tree.met)
    return Part(kept, doubtful, bool(near.all()))
