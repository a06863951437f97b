"""Meshes of the robot file on the page: added once, moved with their bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gough.description.meshes import BodyMesh
from gough.show.colors import SKY, leg_color
from gough.studio.record import StudioRecord

if TYPE_CHECKING:
    from viser import MeshHandle


class DrawnMeshes:
    """The meshes of a robot; that of the platform hangs on the platform's frame."""

    def __init__(self, scene: Any, own: str, meshes: tuple[BodyMesh, ...], rgb: Any) -> None:
        self.of_legs: list[MeshHandle] = []
        """In the order in which the record has their places."""
        self.covered = {(one.leg, one.name) for one in meshes}
        """Bodies that need no other shape: leg, from 0, or None of the platform, and name."""
        for k, one in enumerate(meshes):
            color = SKY if one.leg is None else leg_color(one.leg)
            where = "platform" if one.leg is None else f"legs/{one.leg + 1}"
            handle = scene.add_mesh_simple(
                f"{own}/{where}/mesh{k}",
                one.vertices.astype(np.float32),
                one.faces.astype(np.uint32),
                color=rgb(color),
                flat_shading=True,
            )
            if one.leg is not None:
                self.of_legs.append(handle)

    def move(self, shown: StudioRecord, sample: int) -> None:
        """Put the meshes of legs where their bodies are; those that are nowhere stay."""
        for handle, (places, turns) in zip(self.of_legs, shown.mesh_places, strict=True):
            if np.isfinite(places[sample]).all():
                handle.position, handle.wxyz = places[sample], turns[sample]
