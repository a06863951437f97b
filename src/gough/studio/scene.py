"""The robot in 3-D: bodies are added once and then only moved, so that it runs smoothly."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgb

from gough.base.arrays import Array, unit
from gough.data.datasets import AXES
from gough.data.motion_files import ROTATION_VECTOR
from gough.model.places import PlacedLegs, bodies, moved_tips, sample_of, tips
from gough.show.colors import DARK, GREY, ORANGE, PALE, SKY, VERMILION, leg_color
from gough.studio.meshes import DrawnMeshes
from gough.studio.record import StudioRecord
from gough.studio.shapes import (
    SceneLayout,
    SurfaceMesh,
    arrow_vectors,
    ball,
    bar,
    bars,
    block,
    cone,
    grid,
    round_number,
    slab,
    turns_from_z,
)
from gough.studio.skin import BANDS, Skin

if TYPE_CHECKING:
    from viser import MeshHandle, ViserServer

    from gough.robot import Robot

FLAT = 0.05
"""Part of the robot's size within which tips are in the plane of the feet."""
ARROW = 0.3
"""Length of the largest force's arrow over the robot's size."""
PATH_POINTS = 150
"""Of a drawn path: lines are dear without a graphics card."""
STEEL, IVORY = "#AEB4BC", "#E8EAED"
BALLS = {"universal": (0.0205, DARK), "spherical": (0.0175, IVORY)}
"""Joints that are drawn as balls: radius over the robot's size, colour."""
NOTHING = np.zeros((1, 3, 3))
"""A triangle that is not seen: a mesh must have one."""
SCENES = count(1)
"""Numbers of the scenes."""


def rgb(color: str) -> tuple[int, int, int]:
    """A colour by its name as three numbers up to 255."""
    red, green, blue = (round(255 * part) for part in to_rgb(color))
    return red, green, blue


class Arrow:
    """An arrow whose place and direction reach the page as fast as the bodies'."""

    def __init__(self, scene: Any, name: str, color: str, size: float) -> None:
        self._head_length = 0.05 * size
        # wider than a rod, to be seen also where it runs along one
        shaft, head = bar(0.0115 * size, 1.0), cone(0.022 * size, self._head_length)
        self._frame = scene.add_frame(name, show_axes=False)
        self._shaft, self._head = (
            scene.add_mesh_simple(f"{name}/{part}", mesh.vertices, mesh.faces, color=rgb(color))
            for part, mesh in (("shaft", shaft), ("head", head))
        )
        self._length = 1.0
        self.visible = False

    @property
    def visible(self) -> bool:
        """It is drawn."""
        return self._seen

    @visible.setter
    def visible(self, seen: bool) -> None:
        self._seen = self._frame.visible = seen

    def point(self, start: Array, vector: Array) -> None:
        """Draw the arrow from a place (3,) along a vector (3,) of its length."""
        length = float(np.linalg.norm(vector))
        self.visible = length > 0.2 * self._head_length
        if not self.visible:
            return
        shaft = max(length - self._head_length, 1e-6)
        self._frame.position, self._frame.wxyz = start, turns_from_z(vector / length)
        self._head.position = (0.0, 0.0, shaft)
        if abs(shaft - self._length) > 0.01 * self._length:
            self._length = shaft
            self._shaft.scale = (1.0, 1.0, shaft)


