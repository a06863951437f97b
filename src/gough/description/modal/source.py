"""From the tables of a robot file to a `ModalBody`: a plate, or a file of one of three kinds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from gough.base.arrays import Array
from gough.description.modal.body import ModalBody
from gough.description.modal.calculix import read_calculix
from gough.description.modal.meshed import Selection
from gough.description.modal.nastran import read_nastran
from gough.description.modal.npz import read_npz
from gough.description.modal.payload import Payload, carrying, known_shapes, points_of
from gough.description.modal.plate import Material, plate_body, regular_polygon
from gough.description.schema import ModesTable, PlateTable

_plates: dict[tuple[str, bytes, str], ModalBody] = {}
MOST_PLATES = 16
"""Plates kept, the last ones: a robot that is edited or loaded again has most often the same."""


def body_of_plate(
    table: PlateTable, tips: Array, payload: tuple[Payload, ...], name: str
) -> ModalBody:
    """The plate of [platform.plate] with the legs' tips (legs, 3) and with payload."""
    numbers = json.dumps(table.model_dump(), default=lambda array: np.asarray(array).tolist())
    bolted = [
        (one.name, one.mass, *(part.tolist() for part in one[1:2] + one[3:])) for one in payload
    ]
    key = numbers, np.ascontiguousarray(tips).tobytes(), json.dumps([name, bolted])
    if key not in _plates:
        if len(_plates) >= MOST_PLATES:
            del _plates[next(iter(_plates))]
        _plates[key] = _plate(table, tips, payload, name)
    return _plates[key]


def _plate(table: PlateTable, tips: Array, payload: tuple[Payload, ...], name: str) -> ModalBody:
    if table.sides is not None:
        outline = regular_polygon(float(table.radius), table.sides)
    else:
        outline = np.asarray(table.outline)
    material = Material(
        thickness=float(table.thickness),
        density=float(table.density),
        young=float(table.young),
        poisson=float(table.poisson),
    )
    return plate_body(
        outline,
        material,
        tips,
        table.modes,
        damping_ratio=table.damping_ratio,
        boundary=table.boundary,
        rotary_inertia=table.rotary_inertia,
        payload=payload,
        name=name,
    )


def body_of_file(
    table: ModesTable, tips: Array, payload: tuple[Payload, ...], folder: Path
) -> ModalBody:
    """The body of [platform.modes], its paths starting at `folder`."""
    path = folder / table.file
    if path.suffix.lower() == ".npz" or table.geometry is None:
        body = read_npz(path)
        return carrying(body, payload, *known_shapes(body, points_of(payload)))
    wanted = Selection(tips, table.tips, table.modes, table.damping_ratio, payload)
    if path.suffix.lower() == ".op2":
        return read_nastran(path, folder / table.geometry, wanted)
    return read_calculix(path, folder / table.geometry, wanted)
