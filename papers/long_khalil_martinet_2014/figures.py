"""Figs. 4 to 7, and pictures of what the paper does not show."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure as Picture

import gough
from gough.base.arrays import Array
from gough.show.colors import BLUE, DARK, VERMILION
from gough.show.pictures.curves import axis_panels, leg_panels
from gough.show.reproduction import Figure, number
from gough.show.style import STYLE

from .attachment import deformations
from .modes import Convergence
from .printed import FIRST, TABLE_2, THICKNESS
from .simulation import OFFSET, Growth, Run
from .zero_dynamics import Health


def table_2_figure(ours: Array, calculix: Any) -> Figure:
    """How far the paper and CalculiX are from the converged plate, mode by mode."""
    modes = FIRST + np.arange(len(TABLE_2))
    with matplotlib.rc_context(STYLE):
        picture = Picture(figsize=(7.5, 3.2), layout="constrained")
        axes = picture.subplots()
        axes.axhline(0, color=DARK, linewidth=0.8)
        rows = [
            ("paper (MSC Nastran), Table 2", TABLE_2[:, 0], VERMILION, "o", "full"),
            (f"{calculix.label}, S8R shells", calculix.values, BLUE, "s", "none"),
        ]
        for label, values, color, marker, fill in rows:
            off = 100 * (values / ours - 1)
            axes.plot(modes, off, marker, color=color, fillstyle=fill, markersize=8, label=label)
        axes.set(xlabel="mode", ylabel="frequency less gough's [%]", xticks=modes)
        axes.legend(loc="upper left")
    caption = (
        "Table 2: natural frequencies of the free plate beside those of gough's Kirchhoff plate "
        "with "
        "ν = 0.3, converged. Modes 14 to 16 of the paper stand out."
    )
    return Figure("table-2", caption, picture)


def force_figure(run: Run, rigid: Array) -> Figure:
    """Fig. 4, and the rigid robot's forces beside it."""
    panels = [
        ("(a) flexible platform, ten modes", run.forces, "force [N]"),
        ("(b) rigid platform", rigid, "force [N]"),
        ("(c) flexible less rigid", run.forces - rigid, "force [N]"),
    ]
    caption = (
        "Fig. 4. Forces of the actuated prismatic joints by the inverse model (the path's poses "
        "are "
        "ours), those of a rigid platform of the same mass along the same path, and the difference."
    )
    return Figure("fig-4", caption, leg_panels(run.time, panels))


def acceleration_figure(run: Run) -> Figure:
    """Fig. 5."""
    asked = np.concatenate([run.motion.acceleration, run.motion.angular_acceleration], axis=1)
    off = run.reached - asked
    panels = [
        ("(a) linear acceleration", run.reached[:, :3], "v̇ [m/s²]"),
        ("(b) angular acceleration", run.reached[:, 3:], "ω̇ [rad/s²]"),
        ("(c) linear, direct model less desired", 1e15 * off[:, :3], "10⁻¹⁵ m/s²"),
        ("(d) angular, direct model less desired", 1e15 * off[:, 3:], "10⁻¹⁵ rad/s²"),
    ]
    caption = (
        "Fig. 5. Rigid acceleration by the direct model, and its difference from the desired one: "
        "rounding. It shows that direct(inverse) is the identity in these states and nothing else; "
        "a plate with the wrong stiffness in both models gives the same picture."
    )
    return Figure("fig-5", caption, axis_panels(run.time, panels))


def deformation_figures(robot: gough.Robot, run: Run) -> list[Figure]:
    """Figs. 6 and 7."""
    center, turn, tips = deformations(robot, run.motion)
    panels = [
        (r"(a) $\Phi_d(p)\,q_e$", 1e3 * center, "displacement [mm]"),
        (r"(b) $\Phi_r(p)\,q_e$", 1e3 * turn, "rotation [mrad]"),
    ]
    along_z = [("normal to the plate, platform axes", 1e3 * tips[..., 2], "displacement [mm]")]
    return [
        Figure(
            "fig-6",
            "Fig. 6. Deformation at the platform's origin, platform axes. In the plane of the "
            "plate "
            "there is none.",
            axis_panels(run.time, panels),
        ),
        Figure(
            "fig-7",
            "Fig. 7. Deformation at the attachment points, along the plate's normal (in its plane "
            "there "
            f"is none). It is as large as the plate is thick: {1e3 * THICKNESS:.0f} mm.",
            leg_panels(run.time, along_z),
        ),
    ]


