"""What the paper's misprints do to the forces of its own examples: docs/errata.md."""

from __future__ import annotations

import numpy as np

import gough
from gough.data.paper_motions import kim_ryu_circle, paper_motion

from .equations import equation_29
from .friction import explicit_friction
from .hexaslide import NAME, TIME, numbers


def effects() -> dict[str, float]:
    """Largest change of an actuator force, N, by the place of the misprint.

    On the circle of 100 mm at 40 rpm; Eq. 25 on the motion of Eq. 33, friction at 20 rpm.
    """
    robot = gough.load(NAME)
    this, circle = numbers(robot), kim_ryu_circle(40)(TIME)
    ramp = paper_motion(f"{NAME}/acceleration")(TIME)
    right = {"circle": equation_29(this, circle), "ramp": equation_29(this, ramp)}
    rubbing = explicit_friction(robot, 20)

    def off(printed: str, motion: gough.Motion = circle, name: str = "circle") -> float:
        found = equation_29(this, motion, printed=(printed,))
        return float(np.abs(found - right[name]).max())

    hung = equation_29(this._replace(CG=-this.CG), circle)
    return {
        "Eq. 10": off("10"),
        "Section 3.2": rubbing.couple,
        "Eq. 25, first term with CG′": off("25", ramp, "ramp"),
        "Eqs. 27, 34": off("27"),
        "Eq. 30": rubbing.printed,
        "Eq. 34, row 2": off("34"),
        "Appendix": float(np.abs(hung - right["circle"]).max()),
    }
