"""Small models for CalculiX: a plate of quadratic bricks, its modes, or its rest on springs."""

import re
import shutil
import subprocess

import numpy as np
import pytest

BRICK_20 = [
    (0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2),
    (1, 0, 0), (2, 1, 0), (1, 2, 0), (0, 1, 0), (1, 0, 2), (2, 1, 2), (1, 2, 2), (0, 1, 2),
    (0, 0, 1), (2, 0, 1), (2, 2, 1), (0, 2, 1),
]  # fmt: skip
"""Nodes of a C3D20 in the order of an input file, in half edges."""


class BrickPlate:
    """A plate of C3D20R bricks, one over the thickness, its mid-surface in z = 0."""

    def __init__(self, size, cuts, material, center=(0.0, 0.0)):
        self.nodes, self.elements, self.material = {}, [], material
        steps = [*(s / (2 * c) for s, c in zip(size, cuts, strict=True)), material.thickness / 2]
        start = [center[0] - size[0] / 2, center[1] - size[1] / 2, -material.thickness / 2]
        for i, j in np.ndindex(*cuts):
            places = [(2 * i + a, 2 * j + b, c) for a, b, c in BRICK_20]
            self.elements.append([self.nodes.setdefault(p, len(self.nodes) + 1) for p in places])
        self.positions = np.array([np.array(p) * steps + start for p in self.nodes])

    def node(self, place):
        """The number of the node at a place."""
        distance = np.linalg.norm(self.positions - place, axis=1)
        assert distance.min() < 1e-9
        return int(distance.argmin()) + 1

    def lines(self):
        """Nodes, elements and material."""
        own = self.material
        lines = ["** a plate of bricks", "*NODE, NSET=NALL"]
        lines += [
            f"{i}, {x:.12g}, {y:.12g}, {z:.12g}" for i, (x, y, z) in enumerate(self.positions, 1)
        ]
        lines.append("*ELEMENT, TYPE=C3D20R, ELSET=PLATE")
        for i, e in enumerate(self.elements, 1):
            lines += [f"{i}, " + ", ".join(map(str, e[:12])) + ",", ", ".join(map(str, e[12:]))]
        lines += ["*MATERIAL, NAME=M", "*ELASTIC", f"{own.young:g}, {own.poisson:g}"]
        lines += ["*DENSITY", f"{own.density:g}", "*SOLID SECTION, ELSET=PLATE, MATERIAL=M"]
        return lines

    def modes(self, folder, name, count, mass=0.0, point=None):
        """Run a frequency step, with a mass at a point: frequencies, Hz, name.inp and name.frd."""
        step = ["*STEP", "*FREQUENCY", str(count), "*NODE FILE", "U", "*END STEP"]
        lump = []
        if mass:
            number = len(self.elements) + 1
            lump = ["*ELEMENT, TYPE=MASS, ELSET=LUMP", f"{number}, {self.node(point)}"]
            lump += ["*MASS, ELSET=LUMP", f"{mass:.6f}"]
        run(folder, name, [*self.lines(), *lump, *step])
        text = (folder / f"{name}.dat").read_text().partition("P A R T I C I P")[0]
        found = re.findall(r"^ +\d+ +\S+ +\S+ +(\S+) +\S+$", text, re.MULTILINE)
        return np.array(found, dtype=float)

    def on_springs(self, folder, tips, ground, stiffness, point, force):
        """Displacement (3,) of the node at a point, held by springs from tips to the ground."""
        first, lines = len(self.positions), self.lines()
        lines.append("*NODE, NSET=GROUND")
        lines += [
            f"{first + i}, {x:.12g}, {y:.12g}, {z:.12g}" for i, (x, y, z) in enumerate(ground, 1)
        ]
        lines.append("*ELEMENT, TYPE=SPRINGA, ELSET=SPRINGS")
        lines += [
            f"{len(self.elements) + i}, {self.node(tip)}, {first + i}"
            for i, tip in enumerate(tips, 1)
        ]
        lines += ["*SPRING, ELSET=SPRINGS", f"{stiffness:.1f}", "*BOUNDARY", "GROUND, 1, 3"]
        node = self.node(point)
        lines += [f"*NSET, NSET=POINT\n{node}", "*STEP", "*STATIC", "*CLOAD"]
        lines += [f"{node}, {axis}, {value:g}" for axis, value in enumerate(force, 1) if value]
        lines += ["*NODE PRINT, NSET=POINT", "U", "*END STEP"]
        run(folder, "springs", lines)
        text = (folder / "springs.dat").read_text()
        found = re.findall(rf"^ +{node} +(\S+) +(\S+) +(\S+)$", text, re.MULTILINE)
        return np.array(found[-1], dtype=float)


def run(folder, name, lines):
    """Write name.inp and let CalculiX compute it."""
    if shutil.which("ccx") is None:
        pytest.skip("CalculiX is not installed here (Debian: calculix-ccx)")
    (folder / f"{name}.inp").write_text("\n".join([*lines, ""]))
    subprocess.run(["ccx", name], cwd=folder, check=True, capture_output=True, timeout=120)