class Scene:
    """One robot on the page; made anew for another robot."""

    def __init__(self, server: ViserServer, robot: Robot, layout: SceneLayout) -> None:
        self.server, self.robot, self.layout = server, robot, layout
        self.size = layout.size
        self.magnified = 1.0
        """How many times larger than it is a deformation is drawn."""
        self.strongest = 1.0
        """Force whose arrow has the full length, N."""
        self.deepest = 0.0
        """Displacement with the last colour, m."""
        self.show_forces = True
        self.show_weight = False
        self.show_handle = True
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
            self._add_ground()
            self._add_legs()
            self._add_platform()
            self._add_arrows()
            self._meshes = DrawnMeshes(self._scene, self._own, robot.meshes, rgb)
            self._hide_covered()

    def look(self, clients: bool = True) -> None:
        """Put the camera where the whole robot is seen."""
        up, eye = tuple(self.layout.up), tuple(self.layout.camera)
        target = tuple(self.layout.middle)
        first = self.server.initial_camera
        first.position, first.look_at, first.up = eye, target, up
        if clients:
            for client in self.server.get_clients().values():
                with client.atomic():
                    client.camera.up_direction = up
                    client.camera.position = eye
                    client.camera.look_at = target

    def show(self, shown: StudioRecord, sample: int, alarmed: bool) -> None:
        """Move all bodies to an instant; `alarmed` colours the platform."""
        motion = shown.motion
        place, turn = motion.position[sample], motion.rotation[sample]
        legs = sample_of(shown.legs, sample)
        self._platform.position, self._platform.wxyz = place, shown.wxyz[sample]
        if self._skin is not None:
            elastic = motion.elastic[sample] if motion.modes else np.zeros(self.robot.modes)
            legs = moved_tips(legs, place + self._skin.moved_tips(elastic, self.magnified) @ turn.T)
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
        drawn = bodies(self.layout.legs, self.layout.legs, self.size)
        for (alike, one), (handles, _) in zip(drawn, self._bodies, strict=True):
            for leg, handle in enumerate(handles, alike.which.start):
                if (leg, one.name) in covered:
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
        """A grid of lines and plain lights: pages without a graphics card draw these fast."""
        cell = round_number(self.size / 8)
        wide = 0.0022 * self.size
        colors = ("#E1E4E8", "#C9CED5")
        for name, mesh, color in zip(
            ("fine", "coarse"), grid(self.layout, cell, wide), colors, strict=True
        ):
            self._scene.add_mesh_simple(
                f"/floor/{name}", mesh.vertices, mesh.faces, color=rgb(color), side="double"
            )
        self._scene.add_frame(
            "/world", axes_length=0.12 * self.size, axes_radius=0.004 * self.size, origin_radius=0.0
        )
        self._scene.configure_environment_map(hdri=None)
        self._scene.configure_default_lights(enabled=False)
        up, camera = self.layout.up, self.layout.camera - self.layout.middle
        self._scene.add_light_ambient("/lights/all", intensity=1.5)
        aside = 0.5 * np.cross(camera, up)
        self._scene.add_light_directional(
            "/lights/key", intensity=2.2, position=tuple(camera + 1.3 * self.size * up + aside)
        )

    def _add_ground(self) -> None:
        stands, size = self.layout.ground, self.size
        first, last = stands[:, 0], stands[:, 1]
        along = last - first
        length = np.linalg.norm(along, axis=-1)
        rails = length > 0
        if not rails.any() and not self._flat(first):
            mesh = slab(first, 0.025 * size, 0.05 * size, down=-self.layout.up)
            self._scene.add_mesh_simple(
                "/base", mesh.vertices, mesh.faces, color=rgb(PALE), opacity=0.85
            )
        else:
            order = self._around(first)
            loops = [one[order] for one in (first, last)]
            starts = np.concatenate(loops)
            stops = np.concatenate([np.roll(one, -1, axis=0) for one in loops])
            self._body("/frame", bars(starts, stops, 0.0025 * size), PALE if rails.any() else GREY)
        turns = turns_from_z(unit(along))
        for leg in np.flatnonzero(rails).tolist():
            rail = self._body(f"/rails/{leg}", bar(0.008 * size, length[leg]), GREY)
            rail.position, rail.wxyz = first[leg], turns[leg]
        apart = first - first.mean(axis=0)
        outward = np.where(rails[:, np.newaxis], -0.07 * unit(along), 0.05 * unit(apart))
        ends = first + size * outward
        for leg, place in enumerate(ends):
            self._scene.add_label(
                f"{self._own}/labels/{leg + 1}",
                str(leg + 1),
                position=tuple(place),
                font_size_mode="screen",
                font_screen_scale=0.9,
                anchor="center-center",
            )

    def _flat(self, feet: Array) -> bool:
        """A plate through the feet would hide legs that move in its plane."""
        normal = np.linalg.svd(np.concatenate([feet - feet.mean(axis=0), np.zeros((3, 3))]))[2][-1]
        away = (tips(self.layout.legs) - feet.mean(axis=0)) @ normal
        return bool(np.abs(away).max() < FLAT * self.size)

    def _around(self, points: Array) -> Array:
        """Order of points by their angle about their middle, in the plane in which they spread most."""
        spread = points - points.mean(axis=0)
        first, second, _ = np.linalg.svd(np.concatenate([spread, np.zeros((3, 3))]))[2]
        return np.argsort(np.arctan2(spread @ second, spread @ first))

    def _add_legs(self) -> None:
        """The bodies of each leg and its joints.

        Poses reach the page faster than any other change, so bodies keep their lengths as far as they
        can: a rod slides in its cylinder.
        """
        size, home = self.size, self.layout.legs
        self._bodies: list[tuple[list[MeshHandle], Array]] = []
        """Of each body: by leg, and its lengths (legs,) as its mesh has them, m."""
        for k, (alike, one) in enumerate(bodies(home, home, size)):
            lengths = np.maximum(np.linalg.norm(one.end - one.start, axis=-1), 1e-3 * size)
            shape, color = (block, DARK) if one.square else (bar, STEEL)
            legs = range(alike.which.start, alike.which.stop)
            handles = [
                self._body(
                    f"/legs/{leg + 1}/{one.name} {k}",
                    shape(one.radius, float(length)),
                    leg_color(leg) if one.colored else color,
                )
                for leg, length in zip(legs, lengths, strict=True)
            ]
            self._bodies.append((handles, lengths))
        self._joints = [
            [
                self._joint(f"/legs/{leg + 1}/joint{i + 1}", joint, driven)
                for leg in range(one.alike.which.start, one.alike.which.stop)
            ]
            for one in home
            for i, (joint, driven) in enumerate(
                zip(one.places.joints, one.places.driven, strict=True)
            )
            if joint != "prismatic"  # its bodies show it
        ]
        self._stretched = [np.ones(len(lengths)) for _, lengths in self._bodies]
        self._move_legs(home)

    def _joint(self, name: str, joint: str, driven: bool) -> MeshHandle:
        """A ball, or of a joint with an axis a short cylinder along it; drives are thicker."""
        size = self.size
        if joint in BALLS:
            radius, color = BALLS[joint]
            return self._body(name, ball(radius * size), color)
        wide = 0.022 if driven else 0.017
        mesh = bar(wide * size, 0.055 * size)
        middle = SurfaceMesh(mesh.vertices - [0, 0, 0.0275 * size], mesh.faces)
        return self._body(name, middle, DARK if driven else IVORY)

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
            held = (tips(self.layout.legs) - home.position) @ home.rotation
            mesh = slab(held, 0.014 * size, 0.03 * size)
            self._plate = self._scene.add_mesh_simple(
                f"{self._own}/platform/plate",
                mesh.vertices,
                mesh.faces,
                color=rgb(SKY),
                opacity=0.8,
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
        names = self.robot.coordinates
        moves, turns = (any(name in some for name in names) for some in (AXES, ROTATION_VECTOR))
        self.handle = self._scene.add_transform_controls(
            f"{self._own}/handle",
            scale=0.26 * size,
            line_width=3.0,
            depth_test=False,
            disable_axes=not moves,
            disable_sliders=not moves,
            disable_rotations=not turns,
            opacity=0.75,
            position=tuple(home.position),
        )

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

    def _body(self, name: str, mesh: SurfaceMesh, color: str) -> MeshHandle:
        handle: MeshHandle = self._scene.add_mesh_simple(
            f"{self._own}{name}", mesh.vertices, mesh.faces, color=rgb(color)
        )
        return handle

    def _move_legs(self, legs: list[PlacedLegs]) -> None:
        found = bodies(legs, self.layout.legs, self.size)
        for (_, one), (handles, own), stretched in zip(
            found, self._bodies, self._stretched, strict=True
        ):
            along = one.end - one.start
            for handle, place, turn in zip(
                handles, one.start, turns_from_z(unit(along)), strict=True
            ):
                handle.position, handle.wxyz = place, turn
            factor = np.linalg.norm(along, axis=-1) / own
            for leg in np.flatnonzero(np.abs(factor - stretched) > 1e-3):
                handles[leg].scale = (1.0, 1.0, float(max(factor[leg], 1e-6)))
                stretched[leg] = factor[leg]
        places = [
            (one.places.points[:, i], one.places.axes[:, i])
            for one in legs
            for i, joint in enumerate(one.places.joints)
            if joint != "prismatic"
        ]
        for handles, (points, axes) in zip(self._joints, places, strict=True):
            for handle, point, turn in zip(handles, points, turns_from_z(axes), strict=True):
                handle.position, handle.wxyz = point, turn

    def _move_arrows(self, shown: StudioRecord, sample: int, spherical: Array) -> None:
        force = None if shown.on_platform is None else shown.on_platform[sample]
        if self.show_forces and force is not None and np.isfinite(force).all():
            vectors = arrow_vectors(force, self.strongest, ARROW * self.size)
            for arrow, start, vector in zip(self._arrows, spherical, vectors, strict=True):
                arrow.point(start, vector)
        else:
            for arrow in self._arrows:
                arrow.visible = False
        body = self.robot.platform
        weight = body.mass * self.robot.description.gravity
        self._weight.visible = self.show_weight
        if self.show_weight:
            turn = shown.motion.rotation[sample]
            start = shown.motion.position[sample] + turn @ body.center_of_mass
            self._weight.point(start, arrow_vectors(weight, self.strongest, ARROW * self.size))

    def _deform(self, elastic: Array) -> None:
        assert self._skin is not None
        largest = max(self.deepest, 1e-12)
        found = self._skin.bands(elastic, self.magnified, largest)
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
