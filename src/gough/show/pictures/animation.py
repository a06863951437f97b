"""A motion of a robot as a moving picture."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gough.base.files import replacing
from gough.errors import FileError, InputError
from gough.motion import Motion
from gough.show.pictures.robot import Drawing, View

if TYPE_CHECKING:
    from PIL.Image import Image

    from gough.robot import Robot

FILMS = (".gif", ".webp", ".mp4")
RATE = 15.0
"""Pictures a second."""
MOST = 150
"""Pictures; longer motions get fewer a second."""
DPI = 100


def animate(
    robot: Robot, motion: Motion, path: str | os.PathLike[str], *, view: View | None = None
) -> None:
    """Write a motion (n,) with times as a .gif or .webp that plays in real time, or as .mp4.

    .mp4 needs ffmpeg on the path. Args as in `gough.show.plots.draw`.
    """
    if len(motion.shape) != 1 or motion.time is None or len(motion) < 2:
        raise InputError(f"motion of batch shape {motion.shape}: a film needs samples with times")
    kind = Path(path).suffix.lower()
    if kind not in FILMS:
        raise FileError(f"{path}: the name of a film must end in {', '.join(FILMS)}")
    if kind == ".mp4" and shutil.which("ffmpeg") is None:
        raise FileError(
            f"{path}: .mp4 needs the program ffmpeg, which is not on the path; .gif not"
        )
    chosen, rate = instants(motion)
    pictures = _pictures(Drawing.of(robot, motion[chosen], view, every=True))
    with replacing(path) as temporary:
        if kind == ".mp4":
            _film(pictures, rate, temporary)
        else:
            options = {"save_all": True, "append_images": pictures[1:], "loop": 0}
            pictures[0].save(temporary, format=kind[1:], duration=round(1000 / rate), **options)


def instants(motion: Motion, rate: float = RATE, most: int = MOST) -> tuple[list[int], float]:
    """Samples of a timed motion that a film shows, evenly in time, and how many a second."""
    assert motion.time is not None
    length = float(motion.time[-1] - motion.time[0])
    count = int(np.clip(round(length * rate), 2, most))
    wanted = np.linspace(motion.time[0], motion.time[-1], count, endpoint=False)
    after = np.searchsorted(motion.time, wanted).clip(1, len(motion) - 1)
    nearer = wanted - motion.time[after - 1] < motion.time[after] - wanted
    return np.where(nearer, after - 1, after).tolist(), count / length


def _pictures(drawing: Drawing) -> list[Image]:
    from PIL import Image

    found = []
    for k in range(len(drawing.motion)):
        drawing.show((k,), 2 * DPI)
        buffer = io.BytesIO()
        drawing.figure.savefig(buffer, format="png", dpi=DPI)
        found.append(Image.open(buffer).convert("RGB"))
    return found


def _film(pictures: list[Image], rate: float, path: Path) -> None:
    """Hand numbered pictures to ffmpeg."""
    with tempfile.TemporaryDirectory() as folder:
        for k, one in enumerate(pictures):
            one.save(Path(folder) / f"{k:04}.png")
        quiet = "ffmpeg -y -loglevel error"
        shown = f"-framerate {rate:.6g} -i %04d.png -pix_fmt yuv420p -f mp4"
        done = subprocess.run(
            [*quiet.split(), *shown.split(), str(path.absolute())],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise FileError(f"{path}: ffmpeg: {done.stderr.strip().splitlines()[-1][:200]}")
