"""Retimed: a motion with a new timing, and what limits it when."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.showing_results import Showing
from gough.model.model import Model
from gough.motion import Motion
from gough.planning.demands import Demands, MotionLimit
from gough.planning.timing import EvenTiming, Pause, Timing
from gough.trajectories import Outside, State, Trajectory

BINDING = 0.99
"""Share of a limit from which it counts as what holds the motion back."""


class Binding(NamedTuple):
    """What holds a motion back for a while."""

    begin: float
    """s"""
    end: float
    limit: MotionLimit | None
    """None where nothing is at its limit: at rests, and where jerk is limited."""

    def __str__(self) -> str:
        what = "no limit" if self.limit is None else str(self.limit)
        return f"{self.begin:.4g} to {self.end:.4g} s: {what}"


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Retimed(Showing, Trajectory):
    """A motion with a new timing: a trajectory, which holds its first and its last pose outside.

    `sample(n)` and calls with times give motions; `bindings` says which leg and which limit hold it back
    when; `before` is how long the motion took as it was given, s, None of a path.
    """

    outside: ClassVar[Outside] = "hold"
    before: float | None
    demands: Demands = field(repr=False)
    _parts: tuple[Timing, ...] = field(repr=False)

    def __init__(self, demands: Demands, parts: tuple[Timing, ...], before: float | None) -> None:
        self._set(demands=demands, _parts=parts, before=before)
        self._set(duration=float(sum(part.duration for part in parts)))

    @cached_property
    def bindings(self) -> tuple[Binding, ...]:
        """What holds the motion back when."""
        return tuple(self._bindings())

    @property
    def parts(self) -> tuple[Timing, ...]:
        """Its stretches and rests, in turn."""
        return self._parts

    @property
    def robot(self) -> Model:
        """The robot that moves so."""
        return self.demands.robot

    def motion(self, t: Array) -> Motion:
        """The motion at rising times (n,), s."""
        found = []
        begin = 0.0
        for i, part in enumerate(self._parts):
            end = begin + part.duration
            low = t >= begin if i else np.ones(len(t), dtype=bool)
            chosen = low & (t < end) if i < len(self._parts) - 1 else low
            if chosen.any():
                inside = np.clip(t[chosen] - begin, 0.0, part.duration)
                found.append(self._held(part, t[chosen], begin, inside))
            begin = end
        whole = Motion.concatenate(found).replace(time=t)
        return whole

    def _held(self, part: Timing, t: Array, begin: float, inside: Array) -> Motion:
        """At rest before the beginning and after the end."""
        motion = part.motion(self.robot, inside)
        out = (t < 0) | (t > self.duration)
        if not out.any():
            return motion
        still = np.where(out, 0.0, 1.0)[:, np.newaxis]
        names = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
        return motion.replace(**{name: getattr(motion, name) * still for name in names})

    def _state(self, t: Array) -> State:
        flat = t.ravel()
        order = np.argsort(flat, kind="stable")
        back = np.argsort(order, kind="stable")
        found = self.motion(flat[order]) if len(flat) else Motion(np.zeros((0, 3)))
        names = (
            "position", "rotation", "velocity", "angular_velocity", "acceleration",
            "angular_acceleration",
        )  # fmt: skip
        values = [getattr(found, name)[back] for name in names]
        shaped = [value.reshape(*t.shape, *value.shape[1:]) for value in values]
        return shaped[0], shaped[1], shaped[2], shaped[3], shaped[4], shaped[5]

    def shares(self, t: Array) -> Array:
        """(n, limits) of `demands.bounds` at rising times (n,): 1 is the limit."""
        return self.demands.shares(self.motion(t))

    def _bindings(self) -> list[Binding]:
        found: list[Binding] = []
        begin = 0.0
        for part in self._parts:
            marks = part.marks()
            if isinstance(part, Pause):
                found.append(Binding(begin, begin + part.duration, None))
            elif isinstance(part, EvenTiming):  # one instant holds the whole back
                found.append(Binding(begin, begin + part.duration, part.limit))
            else:
                middle = (marks[1:] + marks[:-1]) / 2
                share = self.demands.shares(part.motion(self.robot, middle))
                top = np.argmax(share, axis=1)
                at = np.where(share.max(axis=1) >= BINDING, top, -1)
                edges = np.flatnonzero(np.diff(at)) + 1
                ends = [0, *edges, len(at)]
                for a, b in itertools.pairwise(ends):
                    limit = self.demands.bounds[at[a]] if at[a] >= 0 else None
                    found.append(Binding(begin + marks[a], begin + marks[b], limit))
            begin += part.duration
        return found

    def binding_times(self) -> dict[str, float]:
        """How long each limit holds the motion back, s, the longest first."""
        found: dict[str, float] = {}
        for one in self.bindings:
            name = "no limit" if one.limit is None else str(one.limit)
            found[name] = found.get(name, 0.0) + one.end - one.begin
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    @property
    def idle(self) -> float:
        """Share of the time in which it moves and reaches no limit; 0 where jerk is limited."""
        if np.any(np.isfinite(self.demands.limits.jerk)):
            return 0.0
        rests = sum(part.duration for part in self._parts if isinstance(part, Pause))
        without = self.binding_times().get("no limit", 0.0) - rests
        return float(without / (self.duration - rests))

    @property
    def change(self) -> str:
        """How long it takes, in words."""
        now = f"{self.duration:.6g} s"
        return now if self.before is None else f"{self.before:.6g} s becomes {now}"

    def __str__(self) -> str:
        lines = [self.change]
        for name, time in self.binding_times().items():
            if name == "no limit" and time == self.duration:
                continue  # says nothing
            lines.append(f"{name}: {100 * time / self.duration:.3g} % of the time")
        return "\n".join(lines)
