"""A motion that encoders measured: place, turn and speed over time, with what was marked."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

from gough.data.encoders import MeasuredMotion
from gough.model.model import Model
from gough.show.colors import GREY, VERMILION, leg_color
from gough.show.style import STYLE

MOST_POINTS = 4000
"""Of a curve: more cannot be seen."""
MOST_MARKS = 200
"""Lines of a kind that a picture shows."""
LOOKS = {
    "gap": (GREY, "--"),
    "outlier": (VERMILION, ":"),
    "turn": (GREY, ":"),
    "no rates": (GREY, "-."),
}


def measured_figure(robot: Model, found: MeasuredMotion) -> Figure:
    """Displacement from the first pose and its rates, world axes; gaps and outliers as lines."""
    motion, thin = found.motion, slice(None, None, max(1, len(found.q) // MOST_POINTS))
    assert motion.time is not None
    time = motion.time[thin]
    turn = Rotation.from_matrix(motion.rotation[thin] @ motion.rotation[0].T).as_rotvec()
    panels = (
        (1e3 * (motion.position[thin] - motion.position[0]), "moved [mm]", "xyz"),
        (1e3 * turn, "turned [mrad]", "xyz"),
        (1e3 * motion.velocity[thin], "velocity [mm/s]", "xyz"),
        (1e3 * motion.angular_velocity[thin], "turning [mrad/s]", "xyz"),
    )
    for mark in found.marks:
        if mark.kind == "gap":  # the curves end there and begin anew
            at = min(int(np.searchsorted(time, motion.time[mark.row])), len(time) - 1)
            for values, *_ in panels:
                values[at] = np.nan
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 8.0), layout="constrained")
        axes = figure.subplots(len(panels), 1, sharex=True)
        for one, (values, label, names) in zip(axes, panels, strict=True):
            for i, axis in enumerate(names):
                one.plot(time, values[:, i], color=leg_color(i), linewidth=1.2, label=axis)
            one.set_ylabel(label)
            one.margins(x=0)
            shown: dict[str, int] = {}
            for mark in found.marks:
                shown[mark.kind] = shown.get(mark.kind, 0) + 1
                if shown[mark.kind] > MOST_MARKS:
                    continue
                color, line = LOOKS[mark.kind]
                name = mark.kind if shown[mark.kind] == 1 else None
                when = float(motion.time[mark.row])
                one.axvline(when, color=color, linestyle=line, linewidth=0.9, label=name)
        axes[-1].set_xlabel("time [s]")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
        figure.suptitle(f"{robot.name}: the platform as its encoders say", parse_math=False)
    return figure
