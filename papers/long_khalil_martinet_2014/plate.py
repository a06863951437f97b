"""Table 2: natural frequencies of the free plate, ours and those of CalculiX's shells."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import gough
from gough.base.arrays import Array
from gough.description.modal.calculix import read_calculix
from gough.description.modal.meshed import Selection

from .printed import THICKNESS

CUTS = 8
"""CalculiX: eight-node shells along an edge of the hexagon."""


def calculix_deck(path: Path, cuts: int, modes: int) -> None:
    """The plate for CalculiX: three rhombi of S8R shells, free, `modes` modes with the rigid ones."""
    corners = 0.5 * np.exp(1j * np.pi / 3 * np.arange(6))
    numbers: dict[complex, int] = {}
    elements = []
    for r in range(3):
        u, v = corners[2 * r] / (2 * cuts), corners[(2 * r + 2) % 6] / (2 * cuts)
        for i, j in np.ndindex(cuts, cuts):
            ring = [(0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1)]
            places = [complex(np.round((2 * i + a) * u + (2 * j + b) * v, 9)) for a, b in ring]
            elements.append([numbers.setdefault(one, len(numbers) + 1) for one in places])
    lines = ["** the plate of Section 6.1", "*Node, NSET=NALL"]
    lines += [f"{i}, {place.real:.12g}, {place.imag:.12g}, 0" for place, i in numbers.items()]
    lines.append("*ELEMENT, TYPE=S8R, ELSET=PLATE")
    lines += [f"{i}, " + ", ".join(map(str, one)) for i, one in enumerate(elements, 1)]
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", "2e10, 0.3", "*DENSITY", "7500"]
    lines += ["*SHELL SECTION, ELSET=PLATE, MATERIAL=M", f"{THICKNESS}"]
    lines += ["*STEP", "*FREQUENCY", f"{modes}", "*NODE FILE", "U", "*END STEP", ""]
    path.write_text("\n".join(lines), "utf-8")


def calculix_frequencies(robot: gough.Robot, count: int) -> Array | None:
    """Natural frequencies, rad/s, of the plate's first elastic modes by CalculiX, if it is here."""
    program = shutil.which("ccx")
    if program is None:
        return None
    tips = np.moveaxis(robot.description.platform_points[..., 0], 0, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        calculix_deck(folder / "plate.inp", CUTS, count + 8)
        subprocess.run([program, "plate"], cwd=folder, check=True, capture_output=True, timeout=300)
        wanted = Selection(tips, None, count, 0.0)
        body = read_calculix(folder / "plate.frd", folder / "plate.inp", wanted)
    return np.sqrt(np.diagonal(body.stiffness))


def frequencies(robot: gough.Robot) -> Array:
    """Natural frequencies of the free plate, rad/s."""
    return np.sqrt(robot.platform.stiffness)
