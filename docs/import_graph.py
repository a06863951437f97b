"""The imports between the parts of gough, drawn by the build: layers as bands, from top to bottom.

The parts are the folders of `src/gough` and the modules beside them; the layers are import-linter's in
`pyproject.toml`. Imports are read from the source (`ast`), those inside functions and for type checkers
included. Every arrow goes downward, or there is no picture.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from gough.base.files import replacing
from gough.show.style import STYLE

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "gough"
INK, SOFT, BAND, BOX, BLUE = "#1d2126", "#c3ccd6", "#f1f4f7", "#ffffff", "#0b62a8"
LEGEND = """\
A band is a layer; folders upright, single modules italic.
A dot: the part at the left of its line imports from the one that the arrow leads to;
the larger, the more of its modules do."""
Imports = Counter[tuple[str, str]]


def layers() -> list[list[str]]:
    """Parts of the package from top to bottom; those of one layer know nothing of each other."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (order,) = (one["layers"] for one in settings["contracts"] if one["type"] == "layers")
    return [[part.strip() for part in layer.split("|")] for layer in order]


def imports() -> Imports:
    """How many modules of one part import from another, by (importer, imported)."""
    found: Imports = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE).with_suffix("").parts
        part = inside[0]
        if part in ("__init__", "__main__"):
            continue  # the public face, above all
        names = {name.split(".")[1] for name in imported(path, inside) if "." in name}
        found.update((part, other) for other in names if other != part)
    return found


def imported(path: Path, inside: tuple[str, ...]) -> Iterator[str]:
    """Names `gough.…` that a module imports."""
    package = ("gough", *inside[:-1])
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.startswith("gough."))
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            home = ".".join((*above, *([node.module] if node.module else [])))
            if home == "gough":
                yield from (f"gough.{one.name}" for one in node.names)
            elif home.startswith("gough."):
                yield home


def upward(found: Imports) -> list[tuple[str, str]]:
    """Imports that do not go to a lower layer."""
    level = {part: i for i, layer in enumerate(layers()) for part in layer}
    return [(part, other) for part, other in found if level[part] >= level[other]]


def draw() -> Figure:
    """Parts on a diagonal; an import leaves its part to the right and goes down to what it imports."""
    bands, found = layers(), imports()
    assert not upward(found), f"upward: {upward(found)}"
    order = list(chain.from_iterable(bands))
    place = {part: i for i, part in enumerate(order)}
    figure = Figure(figsize=(12.4, 9.6), layout="none")
    axes = figure.add_axes((0, 0, 1, 1))
    wide, high, edge = 1.62, 0.64, len(order)
    tops = np.cumsum([0, *map(len, bands)]) - 0.5
    for i, (top, bottom) in enumerate(pairwise(tops)):
        if i % 2 == 0:
            axes.add_patch(Rectangle((-1, top), edge + 1, bottom - top, color=BAND, lw=0, zorder=0))
    for part, i in place.items():
        reached = [place[other] for one, other in found if one == part]
        if reached:
            axes.plot([i + wide / 2, max(reached)], [i, i], color=SOFT, lw=1.1, zorder=1)
        asking = [place[one] for one, other in found if other == part]
        if asking:
            axes.annotate(
                "",
                (i, i - high / 2),
                (i, min(asking)),
                arrowprops={
                    "arrowstyle": "-|>,head_length=.45,head_width=.2",
                    "color": BLUE,
                    "lw": 1.1,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
                zorder=2,
            )
        axes.add_patch(
            FancyBboxPatch(
                (i - wide / 2, i - high / 2),
                wide,
                high,
                boxstyle="round,pad=0,rounding_size=0.12",
                fc=BOX,
                ec=INK,
                lw=1.1,
                zorder=3,
            )
        )
        single = (PACKAGE / f"{part}.py").is_file()
        axes.text(
            i,
            i,
            part,
            ha="center",
            va="center",
            fontsize=9,
            style="italic" if single else "normal",
            color=INK,
            zorder=4,
        )
    for (one, other), count in found.items():
        size = 4.4 + 1.2 * np.log2(count)
        axes.plot([place[other]], [place[one]], "o", ms=size, color=BLUE, mec="white", zorder=5)
    axes.text(-0.6, len(order) - 1, LEGEND, va="bottom", fontsize=9.5, linespacing=1.7, color=INK)
    axes.set_xlim(-1, edge)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.axis("off")
    return figure


def write(folder: Path) -> None:
    """Draw it as `imports.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE), replacing(folder / "imports.png") as temporary:
        draw().savefig(temporary, format="png", dpi=130, bbox_inches="tight", pad_inches=0.1)
