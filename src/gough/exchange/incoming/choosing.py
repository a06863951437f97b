"""Which body of a network is the platform, and which way each leg goes from the base to it."""

from __future__ import annotations

from gough.base.words import nearest
from gough.errors import FileError, InputError
from gough.exchange.incoming.linkage import Linkage, PartFrame
from gough.exchange.incoming.network import Network, NetworkJoint
from gough.exchange.opened import PLATFORM


def named_platform(linkage: Linkage, name: str) -> PartFrame:
    """The frame of a body, link or site that a user names."""
    if name not in linkage.frames:
        known = sorted(linkage.frames)
        hint = f"; the nearest is {nearest(name, known)}" if known else ""
        raise InputError(f"{linkage.name}: has no body, link or site {name!r}{hint}")
    return linkage.frames[name]


def refuse_without_loops(linkage: Linkage, found: Network) -> None:
    """Refuse what has no legs between a base and anything."""
    if len(found.bodies) > 1:
        return
    why = "has no loop (those of a URDF are in a .yaml file beside it)"
    if linkage.loops:
        why = "its loops are on bodies that float, or that one joint alone joins to the ground"
    raise FileError(
        f"{linkage.name}: {why}: gough reads parallel robots, in which several legs lead from a base "
        "that stands still to one platform"
    )


def proposed_platform(found: Network) -> int:
    """Return the body that is called "platform", else the one that most legs hold.

    Most joints decide, then most loops of the file.
    """
    others = [body for body in found.bodies if body != found.base]

    def score(body: int) -> tuple[bool, int, int]:
        ends = found.at(body)
        named = len(ends) > 1 and found.bodies[body].name == PLATFORM
        return named, len(ends), sum(joint.closes for joint in ends)

    most = max(map(score, others))
    best = [body for body in others if score(body) == most and found.bodies[body].names]
    if len(best) != 1:
        names = [found.bodies[body].name for body in best]
        raise FileError(
            f"{found.name}: which body is the platform? {', '.join(map(repr, names[:6]))} "
            f"have {most[1]} joints each: name it (platform=, --platform)"
        )
    body = found.bodies[best[0]]
    if body.alternatives and body.name != PLATFORM:
        found.held.append(
            f"the platform's frame is that of {body.name!r}; as many loops close on "
            f"{', '.join(map(repr, body.alternatives))}: platform= or --platform takes another"
        )
    return best[0]


def legs_of(found: Network, platform: int) -> list[list[tuple[NetworkJoint, int]]]:
    """The way of each leg from the base: its joints, each with the body that it starts from.

    In the order in which the file has their first joints.
    """
    legs = []
    for last in found.at(platform):
        way: list[tuple[NetworkJoint, int]] = []
        joint, body = last, platform
        while True:
            body = joint.other(body)
            way.append((joint, body))
            if body == found.base:
                break
            onward = [one for one in found.at(body) if one is not joint]
            if len(onward) != 1:
                several = ", ".join(repr(one.joint.name) for one in found.at(body))
                raise FileError(
                    f"{found.name}: {found.bodies[body].name!r} joins {len(onward) + 1} joints "
                    f"({several}): a leg that branches is not one of gough's, but for "
                    "parallelograms of two rods with spherical joints; is another body the platform?"
                )
            (joint,) = onward
        if len({one.joint.name for one, _ in way}) != len(way):
            raise FileError(f"{found.name}: a leg comes back to the platform")
        legs.append(way[::-1])
    order = {id(joint): place for place, joint in enumerate(found.joints)}
    return sorted(legs, key=lambda way: order[id(way[0][0])])
