"""Where the frames of the legs' bodies are and how they move, batch first."""

from __future__ import annotations

from gough.base.arrays import Array
from gough.mechanics import programs
from gough.mechanics.body import Frame
from gough.mechanics.groups import parted
from gough.mechanics.leg import Leg
from gough.model.batch import OnError
from gough.model.calls import ModelCalls
from gough.motion import Motion


def leg_frames(
    robot: ModelCalls, motion: Motion, on_error: OnError = "raise"
) -> list[tuple[Leg, list[Frame]]]:
    """The frames of the legs' bodies, world axes, SI units, by group of legs that are alike.

    One per body in the order of `Leg.BODIES`, with origin, velocity and angular velocity (..., legs, 3)
    and axes (..., legs, 3, 3); none of legs without bodies.
    """
    found = robot.run(programs.leg_frames, motion, on_error)
    return [
        (legs, [_body(found, i, body) for body in range(len(legs.BODIES))])
        for i, legs in enumerate(parted(robot.mechanism.legs))
    ]


def _body(found: dict[str, Array], group: int, body: int) -> Frame:
    origin, velocity, omega = (
        found[f"{name} of group {group}"][..., body, :] for name in ("origin", "velocity", "omega")
    )
    return Frame(origin, found[f"axes of group {group}"][..., body, :, :], velocity, omega)
