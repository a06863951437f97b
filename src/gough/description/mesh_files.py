"""Triangles of STL, OBJ and GLB files: these alone are read, and nothing that such a file names.

Colours, textures, images, materials, normals, animations and compressed geometry stay unread: an image
or a shared node can be a bomb. Counts are checked against the bytes that are there before memory is
taken.
"""

from __future__ import annotations

import json
import re
import struct
from array import array
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.errors import FileError

MOST_FACES = 1_000_000
"""Of one mesh file."""
MOST_VERTICES = 3 * MOST_FACES
LARGEST = 1e9
"""Coordinate, in the file's unit."""
MOST_JSON = 16_000_000
"""Bytes of a GLB's description."""
MOST_PARTS = 20_000
"""Of a GLB's scene."""
LONGEST = 10_000
"""Corners of a face."""
HEAD = 84
"""Bytes of a binary STL before its triangles."""
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
VERTEX_OF_STL = re.compile(rb"^[ \t]*vertex[ \t]+([^\r\n]{0,200})", re.MULTILINE)
LINE_OF_OBJ = re.compile(rb"^[ \t]*(v|f)[ \t]+([^\r\n]*)", re.MULTILINE)
INTEGERS = {5121: "<u1", 5123: "<u2", 5125: "<u4"}
"""What indices may be, by GLB's numbers."""
FLOAT, TRIANGLES = 5126, 4
"""GLB's numbers of 32-bit floating point, and of separate triangles."""

Mesh = tuple[Array, Array]
"""Vertices (n, 3) and faces (m, 3)."""


