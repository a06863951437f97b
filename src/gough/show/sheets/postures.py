"""What `gough postures` prints: every posture, and how sure it is that there are no others."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from scipy.spatial.transform import Rotation

from gough.analysis.postures import Postures
from gough.analysis.singularities import singularity
from gough.base.arrays import Array
from gough.motion import Motion
from gough.robot import Robot
from gough.show.sheets.bare_table import bare_table


def posture_numbers(robot: Robot, q: Array, found: Postures) -> dict[str, Any]:
    """A result as plain lists, SI units."""

    def poses(motion: Motion) -> list[dict[str, Any]]:
        return [
            {"position": one.position.tolist(), "rotation": one.rotation.tolist()} for one in motion
        ]

    coverage = found.coverage
    return {
        "robot": robot.name,
        "q": q.tolist(),
        "method": found.method,
        "postures": [
            pose | {"certified": bool(proven)}
            for pose, proven in zip(poses(found.motion), found.certified, strict=True)
        ],
        "other_branch": [
            pose | {"certified": bool(proven), "legs": (np.flatnonzero(legs) + 1).tolist()}
            for pose, proven, legs in zip(
                poses(found.other_branch), found.other_certified, found.other_legs, strict=True
            )
        ],
        "continuum": poses(found.continuum),
        "complex_count": found.complex_count,
        "at_infinity": found.at_infinity,
        "singular": found.singular,
        "proven_complete": found.proven,
        "coverage": None
        if coverage is None
        else {name: getattr(coverage, name) for name in ("starts", "hits", "found")},
    }


def print_postures(robot: Robot, found: Postures, console: Console) -> None:
    """A row for each posture, then the verdict."""
    count = len(found.every)
    words = f"{count} posture{'' if count == 1 else 's'}{' found' if found.coverage else ''}"
    console.print(f"[bold]{escape(robot.name)}[/bold]   {words}")
    if count:
        own = len(found.motion)
        measures = singularity(robot, found.motion) if own else None
        turns = Rotation.from_matrix(found.every.rotation).as_rotvec()
        proven = np.concatenate([found.certified, found.other_certified])
        heads = ("", "position (m)", "rotation vector", "condition", "transm.", "proven")
        branches = ("other branch",) if len(found.other_branch) else ()
        table = bare_table(numbers=(*heads, *branches), gap=1)
        for k in range(count):
            known = measures is not None and k < own
            row = [
                str(k + 1),
                _vector(found.every.position[k]),
                _vector(turns[k]),
                f"{measures.condition[k]:.4g}" if measures is not None and known else "",
                f"{measures.transmission[k]:.3f}" if measures is not None and known else "",
                "yes" if proven[k] else "no",
            ]
            if branches:
                legs = np.flatnonzero(found.other_legs[k - own]) + 1 if k >= own else np.zeros(0)
                row.append(f"legs {', '.join(map(str, legs))}" if len(legs) else "")
            table.add_row(*row)
        console.print(table)
    for line in _verdict(found):
        console.print(line, highlight=False)


def _verdict(found: Postures) -> list[str]:
    """How sure the answer is, in words."""
    said = []
    if found.coverage is not None:
        part = found.coverage
        said.append(
            f"random search: {part.starts} starts, {part.hits} ended in a posture, {part.found} "
            "different ones found; there may be others"
        )
    elif found.complex_count is None:
        said.append("two legs of these lengths cannot both reach the platform")
    elif found.proven:
        said.append("complete: 40 solutions, complex ones included, are proven and different")
    elif found.by_quadrics:
        said.append(
            f"complete: all {found.complex_count} solutions of the legs' equations, complex ones "
            "included, are known to rounding"
        )
    else:
        said.append(
            f"complete: 40 paths followed to {found.complex_count} simple solutions, "
            f"{found.singular} singular, {found.at_infinity} that are no poses (special geometry)"
        )
    if len(found.other_branch):
        said.append(
            f"{len(found.other_branch)} of them with links or cranks on the other branch of their drive "
            "than the robot file says"
        )
    if len(found.continuum):
        said.append("there is a continuum of postures: the platform moves with locked actuators")
    return said


def _vector(values: Array) -> str:
    return " ".join(f"{0.0 if abs(x) < 5e-4 else x:7.3f}" for x in values)
