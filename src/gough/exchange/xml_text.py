"""XML that any reader takes: numbers in full, names without what XML cannot have."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gough.base.arrays import Array
from gough.errors import FileError

FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 has no way to write."""


def one_line(text: str) -> str:
    """Text on one line without characters that XML has not: names in files may hold anything."""
    return " ".join(FORBIDDEN.sub("\ufffd", text).split())


def numbers(values: Array | Iterable[float] | float) -> str:
    """Numbers in a row, each in the fewest digits that give it back exactly."""
    return " ".join(repr(float(one) + 0.0) for one in np.ravel(np.asarray(values)))


def element(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    """A further element."""
    words = {key: FORBIDDEN.sub("\ufffd", one) for key, one in attributes.items()}
    return ET.SubElement(parent, tag, words)


def path_from(file: Path, folder: Path) -> str:
    """A file's path from a folder, as XML may have it."""
    path = Path(os.path.relpath(file, folder)).as_posix()
    if FORBIDDEN.search(path):
        raise FileError(f"{path!r}: XML cannot have such a name")
    return path


def comment(parent: ET.Element, *lines: str) -> None:
    """Lines of a comment, in which XML allows no two dashes in a row."""
    words = (re.sub("-(?=-)|-$", "\u2010", one_line(line)) for line in lines)
    parent.append(ET.Comment(" " + "\n     ".join(words) + " "))


def document(root: ET.Element) -> str:
    """The whole file, indented."""
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
