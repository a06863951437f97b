"""Pictures of a flexible platform's mode shapes."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from gough.base.arrays import Array
from gough.description.modal.body import ModalBody
from gough.errors import InputError
from gough.show.colors import DARK, GREY
from gough.show.pictures.cube import cube
from gough.show.style import STYLE

COLORS = "RdBu_r"
LARGEST = 0.14
"""Largest displacement drawn, in parts of the body's size."""
COLUMNS = 5
MOST = 40


def mode_sheet(body: ModalBody, title: str) -> Figure:
    """Every mode, deformed and coloured by how far it moves along its main axis; the tips as dots."""
    if not body.modes:
        raise InputError(f"{body.name}: no modes to draw")
    count = min(body.modes, MOST)
    columns = min(COLUMNS, count)
    rows = -(-count // columns)
    own = body.own_modes
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(max(2.6 * columns, 6.5), 2.45 * rows + 1.35))
        head, foot = 1 - 0.55 / figure.get_figheight(), 0.85 / figure.get_figheight()
        grid = figure.add_gridspec(
            rows, columns, left=0.01, right=0.99, top=head, bottom=foot, wspace=0, hspace=0.12
        )
        for k in range(count):
            axes = figure.add_subplot(grid[k // columns, k % columns], projection="3d")
            axis, largest = _draw(axes, body, own.vectors[:, k])
            axes.set_title(f"mode {k + 1} · {own.frequencies[k]:.4g} Hz", fontsize=10, pad=-2)
            axes.text2D(
                0.5,
                0.02,
                f"along {axis}, at most {largest:.3g} m",
                transform=axes.transAxes,
                ha="center",
                fontsize=8,
                color=GREY,
            )
        more = f" (first {count} of {body.modes})" if count < body.modes else ""
        figure.suptitle(
            f"{title}: mode shapes{more}",
            y=1 - 0.12 / figure.get_figheight(),
            va="top",
            parse_math=False,
        )
        bar = figure.add_axes(
            (0.3, 0.5 / figure.get_figheight(), 0.4, 0.13 / figure.get_figheight())
        )
        figure.colorbar(
            ScalarMappable(Normalize(-1, 1), COLORS),
            cax=bar,
            orientation="horizontal",
            label="displacement for a modal coordinate of 1, in parts of the mode's largest",
        )
    return figure


def _draw(axes: Any, body: ModalBody, mode: Array) -> tuple[str, float]:
    """Draw a mode (N,) by shapes; return its main axis, and its largest displacement (m, for 1)."""
    shape = body.shapes @ mode
    used = np.arange(len(shape)) if body.faces is None else np.unique(body.faces)
    main = int(np.argmax(np.sum(shape[used] ** 2, axis=0)))
    largest = float(np.abs(shape[used, main]).max()) or 1.0
    size = float(np.ptp(body.positions, axis=0).max()) or 1.0
    scale = LARGEST * size / (float(np.linalg.norm(shape[used], axis=1).max()) or 1.0)
    deformed = body.positions + scale * shape
    colors = matplotlib.colormaps[COLORS]
    if body.faces is None:
        axes.scatter(*deformed.T, c=shape[:, main] / largest, cmap=COLORS, vmin=-1, vmax=1, s=14)
    else:
        value = shape[body.faces, main].mean(axis=1) / largest
        faces = Poly3DCollection(deformed[body.faces], linewidths=0.2)
        faces.set_facecolor(colors((value + 1) / 2))
        faces.set_edgecolor((0.2, 0.2, 0.2, 0.25))
        axes.add_collection3d(faces)
    tips = body.tip_positions + scale * (body.tip_shapes @ mode)
    axes.plot(*tips.T, linestyle="", marker="o", markersize=3, color=DARK, zorder=10)
    cube(axes, deformed[used], 1.55, 28)
    return "xyz"[main], largest
