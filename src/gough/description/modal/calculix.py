"""CalculiX: modes from an ASCII .frd file, densities from the .inp file it was computed from.

The .frd holds the mesh as it was solved: shells appear as the solid elements that CalculiX makes of
them. The body's nodes are the quadrature points of these elements, so that its sums are the
consistent mass integrals of the model.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from gough.base.arrays import Array
from gough.base.files import content
from gough.description.modal.attachment import Meshed
from gough.description.modal.body import ModalBody
from gough.description.modal.elements import FAMILIES, Solid, mass_points, skin
from gough.description.modal.meshed import (
    MassPoints,
    Mesh,
    Selection,
    assemble,
    refuse_many,
)
from gough.errors import FileError

LARGEST = 2000.0
"""Largest file, MB."""
MOST_MEMBERS = 20_000_000
"""Members of all element sets together."""
TYPES = {1: "C3D8", 2: "C3D6", 3: "C3D4", 4: "C3D20", 5: "C3D15", 6: "C3D10"}
"""Element types of an .frd file that are solids."""
NODES = {"C3D4": 4, "C3D6": 6, "C3D8": 8, "C3D10": 10, "C3D15": 15, "C3D20": 20, "S3": 3, "S4": 4,
         "S6": 6, "S8": 8}  # fmt: skip
"""Nodes of the element types of an .inp file, their variants (R, I) aside."""


def read_calculix(
    frd: str | os.PathLike[str], inp: str | os.PathLike[str], wanted: Selection
) -> ModalBody:
    """The elastic modes of a *FREQUENCY step."""
    mesh, found = _Frd(frd).read()
    density = _Inp(inp).densities()
    place = {int(number): i for i, number in enumerate(mesh.numbers)}
    solids = []
    for kind in sorted({kind for kind, _ in found.values()}):
        members = {e: nodes for e, (k, nodes) in found.items() if k == kind}
        if kind not in TYPES:
            raise FileError(
                f"{frd}: element {next(iter(members))} has type {kind}, which is no solid; write "
                "shells expanded (without OUTPUT=2D)"
            )
        for element, nodes in members.items():
            if element not in density:
                raise FileError(f"{inp}: element {element} of {frd} has no density")
            for node in nodes:
                if node not in place:
                    raise FileError(f"{frd}: element {element} has node {node}, which is nowhere")
        solids.append(
            Solid(
                FAMILIES[TYPES[kind]],
                np.array([[place[node] for node in nodes] for nodes in members.values()]),
                np.array([density[element] for element in members]),
            )
        )
    refuse_many(mesh, sum(len(one.nodes) * len(one.family.quadrature()[1]) for one in solids))
    parts = [mass_points(solid, mesh.positions, mesh.shapes) for solid in solids]
    points = MassPoints(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    elements = Meshed(mesh.positions, mesh.shapes, None, solids, np.zeros((0, 4), dtype=np.int64))
    return assemble(mesh, points, wanted, elements, skin(solids))


def _lines(path: str | os.PathLike[str]) -> list[str]:
    try:
        return content(path, "file of CalculiX", LARGEST).decode("ascii", "replace").splitlines()
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


def _whole(text: str) -> int:
    """A number of a node or element; a ValueError if it is none, or too large to be one."""
    number = int(text)
    if abs(number) >= 2**53:
        raise ValueError
    return number


class _Frd:
    """Reader of the ASCII .frd: fixed columns, blocks that end with a line −3."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self.lines = _lines(path)
        self.at = 0
        self.width = 10

    def fail(self, message: str) -> FileError:
        return FileError(f"{self.path}: line {min(self.at, len(self.lines))}: {message}")

    def read(self) -> tuple[Mesh, dict[int, tuple[int, list[int]]]]:
        """The mesh with its modes, and the elements: number → type, nodes."""
        positions: dict[int, list[float]] = {}
        elements: dict[int, tuple[int, list[int]]] = {}
        modes: list[tuple[float, dict[int, list[float]]]] = []
        frequency: float | None = None
        if not self.lines or not self.lines[0].startswith("    1C"):
            raise FileError(f"{self.path}: not an ASCII .frd file of CalculiX")
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            if line.startswith("    2C"):
                self._format(line)
                positions = self._values(3)
            elif line.startswith("    3C"):
                self._format(line)
                elements = self._elements()
            elif line.startswith("  100C"):
                frequency = self._number(line[12:24]) if "MODAL" in line else None
                self._format(line)
            elif line.startswith(" -4") and line[3:].split()[:1] == ["DISP"]:
                values = self._values(3)
                if frequency is not None:
                    modes.append((frequency, values))
            elif line.startswith(" 9999"):
                break
        else:
            raise self.fail("the file ends before its end mark 9999: it is truncated")
        if not positions or not elements:
            raise FileError(f"{self.path}: no nodes and elements")
        if not modes:
            raise FileError(
                f"{self.path}: no modes: a *FREQUENCY step with *NODE FILE and U writes them"
            )
        return self._mesh(positions, modes), elements

    def _mesh(
        self, positions: dict[int, list[float]], modes: list[tuple[float, dict[int, list[float]]]]
    ) -> Mesh:
        for k, (_, values) in enumerate(modes, 1):
            lacking = positions.keys() - values.keys()
            if lacking:
                raise FileError(f"{self.path}: mode {k} has no displacement of node {min(lacking)}")
        shapes = [[values[node] for node in positions] for _, values in modes]
        squares = (2 * np.pi * np.array([frequency for frequency, _ in modes])) ** 2
        everything = (np.array(list(positions.values())), np.moveaxis(np.array(shapes), 0, -1))
        if not all(np.isfinite(part).all() for part in (*everything, squares)):
            raise FileError(f"{self.path}: a number that is not finite")
        return Mesh(str(self.path), np.array(list(positions)), *everything, squares)

    def _format(self, header: str) -> None:
        """The last column of a block's header: 0 short, 1 long, 2 and 3 binary."""
        kind = header[6:].split()[-1:] or ["1"]
        if kind[0] not in ("0", "1"):
            raise self.fail("a binary block; only ASCII .frd files are read")
        self.width = 5 if kind[0] == "0" else 10

    def _block(self) -> Iterator[str]:
        """Lines up to the block's end."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            if line.startswith(" -3"):
                return
            yield line
        raise self.fail("the file ends within a block: it is truncated")

    def _values(self, count: int) -> dict[int, list[float]]:
        """Number → its first values."""
        found = {}
        start = 3 + self.width
        for line in self._block():
            if line.startswith(" -1"):
                if len(line.rstrip()) < start + 12 * count:
                    raise self.fail("a line that is cut off")
                parts = [line[start + 12 * i : start + 12 * (i + 1)] for i in range(count)]
                found[self._whole(line[3:start])] = [self._number(part) for part in parts]
        return found

    def _elements(self) -> dict[int, tuple[int, list[int]]]:
        found: dict[int, tuple[int, list[int]]] = {}
        latest: list[int] = []
        for line in self._block():
            if line.startswith(" -1"):
                start = 3 + self.width
                latest = []
                found[self._whole(line[3:start])] = self._whole(line[start : start + 5]), latest
            elif line.startswith(" -2"):
                body = line[3:].rstrip()
                latest += [
                    self._whole(body[i : i + self.width]) for i in range(0, len(body), self.width)
                ]
        for element, (kind, nodes) in found.items():
            if kind in TYPES and len(nodes) != NODES[TYPES[kind]]:
                raise FileError(f"{self.path}: element {element} has {len(nodes)} nodes")
        return found

    def _number(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise self.fail(f"{text.strip()!r} is no number"[:80]) from None

    def _whole(self, text: str) -> int:
        try:
            return _whole(text)
        except ValueError:
            raise self.fail(f"{text.strip()!r} is no whole number"[:80]) from None


class _Inp:
    """Reader of what an .inp file says on density: elements, sets, sections, materials."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self.counted = 0

    def densities(self) -> dict[int, float]:
        """Element number → kg/m³."""
        sets: dict[str, set[int]] = {}
        sections: list[tuple[str, str]] = []
        material, density = "", {}
        cards = [*self._cards()]
        known = np.unique(
            [
                n
                for keyword, o, d in cards
                if keyword == "ELEMENT"
                for n in self._element_numbers(o, d)
            ]
        )
        for keyword, options, data in cards:
            if keyword == "INCLUDE":
                raise FileError(f"{self.path}: *INCLUDE is not followed; give one whole file")
            if keyword == "ELEMENT":
                numbers = self._element_numbers(options, data)
                sets.setdefault(options.get("ELSET", ""), set()).update(numbers)
                sets.setdefault("EALL", set()).update(numbers)
            elif keyword == "ELSET":
                members = self._members(options, data, sets, known)
                sets.setdefault(options.get("ELSET", ""), set()).update(members)
            elif keyword in ("SOLID SECTION", "SHELL SECTION"):
                if "COMPOSITE" in options:
                    raise FileError(f"{self.path}: composite shells are not read")
                sections.append((options.get("ELSET", ""), options.get("MATERIAL", "")))
            elif keyword == "MATERIAL":
                material = options.get("NAME", "")
            elif keyword == "DENSITY" and data:
                density[material] = self._number(data[0].split(",")[0])
            elif keyword == "MASS":
                raise FileError(f"{self.path}: point masses (*MASS) are not read")
        found = {}
        for elements, name in sections:
            if name not in density:
                raise FileError(f"{self.path}: material {name or '(no name)'} has no *DENSITY")
            if elements not in sets:
                raise FileError(f"{self.path}: no element set {elements or '(no name)'}")
            self._count(len(sets[elements]))
            found.update(dict.fromkeys(sets[elements], density[name]))
        if not found:
            raise FileError(f"{self.path}: no *SOLID SECTION or *SHELL SECTION with elements")
        return found

    def _cards(self) -> Iterator[tuple[str, dict[str, str], list[str]]]:
        """Keyword, options and data lines, in capitals."""
        card: tuple[str, dict[str, str], list[str]] | None = None
        for line in _lines(self.path):
            text = line.strip().upper()
            if not text or text.startswith("**"):
                continue
            if text.startswith("*"):
                if card is not None:
                    yield card
                head, *options = (part.strip() for part in text[1:].split(","))
                pairs = (option.partition("=") for option in options)
                card = head, {key.strip(): value.strip() for key, _, value in pairs}, []
            elif card is not None:
                card[2].append(text)
            else:
                raise FileError(f"{self.path}: not an input file of CalculiX: {text[:40]!r}")
        if card is not None:
            yield card

    def _element_numbers(self, options: dict[str, str], data: list[str]) -> list[int]:
        kind = options.get("TYPE", "")
        size = NODES.get(kind.rstrip("RI"))
        if size is None:
            raise FileError(f"{self.path}: elements of type {kind or '(none)'} are not read")
        numbers = [self._whole(part) for line in data for part in line.split(",") if part.strip()]
        if len(numbers) % (size + 1):
            raise FileError(f"{self.path}: an element of type {kind} lacks nodes")
        return numbers[:: size + 1]

    def _members(
        self, options: dict[str, str], data: list[str], sets: dict[str, set[int]], known: Array
    ) -> set[int]:
        """Elements of a set; of those that GENERATE counts up, the ones that there are."""
        members: set[int] = set()
        for line in data:
            parts = [part.strip() for part in line.split(",") if part.strip()]
            if "GENERATE" in options:
                numbers = [self._whole(part) for part in parts]
                if len(numbers) not in (2, 3) or (len(numbers) == 3 and numbers[2] < 1):
                    raise FileError(
                        f"{self.path}: *ELSET, GENERATE needs first, last and step, has {line[:40]!r}"
                    )
                first, last, step = (*numbers, 1)[:3]
                begin, end = np.searchsorted(known, (first, last + 1))
                some = known[begin:end]
                added = set(some[(some - first) % step == 0].tolist())
                self._count(len(some) - len(added))
            else:
                added = set()
                for part in parts:
                    added |= sets[part] if part in sets else {self._whole(part)}
                    self._count(len(sets.get(part, "1")))
            self._count(len(added))
            members |= added
        return members

    def _count(self, more: int) -> None:
        """Refuse sets that grow without end: they may hold each other."""
        self.counted += more
        if self.counted > MOST_MEMBERS:
            raise FileError(f"{self.path}: element sets of over {MOST_MEMBERS} members")

    def _number(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise FileError(f"{self.path}: {text.strip()[:40]!r} is no number") from None

    def _whole(self, text: str) -> int:
        try:
            return _whole(text)
        except ValueError:
            raise FileError(f"{self.path}: {text.strip()[:40]!r} is no whole number") from None
