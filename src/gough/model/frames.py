"""Where the frames of the legs' bodies are and how they move, batch first."""

from __future__ import annotations

from gough.mechanics import programs
from gough.mechanics.body import Frame
from gough.model.calls import ModelCalls
from gough.motion import Motion


def leg_frames(robot: ModelCalls, motion: Motion) -> list[Frame]:
    """The frames of a leg's bodies in the order of the robot file, world axes, SI units.

    Each with origin, velocity and angular velocity (..., legs, 3) and axes (..., legs, 3, 3).
    """
    found = robot.run(programs.leg_frames, motion)
    bodies = range(len(robot.mechanism.legs.BODIES))
    origin, velocity, omega = (found[name] for name in ("origin", "velocity", "omega"))
    axes = found["axes"]
    return [
        Frame(
            origin[..., i, :, :], axes[..., i, :, :, :], velocity[..., i, :, :], omega[..., i, :, :]
        )
        for i in bodies
    ]
