"""Pictures of the mass matrix, of the legs' share and of what a solve loses."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.figure import Figure as Picture

import gough
from gough.show.colors import BLUE, VERMILION
from gough.show.pictures.curves import leg_panels
from gough.show.reproduction import Figure
from gough.show.style import STYLE

from .closed_forms import closed_forms
from .robots import POSES, random_states, turned_poses
from .shares import Share
from .solves import solve_losses


def matrix_figure(robot: gough.Robot) -> Figure:
    """A_robot, and what is wrong with it as printed."""
    form = closed_forms(robot, random_states(robot, 1)[0])
    scale = np.diag([1.0] * 3 + [1 / robot.length_scale] * 3)
    right, printed = (scale @ one @ scale for one in (form.inertia, form.printed_inertia))
    shown = (("corrected", right), ("as printed", printed), ("difference", printed - right))
    limit = max(float(np.abs(one).max()) for _, one in shown)
    names = ["x", "y", "z", "θx", "θy", "θz"]
    with matplotlib.rc_context(STYLE | {"axes.grid": False}):
        picture = Picture(figsize=(7.5, 2.9), layout="constrained")
        row = picture.subplots(1, 3)
        for axes, (title, matrix) in zip(row, shown, strict=True):
            image = axes.imshow(matrix, cmap="RdBu_r", vmin=-limit, vmax=limit)
            axes.set_title(title, fontsize=10)
            axes.set_xticks(range(6), names)
            axes.set_yticks(range(6), names)
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
        picture.colorbar(image, ax=row, label="kg", shrink=0.85)
    caption = (
        "A_robot of Eq. 36 for the general robot at a random pose; rotations scaled by the "
        "platform's "
        "size, so that all entries are in kg. As printed (L̂ᵀ and M̂Sᵀ for L̂ and M̂S) the moment "
        "rows have "
        "the wrong sign."
    )
    return Figure("inertia-matrix", caption, picture)


def share_figure(share: Share) -> Figure:
    """Total, legs, leg inertia."""
    panels = [
        ("(a) total", share.total, "force [N]"),
        ("(b) legs: weight and inertia", share.legs, "force [N]"),
        ("(c) legs: inertia alone", share.inertia, "force [N]"),
    ]
    caption = (
        "Actuator forces of the robot of Long, Khalil & Martinet 2014 on a rest-to-rest motion "
        "from "
        "home through two poses and back, and the parts that its legs and rotors ask for."
    )
    return Figure("leg-inertia", caption, leg_panels(share.time, panels))


def loss_figure(robot: gough.Robot) -> Figure:
    """Loss over how far the platform is turned."""
    angle = np.geomspace(1e-16, 0.1, POSES)
    poses = turned_poses(robot, angle)
    lost, kept = solve_losses(robot, poses)
    bins = [np.asarray(part) for part in np.array_split(np.arange(POSES), 50)]
    middle = [np.exp(np.log(angle[part]).mean()) for part in bins]
    finite = np.where(np.isfinite(lost), lost, np.nan)
    with matplotlib.rc_context(STYLE):
        picture = Picture(figsize=(7.5, 3.6), layout="constrained")
        axes = picture.subplots()
        for values, color, label in (
            (finite, VERMILION, "elimination without pivoting"),
            (kept, BLUE, "gough (Householder QR)"),
        ):
            worst, usual = (
                [pick(values[part]) for part in bins] for pick in (np.nanmax, np.nanmedian)
            )
            axes.loglog(middle, worst, color=color, label=f"{label}: worst")
            axes.loglog(middle, usual, color=color, linestyle="--", label=f"{label}: median")
        axes.set(
            xlabel="turn of the platform [rad]", ylabel="relative loss in Γ", ylim=(1e-17, 1e3)
        )
        axes.set_xticks(10.0 ** np.arange(-15, 0, 2))
        picture.legend(loc="outside lower center", ncols=2)
    caption = (
        "Relative loss in the actuator forces when J_p⁻ᵀ Γ = F is solved, over how far the "
        "platform is "
        f"turned from level: {POSES} random poses within 0.2 m of home, in 50 bins. Condition "
        "numbers "
        f"are below {np.ceil(robot.condition_number(poses).max()):.0f}: no pose is near singular."
    )
    return Figure("solve-loss", caption, picture)
