"""Where the bodies of a robot are that have meshes, for pictures of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gough.base.arrays import Array
from gough.description.meshes import BodyMesh
from gough.model.frames import leg_frames
from gough.model.model import Model
from gough.model.places import alike
from gough.motion import Motion


def mesh_places(
    robot: Model, motion: Motion, meshes: Sequence[BodyMesh]
) -> list[tuple[Array, Array]]:
    """Position (..., 3) and rotation (..., 3, 3) of each mesh's body, world; NaN out of reach."""
    legs = any(one.leg is not None for one in meshes)
    groups = leg_frames(robot, motion, "nan") if legs else []
    found: list[tuple[Array, Array]] = []
    for mesh in meshes:
        if mesh.leg is None:
            found.append((motion.position, motion.rotation))
            continue
        for one, (_, frames) in zip(alike(robot), groups, strict=True):
            if one.which.start <= mesh.leg < one.which.stop:
                frame, leg = frames[mesh.body], mesh.leg - one.which.start
                places = np.asarray(frame.origin)[..., leg, :]
                found.append((places, np.asarray(frame.axes)[..., leg, :, :]))
    return found
