"""Random robots of every family, as dictionaries, and states that they can be in.

`draw(name, seed)` gives a well-conditioned robot of a family and its oracle; `random_state` a state on
what its platform is allowed, with twist and accelerations that the closed loops permit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from oracles.arrays import Array, Robot, State
from oracles.parallel import ParallelOracle
from oracles.parallel.as_chains import as_chains
from oracles.random_robot import random_robot

from . import hexapods, planar, spatial


class Family(NamedTuple):
    """How a robot is drawn, its freedoms and actuators, and whether its reactions are unique."""

    draw: Callable[[Generator], Robot]
    mobility: int
    actuators: int
    unique: bool = True


def hexapod(kind: str, legs: int = 6) -> Callable[[Generator], Robot]:
    """Legs of a kind around a platform that moves freely."""
    return lambda rng: random_robot(rng, kind, legs=legs)


def hexapod_of_chains(kind: str) -> Callable[[Generator], Robot]:
    """The same as chains."""
    return lambda rng: as_chains(random_robot(rng, kind), rng)


FAMILIES: dict[str, Family] = {
    "rotary Delta": Family(spatial.rotary_delta, 3, 3),
    "3-RUU Delta": Family(spatial.delta_of_chains, 3, 3),
    "linear Delta": Family(spatial.linear_delta, 3, 3),
    "Orthoglide": Family(spatial.orthoglide, 3, 3),
    "3-RPS": Family(spatial.three_rps, 3, 3),
    "3-SPR": Family(spatial.three_spr, 3, 3),
    "3-UPU": Family(spatial.three_upu, 3, 3),
    "Tricept": Family(hexapods.tricept, 3, 3),
    "Exechon": Family(spatial.exechon, 3, 3, unique=False),
    "planar 3-RRR": Family(planar.planar_rrr, 3, 3, unique=False),
    "planar 3-RRR, driven last": Family(planar.planar_rrr_driven_last, 3, 3, unique=False),
    "planar 3-RRS": Family(planar.planar_rrs, 3, 3, unique=False),
    "planar 3-RPR": Family(planar.planar_rpr, 3, 3, unique=False),
    "planar 4-RRR": Family(planar.planar_rrr_redundant, 3, 4, unique=False),
    "five-bar": Family(planar.five_bar, 2, 2, unique=False),
    "Tripteron": Family(spatial.tripteron, 3, 3, unique=False),
    "3-RRR wrist": Family(spatial.wrist_of_chains, 3, 3, unique=False),
    "rotary wrist": Family(spatial.rotary_wrist, 3, 3),
    "4-RUS schoenflies": Family(spatial.schoenflies, 4, 4),
    "4-RUU schoenflies": Family(spatial.schoenflies_of_chains, 4, 4, unique=False),
    "6-UPS": Family(hexapod("UPS"), 6, 6),
    "6-PUS": Family(hexapod("PUS"), 6, 6),
    "6-RUS": Family(hexapod("RUS"), 6, 6),
    "6-UPS chains": Family(hexapod_of_chains("UPS"), 6, 6),
    "6-PUS chains": Family(hexapod_of_chains("PUS"), 6, 6),
    "6-RUS chains": Family(hexapod_of_chains("RUS"), 6, 6),
    "8-UPS": Family(hexapod("UPS", legs=8), 6, 8),
    "3-UPS + 3-PUS": Family(hexapods.mixed_hexapod, 6, 6),
    "3-RRRS": Family(hexapods.two_motors_a_leg, 6, 6),
    "3-UPS + S": Family(hexapods.pivoted, 3, 3),
    "2-UPS + U": Family(hexapods.pan_and_tilt, 2, 2),
    "6-UPS + SPU": Family(hexapods.hexapod_with_free_leg, 6, 6),
    "6-UPS + SPR": Family(hexapods.hexapod_with_guide, 5, 6),
}


NEAREST = 0.02
"""Ratio of singular values under which a robot is too near a singularity."""


@cache
def draw(name: str, seed: int) -> tuple[Robot, ParallelOracle]:
    """A robot of a family, far enough from singular around home; the same one at every call."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(name)])
    for _ in range(100):
        robot = FAMILIES[name].draw(rng)
        oracle = ParallelOracle(robot)
        if well_placed(rng, oracle):
            return robot, oracle
    raise ValueError(f"no good {name} in a hundred")


def well_placed(rng: Generator, oracle: ParallelOracle) -> bool:
    """Whether the robot reaches its states around home and is not near a singularity there."""
    try:
        return all(
            conditioning(oracle, state) > NEAREST
            for state in (any_state(rng, oracle, size) for size in (0.0, 1.0, 1.0, 1.0))
        )
    except ValueError:
        return False


def conditioning(oracle: ParallelOracle, state: State) -> float:
    """The least ratio of singular values: of the actuators on the allowed twists, of what takes
    the platform's freedoms, of each leg's joints on its port."""
    posture = oracle.at(state)
    rates = oracle.paths(posture)[oracle.actuators[0]]
    rates = rates / np.linalg.norm(rates, axis=1, keepdims=True)
    ratios = [spread(np.linalg.svd(rates, compute_uv=False))]
    limits = oracle.limits(posture)
    if len(limits):
        ratios.append(spread(np.linalg.svd(limits, compute_uv=False)[: 6 - oracle.mobility]))
    for own, _ in oracle.blocks(posture):
        if own.size:
            scale = np.repeat([1 / oracle.length_scale, 1.0], 3)[: len(own), None]
            own = own * scale
            own = own / np.linalg.norm(own, axis=0)
            ratios.append(spread(np.linalg.svd(own, compute_uv=False)))
    return min(ratios)


def spread(sizes: Array) -> float:
    """Least over largest."""
    return float(sizes[-1] / sizes[0]) if sizes.size else 1.0


def random_state(rng: Generator, oracle: ParallelOracle) -> State:
    """A state near home that the robot reaches, not near a singularity."""
    for _ in range(50):
        try:
            state = any_state(rng, oracle, 1.0)
            if conditioning(oracle, state) > NEAREST / 2:
                return state
        except ValueError:
            pass  # out of reach
    raise ValueError("no good state in fifty")


def any_state(rng: Generator, oracle: ParallelOracle, size: float) -> State:
    """A state within size × 0.08 m and 0.15 rad of home, rates and accelerations of order 1."""
    m = oracle.mobility
    reach = size * np.array([0.08, 0.08, 0.08, 0.15, 0.15, 0.15])[oracle.chosen]
    u = oracle.read(oracle.home_posture.pose)[oracle.chosen] + reach * rng.uniform(-1, 1, m)
    return oracle.motion(u, rng.normal(size=m), 2 * rng.normal(size=m))


def random_states(seed: int, oracle: ParallelOracle, count: int) -> State:
    """Several states as one batch: arrays (count, …)."""
    rng = np.random.default_rng([seed, count])
    states = [random_state(rng, oracle) for _ in range(count)]
    return {key: np.array([state[key] for state in states]) for key in states[0]}
