"""Tables 2 and 4, the paper's beside ours."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.show.reproduction import NumberTable, number

from .plate import frequencies
from .printed import FIRST, TABLE_2, TABLE_4
from .results import Results


def number_tables(found: Results) -> list[NumberTable]:
    """Tables 2 and 4, theirs beside ours."""
    ours = frequencies(found.robot)
    theirs = found.calculix.values

    def cells(k: int) -> list[str]:
        return [
            f"{FIRST + k}", f"{TABLE_2[k, 0]:.2f}", f"{ours[k]:.2f}", f"{theirs[k]:.2f}",
            percent(TABLE_2[k, 0] / ours[k] - 1), percent(theirs[k] / ours[k] - 1),
            f"{TABLE_2[k, 1]:.0f}", f"{ours[k] ** 2:.0f}",
        ]  # fmt: skip

    headings = (
        "mode",
        "ω paper",
        "ω gough",
        "ω CalculiX",
        "paper",
        "CalculiX",
        "k paper",
        "k gough",
    )
    source = f"{found.calculix.origin('rad/s')}, S8R shells, 8 along an edge"
    points = found.geometry[0]
    tips = np.moveaxis(found.robot.description.platform_points[..., 0], 0, 1)
    away = 1e3 * np.linalg.norm(points - tips - found.robot.home.position, axis=1)
    q = found.robot.rigid.inverse_kinematics(found.robot.home).joints
    legs = [
        [
            f"{i + 1}",
            triple(points[i], ".4f"),
            f"{away[i]:.2f}",
            triple(TABLE_4[2:, i], ".3f"),
            triple(q[i], ".3f"),
        ]
        for i in range(6)
    ]
    return [
        NumberTable(
            f"Table 2: natural frequencies, rad/s, their relative distance from gough's, and "
            f"generalized stiffness, 1/s². {source}.",
            headings,
            [cells(k) for k in range(len(ours))],
        ),
        NumberTable(
            "Table 4: attachment points, m, that its joint values give; their distance, mm, from a "
            "hexagon of radius 0.5 m; and joint values q₁, q₂, rad, and q₃, m.",
            ("leg", "P of Table 4", "off", "q printed", "q gough"),
            legs,
        ),
    ]


def triple(values: Array, form: str) -> str:
    """Three numbers for people."""
    return ", ".join(number(value, form) for value in values)


def percent(value: float) -> str:
    """A relative difference for people."""
    return f"{100 * value:+.2f} %".replace("-", "−")
