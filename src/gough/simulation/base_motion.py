"""What a base that moves does to the robot on it.

In axes that move with the base, a base that accelerates by a and turns with α about the world's origin
adds an acceleration a + α×r to every point r and α to every body. On the coordinates ẏ this acts as

    −N (a, α),    N = Σ_b J_bᵀ I_b X_b,    X_b = (a + α×o_b, α) for (a, α) = 1

over all bodies b: J_b their frames' twists by ẏ, of which the platform moves with ξ = D ẏ
(`gough.model.own_directions`; ẏ = ξ where it moves freely), I_b their inertia about the frames' origins
o_b. A rotor is felt along q alone, so that it does not feel the base. World axes, SI units.
"""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.mechanics import equation
from gough.mechanics.body import Body, Frame
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.programs import Outputs
from gough.mechanics.state import State
from gough.model import batch
from gough.model.execution import numpy_executor
from gough.model.frames import leg_frames
from gough.model.model import Model
from gough.model.own_directions import own_directions
from gough.model.slopes import joints_of
from gough.motion import Motion


def base_inertia(robot: Model, still: Motion) -> Array:
    """N (m + modes, 6) of a robot at rest in a pose; see the module."""
    directions = own_directions(robot, still)
    return directions.T @ _of_platform(robot, still) + _of_legs(robot, still, directions.T)


def carried(point: Array) -> Array:
    """X (6, 6): twist (or acceleration) of a frame at a point that moves with the base's (a, α)."""
    whole = np.eye(6)
    whole[:3, 3:] = np.cross(np.eye(3), point).T
    return whole


def _of_platform(robot: Model, still: Motion) -> Array:
    """M of the platform alone, on which the base acts as on its frame."""
    rows = batch.lay_out(still, robot.elastic_inputs(still) | joints_of(robot, still))
    found = numpy_executor(robot.mechanism)(platform_mass, 1, rows.fields)
    mass = np.concatenate([found["rigid"][0], found["mixed"][0].T])
    return np.asarray(mass @ carried(still.position))


def platform_mass(mechanism: Mechanism, state: State) -> Outputs:
    """M_rr (6, 6) and M_re (6, modes) of the platform alone, world axes."""
    platform = equation.placed(mechanism, state)
    rigid, mixed = platform.mass()
    half = np.moveaxis(platform.world(rigid), 0, 1)
    nothing = np.zeros(state.position.shape[-1])
    return {"rigid": platform.world(half) + nothing, "mixed": platform.world(mixed) + nothing}


def _of_legs(robot: Model, still: Motion, units: Array) -> Array:
    moving = Motion(
        still.position,
        still.rotation,
        units[:, :3],
        units[:, 3:6],
        elastic=still.elastic,
        elastic_velocity=units[:, 6:],
    )
    total = np.zeros((len(units), 6))
    for legs, frames in leg_frames(robot, moving):
        for body, frame in zip(legs.named_bodies().values(), frames, strict=True):
            total += _of_body(body, frame)
    return total


def _of_body(body: Body, frame: Frame) -> Array:
    """What the base does to one body of legs, (m + modes, 6), its frame moving by each unit of ẏ."""
    origin, axes = frame.origin[0], frame.axes[0]  # the same whatever moves
    moment = np.einsum("lij,jl->li", axes, body.first_moment[..., 0])
    inertia = np.einsum("lij,jkl,lmk->lim", axes, body.inertia[..., 0], axes)
    field = np.stack([carried(one) for one in origin])  # (legs, 6, 6), columns (a, α)
    linear, turning = np.swapaxes(field[:, :3], 1, 2), np.swapaxes(field[:, 3:], 1, 2)
    mass = body.mass[:, :1, np.newaxis]
    push = mass * linear + np.cross(turning, moment[:, np.newaxis])
    turn = np.einsum("lij,lcj->lci", inertia, turning) + np.cross(moment[:, np.newaxis], linear)
    found = np.einsum("uli,lci->uc", frame.velocity, push)
    return np.asarray(found + np.einsum("uli,lci->uc", frame.omega, turn))
