"""The elastic coordinates that a motion over time implies: zero dynamics forwards, or bounded.

While an output of a flexible robot follows its command, the modes obey q̈e = f(t, qe, q̇e)
(`gough.model.zero_dynamics`). Where f is stable at the end of the motion, they are integrated forwards
from the static deflection. Where it is not, that solution leaves as exp(σ t), and so would the forces;
there is one that stays bounded. It starts off rest in the directions that grow, so that it ends at rest
in them: it anticipates (stable inversion; Devasia, Chen & Paden 1996, IEEE Trans. Autom. Control 41). In
both cases

    x(0) − x_rest(0) has no part in the directions that decay,   x(T) − x_rest(T) none in those that grow

with x = (qe, q̇e), which without directions that grow is x(0) = x_rest(0).
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from gough.base.arrays import Array
from gough.errors import (
    Failure,
    InputError,
    NotFiniteError,
    SampleError,
    SingularError,
    UnstableWarning,
)
from gough.model import batch
from gough.model.batch import OnError
from gough.model.collocation import Conditions
from gough.model.deflection import largest_shapes
from gough.model.described import DescribedModel
from gough.model.elastic_search import LEAST, Search, placed
from gough.model.outputs import Output
from gough.model.zero_dynamics import ZeroDynamics, least_growth
from gough.motion import Motion, need_motion

MOST_SAMPLES = 20_000
"""Of one motion: all of its steps are solved together, in 50 kB a sample for ten modes."""
SETTLED = 1e-3
"""Distance of the ends from rest, of the largest deflection, above which a motion is warned of."""


class ElasticMotion(Motion):
    """A motion with the elastic coordinates that it implies, and how they were found.

    Its parts, as in `motion[3]`, are plain motions.
    """

    __slots__ = ("output", "residual", "unsettled", "unstable", "way")

    output: Output
    """What follows the command: "frame", "terminal" or "legs"."""
    way: Any
    """"forward" or "bounded"; of a batch of motions an array of these, without the axis of time."""
    residual: Array
    """(...): change of the deflection by steps half as long, of the largest one."""
    unstable: Array
    """(...): number of directions that grow at the end of the motion; 0 where the way is forward."""
    unsettled: Array
    """(..., 2): distance of the first and of the last sample from rest, of the largest deflection.
    A bounded motion anticipates and rings down: with rests long enough at its ends these are small."""

    @classmethod
    def _of(cls, fields: dict[str, Array]) -> Any:
        return Motion._of(fields)

    def __str__(self) -> str:
        told = f"elastic motion of the {self.output}, residual {np.max(self.residual):.1e}: "
        ways, counts = np.unique(np.asarray(self.way), return_counts=True)
        if len(ways) == 1:
            return told + WAYS[str(ways[0])]
        return told + ", ".join(
            f"{n} of {sum(counts)} {w}" for w, n in zip(ways, counts, strict=True)
        )


WAYS = {
    "forward": "integrated forward from static deflection",
    "bounded": "bounded solution, its unstable part backwards from the end",
}


class Found(NamedTuple):
    """One motion (n,) and how it was found."""

    motion: Motion
    way: str
    residual: float
    unstable: int
    unsettled: tuple[float, float]


def elastic_motion(
    robot: DescribedModel,
    motion: Motion,
    output: Output = "frame",
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> ElasticMotion:
    """The motion of the floating frame and the modes that makes an output follow a motion over time."""
    if not robot.modes:
        raise InputError(f"{robot.name} has a rigid platform: it has no elastic coordinates")
    batch.check_on_error(on_error)
    robot.elastic_inputs(motion)
    robot = robot.load_side  # legs feel the force in the springs, wherever it comes from
    load = np.zeros(6) if wrench is None else batch.last_axis("wrench", wrench, 6)
    command, load = _over_time(motion, load)
    dynamics = ZeroDynamics(robot, output, friction)
    dynamics.commanded(
        Motion(robot.home.position, robot.home.rotation).reshape(1)
    )  # names what is wrong
    found = []
    for place in np.ndindex(command.shape[:-1]):
        try:
            found.append(_along(dynamics, command[place], load[place]))
        except SampleError as error:
            if on_error == "raise":
                raise placed(error, partial(_behind, place)) from None
            found.append(_none(robot, command[place]))
    return _gathered(found, output, command.shape, robot.modes)


def _over_time(motion: Motion, load: Array) -> tuple[Motion, Array]:
    """The motion and the load of every sample, of one batch shape (..., n)."""
    need_motion(motion)
    if motion.time is None or not motion.shape or motion.shape[-1] < 2:
        raise InputError(
            "elastic coordinates along a motion need two samples or more with their times on the "
            f"last axis; has batch shape {motion.shape}"
            + (" without time" if motion.time is None else "")
        )
    if motion.shape[-1] > MOST_SAMPLES:
        raise InputError(
            f"elastic coordinates along a motion of {motion.shape[-1]} samples: {MOST_SAMPLES} at most; "
            "fewer will do, it is a quintic between them"
        )
    if np.any(np.diff(motion.time, axis=-1) <= 0):
        raise InputError("elastic coordinates along a motion need times that increase")
    try:
        shape = np.broadcast_shapes(motion.shape, load.shape[:-1])
    except ValueError:
        raise InputError(
            f"the batch axes do not fit: motion {motion.shape}, wrench {load.shape[:-1]}"
        ) from None
    wide = motion.replace(time=np.broadcast_to(motion.time, shape))
    return wide, np.broadcast_to(load, (*shape, 6))


def _along(dynamics: ZeroDynamics, command: Motion, load: Array) -> Found:
    """One motion (n,)."""
    for name, value in {**command._fields(), "wrench": load}.items():
        bad = ~np.isfinite(value.reshape(len(command), -1)).all(axis=1)
        if bad.any():
            sample = int(bad.argmax())
            raise NotFiniteError([Failure((sample,), None, f"{name} is not finite")])
    ends = [0, len(command) - 1]
    try:
        rest = dynamics.rest(command[ends], load[ends])
        conditions, growth = _conditions(dynamics, command[ends], rest, load[ends])
    except SampleError as error:
        raise placed(error, lambda one: (ends[one[-1]],) if one else ()) from None
    unstable = len(conditions.end)
    search = Search(dynamics, command, load, conditions)
    course, residual = search.solve(rest.elastic)
    motion = search.motion(course)
    size = largest_shapes(dynamics.robot)
    off = np.abs((motion.elastic[ends] - rest.elastic) * size).max(axis=1)
    unsettled = off / max(float(np.abs(motion.elastic * size).max()), LEAST)
    if unstable and unsettled[0] > SETTLED:
        warnings.warn(
            f"elastic motion: the bounded solution starts {unsettled[0]:.2g} of the largest deflection "
            f"off rest; let the motion rest {np.log(unsettled[0] / SETTLED) / growth:.2g} s longer "
            "before it moves",
            UnstableWarning,
            stacklevel=4,
        )
    way = "bounded" if unstable else "forward"
    return Found(motion, way, residual, unstable, (float(unsettled[0]), float(unsettled[1])))


def _conditions(
    dynamics: ZeroDynamics, command: Motion, rest: Motion, load: Array
) -> tuple[Conditions, float]:
    """Conditions at both ends, and the slowest growth, 1/s, that the start leaves free.

    Left invariant subspaces of A = ∂(q̇e, q̈e)/∂(qe, q̇e) at rest, by ordered Schur forms: of the end's
    what grows, of the start's as many as are left, the fastest to grow free.
    """
    systems = dynamics.slopes(dynamics.commanded(command), rest, load).system()
    values = [np.linalg.eigvals(one) for one in systems]
    poles, least = [np.sort(one.real) for one in values], [float(least_growth(v)) for v in values]
    count = len(systems[0])
    growing, free = (int(np.sum(poles[i] > least[i])) for i in (1, 0))
    if growing > free:
        raise SingularError(
            [
                Failure(
                    (),
                    None,
                    f"no bounded elastic motion: {growing} directions of the zero dynamics of the "
                    f"{dynamics.output} grow where the motion ends and {free} where "
                    "it starts; what grows at the end cannot be reached from rest at the start",
                )
            ]
        )
    still = np.concatenate([rest.elastic, 0 * rest.elastic], axis=1)
    fixed = count - growing
    middle = np.inf if not growing else (poles[0][fixed - 1] + poles[0][fixed]) / 2
    start = _left_subspace(systems[0], lambda real: real < middle)
    end = _left_subspace(systems[1], lambda real: real > least[1])
    if len(start) + len(end) != count:
        raise SingularError(
            [Failure((), None, "no bounded elastic motion: a pair of poles would be parted")]
        )
    growth = float(poles[0][fixed]) if growing else 0.0
    return Conditions(start, start @ still[0], end, end @ still[1]), growth


def _left_subspace(system: Array, chosen: Any) -> Array:
    """Rows (k, n) of an orthonormal basis of the left invariant subspace of chosen poles."""
    _, vectors, count = linalg.schur(system.T, output="real", sort=lambda re, im: bool(chosen(re)))
    return np.asarray(vectors[:, :count].T)


def _behind(place: tuple[int, ...], sample: tuple[int, ...]) -> tuple[int, ...]:
    """A sample of the motion at a place of the batch."""
    return (*place, *sample)


def _none(robot: DescribedModel, command: Motion) -> Found:
    """No answer."""
    nothing = np.full((len(command), robot.modes), np.nan)
    bare = {name: np.full(value.shape, np.nan) for name, value in command._fields().items()}
    bare["time"] = np.asarray(command.time)
    motion = Motion(**bare).replace(
        elastic=nothing, elastic_velocity=nothing, elastic_acceleration=nothing
    )
    return Found(motion, "none", np.nan, 0, (np.nan, np.nan))


def _gathered(
    found: list[Found], output: Output, shape: tuple[int, ...], modes: int
) -> ElasticMotion:
    """Motions (n,) as one of batch shape (..., n)."""
    if not found:
        raise InputError(f"elastic coordinates along a motion: the batch {shape} is empty")
    fields = {
        name: np.stack([one.motion._fields()[name] for one in found])
        for name in found[0].motion._fields()
    }
    wide = {name: value.reshape(*shape, *value.shape[2:]) for name, value in fields.items()}
    gathered = ElasticMotion(**wide)
    before = shape[:-1]
    gathered.output = output
    gathered.way = np.array([one.way for one in found]).reshape(before) if before else found[0].way
    gathered.residual = np.array([one.residual for one in found]).reshape(before)
    gathered.unstable = np.array([one.unstable for one in found]).reshape(before)
    gathered.unsettled = np.array([one.unsettled for one in found]).reshape(*before, 2)
    return gathered
