"""The shape of chains: a bar from each joint to the next, telescopes and sliders where they slide."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gough.base.arrays import Array
from gough.legs.chain.equations import Chain
from gough.legs.chain.pin import Pin
from gough.legs.chain.posture import PRISMATIC
from gough.legs.reading import Limits
from gough.legs.shape import SMALL, Bar, Dimension, Places, telescope
from gough.mechanics.vectors import Components
from gough.results import LegMotion

SPHERICAL, UNIVERSAL = "spherical", "universal"
AROUND = 0.9
"""How far from a point in which all axes meet joints are drawn, in length scales."""


class ChainShape:
    """The shape of chains."""

    q_is_length: ClassVar[bool] = False

    def initials(self, legs: Chain | Pin) -> str:
        """Such as RPS."""
        return "".join(joint[0].upper() for joint in self.at_home(legs).joints)

    def q_size(self, legs: Chain | Pin) -> Array:
        """A right angle, rad, and of what slides the leg's length at home, m; (actuators,)."""
        home = self.at_home(legs)
        reach = np.maximum(home.lengths, legs.length_scale)
        each = [
            reach if joint == PRISMATIC else np.full(legs.count, np.pi / 2)
            for joint, driven in zip(home.joints, home.driven, strict=True)
            if driven
        ]
        return np.stack(each, axis=1).ravel() if each else np.zeros(0)

    def feet(self, legs: Chain | Pin) -> Array:
        """The first joints at home (legs, 3)."""
        return np.asarray(self.at_home(legs).points[:, 0])

    def ground(self, legs: Chain | Pin, q: Array, limits: Limits) -> Array:
        """The first joints (legs, 1, 3); rails (legs, 2, 3) where these slide.

        Without a stroke a rail reaches half the leg's length to either side.
        """
        home = self.at_home(legs)
        if home.joints[0] != PRISMATIC:
            return np.asarray(home.points[:, :1])
        half = np.maximum(home.lengths, legs.length_scale) / 2
        now, first, last = np.zeros(legs.count), -half, half
        if home.driven[0]:
            each = slice(None, None, sum(legs.actuated))
            now = q[each] - legs.home[0][:, 0]
            ends = (one[each] - legs.home[0][:, 0] for one in (limits.shortest, limits.longest))
            first, last = (
                np.where(np.isfinite(end), end, now + away)
                for end, away in zip(ends, (first, last), strict=True)
            )
        start, along = home.points[:, 0], home.axes[:, 0]
        return np.stack([start + one[:, np.newaxis] * along for one in (first, last)], axis=1)

    def at_home(self, legs: Chain | Pin) -> Places:
        """The joints at home, (legs, joints, 3)."""
        return placed(legs, legs.at_home())

    def places(self, legs: Chain | Pin, motion: LegMotion, chains: Array) -> Places:
        """The joints at joint coordinates; NaN where the legs have no answer."""
        found = placed(
            legs, np.broadcast_to(chains, (*motion.direction.shape[:-2], legs.coordinates))
        )
        known = np.asarray(np.isfinite(motion.direction).all(axis=-1))[..., np.newaxis, np.newaxis]
        return found._replace(points=np.where(known, found.points, np.nan))

    def bodies(
        self, legs: Chain | Pin, places: Places, home: Places, size: float
    ) -> tuple[Bar, ...]:
        """Bars from joint to joint.

        What slides is a telescope, from where the body before meets its line to where the next joint
        does; a block on a rail where it is the leg's first joint.
        """
        found: list[Bar] = []
        for i, joint in enumerate(places.joints):
            name = f"body{i + 1}"
            leaves = places.points[..., i, :]
            if joint == PRISMATIC and i == 0:
                half = 0.03 * size * places.axes[..., i, :]
                back, front = leaves - half, leaves + half
                block = Bar("slider", back, front, back, 0.02 * size, 9.0, square=True, body=name)
                found.append(block)
            elif joint == PRISMATIC:
                found += _sliding(name, places, home, i, size)
                leaves = _ends(places, i)[1]
            if i + 1 < len(places.joints):
                slides = places.joints[i + 1] == PRISMATIC
                arrives = _ends(places, i + 1)[0] if slides else places.points[..., i + 1, :]
                found.append(Bar(name, leaves, arrives, leaves, 0.012 * size, 4.0, colored=True))
        return tuple(found)

    def dimensions(self, legs: Chain | Pin) -> tuple[Dimension, ...]:
        """Points and axes of the joints at home, world axes."""
        found = []
        home = self.at_home(legs)
        for i, (joint, driven) in enumerate(zip(home.joints, home.driven, strict=True)):
            name = f"{i + 1} {joint}{', driven' if driven else ''}"
            key = f"joints.{i}"
            found.append(Dimension(f"{key}.point", f"{name} (m)", home.points[:, i], point=True))
            if np.any(home.axes[:, i]):
                found.append(Dimension(f"{key}.axis", f"{i + 1} axis", home.axes[:, i]))
        return tuple(found)


