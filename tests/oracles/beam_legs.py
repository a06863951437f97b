"""Natural frequencies of a platform on legs that bend, by CalculiX: square beams, joints as equations.

Actuators are locked. A leg is a link from a fixed joint to the platform, or a cylinder from there and a
rod that touches it at the rod's inner end and at the cylinder's mouth and is held along the leg.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

YOUNG, DENSITY = 2.1e11, 7850.0


@dataclass
class Deck:
    """Lines of an input file for CalculiX; nodes and elements are numbered as they come."""

    nodes: list[str] = field(default_factory=list)
    elements: list[str] = field(default_factory=list)
    equations: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)
    beams: int = 0

    def node(self, place: np.ndarray) -> int:
        self.nodes.append(f"{len(self.nodes) + 1}, " + ", ".join(f"{x:.12g}" for x in place))
        return len(self.nodes)

    def beam(self, places: np.ndarray, side: float, across: np.ndarray) -> list[int]:
        """Nodes of a square beam of quadratic elements through an odd number of places (n, 3)."""
        nodes = [self.node(one) for one in places]
        self.elements.append(f"*ELEMENT, TYPE=B32R, ELSET=BEAM{len(self.elements)}")
        name = f"BEAM{len(self.elements) - 1}"
        lines = []
        for k in range(0, len(nodes) - 2, 2):
            self.beams += 1
            lines.append(f"{self.beams}, {nodes[k]}, {nodes[k + 1]}, {nodes[k + 2]}")
        direction = ", ".join(f"{x:.12g}" for x in across)
        lines.append(f"*BEAM SECTION, ELSET={name}, MATERIAL=STEEL, SECTION=RECT")
        lines += [f"{side:.12g}, {side:.12g}", direction]
        self.elements[-1] += "\n" + "\n".join(lines)
        return nodes

    def equation(self, terms: list[tuple[int, int, float]]) -> None:
        """Σ factor · degree of freedom of a node = 0; the first may not have the factor 0."""
        terms = sorted((one for one in terms if one[2]), key=lambda one: -abs(one[2]))
        rows = ",\n".join(f"{node}, {way}, {factor:.12g}" for node, way, factor in terms)
        self.equations.append(f"*EQUATION\n{len(terms)}\n{rows}")

    def tied(self, one: int, other: int, direction: np.ndarray) -> None:
        """direction · (u_one − u_other) = 0."""
        terms = [(one, 1 + i, x) for i, x in enumerate(direction)]
        self.equation(terms + [(other, 1 + i, -x) for i, x in enumerate(direction)])


def _across(n: np.ndarray) -> np.ndarray:
    one = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    one /= np.linalg.norm(one)
    return np.stack([one, np.cross(n, one)])


def frequencies(
    folder: Path,
    feet: np.ndarray,
    tips: np.ndarray,
    members: list[tuple[float, float]],
    lumps: np.ndarray,
    count: int,
    elements: int = 6,
    load: float = 0.0,
) -> np.ndarray:
    """(count,) Hz of legs from `feet` to `tips` (legs, 3); `members` are (side, length) of the beams.

    One member is a link of any length; two are cylinder and rod. The platform is rigid, with masses
    `lumps` (n, 4): x, y, z, kg, and under a dead `load` along z on the world's origin of it, N. Members
    that spin about their own line, at 0 Hz, are left out.
    """
    if shutil.which("ccx") is None:
        pytest.skip("CalculiX is not installed here (Debian: calculix-ccx)")
    deck = Deck()
    held = []
    for foot, tip in zip(feet, tips, strict=True):
        n = (tip - foot) / np.linalg.norm(tip - foot)
        across, d = _across(n), np.linalg.norm(tip - foot)

        def along(*ends: float, n: np.ndarray = n, foot: np.ndarray = foot) -> np.ndarray:
            spans = [np.linspace(*pair, 2 * elements + 1) for pair in pairwise(ends)]
            s = np.concatenate([spans[0], *(one[1:] for one in spans[1:])])
            return foot + s[:, np.newaxis] * n

        if len(members) == 1:
            nodes = deck.beam(along(0, d), members[0][0], across[0])
        else:
            (outer, cylinder), (inner, rod) = members
            tube = deck.beam(along(0, d - rod, cylinder), outer, across[0])
            nodes = deck.beam(along(d - rod, cylinder, d), inner, across[0])
            for direction in across:
                deck.tied(nodes[0], tube[2 * elements], direction)
                deck.tied(nodes[2 * elements], tube[4 * elements], direction)
            deck.equation([(nodes[0], 1 + i, x) for i, x in enumerate(n)])
            nodes = [tube[0], *nodes]
        deck.fixed.append(f"{nodes[0]}, 1, 3")
        held.append(deck.node(tip))
        for axis in np.eye(3):
            deck.tied(nodes[-1], held[-1], axis)
    heavy = [deck.node(one[:3]) for one in lumps]
    center, turning = deck.node(np.zeros(3)), deck.node(np.zeros(3))
    masses = "".join(
        f"*ELEMENT, TYPE=MASS, ELSET=LUMP{i}\n{deck.beams + 1 + i}, {node}\n"
        f"*MASS, ELSET=LUMP{i}\n{one[3]:.12g}\n"
        for i, (node, one) in enumerate(zip(heavy, lumps, strict=True))
    )
    spinning = len(feet) * len(members)
    text = (
        "*NODE, NSET=ALL\n" + "\n".join(deck.nodes) + "\n"
        + "*MATERIAL, NAME=STEEL\n*ELASTIC\n" + f"{YOUNG}, 0.3\n*DENSITY\n{DENSITY}\n"
        + "\n".join(deck.elements) + "\n" + masses
        + "*NSET, NSET=PLATFORM\n" + ",\n".join(map(str, held + heavy)) + "\n"
        + f"*RIGID BODY, NSET=PLATFORM, REF NODE={center}, ROT NODE={turning}\n"
        + "\n".join(deck.equations) + "\n"
        + "*BOUNDARY\n" + "\n".join(deck.fixed) + "\n"
        + (f"*STEP, NLGEOM\n*STATIC\n*CLOAD\n{center}, 3, {load}\n*END STEP\n" if load else "")
        + f"*STEP{', PERTURBATION' if load else ''}\n*FREQUENCY\n{spinning + count}\n*END STEP\n"
    )  # fmt: skip
    (folder / "robot.inp").write_text(text)
    run = subprocess.run(
        ["ccx", "robot"], cwd=folder, capture_output=True, timeout=120, text=True, check=False
    )
    found = re.findall(
        r"^\s+\d+\s+\S+\s+\S+\s+(\S+)\s+\S+\s*$", (folder / "robot.dat").read_text(), re.M
    )
    assert len(found) >= spinning + count, run.stdout[-2000:]
    hertz = np.array([float(one) for one in found])
    assert hertz[spinning - 1] < 1 < hertz[spinning]
    return hertz[spinning : spinning + count]
