"""A small picture of every example: what it draws, or else the robot it is about."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from PIL import Image

from example_pages import EXAMPLES
from gough.base.files import replacing
from gough.errors import GoughError
from gough.motion import Motion
from gough.robot import Robot
from gough.show.plots import draw
from gough.show.style import STYLE

SIZE = (360, 270)
"""Width and height of a thumbnail, pixels."""


def write(folder: Path) -> None:
    """Draw what is missing into `gallery/`; remove a picture to have it drawn anew."""
    place = folder / "gallery"
    place.mkdir(exist_ok=True)
    for path in sorted(EXAMPLES.glob("*.py")):
        target = place / f"{path.stem}.png"
        if not target.is_file():
            image = thumbnail(path)
            with replacing(target) as temporary:
                image.save(temporary, format="png", optimize=True)


def thumbnail(path: Path) -> Image.Image:
    """Run an example in a folder of its own and look at what it leaves."""
    with tempfile.TemporaryDirectory() as place, _inside(Path(place)):
        left = runpy.run_path(str(path))
        drawn = sorted(Path(place).rglob("*.png"))
        if drawn:
            return small(Image.open(drawn[-1]))
    for value in left.values():
        if isinstance(value, Figure):
            return small(_picture(value))
    return small(_picture(_robot(left)))


@contextlib.contextmanager
def _inside(place: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(place)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
            yield
    finally:
        os.chdir(before)


def _robot(left: dict[str, Any]) -> Figure:
    """The first robot that an example made, along its first motion that this robot can draw."""
    robots = [value for value in left.values() if isinstance(value, Robot)]
    motions = [value for value in left.values() if isinstance(value, Motion) and value.shape]
    for motion in motions:
        with contextlib.suppress(GoughError):
            return draw(robots[0], motion)
    return draw(robots[0])


def _picture(figure: Figure) -> Image.Image:
    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format="png", dpi=100)
    return Image.open(buffer)


def small(image: Image.Image) -> Image.Image:
    """The picture in a frame of `SIZE`, whole, on white."""
    flat = Image.new("RGB", SIZE, "white")
    whole = image.convert("RGB")
    whole.thumbnail(SIZE, Image.Resampling.LANCZOS)
    flat.paste(whole, ((SIZE[0] - whole.width) // 2, (SIZE[1] - whole.height) // 2))
    return flat.quantize(128)


if __name__ == "__main__":
    write(Path(__file__).parent)
