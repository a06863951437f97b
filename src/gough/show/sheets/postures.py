"""What `gough postures` prints: every posture, and how sure it is that there are no others."""

from __future__ import annotations

from typing import Any

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
        "other_branch": poses(found.other_branch),
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
    count = len(found.motion)
    words = f"{count} posture{'' if count == 1 else 's'}{' found' if found.coverage else ''}"
    console.print(f"[bold]{escape(robot.name)}[/bold]   {words}")
    if count:
        measures = singularity(robot, found.motion)
        turns = Rotation.from_matrix(found.motion.rotation).as_rotvec()
        heads = ("", "position (m)", "rotation vector", "condition", "transm.", "proven")
        table = bare_table(numbers=heads, gap=1)
        for k in range(count):
            table.add_row(
                str(k + 1),
                _vector(found.motion.position[k]),
                _vector(turns[k]),
                f"{measures.condition[k]:.4g}",
                f"{measures.transmission[k]:.3f}",
                "yes" if found.certified[k] else "no",
            )
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
        said.append(f"{len(found.other_branch)} more with a link on the other branch of its drive")
    if len(found.continuum):
        said.append("there is a continuum of postures: the platform moves with locked actuators")
    return said


def _vector(values: Array) -> str:
    return " ".join(f"{0.0 if abs(x) < 5e-4 else x:7.3f}" for x in values)