def placed(legs: Chain | Pin, chains: Array) -> Places:
    """The joints of the file at joint coordinates (..., coordinates)."""
    shape = chains.shape[:-1]
    samples = int(np.prod(shape))
    posture = legs.placed(legs.split(chains.reshape(samples, legs.coordinates).T))

    def batch_first(vectors: Components) -> Array:
        whole = np.broadcast_to(vectors, (3, legs.count, samples))
        return np.moveaxis(whole, (0, 1, 2), (2, 1, 0)).reshape(*shape, legs.count, 3)

    joints, points, axes, driven = [], [], [], []
    before = -1
    for last in legs.file_joints:
        if last < 0:
            joints.append(SPHERICAL)
            points.append(batch_first(posture.port))
            axes.append(np.zeros_like(points[-1]))
            driven.append(False)
            continue
        one = posture.joints[last]
        joints.append(UNIVERSAL if last - before == 2 else one.kind)
        points.append(batch_first(one.origin))
        turns = len(one.axes) == 1 and joints[-1] != UNIVERSAL
        axes.append(batch_first(one.axes[0]) if turns else np.zeros_like(points[-1]))
        driven.append(legs.actuated[last])
        before = last
    if joints[-1] == PRISMATIC:
        points[-1] = _onto(points[-1], axes[-1], batch_first(legs.origin(posture)))
    if joints[0] == PRISMATIC and len(joints) > 1:
        points[0] = _onto(points[0], axes[0], points[1])
    found = Places(tuple(joints), np.stack(points, -2), np.stack(axes, -2), tuple(driven))
    return _spread(found, float(legs.length_scale[0]))


def _spread(places: Places, scale: float) -> Places:
    """Places of legs whose axes all meet in a point: the joints are drawn around it, on their axes."""
    middle = places.points.mean(axis=-2, keepdims=True)
    apart = np.linalg.norm(places.points - middle, axis=-1).max(initial=0.0)
    if len(places.joints) == 1 or apart > SMALL * scale:
        return places
    return places._replace(points=places.points + AROUND * scale * places.axes)


def _onto(point: Array, along: Array, other: Array) -> Array:
    """Another point's foot on the line through a point along a unit vector."""
    way = np.sum((other - point) * along, axis=-1, keepdims=True)
    return np.asarray(point + way * along)


def _ends(places: Places, joint: int) -> tuple[Array, Array]:
    """Of a sliding joint's line: where the body before meets it, and where it leaves for the next."""
    point, along = places.points[..., joint, :], places.axes[..., joint, :]
    meets = point if joint == 0 else _onto(point, along, places.points[..., joint - 1, :])
    last = joint + 1 == len(places.joints)
    leaves = point if last else _onto(point, along, places.points[..., joint + 1, :])
    return meets, leaves


def _sliding(name: str, places: Places, home: Places, joint: int, size: float) -> list[Bar]:
    """A telescope, or where that is none at home a block on a rail."""
    start, end = _ends(places, joint)
    before = f"body{joint}"
    lengths = np.linalg.norm(np.subtract(*_ends(home, joint)), axis=-1)
    if np.all(lengths > SMALL * size):
        rod, cylinder = telescope((name, f"{name} carrier"), start, end, lengths, size)
        return [rod, cylinder._replace(body=before)]
    along = size * places.axes[..., joint, :]
    back, front = start - 0.15 * along, start + 0.15 * along
    first, last = end - 0.03 * along, end + 0.03 * along
    return [
        Bar(f"{name} carrier", back, front, back, 0.008 * size, 4.0, body=before),
        Bar(name, first, last, first, 0.02 * size, 9.0, square=True),
    ]
