"""XML of others: parsed without entities, within limits, and with files of its own folder only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from gough.base.files import content
from gough.errors import FileError

MOST_MEGABYTES = 16
"""Of an XML file."""
DEEPEST = 150
"""Elements inside each other."""
MOST_ELEMENTS = 100_000
MOST_ATTRIBUTES = 200
"""Of an element."""
MOST_INCLUDES = 50


class _RefusedError(Exception):
    """What the parser meets that no robot needs."""


def parse_xml(data: bytes, name: str) -> ElementTree.Element:
    """The elements of an XML text. Entities and document types are refused, declared or not."""
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    depth = count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > DEEPEST:
            raise _RefusedError(f"elements nested deeper than {DEEPEST}")
        if count > MOST_ELEMENTS:
            raise _RefusedError(f"more than {MOST_ELEMENTS} elements")
        if len(attributes) > MOST_ATTRIBUTES:
            raise _RefusedError(f"an element with more than {MOST_ATTRIBUTES} attributes")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*given: Any) -> int:
        raise _RefusedError("it declares a document type or entities, which are not read")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(data, True)
        return builder.close()
    except _RefusedError as error:
        raise FileError(f"{name}: {error}") from None
    except (expat.ExpatError, ValueError, LookupError, AssertionError) as error:
        raise FileError(f"{name}: not XML: {error}"[:200]) from None


def read_xml(path: Path) -> ElementTree.Element:
    """The elements of an XML file."""
    try:
        data = content(path, "robot's XML file", MOST_MEGABYTES)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    return parse_xml(data, str(path))


def inside(folder: Path, name: str, what: str, named_in: str) -> Path:
    """The path of a file that another one names, which must be in the folder or below it.

    Links are followed first: where a name leads counts, not how it is written.
    """
    try:
        path, home = (folder / name).resolve(), folder.resolve()
    except (OSError, ValueError, RuntimeError):
        raise FileError(f"{named_in}: {what} {name[:80]!r} is no file name") from None
    if os.path.isabs(name) or not path.is_relative_to(home):
        raise FileError(
            f"{named_in}: {what} {name[:80]!r} is outside of the folder of the robot's file"
        )
    try:
        path.is_file()  # a name too long, say, is an error of the operating system
    except OSError as error:
        raise FileError(f"{named_in}: {what} {name[:80]!r}: {error.strerror}") from None
    return path


def with_includes(path: Path) -> ElementTree.Element:
    """An XML file with what its <include file="…"> name in their places, as MuJoCo does it."""
    folder, seen = path.absolute().parent, [path.resolve()]
    count = 0

    def read(source: Path) -> ElementTree.Element:
        nonlocal count
        found = read_xml(source)
        count += sum(1 for _ in found.iter())
        if count > MOST_ELEMENTS:
            raise FileError(f"{path}: more than {MOST_ELEMENTS} elements")
        return found

    def expand(element: ElementTree.Element, depth: int) -> None:
        if depth > DEEPEST:
            raise FileError(f"{path}: elements nested deeper than {DEEPEST}")
        for place, child in reversed(list(enumerate(element))):
            if child.tag != "include":
                expand(child, depth + 1)
                continue
            name = child.get("file", "")
            source = inside(folder, name, "include", str(path))
            if source in seen or len(seen) > MOST_INCLUDES:
                raise FileError(f"{path}: include {name!r} again, or over {MOST_INCLUDES} includes")
            if not source.is_file():
                raise FileError(f"{path}: include {name!r} is not there")
            seen.append(source)
            whole = read(source)
            expand(whole, depth)
            element[place : place + 1] = list(whole)

    root = read(path)
    expand(root, 1)
    return root
