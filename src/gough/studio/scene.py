"""The robot in 3-D: parts are added once and then only moved, so that it runs smoothly."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gough.base.arrays import Array, unit
from gough.data.datasets import AXES
from gough.data.motion_files import ROTATION_VECTOR
from gough.model.places import PlacedLegs, moved_tips, sample_of, tips
from gough.show.colors import DARK, ORANGE, SKY, VERMILION, leg_color
from gough.show.layout import FIELD, SceneLayout, round_number
from gough.show.parts import Part, leg_parts, leg_places, platform_part, standing_parts
from gough.show.solids import SurfaceMesh
from gough.studio.arrows import Arrow, arrow_vectors, rgb
from gough.studio.floor import grid, rings
from gough.studio.meshes import DrawnMeshes
from gough.studio.record import StudioRecord
from gough.studio.skin import BANDS, Skin
from gough.studio.tags import Tags, number_places

if TYPE_CHECKING:
    from viser import MeshHandle, ViserServer

    from gough.robot import Robot

ARROW = 0.28
"""Length of the largest force's arrow over the robot's size."""
PATH_POINTS = 150
"""Of a drawn path: lines are dear without a graphics card."""
NOTHING = np.zeros((1, 3, 3))
"""A triangle that is not seen: a mesh must have one."""
ASPECT = 0.9
"""Width of the scene beside the panel over its height, about."""
FLOOR = "#EEF0F2"
SCENES = count(1)
"""Numbers of the scenes."""


class View(NamedTuple):
    """What of a robot is drawn."""

    forces: bool = True
    """Of the legs on the platform, as arrows."""
    weight: bool = False
    handle: bool = True
    """To drag the platform by."""
    shadows: bool = True
    magnified: float = 1.0
    """How many times larger than it is a deformation is drawn."""


class Scene:
    """One robot on the page; made anew for another robot."""

    def __init__(self, server: ViserServer, robot: Robot, layout: SceneLayout) -> None:
        self.server, self.robot, self.layout = server, robot, layout
        self.size = layout.size
        self.strongest = 1.0
        """Force whose arrow has the full length, N."""
        self.deepest = 0.0
        """Displacement with the last colour, m."""
        self._view = View()
        self._lights: dict[str, Any] = {}
        self._scene: Any = server.scene
        self._own = f"/robot {next(SCENES)}"
        """Names of bodies begin with it: pages keep where a name was, and hear of changes only."""
        modal = robot.description.modal
        self._skin = None if modal is None or not robot.modes else Skin(modal)
        with server.atomic():
            self._scene.reset()
            self._scene.set_up_direction(tuple(layout.up))
            self._scene.world_axes.visible = False
            self._add_floor()
            for one in standing_parts(layout):
                self._add(f"standing {one.name} {one.leg}", one)
            self._parts = leg_parts(layout)
            self._legs = [
                self._add(f"legs/{one.leg}/{one.name} {k}", one)
                for k, one in enumerate(self._parts)
            ]
            self._stretched = np.ones(len(self._legs))
            self._move_legs(layout.legs)
            self._add_platform()
            self._add_arrows()
            self._meshes = DrawnMeshes(self._scene, self._own, robot.meshes, rgb)
            self._hide_covered()
        self.tags = Tags(server, self._own, *number_places(layout), 0.05 * layout.size)

    def look(self, clients: bool = True) -> None:
        """Put the camera where the whole robot is seen."""
        held, feet = tips(self.layout.legs), self.layout.ground[:, 0]
        ends = held + ARROW * self.size * unit(held - feet)  # of arrows of legs that push
        eye, target = (tuple(one) for one in self.layout.camera(ASPECT, ends))
        up, field = tuple(self.layout.up), float(np.radians(FIELD))
        first = self.server.initial_camera
        first.position, first.look_at, first.up, first.fov = eye, target, up, field
        if clients:
            for client in self.server.get_clients().values():
                with client.atomic():
                    client.camera.up_direction = up
                    client.camera.position = eye
                    client.camera.look_at = target
                    client.camera.fov = field

    def show(self, shown: StudioRecord, sample: int, alarmed: bool) -> None:
        """Move all bodies to an instant; `alarmed` colours the platform."""
        motion = shown.motion
        place, turn = motion.position[sample], motion.rotation[sample]
        legs = sample_of(shown.legs, sample)
        self._platform.position, self._platform.wxyz = place, shown.wxyz[sample]
        if self._skin is not None:
            elastic = motion.elastic[sample] if motion.modes else np.zeros(self.robot.modes)
            legs = moved_tips(
                legs, place + self._skin.moved_tips(elastic, self._view.magnified) @ turn.T
            )
            self._deform(elastic)
        elif self._plate is not None:
            self._plate.color = rgb(VERMILION if alarmed else SKY)
        self._move_legs(legs)
        self._meshes.move(shown, sample)
        self._move_arrows(shown, sample, tips(legs))

    def _hide_covered(self) -> None:
        """Take away plain shapes of bodies that have meshes."""
        covered = self._meshes.covered
        if self._plate is not None and (None, "platform") in covered:
            self._plate.visible = False
        for part, handle in zip(self._parts, self._legs, strict=True):
            if (part.leg, part.name) in covered:
                handle.visible = False

    def draw_path(self, positions: Array | None) -> None:
        """The path (n, 3) of the platform's origin; None takes it away."""
        if positions is None or len(positions) < 2:
            self._path.visible = False
            return
        positions = positions[:: max(1, len(positions) // PATH_POINTS)]
        self._path.points = np.stack([positions[:-1], positions[1:]], axis=1)
        self._path.visible = True

    def _add_floor(self) -> None:
        """A floor that takes the robot's shadow, lines on it, and lights.

        Lines are strips, which pages without a graphics card draw fast.
        """
        layout, size = self.layout, self.size
        cell = round_number(size / 8)
        around = rings(layout)
        for k, ring in enumerate(around):
            seen = {} if k == 0 else {"opacity": 1 - k / len(around)}
            self._scene.add_mesh_simple(
                f"/floor/ring{k}", ring.vertices, ring.faces, color=rgb(FLOOR), side="double",
                cast_shadow=False, **seen,
            )  # fmt: skip
        colors = ("#E1E4E8", "#CDD2D8")
        for name, mesh, color in zip(
            ("fine", "coarse"), grid(layout, cell, 0.0022 * size), colors, strict=True
        ):
            self._scene.add_mesh_simple(
                f"/floor/{name}", mesh.vertices, mesh.faces, color=rgb(color), side="double",
                cast_shadow=False, receive_shadow=False,
            )  # fmt: skip
        self._scene.add_frame(
            "/world", axes_length=0.12 * size, axes_radius=0.003 * size, origin_radius=0.0
        )
        self._scene.configure_environment_map(hdri=None)
        self._scene.configure_default_lights(enabled=False)
        up, aside = layout.up, unit(layout.aside)
        left = np.cross(aside, up)
        self._scene.add_light_ambient("/lights/all", intensity=1.25)
        places = {"key": (2.0 * up + 0.7 * aside + 0.8 * left, 2.3), "fill": (aside - left, 0.7)}
        for name, (place, strength) in places.items():
            where = layout.middle + 2.0 * size * unit(place)
            self._lights[name] = self._scene.add_light_directional(
                f"/lights/{name}", intensity=strength, position=tuple(where),
                cast_shadow=name == "key",
            )  # fmt: skip

    @property
    def view(self) -> View:
        """What is drawn; the handle's part is the studio's."""
        return self._view

    @view.setter
    def view(self, chosen: View) -> None:
        if chosen.shadows != self._view.shadows:
            self._lights["key"].cast_shadow = chosen.shadows
        self._view = chosen

    def _add_platform(self) -> None:
        size, home = self.size, self.layout.home
        self._platform = self._scene.add_frame(
            f"{self._own}/platform",
            axes_length=0.11 * size,
            axes_radius=0.004 * size,
            origin_radius=0.0,
            position=tuple(home.position),
        )
        self._plate: MeshHandle | None = None
        self._bands: list[MeshHandle] = []
        if self._skin is None:
            part = platform_part(self.layout)
            self._plate = self._scene.add_mesh_simple(
                f"{self._own}/platform/plate",
                part.mesh.vertices,
                part.mesh.faces,
                color=rgb(part.color),
            )
        else:
            self._bands = [
                self._scene.add_mesh_simple(
                    f"{self._own}/platform/band{k}",
                    NOTHING[0],
                    np.array([[0, 1, 2]]),
                    color=color,
                    side="double",
                    flat_shading=True,
                    cast_shadow=False,
                    receive_shadow=False,
                )
                for k, color in enumerate(BANDS)
            ]
        tool = self.robot.description.tool
        if np.any(tool):
            self._scene.add_icosphere(
                f"{self._own}/platform/tool",
                0.018 * size,
                color=rgb(ORANGE),
                position=tuple(tool),
            )
        self.handles = self._handles()

    def _handles(self) -> list[Any]:
        """What the platform is dragged by: arrows along what it can move, rings where it can turn."""
        names = self.robot.coordinates
        moves = tuple(name in names for name in AXES)
        turns = any(name in names for name in ROTATION_VECTOR)
        style: dict[str, Any] = {
            "line_width": 2.5,
            "depth_test": False,
            "disable_sliders": True,
            "opacity": 0.7,
        }
        style |= {"scale": 0.19 * self.size, "position": tuple(self.layout.home.position)}
        add = self._scene.add_transform_controls
        if all(moves):
            return [add(f"{self._own}/handle", disable_rotations=not turns, **style)]
        found = []
        if any(moves):
            own = {"active_axes": moves, "disable_rotations": True}
            found.append(add(f"{self._own}/handle", **own, **style))
        if turns:
            found.append(add(f"{self._own}/ring", disable_axes=True, **style))
        return found

    def _add_arrows(self) -> None:
        self._arrows = [
            Arrow(self._scene, f"{self._own}/arrows/{leg + 1}", leg_color(leg), self.size)
            for leg in range(self.robot.leg_count)
        ]
        self._weight = Arrow(self._scene, f"{self._own}/arrows/weight", DARK, self.size)
        self._path = self._scene.add_line_segments(
            "/path",
            np.zeros((1, 2, 3)),
            rgb(DARK),
            thickness=2.0,
            thickness_units="screen",
            visible=False,
        )

    def _add(self, name: str, part: Part) -> MeshHandle:
        mesh: SurfaceMesh = part.mesh
        handle: MeshHandle = self._scene.add_mesh_simple(
            f"{self._own}/{name}", mesh.vertices, mesh.faces, color=rgb(part.color)
        )
        return handle

    def _move_legs(self, legs: list[PlacedLegs]) -> None:
        """Poses reach the page faster than other changes: only bodies that grow are stretched."""
        places = leg_places(self.layout, legs, self._parts)
        for handle, place, turn in zip(self._legs, places.position, places.turn, strict=True):
            handle.position, handle.wxyz = place, turn
        for k in np.flatnonzero(np.abs(places.stretch - self._stretched) > 1e-3):
            self._legs[k].scale = (1.0, 1.0, float(max(places.stretch[k], 1e-6)))
            self._stretched[k] = places.stretch[k]

    def _move_arrows(self, shown: StudioRecord, sample: int, spherical: Array) -> None:
        force = None if shown.on_platform is None else shown.on_platform[sample]
        if self._view.forces and force is not None and np.isfinite(force).all():
            vectors = arrow_vectors(force, self.strongest, ARROW * self.size)
            starts = spherical + self._beside(spherical, force)
            for arrow, start, vector, one in zip(
                self._arrows, starts, vectors, np.linalg.norm(force, axis=-1), strict=True
            ):
                arrow.point(start, vector, float(one))
        else:
            for arrow in self._arrows:
                arrow.visible = False
        body = self.robot.platform
        weight = body.mass * self.robot.description.gravity
        self._weight.visible = self._view.weight
        if self._view.weight:
            turn = shown.motion.rotation[sample]
            start = shown.motion.position[sample] + turn @ body.center_of_mass
            vector = arrow_vectors(weight, self.strongest, ARROW * self.size)
            self._weight.point(start, vector, float(np.linalg.norm(weight)))

    def _beside(self, spherical: Array, force: Array) -> Array:
        """How far arrows (legs, 3) stand beside their legs, outward, so that they hide in none."""
        along = unit(force)
        out = spherical - spherical.mean(axis=0)
        across = out - np.sum(out * along, axis=-1, keepdims=True) * along
        return 0.035 * self.size * unit(across)

    def _deform(self, elastic: Array) -> None:
        assert self._skin is not None
        largest = max(self.deepest, 1e-12)
        found = self._skin.bands(elastic, self._view.magnified, largest)
        for handle, triangles in zip(self._bands, found, strict=True):
            handle.visible = len(triangles) > 0
            if len(triangles):
                handle.vertices = triangles.reshape(-1, 3).astype(np.float32)
                handle.faces = np.arange(3 * len(triangles), dtype=np.uint32).reshape(-1, 3)

    def scale_to(self, shown: StudioRecord) -> None:
        """Arrow lengths and colours for all of a record."""
        force = shown.on_platform
        if force is not None and np.isfinite(force).any():
            self.strongest = float(np.nanmax(np.linalg.norm(force, axis=-1)))
        self.deepest = self.deepest_of(shown)

    def deepest_of(self, shown: StudioRecord) -> float:
        """Largest displacement of the platform's skin over a record, m; 0 of a rigid one."""
        if self._skin is None or not shown.motion.modes:
            return 0.0
        return self._skin.largest(shown.motion.elastic[:: max(1, len(shown) // 100)])
