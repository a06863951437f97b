"""Numbers of the legs in the legs' colours, which face whoever looks.

Labels of viser have one colour; so every page has flat digits of its own, turned with its camera.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, unit
from gough.show.colors import leg_color
from gough.show.layout import SceneLayout
from gough.show.solids import SurfaceMesh
from gough.studio.arrows import rgb

if TYPE_CHECKING:
    import viser

    from gough.studio.server import StudioServer

FACING = Rotation.from_rotvec([np.pi, 0.0, 0.0])
"""From a digit (x right, y up) to viser's cameras (y down, z forward)."""


def number_places(layout: SceneLayout) -> tuple[list[str], Array]:
    """Numbers of the legs, and where they stand, (legs, 3)."""
    stands, size = layout.ground, layout.size
    along = stands[:, 1] - stands[:, 0]
    rails = np.linalg.norm(along, axis=-1, keepdims=True) > 0
    apart = stands[:, 0] - stands[:, 0].mean(axis=0)
    places = stands[:, 0] + size * np.where(rails, -0.07 * unit(along), 0.08 * unit(apart))
    return [str(leg + 1) for leg in range(len(stands))], places


class Tags:
    """Texts at places, in colours of legs, on every page that is or will be open."""

    def __init__(
        self, server: StudioServer, own: str, texts: list[str], places: Array, tall: float
    ) -> None:
        self._own, self._texts, self._places, self._tall = own, texts, places, tall
        self._handles: dict[int, list[Any]] = {}
        for client in server.get_clients().values():
            self.show_to(client)

    def show_to(self, client: viser.ClientHandle) -> None:
        """Add them to a page, and turn them with its camera."""
        scene: Any = client.scene
        self._handles[client.client_id] = [
            scene.add_mesh_simple(
                f"{self._own}/tags/{k}", self._tall * mesh.vertices, mesh.faces,
                color=rgb(leg_color(k)), side="double", position=tuple(place),
                cast_shadow=False, receive_shadow=False,
            )
            for k, (mesh, place) in enumerate(
                zip(map(letters, self._texts), self._places, strict=True)
            )
        ]  # fmt: skip
        self.face(client)

    def face(self, client: viser.ClientHandle) -> None:
        """Turn a page's tags to its camera."""
        try:
            camera = Rotation.from_quat(client.camera.wxyz, scalar_first=True)
        except (AssertionError, ValueError):  # a page that has not said yet where it looks from
            return
        turn = (camera * FACING).as_quat(scalar_first=True)
        for handle in self._handles.get(client.client_id, []):
            handle.wxyz = turn

    def forget(self, client_id: int) -> None:
        """A page is gone."""
        self._handles.pop(client_id, None)

    def remove(self) -> None:
        """Take them away from all pages."""
        for handles in self._handles.values():
            for handle in handles:
                handle.remove()
        self._handles.clear()


@cache
def letters(text: str) -> SurfaceMesh:
    """A text of height 1 about the origin as triangles in the plane of x and y."""
    outline = TextPath((0, 0), text, size=100, prop=FontProperties(weight="bold"))
    loops = [np.asarray(one) for one in outline.to_polygons()]
    points = np.concatenate([_dense(one) for one in loops])
    shape = Path.make_compound_path(*(Path(one) for one in loops))
    mesh = Delaunay(points)
    middles = points[mesh.simplices].mean(axis=1)
    inside = np.sum([_winding(one, middles) for one in loops], axis=0) != 0
    box = shape.get_extents()
    middle = np.array([box.x0 + box.x1, box.y0 + box.y1]) / 2
    flat = (points - middle) / box.height
    return SurfaceMesh(np.column_stack([flat, np.zeros(len(flat))]), mesh.simplices[inside])


def _dense(loop: Array) -> Array:
    """Points of a closed loop, close enough that triangles between them keep to its edges."""
    pieces = [
        a + np.linspace(0, 1, max(2, int(np.hypot(*(b - a)) / 4) + 1))[:-1, None] * (b - a)
        for a, b in itertools.pairwise(loop)
    ]
    return np.concatenate(pieces)


def _winding(loop: Array, points: Array) -> Array:
    """How often a loop goes round points (n, 2): −1, 0 or 1 of a simple one."""
    a, b = loop[:-1], loop[1:]
    sign = np.sign(np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]))
    return np.asarray(sign * Path(loop).contains_points(points))
