"""A stretch in time: by a time law along its length, or evenly by its own parameter."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from gough.base.arrays import Array
from gough.model.model import Model
from gough.motion import Motion
from gough.planning.course import Bead, Rest, Stretch, scaled
from gough.planning.demands import MotionLimit
from gough.planning.time_law import TimeLaw


class Timing(Protocol):
    """A part of a course in time, from 0 to `duration`."""

    @property
    def duration(self) -> float:
        """s."""
        ...

    def motion(self, robot: Model, t: Array) -> Motion:
        """The motion at times (n,) from the part's beginning."""
        ...

    def marks(self) -> Array:
        """Times at which the motion is resolved by what it was planned with, s."""
        ...


class LawTiming(NamedTuple):
    """Along the length of a stretch."""

    stretch: Stretch
    law: TimeLaw

    @property
    def duration(self) -> float:
        """s."""
        return self.law.duration

    def changed(self, *, window: float | None = None, slower: float | None = None) -> LawTiming:
        """The stretch by its law with another window or factor on time."""
        law = self.law
        window = law.window if window is None else window
        slower = law.slower if slower is None else slower
        return self._replace(law=replace(law, window=window, slower=slower))

    def motion(self, robot: Model, t: Array) -> Motion:
        """The motion at times (n,)."""
        sigma, speed, acceleration = self.law(t)
        bead = Bead.of(self.stretch, self.stretch.parameter(sigma))
        return bead.moving(robot, speed, acceleration)

    def marks(self) -> Array:
        """The knots of the law."""
        return np.asarray(self.law.slower * self.law.pieces.x)


class EvenTiming(NamedTuple):
    """As the motion itself went, faster by a factor."""

    stretch: Stretch
    faster: float
    limit: MotionLimit
    """That allows no more, somewhere along the motion."""

    @property
    def duration(self) -> float:
        """s."""
        return (self.stretch.end - self.stretch.begin) / self.faster

    def motion(self, robot: Model, t: Array) -> Motion:
        """The motion at times (n,)."""
        s = np.clip(self.stretch.begin + self.faster * t, self.stretch.begin, self.stretch.end)
        rate = np.full(len(t), self.faster)
        return scaled(robot, self.stretch.guide.state(s), rate, np.zeros(len(t)))

    def marks(self) -> Array:
        """Evenly."""
        return np.linspace(0.0, self.duration, 401)


class Pause(NamedTuple):
    """The platform stands."""

    rest: Rest
    duration: float

    def motion(self, robot: Model, t: Array) -> Motion:
        """The pose at times (n,)."""
        count, pose = len(t), self.rest.pose
        made = Motion(
            np.broadcast_to(pose.position, (count, 3)),
            np.broadcast_to(pose.rotation, (count, 3, 3)),
        )
        if robot.mechanism.legs.coordinates:
            joints = robot.chains_of(pose)
            robot.remember(made, np.broadcast_to(joints, (count, joints.shape[-1])))
        return made

    def marks(self) -> Array:
        """Its ends."""
        return np.array([0.0, self.duration])
