"""Nastran: eigenvectors from an .op2 file, geometry and masses from the .bdf, through pyNastran.

Of the .bdf pyNastran sees no more than `bulk_data` lets through, and nothing in either file is executed.
Each element's mass goes to its corners in equal parts, as Nastran's own lumped mass does; a CONM2 sits
where its offset says. The model must be in SI units.
"""

from __future__ import annotations

import contextlib
import functools
import io
import mmap
import os
import struct
import warnings
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.files import opened
from gough.description.modal.attachment import Meshed
from gough.description.modal.body import ModalBody
from gough.description.modal.bulk_data import bulk_data
from gough.description.modal.elements import FAMILIES, Solid, skin
from gough.description.modal.meshed import (
    MassPoints,
    Mesh,
    Selection,
    assemble,
    refuse_many,
)
from gough.errors import FileError, GoughError, MissingDataError, ModalBodyWarning

CORNERS = {"CTETRA": 4, "CPENTA": 6, "CHEXA": 8, "CTRIA6": 3, "CQUAD8": 4, "CTRIAR": 3}
"""Corners of elements that may have nodes on their edges as well."""
LARGEST = 2000.0
"""Of an .op2 file, MB."""
STOREYS = 50
"""Coordinate systems, each given in the one below."""
SOLIDS = {"CTETRA": "C3D4", "CPENTA": "C3D6", "CHEXA": "C3D8"}


class _Geometry(NamedTuple):
    numbers: Array
    positions: Array
    axes: Array
    """(n, 3, 3): columns are the directions in which a node's displacements are given."""
    lumps: list[tuple[int, Array, float]]
    """Node (from 0), offset from it, mass."""
    faces: Array | None
    solids: list[Solid]
    shells: Array
    """(m, 4) corners, the last one twice for triangles."""
    left_out: list[str]
    """What of the model a body of nodes cannot have."""


def read_nastran(
    op2: str | os.PathLike[str], bdf: str | os.PathLike[str], wanted: Selection
) -> ModalBody:
    """The elastic modes of a normal-modes solution (SOL 103)."""
    geometry = _geometry(bdf)
    numbers, displacements, squares = _eigenvectors(op2)
    place = {int(number): i for i, number in enumerate(numbers)}
    lacking = [int(number) for number in geometry.numbers if int(number) not in place]
    if lacking:
        raise FileError(f"{op2}: no displacement of node {lacking[0]} of {bdf}")
    rows = np.array([place[int(number)] for number in geometry.numbers])
    local = displacements[:, rows].reshape(len(squares), len(rows), 2, 3)
    world = np.einsum("nij,mnpj->npim", geometry.axes, local)
    shapes, turns = world[:, 0], world[:, 1]
    mesh = Mesh(str(op2), geometry.numbers, geometry.positions, shapes, squares)
    nodes = np.array([node for node, _, _ in geometry.lumps], dtype=np.int64)
    offsets = np.array([offset for _, offset, _ in geometry.lumps]).reshape(-1, 3)
    refuse_many(mesh, 2 * (len(nodes) + len(numbers)))  # they turn, too
    points = MassPoints(
        geometry.positions[nodes] + offsets,
        np.array([mass for _, _, mass in geometry.lumps]),
        shapes[nodes] + np.cross(turns[nodes], offsets[:, :, np.newaxis], axis=1),
    )
    elements = Meshed(mesh.positions, shapes, turns, geometry.solids, geometry.shells)
    return assemble(mesh, points, wanted, elements, geometry.faces)


def _pynastran() -> tuple[ModuleType, ModuleType]:
    """pyNastran's .bdf and .op2 readers."""
    renamed = not hasattr(np, "in1d")
    if renamed:  # pyNastran 1.4 imports a name that NumPy 2.4 no longer has
        vars(np)["in1d"] = np.isin
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyNastran.bdf import bdf
            from pyNastran.op2 import op2
    except ImportError:
        raise MissingDataError(
            "modes from Nastran need pyNastran: pip install --no-deps pyNastran cpylog colorama"
        ) from None
    finally:
        if renamed:
            del vars(np)["in1d"]
    return bdf, op2


def _parsed(path: str | os.PathLike[str], what: str, read: Any) -> Any:
    """What a parser of pyNastran makes of a file; whatever it stumbles over, the file is named."""
    silence = io.StringIO()  # it prints as well as raises
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(silence),
            contextlib.redirect_stderr(silence),
        ):
            warnings.simplefilter("ignore")
            return read()
    except GoughError:
        raise
    except (Exception, SystemExit) as error:
        fact = " ".join(str(error).split())[:160] or type(error).__name__
        raise FileError(f"{path}: not a whole {what} file: {fact}") from None


