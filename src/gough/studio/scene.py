"""The robot in 3-D: bodies are added once and then only moved, so that it runs smoothly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgb

from gough.motion import Array
from gough.plots import DARK, GREY, ORANGE, PALE, PALETTE, SKY, VERMILION
from gough.studio.bending import BANDS, Bending
from gough.studio.record import Record
from gough.studio.shapes import (
    CYLINDER,
    Layout,
    Mesh,
    ball,
    bar,
    box,
    grid,
    round_number,
    slab,
    turns_from_z,
)

if TYPE_CHECKING:
    from viser import BatchedMeshHandle, MeshHandle, ViserServer

    from gough.robot import Robot

ARROW = 0.35
"""Length of the largest force's arrow over the robot's size."""
NOTHING = np.zeros((1, 3, 3))
"""A triangle that is not seen: a mesh must have one."""


def rgb(color: str) -> tuple[int, int, int]:
    """A colour by its name as three numbers up to 255."""
    red, green, blue = (round(255 * part) for part in to_rgb(color))
    return red, green, blue


def linear(color: str) -> Array:
    """A colour (3,) for batches of bodies, which viser takes as amounts of light: sRGB decoded."""
    part = np.array(to_rgb(color))
    light = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return np.round(255 * light).astype(np.uint8)


class Scene:
    """One robot on the page; made anew for another robot."""

    def __init__(self, server: ViserServer, robot: Robot, layout: Layout) -> None:
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
        modal = robot.description.modal
        self._bending = None if modal is None or not robot.modes else Bending(modal)
        with server.atomic():
            self._scene.reset()
            self._scene.set_up_direction(tuple(layout.up))
            self._scene.world_axes.visible = False
            self._add_floor()
            self._add_ground()
            self._add_legs()
            self._add_platform()
            self._add_arrows()

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

    def show(self, shown: Record, sample: int, alarmed: bool) -> None:
        """Move all bodies to an instant; `alarmed` colours the platform."""
        motion = shown.motion
        place, turn = motion.position[sample], motion.rotation[sample]
        universal, spherical = shown.universal[sample], shown.spherical[sample]
        self._platform.position, self._platform.wxyz = place, shown.wxyz[sample]
        if self._bending is not None:
            elastic = motion.elastic[sample] if motion.modes else np.zeros(self.robot.modes)
            spherical = place + self._bending.bent_tips(elastic, self.magnified) @ turn.T
            self._bend(elastic)
        elif self._plate is not None:
            self._plate.color = rgb(VERMILION if alarmed else SKY)
        self._move_legs(universal, spherical)
        self._move_arrows(shown, sample, spherical)

    def draw_path(self, positions: Array | None) -> None:
        """The path (n, 3) of the platform's origin; None takes it away."""
        if positions is None or len(positions) < 2:
            self._path.visible = False
            return
        self._path.points = np.stack([positions[:-1], positions[1:]], axis=1)
        self._path.visible = True

    def _add_floor(self) -> None:
        """A grid of lines and plain lights: pages without a graphics card draw these fast."""
        cell = round_number(self.size / 8)
        for name, lines, color in zip(
            ("fine", "coarse"), grid(self.layout, cell), ("#E3E6EA", "#C6CBD2"), strict=True
        ):
            self._scene.add_line_segments(
                f"/floor/{name}", lines, rgb(color), thickness=1.0, thickness_units="screen"
            )
        self._scene.add_frame(
            "/world", axes_length=0.12 * self.size, axes_radius=0.004 * self.size, origin_radius=0.0
        )
        self._scene.configure_environment_map(hdri=None)
        self._scene.configure_default_lights(enabled=False)
        up, camera = self.layout.up, self.layout.camera - self.layout.middle
        self._scene.add_light_ambient("/lights/all", intensity=1.4)
        self._scene.add_light_directional(
            "/lights/key", intensity=1.8, position=tuple(camera + self.size * up)
        )
        side = np.cross(up, camera)
        self._scene.add_light_directional(
            "/lights/side", intensity=0.7, position=tuple(0.6 * self.size * up - side)
        )

    def _add_ground(self) -> None:
        stands, size = self.layout.ground, self.size
        if stands.shape[1] == 1:
            mesh = slab(stands[:, 0], 0.025 * size, 0.05 * size, down=-self.layout.up)
            self._scene.add_mesh_simple(
                "/base", mesh.vertices, mesh.faces, color=rgb(PALE), opacity=0.85
            )
            ends = stands[:, 0] - 0.05 * size * self._outward(stands[:, 0])
        else:
            first, last = stands[:, 0], stands[:, 1]
            along = last - first
            self._batch(
                "/rails",
                bar(0.008 * size),
                first,
                turns_from_z(along / np.linalg.norm(along, axis=-1, keepdims=True)),
                _lengths(np.linalg.norm(along, axis=-1)),
                linear(GREY),
            )
            order = self._around(first)
            for name, points in (("first", first[order]), ("last", last[order])):
                loop = np.stack([points, np.roll(points, -1, axis=0)], axis=1)
                self._scene.add_line_segments(
                    f"/frame/{name}", loop, rgb(PALE), thickness=2.0, thickness_units="screen"
                )
            ends = first - 0.07 * size * along / np.linalg.norm(along, axis=-1, keepdims=True)
        for leg, place in enumerate(ends):
            self._scene.add_label(
                f"/labels/{leg + 1}",
                str(leg + 1),
                position=tuple(place),
                font_size_mode="screen",
                font_screen_scale=0.9,
                anchor="center-center",
            )

    def _outward(self, points: Array) -> Array:
        """Unit vectors (n, 3) from the points to their middle, negated by who calls."""
        apart = points.mean(axis=0) - points
        length = np.linalg.norm(apart, axis=-1, keepdims=True)
        return np.asarray(apart / np.where(length == 0, 1.0, length))

    def _around(self, points: Array) -> Array:
        """Order of points by their angle about their middle, seen along the vertical."""
        main = int(np.argmax(np.abs(self.layout.up)))
        spread = points - points.mean(axis=0)
        return np.argsort(np.arctan2(spread[:, (main + 2) % 3], spread[:, (main + 1) % 3]))

    def _add_legs(self) -> None:
        size, layout, count = self.size, self.layout, self.robot.leg_count
        colors = np.stack([linear(PALETTE[leg % len(PALETTE)]) for leg in range(count)])
        along = (layout.spherical - layout.universal) / layout.lengths[:, None]
        turns, still = turns_from_z(along), np.tile([1.0, 0, 0, 0], (count, 1))
        self._cylinders: BatchedMeshHandle | None = None
        self._sliders: BatchedMeshHandle | None = None
        if self.robot.kind == "UPS":
            self._sleeve = CYLINDER * layout.lengths
            self._cylinders = self._batch(
                "/legs/cylinders", bar(0.017 * size), layout.universal, turns,
                _lengths(self._sleeve), colors,
            )  # fmt: skip
            self._links = self._batch(
                "/legs/rods", bar(0.0095 * size), layout.universal, turns,
                _lengths(layout.lengths), linear("#AEB4BC"),
            )  # fmt: skip
        else:
            rail = layout.ground[:, 1] - layout.ground[:, 0]
            rail = rail / np.linalg.norm(rail, axis=-1, keepdims=True)
            block = box((0.04 * size, 0.04 * size, 0.06 * size))
            self._sliders = self._batch(
                "/legs/sliders", block, layout.universal, turns_from_z(rail), None, linear(DARK)
            )
            self._links = self._batch(
                "/legs/links", bar(0.012 * size), layout.universal, turns,
                _lengths(layout.lengths), colors,
            )  # fmt: skip
        self._universal = self._batch(
            "/legs/universal", ball(0.0205 * size), layout.universal, still, None, linear(DARK)
        )
        self._spherical = self._batch(
            "/legs/spherical", ball(0.0175 * size), layout.spherical, still, None, linear("#E8EAED")
        )

    def _add_platform(self) -> None:
        size, home = self.size, self.layout.home
        self._platform = self._scene.add_frame(
            "/platform",
            axes_length=0.11 * size,
            axes_radius=0.004 * size,
            origin_radius=0.0,
            position=tuple(home.position),
        )
        self._plate: MeshHandle | None = None
        self._bands: list[MeshHandle] = []
        if self._bending is None:
            tips = self.robot.description.platform_points[..., 0].T
            mesh = slab(tips, 0.014 * size, 0.03 * size)
            self._plate = self._scene.add_mesh_simple(
                "/platform/plate", mesh.vertices, mesh.faces, color=rgb(SKY), opacity=0.8
            )
        else:
            self._bands = [
                self._scene.add_mesh_simple(
                    f"/platform/band{k}",
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
                "/platform/tool", 0.018 * size, color=rgb(ORANGE), position=tuple(tool)
            )
        self.handle = self._scene.add_transform_controls(
            "/handle",
            scale=0.26 * size,
            line_width=3.0,
            depth_test=False,
            opacity=0.75,
            position=tuple(home.position),
        )

    def _add_arrows(self) -> None:
        size, count = self.size, self.robot.leg_count
        shape = {
            "shaft_radius": 0.0115 * size,  # seen also where it runs along a rod
            "head_radius": 0.022 * size,
            "head_length": 0.05 * size,
        }
        nowhere = np.zeros((count, 2, 3))
        colors = np.stack([linear(PALETTE[leg % len(PALETTE)]) for leg in range(count)])
        self._arrows = self._scene.add_arrows("/arrows", nowhere, colors, **shape, visible=False)
        self._weight = self._scene.add_arrows(
            "/weight", np.zeros((1, 2, 3)), linear(DARK), **shape, visible=False
        )
        self._path = self._scene.add_line_segments(
            "/path",
            np.zeros((1, 2, 3)),
            rgb(DARK),
            thickness=2.0,
            thickness_units="screen",
            visible=False,
        )

    def _batch(
        self, name: str, mesh: Mesh, places: Array, turns: Array, scales: Array | None, color: Any
    ) -> BatchedMeshHandle:
        handle: BatchedMeshHandle = self._scene.add_batched_meshes_simple(
            name, mesh.vertices, mesh.faces, turns, places,
            batched_scales=scales, batched_colors=color, lod="off",
        )  # fmt: skip
        return handle

    def _move_legs(self, universal: Array, spherical: Array) -> None:
        apart = spherical - universal
        length = np.linalg.norm(apart, axis=-1)
        turns = turns_from_z(apart / length[:, None])
        if self._cylinders is not None:
            self._cylinders.batched_wxyzs = turns
        self._links.batched_wxyzs = turns
        self._links.batched_scales = _lengths(length)
        if self._sliders is not None:
            self._sliders.batched_positions = universal
            self._links.batched_positions = universal
            self._universal.batched_positions = universal
        self._spherical.batched_positions = spherical

    def _move_arrows(self, shown: Record, sample: int, spherical: Array) -> None:
        force = None if shown.on_platform is None else shown.on_platform[sample]
        seen = self.show_forces and force is not None and bool(np.isfinite(force).all())
        if seen:
            assert force is not None
            self._arrows.points = arrows(spherical, force, self.strongest, ARROW * self.size)
        self._arrows.visible = seen
        body = self.robot.platform
        weight = body.mass * self.robot.description.gravity
        heavy = self.show_weight and bool(np.any(weight))
        if heavy:
            start = (
                shown.motion.position[sample] + shown.motion.rotation[sample] @ body.center_of_mass
            )
            self._weight.points = arrows(
                start[None], weight[None], self.strongest, ARROW * self.size
            )
        self._weight.visible = heavy

    def _bend(self, elastic: Array) -> None:
        assert self._bending is not None
        largest = max(self.deepest, 1e-12)
        found = self._bending.bands(elastic, self.magnified, largest)
        for handle, triangles in zip(self._bands, found, strict=True):
            handle.visible = len(triangles) > 0
            if len(triangles):
                handle.vertices = triangles.reshape(-1, 3).astype(np.float32)
                handle.faces = np.arange(3 * len(triangles), dtype=np.uint32).reshape(-1, 3)

    def deepest_of(self, shown: Record) -> float:
        """Largest displacement of the platform's skin over a record, m; 0 of a rigid one."""
        if self._bending is None or not shown.motion.modes:
            return 0.0
        return self._bending.largest(shown.motion.elastic[:: max(1, len(shown) // 100)])


def arrows(start: Array, force: Array, strongest: float, longest: float) -> Array:
    """Arrows (n, 2, 3) of forces (n, 3) at places (n, 3): `longest` (m) for the strongest (N).

    Forces beyond the strongest get at most 1.5 times that length.
    """
    part = force / (strongest or 1.0)
    size = np.linalg.norm(part, axis=-1, keepdims=True)
    part = part * np.minimum(1.0, 1.5 / np.where(size == 0, 1.0, size))
    return np.stack([start, start + longest * part], axis=1)


def _lengths(lengths: Array) -> Array:
    """Scales (n, 3) of bars of length 1."""
    return np.stack([np.ones_like(lengths), np.ones_like(lengths), lengths], axis=-1)
