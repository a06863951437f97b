"""Bodies that no real one can be, replaced by real ones that move in the same way.

Papers give inertial parameters that are grouped, or as they were identified: forces are right, but no
body has them, and programs such as MuJoCo refuse it. What nobody feels may be chosen. Of a body that
turns about a fixed axis only its moment of inertia about the axis and the first moments across it are
felt; of one that turns about a fixed point its mass is not; and at the spherical joint of a leg mass
belongs to the leg's last body and to the platform alike. A body is possible where ∫ [x; 1][x; 1]ᵀ dm =
[J, s; sᵀ, m] is positive about any point, so about one where m is free m > s·J⁻¹ s makes it possible.
"""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError
from gough.exchange.inertia import Inertia, central
from gough.exchange.opened import PLATFORM, OpenedBody, OpenedRobot
from gough.legs.bodies import steiner

MORE = 1.05
"""Mass that is given, over the least that does."""
SAME = 1e-9
"""How far a point may be off an axis, m, to be on it."""
ROUNDED = 1e-4
"""Part of the largest moment of inertia by which others may be off, as numbers in files are rounded."""
TOLD = 1e-9
"""The part from which on it is told that they are."""
LEAST = 1e-14
"""Least mass, kg, and moment of inertia, kg m², to be written; MuJoCo refuses less than 1e-15."""
LIFTED = 1e-13
"""Least part of the largest moment of inertia that another is, or two are above the third."""


def possible(tree: OpenedRobot) -> OpenedRobot:
    """The same robot of real bodies, as far as what is not felt allows it."""
    bodies = {body.name: body for body in tree.bodies}
    for loop in tree.loops:
        for name in _leg(tree, loop.body):
            body = bodies[name]
            if is_possible(body.inertial):
                continue
            fixed = _fixed_point(tree, body)
            if body.parent == "" and len(body.joints) == 1 and body.joints[0].type == "revolute":
                own = _about_axis(body)
            elif fixed is not None:
                own = body.inertial
                own = _heavier(own, _seen(body, fixed), _lacks(own, _seen(body, fixed)))
            elif name == loop.body and not loop.rigid:
                at = _seen(body, loop.point)
                more = _lacks(body.inertial, at)
                own = _heavier(body.inertial, at, more)
                platform = bodies[PLATFORM]
                less = _heavier(platform.inertial, _seen(platform, loop.point), -more)
                bodies[PLATFORM] = platform._replace(inertial=less)
            else:
                continue
            bodies[name] = body._replace(inertial=own)
    return tree._replace(bodies=tuple(bodies[body.name] for body in tree.bodies))


def is_possible(body: Inertia) -> bool:
    """Whether a real body can have this inertia, to rounding."""
    return body.mass >= 0 and _lacking(body.inertia) <= ROUNDED * np.abs(body.inertia).max() + LEAST


def _lacking(inertia: Array) -> float:
    """What all moments of inertia A ≤ B ≤ C need more, so that A > 0 and A + B > C; kg m²."""
    a, b, c = (float(one) for one in np.linalg.eigvalsh(inertia))
    least = max(LEAST, LIFTED * c)
    return max(least - a, least - (a + b - c), 0.0)


def lifted(tree: OpenedRobot) -> tuple[OpenedRobot, list[str]]:
    """The robot with masses and moments of inertia that are above 0, and what is to be told of it.

    Rods without thickness and plates are lifted by the least there is; bodies that only rounding makes
    impossible by as much as it takes. What else is impossible is refused.
    """
    bodies, told = [], []
    for body in tree.bodies:
        own = body.inertial
        if not is_possible(own):
            moments = ", ".join(f"{one:.6g}" for one in np.linalg.eigvalsh(own.inertia))
            raise InputError(
                f"{tree.robot.name}: {body.name} has the mass {own.mass:.6g} kg and the moments of "
                f"inertia {moments} kg m² about its centre: no real body has, and MuJoCo takes none; "
                "gough export urdf writes it"
            )
        more = _lacking(own.inertia)
        if more > TOLD * np.abs(own.inertia).max() + LEAST:
            told.append(body.name)
        own = own._replace(mass=max(own.mass, LEAST), inertia=own.inertia + more * np.eye(3))
        bodies.append(body._replace(inertial=own))
    notes = []
    if told:
        words = ", ".join(told)
        notes.append(f"moments of inertia that rounding made impossible are raised: {words}")
    return tree._replace(bodies=tuple(bodies)), notes


def _leg(tree: OpenedRobot, last: str) -> list[str]:
    """Names of a leg's bodies, from the base on."""
    names: list[str] = []
    while last:
        names[:0] = [last]
        last = tree.body(last).parent
    return names


def _seen(body: OpenedBody, point: Array) -> Array:
    """A point of the world in a body's frame."""
    return np.asarray(body.axes.T @ (point - body.origin))


def _fixed_point(tree: OpenedRobot, body: OpenedBody) -> Array | None:
    """The point on all axes that a body turns about, if all it does is turn about one."""
    chain = [tree.body(name) for name in _leg(tree, body.name)]
    joints = [joint for one in chain for joint in one.joints]
    point = joints[-1].point
    for joint in joints:
        away = np.cross(joint.point - point, joint.axis)
        if joint.type != "revolute" or np.linalg.norm(away) > SAME:
            return None
    return point


def _about_axis(body: OpenedBody) -> Inertia:
    """A body on a fixed axis: I_aa about it and first moments across it stay, all else is chosen."""
    joint, own = body.joints[0], body.inertial
    axis, at = body.axes.T @ joint.axis, _seen(body, joint.point)
    arm = own.center - at
    whole = own.inertia + own.mass * steiner(arm)
    about = float(axis @ whole @ axis)
    across = own.mass * (arm - axis * (axis @ arm))
    if about <= 0:
        return own
    mass = max(own.mass, MORE * float(across @ across) / about)
    center = across / mass if mass else across
    return Inertia(mass, at + center, (about - mass * float(center @ center)) * np.eye(3))


def _lacks(body: Inertia, at: Array) -> float:
    """Mass at a point of its frame that makes a body possible: m = s·J⁻¹ s there, and a little more."""
    arm = body.center - at
    whole = body.inertia + body.mass * steiner(arm)
    second = 0.5 * np.trace(whole) * np.eye(3) - whole
    moment = body.mass * arm
    needed = float(moment @ np.linalg.pinv(second, hermitian=True) @ moment)
    return max(MORE * needed - body.mass, 0.0)


def _heavier(body: Inertia, at: Array, mass: float) -> Inertia:
    """A body with a point mass added, kg; taken away where it is negative."""
    whole = body.inertia + body.mass * steiner(body.center) + mass * steiner(at)
    return central(body.mass + mass, body.mass * body.center + mass * at, whole)
