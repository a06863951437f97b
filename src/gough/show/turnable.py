"""A robot that turns in a page: one HTML file or a part of one, offline, drawn by WebGL.

The page holds the parts and where they are along a motion, a script of gough's own that draws them
(`turnable.js`), and nothing else: nothing is fetched. Where there is no WebGL, and on paper, the
drawing of `gough.show.plots.draw` stands in its place.
"""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgb

from gough.base.arrays import Array, unit
from gough.base.files import replacing
from gough.errors import InputError
from gough.motion import Motion
from gough.show.colors import leg_color
from gough.show.layout import FIELD, SceneLayout, round_number
from gough.show.parts import robot_parts
from gough.show.pictures.animation import instants
from gough.show.style import picture
from gough.show.web import web_part

if TYPE_CHECKING:
    from gough.robot import Robot

MOST = 120
"""Instants of a motion that a page holds."""
ASPECT = 1.5
"""Width of the picture over its height."""

ALONE = (
    "body { margin: .5rem; } .gough-turnable { width: auto; }"
    ".gough-turnable .stage { aspect-ratio: auto; height: calc(100vh - 4rem); }"
)
"""Style of a page that holds nothing else."""


@dataclass(frozen=True)
class Turnable:
    """A robot, at rest or along a motion, as HTML; in a notebook it shows itself."""

    name: str
    data: str
    """What the script draws, as JSON without "<"."""
    paper: bytes = b""
    """The same on paper, as SVG; none without."""

    @classmethod
    def of(cls, robot: Robot, motion: Motion | None = None, paper: bool = True) -> Turnable:
        """A robot at home, in a pose, or along a motion (n,), which plays if it has times.

        Args:
            robot: any robot.
            motion: what is shown; the home pose without.
            paper: with a picture for paper, and for browsers without WebGL.

        Returns:
            A page to `write`, or to show in a notebook.

        """
        motion = robot.home if motion is None else motion
        if 0 in motion.shape or len(motion.shape) > 1:
            raise InputError(f"motion of batch shape {motion.shape}: a page shows (n,) or one pose")
        data = _data(robot, motion)
        if not paper:
            return cls(robot.name, data)
        from gough.show.pictures.robot import draw

        return cls(robot.name, data, picture(draw(robot, motion), "svg"))

    @property
    def part(self) -> str:
        """What stands in a page that has this module's style, and its script at its end."""
        image = ""
        if self.paper:
            source = base64.b64encode(self.paper).decode()
            image = f'<img alt="{escape(self.name)}" src="data:image/svg+xml;base64,{source}">'
        held = f'<script type="application/json">{self.data}</script>'
        return f'<div class="gough-turnable">{image}{held}</div>'

    def html(self) -> str:
        """A whole page."""
        style, script = web_part("turnable")
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{escape(self.name)}</title><style>{style}{ALONE}</style></head>"
            f"<body>{self.part}<script>{script}</script></body></html>\n"
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        with replacing(path) as temporary:
            temporary.write_text(self.html(), "utf-8")

    def _repr_html_(self) -> str:
        """In a notebook: a frame of its own, so that nothing of it touches the notebook's page."""
        frame = "width:100%;max-width:900px;aspect-ratio:3/2.1;border:0"
        page = escape(self.html())
        return f'<iframe sandbox="allow-scripts" style="{frame}" srcdoc="{page}"></iframe>'


def _data(robot: Robot, motion: Motion) -> str:
    """All that the script needs, as JSON."""
    chosen, times = motion.reshape(-1), [0.0]
    path = motion.position.reshape(-1, 3)
    if motion.shape and motion.time is not None and len(motion) > 1:
        kept, _ = instants(motion, 30.0, MOST)
        kept = [*dict.fromkeys([*kept, len(motion) - 1])]
        chosen = motion[kept]
        times = [float(one) for one in np.asarray(motion.time)[kept]]
    else:
        chosen = chosen[:1]
    layout = SceneLayout.of(robot)
    parts, places = robot_parts(robot, layout, chosen)
    whole = np.concatenate([places.position, places.turn, places.stretch[..., None]], axis=-1)
    meshes: list[dict[str, str]] = []
    drawn = []
    for one in parts:
        mesh = {
            "vertices": _packed(one.mesh.vertices, "<f4"),
            "faces": _packed(one.mesh.faces, "<u4"),
        }
        if mesh not in meshes:
            meshes.append(mesh)
        color = [round(part, 4) for part in to_rgb(one.color)]
        drawn.append({"mesh": meshes.index(mesh), "color": color})
    camera, target = layout.camera(ASPECT)
    main = int(np.argmax(np.abs(layout.up)))
    first, second = (np.eye(3)[(main + k) % 3].tolist() for k in (1, 2))
    data: dict[str, Any] = {
        "name": robot.name,
        "up": layout.up.tolist(),
        "first": first,
        "second": second,
        "camera": camera.tolist(),
        "target": target.tolist(),
        "middle": layout.middle.tolist(),
        "size": layout.size,
        "floor": layout.floor,
        "cell": round_number(layout.size / 8),
        "field": FIELD,
        "meshes": meshes,
        "parts": drawn,
        "places": _packed(whole, "<f4"),
        "times": times,
        "labels": labels(layout),
        "path": path[:: max(1, len(path) // 300)].round(6).tolist() if len(path) > 1 else [],
    }
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c")


def labels(layout: SceneLayout) -> list[dict[str, Any]]:
    """Numbers of the legs where they stand, and the world's axes."""
    stands, size = layout.ground, layout.size
    along = stands[:, 1] - stands[:, 0]
    rails = np.linalg.norm(along, axis=-1, keepdims=True) > 0
    apart = stands[:, 0] - stands[:, 0].mean(axis=0)
    places = stands[:, 0] + size * np.where(rails, -0.07 * unit(along), 0.07 * unit(apart))
    return [
        {"text": str(leg + 1), "color": leg_color(leg), "at": place.round(6).tolist()}
        for leg, place in enumerate(places)
    ]


def _packed(values: Array, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()