def read_stl(data: bytes) -> Mesh:
    """Binary where its size says so, else text: each three `vertex` lines are a triangle."""
    count = struct.unpack_from("<I", data, HEAD - 4)[0] if len(data) >= HEAD else 0
    size = HEAD + TRIANGLE.itemsize * count
    if len(data) == size or (len(data) > size and not data.lstrip().startswith(b"solid")):
        _few(count, "triangles", MOST_FACES)
        table = np.frombuffer(data, TRIANGLE, count, HEAD)
        return _whole(table["corners"].reshape(-1, 3), np.arange(3 * count))
    numbers = array("d")
    for line in VERTEX_OF_STL.finditer(data):
        numbers.extend(_numbers(line[1].split()))
        _few(len(numbers) // 9, "triangles", MOST_FACES)
    return _whole(np.array(numbers).reshape(-1, 3), np.arange(len(numbers) // 3))


def read_obj(data: bytes) -> Mesh:
    """Its `v` and `f` lines; a face of more than three corners is a fan."""
    numbers, corners = array("d"), array("q")
    for line in LINE_OF_OBJ.finditer(data):
        words = line[2].split(maxsplit=LONGEST)
        if line[1] == b"v":
            numbers.extend(_numbers(words[:3]))
            _few(len(numbers) // 3, "vertices", MOST_VERTICES)
        else:
            _few(len(words), "corners of a face", LONGEST)
            _few(len(corners) // 3 + len(words), "triangles", MOST_FACES)
            face = [_corner(one, len(numbers) // 3) for one in words]
            for second, third in pairwise(face[1:]):
                corners.extend((face[0], second, third))
    return _whole(np.array(numbers).reshape(-1, 3), np.array(corners, dtype=np.int64))


def read_glb(data: bytes) -> Mesh:
    """The triangles of its scene, put where its nodes are."""
    file = _Glb(data)
    vertices: list[Array] = []
    faces: list[Array] = []
    count = total = 0
    for place, positions, indices in file.primitives():
        points = file.numbers(positions, "VEC3")
        corners = np.arange(len(points)) if indices is None else file.numbers(indices, "SCALAR")
        if corners.size and int(corners.max()) >= len(points):
            raise FileError("a face has a corner that is not there")
        faces.append(corners.astype(np.int64) + count)
        count, total = count + len(points), total + len(corners) // 3
        _few(total, "triangles", MOST_FACES)
        _few(count, "vertices", MOST_VERTICES)
        if not np.all(np.abs(place) <= LARGEST):
            raise FileError(f"a part is placed with numbers over {LARGEST:g}")
        vertices.append(points @ place[:3, :3].T + place[:3, 3])
    none = np.zeros((0, 3))
    return _whole(np.concatenate([none, *vertices]), np.concatenate([none[:, 0], *faces]))


READERS = {".stl": read_stl, ".obj": read_obj, ".glb": read_glb}
"""By how a file's name ends, lower case."""


def _whole(vertices: Array, corners: Array) -> Mesh:
    """A mesh that can be drawn."""
    if not corners.size or corners.size % 3:
        raise FileError("has no triangles, or part of one")
    if int(corners.min()) < 0 or int(corners.max()) >= len(vertices):
        raise FileError("a face has a corner that is not there")
    points = np.array(vertices, dtype=np.float64)
    if not np.all(np.abs(points) <= LARGEST):
        raise FileError(f"has numbers that are not finite, or over {LARGEST:g}")
    return points, corners.astype(np.int64).reshape(-1, 3)


def _few(count: int, what: str, most: int) -> None:
    if count > most:
        raise FileError(f"has {count} {what} or more; limit {most}")


def _numbers(words: list[bytes]) -> list[float]:
    try:
        found = [float(one) for one in words]
    except ValueError:
        raise FileError(f"{b' '.join(words)[:40]!r} are no numbers") from None
    if len(found) != 3:
        raise FileError("a vertex needs three numbers")
    return found


def _corner(word: bytes, count: int) -> int:
    """The vertex of a corner such as 3, 3/1 or -1//2, from 0; there are `count` so far."""
    number = word.partition(b"/")[0]
    if not number.removeprefix(b"-").isdigit() or len(number) > 12:
        raise FileError(f"a face has the corner {word[:20]!r}")
    index = int(number)
    return index - 1 if index > 0 else count + index


class _Glb:
    """A GLB file: its description, the lists of which are lists of tables, and its bytes."""

    LISTS = ("scenes", "nodes", "meshes", "accessors", "bufferViews", "buffers")

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"glTF" or len(data) < 20 or data[16:20] != b"JSON":
            raise FileError("not GLB")
        (size,) = struct.unpack_from("<I", data, 12)
        _few(size, "bytes of description", MOST_JSON)
        try:
            description = json.loads(data[20 : 20 + size])
        except (ValueError, RecursionError) as error:
            raise FileError(f"not GLB: {error}"[:150]) from None
        if not isinstance(description, dict):
            raise FileError("not GLB: its description is no table")
        self.lists = {key: _tables(description, key) for key in self.LISTS}
        self.scene = description.get("scene", 0)
        self.bytes = memoryview(data)[28 + size :]

    def entry(self, key: str, number: Any) -> dict[str, Any]:
        """One of a list of the description."""
        entries = self.lists[key]
        if isinstance(number, bool) or not isinstance(number, int):
            number = -1
        if not 0 <= number < len(entries):
            raise FileError(f"its description names one of its {key} that is not there")
        entry: dict[str, Any] = entries[number]
        return entry

    def primitives(self) -> Iterator[tuple[Array, Any, Any]]:
        """Place (4, 4), accessors of positions and of indices, None without, of all that is drawn.

        Nodes are a tree: one that comes twice is refused.
        """
        origin = np.eye(4)
        waiting = [(one, origin) for one in _list(self.entry("scenes", self.scene), "nodes")]
        seen: set[int] = set()
        count = 0
        while waiting:
            number, above = waiting.pop()
            node = self.entry("nodes", number)
            if number in seen:
                raise FileError(f"node {number} is in two places")
            seen.add(number)
            with np.errstate(over="ignore", invalid="ignore"):  # looked at where it is used
                place = above @ _place(node)
            waiting += [(one, place) for one in _list(node, "children")]
            if "mesh" not in node:
                continue
            for one in _tables(self.entry("meshes", node["mesh"]), "primitives"):
                count += 1
                _few(count, "parts", MOST_PARTS)
                if one.get("mode", TRIANGLES) != TRIANGLES:
                    raise FileError("not read: its faces are not separate triangles")
                attributes = one.get("attributes")
                if not isinstance(attributes, dict):
                    raise FileError("attributes are no table")
                yield place, attributes.get("POSITION"), one.get("indices")

    def numbers(self, accessor: Any, kind: str) -> Array:
        """Numbers (n, 3) or (n,) of an accessor in the file's own bytes."""
        one = self.entry("accessors", accessor)
        held = {FLOAT: "<f4"} if kind == "VEC3" else INTEGERS
        component = one.get("componentType")
        odd = "bufferView" not in one or "sparse" in one or one.get("type") != kind
        if odd or not isinstance(component, int) or component not in held:
            raise FileError("not read: its geometry is compressed, sparse or of another kind")
        view = self.entry("bufferViews", one["bufferView"])
        if view.get("buffer") != 0 or "uri" in self.entry("buffers", 0):
            raise FileError("not read: its geometry is in another file")
        item, width = np.dtype(held[component]), 3 if kind == "VEC3" else 1
        least = width * item.itemsize
        start = _size(view.get("byteOffset", 0)) + _size(one.get("byteOffset", 0))
        stride, count = _size(view.get("byteStride", least)), _size(one.get("count"))
        end = start + (stride * (count - 1) + least if count else 0)
        if stride < least or end > len(self.bytes):
            raise FileError("its numbers are not there")
        _few(count, "numbers of a part", MOST_VERTICES)
        found = np.ndarray((count, width), item, self.bytes, start, (stride, item.itemsize))
        return found if kind == "VEC3" else found[:, 0]


def _place(node: dict[str, Any]) -> Array:
    """(4, 4), from `matrix`, or `translation`, `rotation` and `scale`."""
    if "matrix" in node:
        return _finite(node["matrix"], 16).reshape(4, 4).T
    place = np.eye(4)
    if "rotation" in node:
        turn = _finite(node["rotation"], 4)
        if not np.linalg.norm(turn) > 1e-6:
            raise FileError("a rotation of a node is 0")
        place[:3, :3] = Rotation.from_quat(turn).as_matrix()
    if "scale" in node:
        place[:3, :3] *= _finite(node["scale"], 3)
    if "translation" in node:
        place[:3, 3] = _finite(node["translation"], 3)
    return place


def _finite(value: Any, count: int) -> Array:
    fits = isinstance(value, list) and all(
        isinstance(one, float | int) and abs(one) <= LARGEST for one in value
    )
    if not fits or len(value) != count:
        raise FileError(f"a place of a node needs {count} numbers, not over {LARGEST:g}")
    return np.array(value, dtype=np.float64)


def _size(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
        raise FileError("a count or place in the file is none")
    return value


def _list(table: dict[str, Any], key: str) -> list[Any]:
    found = table.get(key, [])
    if not isinstance(found, list):
        raise FileError(f"{key} are no list")
    return found


def _tables(table: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = _list(table, key)
    if not all(isinstance(one, dict) for one in found):
        raise FileError(f"{key} are no tables")
    return found
