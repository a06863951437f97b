"""What all pictures have in common: fonts, lines and marks, and how they are written to a file.

Pictures are `matplotlib.figure.Figure`s of their own; nothing is shown and no global state of
matplotlib is changed.
"""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from gough.base.files import replacing
from gough.errors import FileError
from gough.show.colors import DARK, leg_color

KINDS = (".png", ".svg", ".pdf")
STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 12,
    "figure.titlesize": 12,
    "axes.grid": True,
    "grid.color": "#E3E5E8",
    "grid.linewidth": 0.6,
    "axes.edgecolor": DARK,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "legend.frameon": False,
    "legend.columnspacing": 1.5,
    "legend.handletextpad": 0.5,
    "pdf.fonttype": 42,
}
HALO = (withStroke(linewidth=3, foreground="white"),)
"""White around text that crosses lines."""
PAGE_DPI = 160
"""Of pictures in pages: of PNGs, and of what is not lines in SVGs."""
DASHED: Any = (0, (4, 2))


def leg_line(leg: int, legs: int) -> dict[str, Any]:
    """Colour and dashes of a leg's curve; the second half of the legs is dashed."""
    return {"color": leg_color(leg), "linestyle": "-" if leg < (legs + 1) // 2 else DASHED}


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as .png, .svg or .pdf, whole or not at all."""
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise FileError(f"{path}: the name of a picture must end in {', '.join(KINDS)}")
    try:
        with (
            replacing(path) as temporary,
            matplotlib.rc_context(STYLE),
            warnings.catch_warnings(),
        ):
            warnings.filterwarnings("ignore", "Glyph .* missing")  # names in any script
            figure.savefig(temporary, format=kind[1:], dpi=200)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None


def picture(figure: Figure, kind: str) -> bytes:
    """The figure's bytes, the same for the same figure."""
    buffer = io.BytesIO()
    options: dict[str, Any] = {"metadata": {"Date": None}} if kind == "svg" else {}
    with matplotlib.rc_context({"svg.hashsalt": "gough"}), warnings.catch_warnings():
        # a name in letters that the font lacks shows boxes
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(buffer, format=kind, dpi=PAGE_DPI, **options)
    figure.set_layout_engine("none")  # keeps the layout just found for the next format
    return buffer.getvalue()