def start_figure(held: Run, zero: Run) -> Figure:
    """Forces at the start: from the static deflection, and from an undeformed plate."""
    panels = [
        ("(a) started undeformed, $q_e = 0$", 1e-3 * zero.forces, "force [kN]"),
        ("(b) started from the static deflection", 1e-3 * held.forces, "force [kN]"),
    ]
    caption = (
        "Forces of the inverse model that hold the platform frame at rest. Undeformed, the plate "
        "falls into its deflection, and the actuators have to hold the frame against it."
    )
    return Figure("start", caption, leg_panels(zero.time, panels))


def open_loop_figure(growth: Growth) -> Figure:
    """The distance of the two robots over time."""
    with matplotlib.rc_context(STYLE):
        picture = Picture(figsize=(7.5, 3.4), layout="constrained")
        axes = picture.subplots()
        axes.semilogy(growth.time, growth.distance, color=BLUE, label="simulated")
        line = growth.distance[-1] * np.exp(growth.rate * (growth.time - growth.time[-1]))
        seen = line >= OFFSET
        axes.semilogy(
            growth.time[seen],
            line[seen],
            color=VERMILION,
            linestyle="--",
            label=f"exp({growth.rate:.1f} t), linearised at home",
        )
        axes.set(xlabel="time [s]", ylabel="distance of the platform frames [m]")
        axes.margins(x=0)
        axes.legend(loc="upper left")
    caption = (
        "Forces of the closed loop as a function of time alone, applied to the same robot started "
        f"{number(OFFSET)} m away: the two part exponentially. A robot on six legs is an "
        "inverted pendulum; the loop of Fig. 3 hides it, since its forces follow the simulated "
        "state."
    )
    return Figure("open-loop", caption, picture)


def convergence_figure(found: Convergence) -> Figure:
    """Sag and forces against the number of modes."""
    with matplotlib.rc_context(STYLE):
        picture = Picture(figsize=(7.5, 3.4), layout="constrained")
        left, right = picture.subplots(1, 2)
        left.plot(found.counts, 1e3 * found.sag, color=BLUE, marker="o")
        left.set(xlabel="modes", ylabel="deflection at rest [mm]")
        right.plot(found.counts, found.forces, color=BLUE, marker="o")
        right.set(
            xlabel="modes", ylabel=f"Γ less that of {found.counts[-1]} modes [N]", ylim=(0, None)
        )
        for axes in (left, right):
            axes.set_xticks(found.counts)
    caption = (
        "Convergence in the number of modes: deflection at rest, and the largest difference of the "
        "forces along the path. Free modes converge slowly, since the legs' point forces bend the "
        "plate more sharply than any of its modes does; the forces hardly care."
    )
    return Figure("convergence", caption, picture)


def health_figure(found: Health) -> Figure:
    """det J_sys⁻ᵀ and the right-most pole of the zero dynamics against the platform's turn about x."""
    with matplotlib.rc_context(STYLE):
        picture = Picture(figsize=(7.5, 4.6), layout="constrained")
        upper, axes = picture.subplots(2, 1, sharex=True)
        upper.axhline(0, color=DARK, linewidth=0.8)
        upper.plot(found.angles, found.determinant, color=BLUE)
        upper.plot(found.crossing, 0, "o", color=VERMILION)
        upper.annotate(
            f"J_sys singular at {number(found.crossing, '.2f')}°",
            (found.crossing, 0),
            (10, -22),
            textcoords="offset points",
        )
        upper.set(ylabel="det J$_{sys}^{-T}$, home = 1")
        upper.set_title("(a) one sign change", loc="left", fontsize=10)
        axes.set_title("(b) zero dynamics", loc="left", fontsize=10)
        axes.axhspan(0, 1e5, color=VERMILION, alpha=0.1, linewidth=0)
        axes.plot(found.angles, found.poles, ".", color=BLUE, markersize=4)
        axes.set_yscale("symlog", linthresh=10)
        axes.set(
            xlabel="turn about x at home [°]",
            ylabel="right-most pole [1/s]",
            ylim=(-100, 2 * max(100.0, float(found.poles.max()))),
        )
        axes.text(
            0.98, 0.93, "unstable", transform=axes.transAxes, ha="right", va="top", color=DARK
        )
        axes.margins(x=0)
    caption = (
        "(a) J_sys is singular at one angle, with J_p regular. (b) Zero dynamics M_z q̈e + D q̇e + "
        "K qe = 0 "
        "of the plate while the actuators move its frame as asked. Above zero the inverse model "
        "cannot be "
        "followed: its forces grow without bound, though J_sys is regular again."
    )
    return Figure("zero-dynamics", caption, picture)
