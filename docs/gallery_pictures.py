"""Small pictures of `gallery.md`, made by the lines of code on that page."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from gough.base.files import replacing
from gough.cli.app import app

CARD = re.compile(r"^### .*?(?=^##|\Z)", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[.*\]\(gallery/([\w-]+)\.png\)$", re.MULTILINE)
CODE = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SIZE = (720, 480)
"""Largest width and height of a picture."""


class Card(NamedTuple):
    """A picture of the gallery."""

    name: str
    language: str
    code: str


def cards(page: str) -> Iterator[Card]:
    """All there are on the page."""
    for text in CARD.findall(page):
        (name,), ((language, code),) = PICTURE.findall(text), CODE.findall(text)
        yield Card(name, language, code)


def write(folder: Path) -> None:
    """Make what is missing or was made by other lines into `gallery/`."""
    (folder / "gallery").mkdir(exist_ok=True)
    for card in cards((folder / "gallery.md").read_text("utf-8")):
        path = folder / "gallery" / f"{card.name}.png"
        if not path.is_file() or made_by(path) != card.code:
            print(f"making {card.name}.png …", flush=True)
            small = picture(card)
            told = PngInfo()
            told.add_itxt("made by", card.code)
            with replacing(path) as temporary:
                small.save(temporary, "PNG", pnginfo=told, optimize=True)


def made_by(path: Path) -> str:
    """The lines that a picture was made by, which it carries."""
    with Image.open(path) as one:
        one.load()
        return str(one.info.get("made by", ""))


def picture(card: Card) -> Image.Image:
    """What the lines of a card draw, made small."""
    with (
        tempfile.TemporaryDirectory() as place,
        contextlib.chdir(place),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        run(card)
        with Image.open(Path(place) / f"{card.name}.png") as drawn:
            small = drawn.convert("RGB")
    small.thumbnail(SIZE, Image.Resampling.LANCZOS)
    return small.quantize(256, method=Image.Quantize.MEDIANCUT, kmeans=2)


def run(card: Card) -> None:
    """Run a card's lines where we are."""
    if card.language == "python":
        exec(compile(card.code, f"gallery: {card.name}", "exec"), {"__name__": "__main__"})
        return
    for line in card.code.replace("\\\n", " ").splitlines():
        program, *words = shlex.split(line)
        if program != "gough" or app(words, standalone_mode=False):
            raise ValueError(f"gallery: {card.name}: {line}")


if __name__ == "__main__":
    write(Path(os.path.abspath(__file__)).parent)
