"""What the models cost on seven processors, one a leg and one for the platform.

Khalil & Guegan 2004, Section VII, says that the legs' models can be computed side by side and gives the
cost, 226 + 300 and 387 + 414 operations, without saying how it is cut. Here it is cut as the equations
are. Of the traced program of one state, up to the 6×6 system,

    shared    what depends on no leg's numbers and legs need: each processor does it
    leg       what depends on one leg's numbers alone: six processors, the slowest counts
    platform  what depends on no leg's numbers and no leg needs: the seventh, beside the legs
    gather    what depends on the numbers of several legs: sums over the legs, on one processor

and then `solve`, the system, on one processor. The critical path is shared + max(leg, platform) +
gather + solve; passing numbers on counts nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from gough.engine.graph import CONSTANT, INPUT
from gough.engine.program import HOISTED, PARAMETERS, Program, Step
from gough.engine.tree import leaves
from gough.mechanics.mechanism import Mechanism
from gough.model.model import Model
from gough.model.operation_count import stage_programs

FREE = (CONSTANT, INPUT, "neg")
Owners = frozenset[int]
NOBODY: Owners = frozenset()


class Cut(NamedTuple):
    """Operations of one model by where they are done, each by kind."""

    shared: Counter[str]
    legs: tuple[Counter[str], ...]
    platform: Counter[str]
    gather: Counter[str]
    solve: Counter[str]

    @property
    def slowest(self) -> Counter[str]:
        """What is waited for while the legs are computed: the leg with most, or the platform."""
        return max((*self.legs, self.platform), key=lambda one: one.total())

    @property
    def path(self) -> Counter[str]:
        """All on the critical path."""
        return self.shared + self.slowest + self.gather + self.solve

    @property
    def whole(self) -> Counter[str]:
        """All of it on one processor."""
        return sum(self.legs, self.shared + self.platform + self.gather + self.solve)


def cut(robot: Model, model: str, solver: str = "qr") -> Cut:
    """Operations of the "inverse" or "direct" model of a rigid robot, cut for seven processors."""
    programs = stage_programs(robot, model, solver)
    gathered = programs["gathered"]
    owners = _owners(gathered, robot.mechanism)
    needed = _needed_by_legs(gathered, owners)
    shared: Counter[str] = Counter()
    platform: Counter[str] = Counter()
    gather: Counter[str] = Counter()
    legs = [Counter[str]() for _ in range(robot.leg_count)]
    for place, step in enumerate(gathered.body):
        if step.operation in FREE:
            continue
        own = owners[place]
        if len(own) > 1:
            gather[step.operation] += 1
        elif own:
            legs[next(iter(own))][step.operation] += 1
        elif place in needed:
            shared[step.operation] += 1
        else:
            platform[step.operation] += 1
    solve = programs["solved"].tally()
    solve.subtract(gathered.tally())
    return Cut(shared, tuple(legs), platform, gather, solve)


def _owners(program: Program, mechanism: Mechanism) -> list[Owners]:
    """Of each step of the body, the legs whose numbers it depends on."""
    numbers = _legs_of_numbers(mechanism)

    def of(step_leaf: tuple[str, int], hoisted: list[Owners]) -> Owners:
        field, index = step_leaf
        if field == PARAMETERS:
            return numbers[index]
        return hoisted[index] if field == HOISTED else NOBODY

    def walk(steps: tuple[Step, ...], hoisted: list[Owners]) -> list[Owners]:
        found: list[Owners] = []
        for step in steps:
            own = of(step.leaf, hoisted) if step.operation == INPUT else NOBODY
            found.append(own.union(*(found[one] for one in step.arguments)))
        return found

    before = walk(program.prologue, [])
    return walk(program.body, [before[place] for place in program.hoisted])


def _legs_of_numbers(mechanism: Mechanism) -> list[Owners]:
    """Of each number of a robot the leg that it belongs to: its array has an axis of legs."""
    legs = mechanism.points.shape[1]
    found: list[Owners] = []
    for leaf in leaves(mechanism):
        shape = leaf.values.shape
        if len(shape) > 1 and shape[-2] == legs:
            places = np.broadcast_to(np.arange(legs)[:, np.newaxis], shape)
            found += [frozenset({int(one)}) for one in places.ravel()]
        else:
            found += [NOBODY] * leaf.values.size
    return found


def _needed_by_legs(program: Program, owners: list[Owners]) -> set[int]:
    """Steps of the body that a leg's own steps need."""
    needed: set[int] = set()
    for place in range(len(program.body) - 1, -1, -1):
        if len(owners[place]) == 1 or place in needed:
            needed.update(program.body[place].arguments)
    return needed
