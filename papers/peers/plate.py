"""CalculiX on the plate of Long, Khalil & Martinet 2014, Section 6.1: frequencies of free shells."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import gough
from gough.base.arrays import Array
from gough.description.modal.calculix import read_calculix
from gough.description.modal.meshed import Selection

CUTS = 8
"""Eight-node shells along an edge of the hexagon."""
MODES = 10


COARSE = tuple((shape, cuts) for shape in ("S8R", "S8", "S4") for cuts in range(2, 8))
"""Coarse meshes: kinds of shells, and how many of them along an edge."""


def deck(path: Path, cuts: int, modes: int, shape: str = "S8R") -> None:
    """The plate for CalculiX: three rhombi of shells, free, `modes` modes with the rigid ones."""
    corners = 0.5 * np.exp(1j * np.pi / 3 * np.arange(6))
    numbers: dict[complex, int] = {}
    elements = []
    for r in range(3):
        u, v = corners[2 * r] / (2 * cuts), corners[(2 * r + 2) % 6] / (2 * cuts)
        for i, j in np.ndindex(cuts, cuts):
            ring = [(0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1)]
            wanted = {"S8": [range(8)], "S4": [range(4)], "S3": [(0, 1, 2), (0, 2, 3)]}[shape[:2]]
            for nodes in wanted:
                places = [(2 * i + ring[k][0]) * u + (2 * j + ring[k][1]) * v for k in nodes]
                rounded = [complex(np.round(one, 9)) for one in places]
                elements.append([numbers.setdefault(one, len(numbers) + 1) for one in rounded])
    lines = ["** the plate of Section 6.1", "*Node, NSET=NALL"]
    lines += [f"{i}, {place.real:.12g}, {place.imag:.12g}, 0" for place, i in numbers.items()]
    lines.append(f"*ELEMENT, TYPE={shape}, ELSET=PLATE")
    lines += [f"{i}, " + ", ".join(map(str, one)) for i, one in enumerate(elements, 1)]
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", "2e10, 0.3", "*DENSITY", "7500"]
    lines += ["*SHELL SECTION, ELSET=PLATE, MATERIAL=M", "0.015"]
    lines += ["*STEP", "*FREQUENCY", f"{modes}", "*NODE FILE", "U", "*END STEP", ""]
    path.write_text("\n".join(lines), "utf-8")


def frequencies(robot: gough.Robot, cuts: int = CUTS) -> Array:
    """Natural frequencies, rad/s, of the plate's first elastic modes by CalculiX, as gough reads it."""
    tips = np.moveaxis(robot.description.platform_points[..., 0], 0, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        deck(folder / "plate.inp", cuts, MODES + 8)
        _run(folder)
        wanted = Selection(tips, None, MODES, 0.0)
        body = read_calculix(folder / "plate.frd", folder / "plate.inp", wanted)
    return np.sqrt(np.diagonal(body.stiffness))


def coarse() -> Array:
    """The same on each mesh of COARSE, (meshes, 10), as CalculiX lists them."""
    return np.array([listed(*mesh) for mesh in COARSE])


def listed(shape: str, cuts: int) -> list[float]:
    """The same on one mesh, rigid motions left out."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        deck(folder / "plate.inp", cuts, MODES + 8, shape)
        _run(folder)
        text = (folder / "plate.dat").read_text("utf-8").partition("P A R T I C I P")[0]
    lines = re.findall(r"^ +\d+ +(\S+) +(\S+) +\S+ +\S+$", text, re.MULTILINE)
    return [float(rate) for square, rate in lines if float(square) > 1e2][:MODES]


def _run(folder: Path) -> None:
    command = [program(), "plate"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)


def program() -> str:
    """Where CalculiX is; empty where it is not installed."""
    return shutil.which("ccx") or ""


def version() -> str:
    """As CalculiX says it."""
    said = subprocess.run([program(), "-v"], capture_output=True, text=True, timeout=60).stdout
    found = re.search(r"Version\s+(\S+)", said)
    return found[1] if found else "unknown"