def _records(path: str | os.PathLike[str]) -> int:
    """The size in bytes of an .op2 file, which must be whole: records between their own lengths."""
    try:
        with os.fdopen(opened(path, ".op2 file", LARGEST), "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise FileError("the file is empty")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _whole(data)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


def _whole(data: mmap.mmap) -> int:
    order = "<" if data[:4] in (b"\x04\0\0\0", b"\x08\0\0\0") else ">"
    length, at = struct.Struct(f"{order}i"), 0
    while at < len(data):
        size = length.unpack_from(data, at)[0] if at + 8 <= len(data) else -1
        end = at + 4 + size
        if size < 0 or end + 4 > len(data) or length.unpack_from(data, end)[0] != size:
            raise FileError(f"not a whole .op2 file: no record of Fortran's at byte {at}")
        at = end + 4
    return len(data)


def _eigenvectors(path: str | os.PathLike[str]) -> tuple[Array, Array, Array]:
    """Node numbers (n,), displacements and rotations (modes, n, 6), ω² (modes,)."""
    reader = _pynastran()[1]
    size = _records(path)

    def read() -> Any:
        model = reader.OP2(debug=None, log=None, mode=None)
        model.set_results(["eigenvectors"])
        model.read_op2(os.fspath(path), build_dataframe=False)
        return model

    found = _parsed(path, ".op2", read).eigenvectors
    if not found:
        raise FileError(f"{path}: no eigenvectors: SOL 103 with PARAM,POST,-1 and DISP(PLOT)=ALL")
    if len(found) > 1:
        raise FileError(f"{path}: eigenvectors of {len(found)} subcases; one is wanted")
    (vectors,) = found.values()
    data = np.asarray(vectors.data)
    if data.nbytes > size:
        raise FileError(f"{path}: eigenvectors of shape {data.shape}, more than the file can hold")
    if np.iscomplexobj(data):
        raise FileError(f"{path}: complex eigenvectors; real ones (SOL 103) are wanted")
    numbers = np.asarray(vectors.node_gridtype)[:, 0]
    squares = np.asarray(vectors.eigns, dtype=np.float64)
    data = data.astype(np.float64)
    if not (np.isfinite(data).all() and np.isfinite(squares).all()):
        raise FileError(f"{path}: a number that is not finite")
    if data.shape != (len(squares), len(numbers), 6):
        raise FileError(f"{path}: {len(squares)} modes, but eigenvectors of shape {data.shape}")
    return numbers, data, squares


def _geometry(path: str | os.PathLike[str]) -> _Geometry:
    text = bulk_data(path)
    reader = _pynastran()[0]

    def read() -> Any:
        model = reader.BDF(debug=None, log=None)
        model.read_bdf(io.StringIO(text), punch=True, read_includes=False, xref=False)
        _refuse_towers(model, path)
        for frame in model.coords.values():  # pyNastran sets a frame up anew for each point in it
            frame.setup = functools.cache(frame.setup)
        model.cross_reference()
        return model

    measured: _Geometry = _parsed(path, ".bdf", lambda: _measured(read(), path))
    for message in measured.left_out:
        warnings.warn(f"{path}: {message}", ModalBodyWarning, stacklevel=3)
    return measured


def _refuse_towers(model: Any, path: str | os.PathLike[str]) -> None:
    """Coordinate systems may be given in one another, but not in a circle, nor without end."""
    below = {
        number: {model.nodes[grid].cp for grid in frame.node_ids if grid in model.nodes}
        if frame.type.startswith("CORD1")
        else {frame.rid}
        for number, frame in model.coords.items()
        if number
    }
    for _ in range(STOREYS):
        below = {number: feet for number, feet in below.items() if feet & below.keys()}
    if below:
        raise FileError(
            f"{path}: coordinate system {min(below)} is given in others in a circle, "
            f"or over {STOREYS} deep"
        )


def _offsets(element: Any, members: list[int], positions: Array, axes: list[Array]) -> Array | None:
    """Offsets (corners, 3) of an element's mass from its grid points, basic axes; None if it has none.

    WA and WB of bars and beams, ZOFFS and Z0 of shells, along the normal of their corners.
    """
    ends = [getattr(element, name, None) for name in ("wa", "wb")]
    if all(one is not None for one in ends):
        if not np.any(np.array(ends, dtype=np.float64)):
            return None
        offt = str(element.offt)
        if len(offt) != 3 or offt[1:] != "GG":
            raise FileError(f"offsets by OFFT = {offt} are not read; GGG is")
        return np.stack(
            [axes[i] @ np.asarray(w, float) for i, w in zip(members, ends, strict=True)]
        )
    height = getattr(element, "zoffset", None)
    height = float(height) if isinstance(height, int | float) and np.isfinite(height) else 0.0
    layers = element.pid_ref if element.type[:5] in ("CQUAD", "CTRIA") else None
    if layers is not None and layers.type in ("PCOMP", "PCOMPG"):
        height += float(layers.z0) + float(layers.Thickness()) / 2
    if abs(height) < 1e-12:
        return None
    corners = positions[members]
    diagonals = (corners[2] - corners[0], corners[-1] - corners[1])
    normal = np.cross(*diagonals)
    length = float(np.linalg.norm(normal))
    if not length:
        raise FileError("its corners lie in a line")
    return np.tile(height * normal / length, (len(members), 1))


def _measured(model: Any, path: str | os.PathLike[str]) -> _Geometry:
    if not model.nodes:
        raise FileError(f"{path}: no GRID points")
    numbers = np.array(sorted(model.nodes))
    place = {int(number): i for i, number in enumerate(numbers)}
    nodes = [model.nodes[number] for number in numbers]
    axes = []
    for node in nodes:
        frame = node.cd_ref
        if frame is not None and frame.type not in ("CORD2R", "CORD1R"):
            raise FileError(f"{path}: GRID {node.nid} has displacements in a {frame.type} frame")
        axes.append(np.eye(3) if frame is None or not node.Cd() else frame.beta().T)
    positions = np.array([node.get_position() for node in nodes], dtype=np.float64)
    own = np.zeros(len(nodes))
    aside: list[tuple[int, Array, float]] = []
    shells: list[list[int]] = []
    left_out: list[str] = []
    solids: dict[str, list[list[int]]] = {}
    for layered in model.properties.values():
        if hasattr(layered, "get_mass_per_area"):  # pyNastran sums all plies for each element
            layered.get_mass_per_area = functools.cache(layered.get_mass_per_area)
    for element in model.elements.values():
        corners = [n for n in element.node_ids if n is not None][: CORNERS.get(element.type)]
        members = [place[n] for n in corners]
        try:
            mass = float(element.Mass())
        except (AttributeError, NotImplementedError):
            continue  # springs, dampers: no mass
        if not 0 <= mass < np.inf:
            raise FileError(f"{path}: {element.type} {element.eid} has the mass {mass:g} kg")
        try:
            offsets = _offsets(element, members, positions, axes)
        except FileError as error:
            raise FileError(f"{path}: {element.type} {element.eid}: {error}") from None
        if offsets is None:
            for member in members:
                own[member] += mass / len(members)
        else:
            if len(members) == 2:  # a bar is as long as its ends are apart, not its nodes
                ends = positions[members] + offsets
                apart = np.linalg.norm(np.diff(positions[members], axis=0))
                mass *= float(np.linalg.norm(np.diff(ends, axis=0)) / apart) if apart else 1.0
            aside += [(*one, mass / len(members)) for one in zip(members, offsets, strict=True)]
        if element.type in SOLIDS:
            solids.setdefault(element.type, []).append(members)
        elif element.type[:5] in ("CQUAD", "CTRIA"):
            shells.append([*members, members[-1]][:4])
    lumps = [(int(node), np.zeros(3), float(own[node])) for node in np.flatnonzero(own)]
    lumps += aside
    for element in model.masses.values():
        if element.type != "CONM2":
            raise FileError(f"{path}: {element.type} {element.eid} is not read; CONM2 is")
        if np.any(element.I):
            left_out.append(f"rotary inertia of CONM2 {element.eid} is left out: nodes carry none")
        offset = np.asarray(element.X, dtype=np.float64)
        if element.Cid() == -1:  # a place in the basic system, no offset
            offset = offset - positions[place[element.nid]]
        elif element.cid_ref is not None and element.cid_ref.cid:
            offset = element.cid_ref.beta().T @ offset
        lumps.append((place[element.nid], offset, float(element.mass)))
    if not lumps:
        raise FileError(f"{path}: no elements that have mass")
    facets = np.array(shells, dtype=np.int64).reshape(-1, 4)
    kinds = [
        Solid(FAMILIES[SOLIDS[kind]], np.array(members), np.zeros(len(members)))
        for kind, members in solids.items()
    ]
    seen = [facets] if shells else []
    if kinds:
        seen.append(skin(kinds))
    faces = np.concatenate(seen) if seen else None
    masses = np.array([mass for _, _, mass in lumps])
    offsets = np.array([offset for _, offset, _ in lumps])
    if not all(np.isfinite(part).all() for part in (positions, np.array(axes), masses, offsets)):
        raise FileError(f"{path}: a number that is not finite")
    return _Geometry(numbers, positions, np.array(axes), lumps, faces, kinds, facets, left_out)
