"""Robots and motions as notebooks show them: HTML that needs nothing else."""

from __future__ import annotations

import base64
import io
from html import escape

import numpy as np
from rich.console import Console

from gough.errors import GoughError
from gough.motion import Motion
from gough.robot import Robot
from gough.show.pictures.robot import draw
from gough.show.sheets.robot import print_sheet

WIDTH = 100
"""Of a sheet, in letters."""
QUANTITIES = {
    "time": "s",
    "position": "m",
    "velocity": "m/s",
    "angular_velocity": "rad/s",
    "acceleration": "m/s²",
    "angular_acceleration": "rad/s²",
    "elastic": "",
}


def robot_html(robot: Robot) -> str:
    """A robot's picture and its sheet, folded in; a robot that cannot be drawn has the sheet alone."""
    told = io.StringIO()
    print_sheet(robot, Console(file=told, width=WIDTH, no_color=True))
    sheet = f"<details><summary>sheet</summary><pre>{escape(told.getvalue())}</pre></details>"
    try:
        data = io.BytesIO()
        draw(robot).savefig(data, format="png", dpi=60)
        code = base64.b64encode(data.getvalue()).decode()
        picture = f'<img alt="{escape(robot.name)}" src="data:image/png;base64,{code}"><br>'
    except GoughError:
        picture = ""
    return f"{picture}<b>{escape(repr(robot))}</b>{sheet}"


def motion_html(motion: Motion) -> str:
    """Least and largest of every quantity that a motion has."""
    rows = []
    for name, unit in QUANTITIES.items():
        value = getattr(motion, name)
        if (
            value is None
            or not value.size
            or (name not in ("time", "position") and not value.any())
        ):
            continue
        with np.errstate(invalid="ignore"):
            low, high = np.nanmin(value), np.nanmax(value)
        if np.ndim(value) > len(motion.shape) and name != "elastic":
            axes = tuple(range(len(motion.shape)))
            ends = zip(np.nanmin(value, axis=axes), np.nanmax(value, axis=axes), strict=True)
            cells = [f"{a:.4g} … {b:.4g}" if b > a else f"{a:.4g}" for a, b in ends]
        else:
            cells = [f"{low:.4g} … {high:.4g}", "", ""]
        shown = "".join(f"<td>{escape(one)}</td>" for one in cells)
        rows.append(f"<tr><th>{name.replace('_', ' ')}</th>{shown}<td>{unit}</td></tr>")
    head = "<tr><th></th><th>x</th><th>y</th><th>z</th><th></th></tr>"
    return f"<b>{escape(repr(motion))}</b><table>{head}{''.join(rows)}</table>"
