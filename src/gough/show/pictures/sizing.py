"""Motors in the plane of catalogues: torque over speed along the motions, with peak and rms."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gough.errors import InputError
from gough.show.colors import BLACK, DARK, GREY
from gough.show.style import STYLE, leg_line
from gough.sizing.demand import Sizing
from gough.sizing.drive import RPM


def torque_speed(sizing: Sizing, margin: float = 1.0) -> Figure:
    """|τ| (N m) over |Ω| (rpm) of every motor along all motions.

    A motor fits if the corner "peak" lies inside its intermittent range, and the cross "rms" inside its
    continuous one.
    """
    if sizing.motors is None:
        raise InputError("torque over speed needs a drive: its screw's lead or its gear's ratio")
    worst = sizing.worst()
    legs = sizing.legs.peak_force.shape[1]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 4.8), layout="constrained")
        axes = figure.subplots()
        for leg in range(legs):
            for number, motor in enumerate(sizing.operating):
                axes.plot(
                    RPM * np.abs(motor.speed[:, leg]),
                    np.abs(motor.torque[:, leg]),
                    linewidth=1.3,
                    label=f"leg {leg + 1}" if number == 0 else None,
                    **leg_line(leg, legs),
                )
        speed, peak = worst["peak_motor_speed"], worst["peak_torque"]
        axes.plot([0, speed, speed], [peak, peak, 0], color=GREY, linewidth=1, label="peak")
        if margin != 1:
            corner = [0, margin * speed, margin * speed], [margin * peak, margin * peak, 0]
            axes.plot(*corner, color=DARK, linewidth=1.6, label=f"peak × {margin:g}")
        mean, rms = worst["mean_motor_speed"], worst["rms_torque"]
        style: dict[str, Any] = {"marker": "P", "color": BLACK, "markersize": 10, "linestyle": ""}
        axes.plot(mean, margin * rms, **style, label="rms" if margin == 1 else f"rms × {margin:g}")
        axes.set(
            xlabel="motor speed [rpm]", ylabel="motor torque [N m]",
            xlim=(0, 1.08 * max(margin, 1) * speed), ylim=(0, 1.12 * max(margin, 1) * peak),
        )  # fmt: skip
        figure.legend(loc="outside right center")
        figure.suptitle(f"Motors of {sizing.robot}", parse_math=False)
    return figure
