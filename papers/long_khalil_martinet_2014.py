"""Long, Khalil & Martinet 2014: a Gough-Stewart robot whose platform is a plate that bends.

The plate is a floating frame (p, R; twist V = (v, ω)) and N modes qe. Eliminating the elastic
accelerations from the equations of legs and plate gives, in the paper's notation,

    A V̇ + c = J_sys⁻ᵀ Γ                                                                      (46)
    q̈e = A_ee⁻¹ (J_e⁻ᵀ Γ − (A_reᵀ + W_e A_x W_pᵀ) V̇ − W_e (A_x h + c_x) − c_e)                 (44)

The inverse model solves them for Γ and q̈e, the direct model for V̇ and q̈e. The simulation of Fig. 3,
which closes a loop around both, is in `long_khalil_martinet_2014_simulation.py`.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import gough
from gough.data.paper_motions import paper_motion
from gough.description.modal.calculix import read_calculix
from gough.description.modal.meshed import Selection
from gough.errors import ImpossibleBodyWarning, UnstableWarning
from gough.show import plots
from gough.show.mode_plots import mode_sheet
from gough.show.reproduction import (
    Claim,
    Figure,
    NumberTable,
    Progress,
    Reproduction,
    leg_panels,
    load_script,
    number,
    run_script,
)

Array = NDArray[np.float64]
NAME = "long-khalil-martinet-2014"
simulation = load_script(f"{NAME}-simulation")
Run, Growth = simulation.Run, simulation.Growth
LEGS = [f"leg {i}" for i in range(1, 7)]
FIRST = 7
"""Number of the first elastic mode: six rigid ones come before it."""
TABLE_2 = np.array(
    [
        [188.7473, 35625.55], [188.7475, 35625.63], [315.7169, 99677.16], [401.0187, 160816.0],
        [474.7468, 225384.5], [709.5586, 503473.4], [709.5814, 503505.8], [828.2868, 686059.1],
        [828.3062, 686091.1], [1310.581, 1717622.0],
    ]
)  # fmt: skip
"""Natural frequency, rad/s, and generalized stiffness, 1/s², of modes 7 to 16."""
TABLE_4 = np.array(
    [
        [0.1, 0.3, 1.3, 1.0, -0.2, -0.7],
        [-0.2, -0.2, 0.4, 1.0, 0.9, 0.5],
        [-1.671, -1.373, -2.016, -1.958, -1.656, -1.936],
        [1.767, 1.764, 1.814, 1.859, 1.389, 1.345],
        [1.025, 1.039, 1.142, 1.126, 1.0203, 1.099],
    ]
)
"""x and y of the B_j, m; q_1j and q_2j, rad; q_3j, m, of legs 1 to 6."""
PRINTED_MASS = 73.069
THICKNESS = 0.015
CUTS = 8
"""CalculiX: eight-node shells along an edge of the hexagon."""
TOLERANCES = (1e-8, 1e-10)
"""Relative tolerances at which the simulation is compared."""
COUNTS = (3, 5, 10, 17, 24)
"""Numbers of modes for the study of convergence; the last is the reference."""
POSES = 1000
RIGID_FIELDS = (
    "position",
    "rotation",
    "velocity",
    "angular_velocity",
    "acceleration",
    "angular_acceleration",
)


# Table 2 and Table 4


def calculix_deck(path: Path, cuts: int, modes: int) -> None:
    """The plate for CalculiX: three rhombi of S8R shells, free, `modes` modes with the rigid ones."""
    corners = 0.5 * np.exp(1j * np.pi / 3 * np.arange(6))
    numbers: dict[complex, int] = {}
    elements = []
    for r in range(3):
        u, v = corners[2 * r] / (2 * cuts), corners[(2 * r + 2) % 6] / (2 * cuts)
        for i, j in np.ndindex(cuts, cuts):
            ring = [(0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1)]
            places = [complex(np.round((2 * i + a) * u + (2 * j + b) * v, 9)) for a, b in ring]
            elements.append([numbers.setdefault(one, len(numbers) + 1) for one in places])
    lines = ["** the plate of Section 6.1", "*Node, NSET=NALL"]
    lines += [f"{i}, {place.real:.12g}, {place.imag:.12g}, 0" for place, i in numbers.items()]
    lines.append("*ELEMENT, TYPE=S8R, ELSET=PLATE")
    lines += [f"{i}, " + ", ".join(map(str, one)) for i, one in enumerate(elements, 1)]
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", "2e10, 0.3", "*DENSITY", "7500"]
    lines += ["*SHELL SECTION, ELSET=PLATE, MATERIAL=M", f"{THICKNESS}"]
    lines += ["*STEP", "*FREQUENCY", f"{modes}", "*NODE FILE", "U", "*END STEP", ""]
    path.write_text("\n".join(lines), "utf-8")


def calculix_frequencies(robot: gough.Robot, count: int) -> Array | None:
    """Natural frequencies, rad/s, of the plate's first elastic modes by CalculiX, if it is here."""
    program = shutil.which("ccx")
    if program is None:
        return None
    tips = np.moveaxis(robot.description.platform_points[..., 0], 0, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        calculix_deck(folder / "plate.inp", CUTS, count + 8)
        subprocess.run([program, "plate"], cwd=folder, check=True, capture_output=True, timeout=300)
        wanted = Selection(tips, None, count, 0.0)
        body = read_calculix(folder / "plate.frd", folder / "plate.inp", wanted)
    return np.sqrt(np.diagonal(body.stiffness))


def table_4(robot: gough.Robot) -> tuple[Array, float, float]:
    """The P_i that Table 4 gives, (6, 3); how far they are from the robot's; its q_3 from ours, m.

    P = B + q3 z3, z3 = (cos q1 sin q2, −cos q2, −sin q1 sin q2) in Σ_0i (Eq. 3), which is the
    world frame turned about z until x is along B1→Bi.
    """
    x, y, q1, q2, q3 = TABLE_4
    base = np.column_stack([x, y, np.zeros(6)])
    angle = np.arctan2(y - y[0], x - x[0])
    z3 = np.column_stack([np.cos(q1) * np.sin(q2), -np.cos(q2), -np.sin(q1) * np.sin(q2)])
    turn = Rotation.from_euler("z", angle[:, np.newaxis])
    points = base + q3[:, np.newaxis] * turn.apply(z3)
    home = robot.home
    tips = home.position + np.moveaxis(robot.description.platform_points[..., 0], 0, 1)
    q = robot.rigid.inverse_kinematics(home).q
    off = np.linalg.norm(points - tips, axis=1).max()
    return points, float(off), float(np.abs(q - q3).max())


# Convergence, what Fig. 5 shows, and health


class Convergence(NamedTuple):
    """Results with n modes beside those with the most."""

    counts: Array
    sag: Array
    """Largest deflection of a tip at rest, m."""
    forces: Array
    """Largest difference of Γ along the path from that of the most modes, N; NaN for the most."""


def convergence(robot: gough.Robot, progress: Progress) -> Convergence:
    """Deflection and forces against the number of modes; `robot` has the most of them."""
    runs = []
    for count in COUNTS:
        progress(f"convergence: {count} modes")
        one = simulation.muted(robot, count)
        rest = one.static_deflection(one.home)
        sag = np.abs(one.deformation(rest, "tips").displacement).max()
        run = simulation.simulate(one, rest, 1e-5, samples=226)
        runs.append((sag, run.forces))
    best = runs[-1][1]
    off = [np.abs(forces - best).max() for _, forces in runs[:-1]]
    return Convergence(np.array(COUNTS), np.array([s for s, _ in runs]), np.array([*off, np.nan]))


class Agreement(NamedTuple):
    """Largest |V̇ − V̇ᵈ| along the path, of V̇ᵈ's largest: right and wrong models in the loop."""

    right: float
    both_wrong: float
    """Both models with a plate a tenth too stiff."""
    one_wrong: float
    """The inverse model alone with that plate."""
    forces: float
    """Largest error of the wrong model's forces, N."""


def agreement(robot: gough.Robot, run: Run) -> Agreement:
    """direct(inverse(V̇ᵈ)) − V̇ᵈ with right and wrong stiffness."""
    body: Any = robot.description.modal
    wrong = simulation.with_body(robot, stiffness=1.1 * body.stiffness)
    asked = np.concatenate([run.motion.acceleration, run.motion.angular_acceleration], axis=1)
    largest = np.abs(asked).max()
    forces = wrong.inverse_dynamics(run.motion).forces

    def off(model: gough.Robot, forces: Array) -> float:
        found = model.direct_dynamics(run.motion, forces)
        reached = np.concatenate([found.linear, found.angular], axis=1)
        return float(np.abs(reached - asked).max() / largest)

    return Agreement(
        off(robot, run.forces),
        off(wrong, forces),
        off(robot, forces),
        float(np.abs(forces - run.forces).max()),
    )


def elimination_error(robot: gough.Robot, motion: gough.Motion) -> float:
    """A, c, J_sys⁻ᵀ of Eqs. 47–49 against elimination of q̈e from M ξ̇ + b = Jᵀ Γ, relative."""
    found = robot.condensed(motion)
    M, b, J = robot.mass_matrix(motion), robot.bias(motion), robot.jacobian(motion)
    mix = np.swapaxes(np.linalg.solve(M[..., 6:, 6:], M[..., 6:, :6]), -1, -2)
    wanted = (
        M[..., :6, :6] - mix @ M[..., 6:, :6],
        b[..., :6] - (mix @ b[..., 6:, np.newaxis])[..., 0],
        np.swapaxes(J[..., :6], -1, -2) - mix @ np.swapaxes(J[..., 6:], -1, -2),
    )
    pairs = zip((found.mass, found.bias, found.sharing), wanted, strict=True)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


class Health(NamedTuple):
    """Zero dynamics: at home, along the path, and far from both."""

    home: float
    """Slowest pole at home, 1/s."""
    along: float
    """Slowest pole along the path, 1/s."""
    angles: Array
    """Turns of the platform at home about x, degrees."""
    poles: Array
    """The pole farthest to the right at each of them, 1/s."""
    condition: Array
    """Condition number of J_sys⁻ᵀ there."""
    unstable: float
    """Part of random poses, within 0.3 m and 0.5 rad of home on each axis, that is unstable."""


def health(robot: gough.Robot) -> Health:
    """Poles of M_z q̈e + D q̇e + K qe = 0."""
    rng = np.random.default_rng(5)
    angles = np.linspace(-30.0, 30.0, 241)
    turned = gough.Motion(robot.home.position, Rotation.from_euler("x", angles[:, None], True))
    shifts = rng.uniform(-0.3, 0.3, (POSES, 3))
    turns = Rotation.from_rotvec(rng.uniform(-0.5, 0.5, (POSES, 3)))
    cloud = gough.Motion(robot.home.position + shifts, turns)
    moving = paper_motion(f"{NAME}/poses").sample(46)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)
        home, along, tilted, random = (
            robot.elastic_health(one) for one in (robot.home, moving, turned, cloud)
        )
    slowest = tilted.poles.real.max(axis=-1)
    return Health(
        float(home.poles.real.max()),
        float(along.poles.real.max()),
        angles,
        slowest,
        tilted.condition,
        float(np.mean(~random.stable)),
    )


# Figures

AXES = ("x", "y", "z")


def table_2_figure(ours: Array, calculix: Array | None) -> Figure:
    """How far the paper and CalculiX are from the converged plate, mode by mode."""
    modes = FIRST + np.arange(len(TABLE_2))
    with matplotlib.rc_context(plots.STYLE):
        picture = Picture(figsize=(7.5, 3.2), layout="constrained")
        axes = picture.subplots()
        axes.axhline(0, color=plots.DARK, linewidth=0.8)
        rows = [("paper (MSC Nastran), Table 2", TABLE_2[:, 0], plots.VERMILION, "o", "full")]
        if calculix is not None:
            rows.append(("CalculiX, S8R shells", calculix, plots.BLUE, "s", "none"))
        for label, values, color, marker, fill in rows:
            off = 100 * (values / ours - 1)
            axes.plot(modes, off, marker, color=color, fillstyle=fill, markersize=8, label=label)
        axes.set(xlabel="mode", ylabel="frequency less gough's [%]", xticks=modes)
        axes.legend(loc="upper left")
    caption = (
        "Table 2: natural frequencies of the free plate beside those of gough's Kirchhoff plate with "
        "ν = 0.3, converged. Modes 14 to 16 of the paper stand out."
    )
    return Figure("table-2", caption, picture)


def axis_panels(time: Array, panels: list[tuple[str, Array, str]]) -> Picture:
    """Panels of x, y, z components over time."""
    colors = (plots.BLUE, plots.VERMILION, plots.GREEN)
    with matplotlib.rc_context(plots.STYLE):
        picture = Picture(figsize=(7.5, 0.7 + 1.9 * len(panels)), layout="constrained")
        rows = picture.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        for axes, (title, curves, label) in zip(rows, panels, strict=True):
            for curve, color, name, style in zip(
                curves.T, colors, AXES, ("-", "--", "-."), strict=True
            ):
                axes.plot(time, curve, color=color, linestyle=style, linewidth=1.2, label=name)
            axes.set_title(title, loc="left", fontsize=10)
            axes.set(ylabel=label)
            axes.yaxis.set_major_locator(MaxNLocator(5))
            axes.margins(x=0)
        rows[-1].set_xlabel("time [s]")
        picture.align_ylabels()
        picture.legend(handles=rows[0].get_lines(), loc="outside right center")
    return picture


def force_figure(run: Run, rigid: Array) -> Figure:
    """Fig. 4, and the rigid robot's forces beside it."""
    panels = [
        ("(a) flexible platform, ten modes", run.forces, "force [N]"),
        ("(b) rigid platform", rigid, "force [N]"),
        ("(c) flexible less rigid", run.forces - rigid, "force [N]"),
    ]
    caption = (
        "Fig. 4. Forces of the actuated prismatic joints by the inverse model (the path's poses are "
        "ours), those of a rigid platform of the same mass along the same path, and the difference."
    )
    return Figure("fig-4", caption, leg_panels(run.time, panels, LEGS))


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
            "Fig. 6. Deformation at the platform's origin, platform axes. In the plane of the plate "
            "there is none.",
            axis_panels(run.time, panels),
        ),
        Figure(
            "fig-7",
            "Fig. 7. Deformation at the attachment points, along the plate's normal (in its plane there "
            f"is none). It is as large as the plate is thick: {1e3 * THICKNESS:.0f} mm.",
            leg_panels(run.time, along_z, LEGS),
        ),
    ]


def deformations(robot: gough.Robot, motion: gough.Motion) -> tuple[Array, Array, Array]:
    """Φ_d(p) qe and Φ_r(p) qe (n, 3) at the origin, and Φ_d(i) qe (n, 6, 3) at the tips."""
    body: Any = robot.description.modal
    center = robot.deformation(motion, "origin").displacement
    tips = robot.deformation(motion, "tips").displacement
    return center, motion.elastic @ body.origin_rotations.T, tips


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
    return Figure("start", caption, leg_panels(zero.time, panels, LEGS))


def open_loop_figure(growth: Growth) -> Figure:
    """The distance of the two robots over time."""
    with matplotlib.rc_context(plots.STYLE):
        picture = Picture(figsize=(7.5, 3.4), layout="constrained")
        axes = picture.subplots()
        axes.semilogy(growth.time, growth.distance, color=plots.BLUE, label="simulated")
        line = growth.distance[-1] * np.exp(growth.rate * (growth.time - growth.time[-1]))
        seen = line >= simulation.OFFSET
        axes.semilogy(
            growth.time[seen],
            line[seen],
            color=plots.VERMILION,
            linestyle="--",
            label=f"exp({growth.rate:.1f} t), linearised at home",
        )
        axes.set(xlabel="time [s]", ylabel="distance of the platform frames [m]")
        axes.margins(x=0)
        axes.legend(loc="upper left")
    caption = (
        "Forces of the closed loop as a function of time alone, applied to the same robot started "
        f"{number(simulation.OFFSET)} m away: the two part exponentially. A robot on six legs is an "
        "inverted pendulum; the loop of Fig. 3 hides it, since its forces follow the simulated state."
    )
    return Figure("open-loop", caption, picture)


def convergence_figure(found: Convergence) -> Figure:
    """Sag and forces against the number of modes."""
    with matplotlib.rc_context(plots.STYLE):
        picture = Picture(figsize=(7.5, 3.4), layout="constrained")
        left, right = picture.subplots(1, 2)
        left.plot(found.counts, 1e3 * found.sag, color=plots.BLUE, marker="o")
        left.set(xlabel="modes", ylabel="deflection at rest [mm]")
        right.plot(found.counts, found.forces, color=plots.BLUE, marker="o")
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
    """The right-most pole of the zero dynamics against the platform's turn about x."""
    with matplotlib.rc_context(plots.STYLE):
        picture = Picture(figsize=(7.5, 3.2), layout="constrained")
        axes = picture.subplots()
        axes.axhspan(0, 1e5, color=plots.VERMILION, alpha=0.1, linewidth=0)
        axes.plot(found.angles, found.poles, ".", color=plots.BLUE, markersize=4)
        axes.set_yscale("symlog", linthresh=10)
        axes.set(
            xlabel="turn about x at home [°]",
            ylabel="right-most pole [1/s]",
            ylim=(-100, 2 * max(100.0, float(found.poles.max()))),
        )
        axes.text(
            0.98, 0.93, "unstable", transform=axes.transAxes, ha="right", va="top", color=plots.DARK
        )
        axes.margins(x=0)
    caption = (
        "Zero dynamics M_z q̈e + D q̇e + K qe = 0 of the plate while the actuators move its frame as "
        "asked. Above zero the inverse model cannot be followed: its forces grow without bound."
    )
    return Figure("zero-dynamics", caption, picture)


# All of it


class Results(NamedTuple):
    """What the claims are made of."""

    robot: gough.Robot
    calculix: Array | None
    geometry: tuple[Array, float, float]
    runs: tuple[Run, ...]
    """At TOLERANCES."""
    rigid: Array
    held: Run
    """The first 0.4 s, from the static deflection."""
    zero: Run
    """The same from an undeformed plate."""
    growth: Growth
    fit: Convergence
    agreement: Agreement
    elimination: float
    health: Health


def compute(progress: Progress) -> Results:
    """Everything that takes time."""
    robot = gough.load(NAME)
    progress("plate")
    calculix = calculix_frequencies(robot, len(TABLE_2))
    rest = robot.static_deflection(robot.home)
    runs = tuple(simulation.simulate(robot, rest, one, progress=progress) for one in TOLERANCES)
    fine = runs[-1]
    smooth = gough.Motion(
        *(getattr(fine.motion, name) for name in RIGID_FIELDS), time=fine.motion.time
    )
    progress("started undeformed")
    held, zero = (
        simulation.simulate(robot, one, stop=0.4, samples=801) for one in (rest, robot.home)
    )
    progress("open loop")
    growth = simulation.open_loop(robot)
    progress("zero dynamics")
    poles = health(robot)
    progress("plate of many modes")
    many = robot.edited({"platform.plate.modes": COUNTS[-1]})
    return Results(
        robot,
        calculix,
        table_4(robot),
        runs,
        robot.rigid.inverse_dynamics(smooth).forces,
        held,
        zero,
        growth,
        convergence(many, progress),
        agreement(robot, fine),
        elimination_error(robot, fine.motion[::30]),
        poles,
    )


def frequencies(robot: gough.Robot) -> Array:
    """Natural frequencies of the free plate, rad/s."""
    return np.sqrt(robot.platform.stiffness)


def tables(found: Results) -> list[NumberTable]:
    """Tables 2 and 4, theirs beside ours."""
    ours = frequencies(found.robot)
    with_calculix = found.calculix is not None
    theirs = found.calculix if found.calculix is not None else np.full(len(ours), np.nan)

    def cells(k: int) -> list[str]:
        shell = (
            [f"{theirs[k]:.2f}", percent(theirs[k] / ours[k] - 1)] if with_calculix else ["–"] * 2
        )
        return [
            f"{FIRST + k}", f"{TABLE_2[k, 0]:.2f}", f"{ours[k]:.2f}", shell[0],
            percent(TABLE_2[k, 0] / ours[k] - 1), shell[1],
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
    source = (
        f"CalculiX: S8R shells, {CUTS} along an edge"
        if with_calculix
        else "CalculiX is not installed here (Debian: calculix-ccx)"
    )
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


def reproduce(progress: Progress) -> Reproduction:
    """Everything: claims, tables, figures, notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleBodyWarning)
        found = compute(progress)
        progress("figures")
        robot, run = found.robot, found.runs[-1]
        body: Any = robot.description.modal
        figures = [
            Figure(
                "modes",
                "The ten elastic modes of the plate; the paper counts them from 7.",
                mode_sheet(body, "hexagonal plate"),
            ),
            table_2_figure(frequencies(robot), found.calculix),
            force_figure(run, found.rigid),
            acceleration_figure(run),
            *deformation_figures(robot, run),
            start_figure(found.held, found.zero),
            open_loop_figure(found.growth),
            health_figure(found.health),
            convergence_figure(found.fit),
        ]
        claims = _plate_claims(found) + _model_claims(found) + _simulation_claims(found)
    return Reproduction(
        NAME,
        "Long, Khalil & Martinet 2014: parallel robots with flexible platforms",
        robot.file.source.partition(", Tables")[0],
        claims,
        figures,
        NOTES,
        tables(found),
    )


def _plate_claims(found: Results) -> list[Claim]:
    ours, mass = frequencies(found.robot), found.robot.platform.mass
    off = np.abs(TABLE_2[:, 0] / ours - 1)
    body: Any = found.robot.description.modal
    if found.calculix is None:
        shells = "CalculiX is not installed here (Debian: calculix-ccx)"
        high = shells
    else:
        distance = np.abs(found.calculix / ours - 1)
        shells = f"CalculiX is within {distance[:7].max():.1%} of gough's"
        high = f"CalculiX has {', '.join(f'{one:.0f}' for one in found.calculix[7:])}"
    squares = np.abs(TABLE_2[:, 0] ** 2 / TABLE_2[:, 1] - 1).max()
    _, points, lengths = found.geometry
    return [
        Claim(
            "The plate's mass (Section 6.1)",
            f"{PRINTED_MASS} kg",
            f"{mass:.3f} kg",
            "agrees",
            "Young's modulus is printed in N m; it is in N/m²",
        ),
        Claim(
            "Natural frequencies, modes 7 to 13 (Table 2)",
            "188.75 … 709.58 rad/s",
            f"modes 7 to 11 within {off[:5].max():.1%}, 12 and 13 within {off[5:7].max():.1%}; {shells}",
            "agrees",
            "Poisson's ratio is not printed; 0.3 fits",
        ),
        Claim(
            "Natural frequencies, modes 14 to 16 (Table 2)",
            ", ".join(f"{one:.1f}" for one in TABLE_2[7:, 0]),
            f"{', '.join(f'{one:.1f}' for one in ours[7:])}: the paper is "
            f"{100 * off[7:].min():.1f} to {100 * off[7:].max():.1f} % above; {high}",
            "paper wrong",
            "gough's plate is converged; a mesh too coarse errs upwards, in high modes first",
        ),
        Claim(
            "Generalized stiffness with m_ee = 1 (Table 2)",
            "35625.55 … 1717622",
            f"ω² within {number(squares)} of the printed stiffness; gough's m_ee = 1 within "
            f"{number(np.abs(body.modal_mass - np.eye(body.modes)).max())}",
            "agrees",
        ),
        Claim(
            "Ten modes represent the plate (Section 6.1).",
            "modes 7 to 16",
            f"against {COUNTS[-1]} modes the forces change by at most {found.fit.forces[2]:.0f} N of "
            f"{np.abs(found.runs[-1].forces).max():.0f} N, the largest deflection at rest from "
            f"{1e3 * found.fit.sag[2]:.1f} to {1e3 * found.fit.sag[-1]:.1f} mm",
            "agrees",
            "for forces; ten modes cut the pair 16, 17 of equal frequency in half",
        ),
        Claim(
            "Base points and initial joint values (Table 4)",
            "b_j, q_1j, q_2j, q_3j",
            f"tips within {1e3 * points:.2f} mm of a hexagon of radius 0.5 m, q₃ within "
            f"{1e3 * lengths:.2f} mm",
            "agrees",
            "with γ_1j the angle of B₁→B_j, d = |B₁B_j|, b = 0, which the paper does not print",
        ),
    ]


def _model_claims(found: Results) -> list[Claim]:
    poles = found.health
    unstable = poles.angles[poles.poles > 0]
    body: Any = found.robot.description.modal
    coupling = np.abs(body.report.translation).max(), np.abs(body.report.rotation).max()
    return [
        Claim(
            "A, c and J_sys of Eqs. 47 to 49 eliminate the elastic accelerations.",
            "Eqs. 46 to 49",
            f"equal to elimination from the full mass matrix within {number(found.elimination)}",
            "agrees",
            "with q̈e for q̇e in Eqs. 23 and 40, and A_x, c_x turned into platform axes",
        ),
        Claim(
            "The coupling of frame and modes is in s, β, λ (after Eq. 34).",
            "MS_de, MS_re",
            f"of this plate |s| ≤ {number(coupling[0])}, |β| ≤ {number(coupling[1])}, λ = 0: all "
            "coupling goes through the legs",
            "not checkable",
            "a free flat plate about its centre cannot test these terms; f_c, n_c, Q_c are not printed",
        ),
        Claim(
            "A and J_sys are invertible outside special configurations.",
            "closed form of both models",
            f"the plate's zero dynamics are stable at home (slowest pole {number(poles.home, '.1f')} "
            f"1/s) and along the path ({number(poles.along, '.1f')} 1/s), but unstable when turned at "
            f"home by {number(unstable.max(), '.1f')}° about x, and in {poles.unstable:.0%} of random "
            "poses within 0.3 m and 0.5 rad of home on each axis",
            "disagrees",
            "Γ exists there but cannot be followed: it grows without bound",
        ),
    ]


def _simulation_claims(found: Results) -> list[Claim]:
    robot, run, coarse = found.robot, found.runs[-1], found.runs[0]
    still = run.time < 0.75
    drift = np.abs(run.forces[still] - run.forces[0]).max()
    center, turn, tips = deformations(robot, run.motion)
    agreement, growth = found.agreement, found.growth
    desired = paper_motion(f"{NAME}/poses")(run.time)
    strayed = np.abs(run.motion.position - desired.position).max()
    difference = run.forces - found.rigid
    largest = np.abs(run.forces).max()
    spike = np.abs(found.zero.forces).max()
    return [
        Claim(
            "Simulation of Fig. 3 with ten modes",
            "results of Figs. 4 to 7",
            f"4.5 s in {run.seconds:.1f} s, {run.evaluations} evaluations; tolerances "
            f"{number(TOLERANCES[0])} and {number(TOLERANCES[1])} differ by "
            f"{number(np.abs(run.forces - coarse.forces).max())} N in Γ and "
            f"{number(np.abs(run.motion.elastic - coarse.motion.elastic).max())} in q_e",
            "agrees",
            "work less damping less change of energy: "
            f"{number(simulation.imbalance(robot, run))} of the change",
        ),
        Claim(
            "Actuator forces (Fig. 4)",
            "curves without numbers",
            f"between {number(run.forces.min(), '.0f')} and {number(run.forces.max(), '.0f')} N; "
            f"constant within {number(drift)} N in the first rest, started from the static deflection",
            "not checkable",
            "the path's poses are not printed",
        ),
        Claim(
            "The platform's flexibility has to be modelled (Section 1).",
            "for large or light platforms",
            f"forces differ from the rigid robot's by up to {np.abs(difference).max():.0f} N of "
            f"{largest:.0f} N ({np.sqrt(np.mean(difference**2)):.0f} N rms), at rest by up to "
            f"{np.abs(difference[0]).max():.0f} N",
            "agrees",
            "on this robot and path",
        ),
        Claim(
            "Direct model less desired acceleration is almost zero, which validates the model (Fig. 5).",
            "almost zero",
            f"{number(agreement.right)} of the largest; with the stiffness 10 % wrong in both models "
            f"{number(agreement.both_wrong)}, in the inverse model alone {agreement.one_wrong:.0%}",
            "disagrees",
            "it is zero, but it is direct(inverse) = identity: it proves that J_sys is regular and the "
            "solves are sound, not that mass, stiffness or equations are right",
        ),
        Claim(
            "Deformation at the origin is greatest along z, rotation about x and y (Fig. 6).",
            "z; x and y",
            f"z up to {1e3 * np.abs(center[:, 2]).max():.2f} mm, x and y "
            f"{1e3 * np.abs(center[:, :2]).max():.1g} mm; rotation about x and y up to "
            f"{1e3 * np.abs(turn[:, :2]).max():.2f} mrad, about z {1e3 * np.abs(turn[:, 2]).max():.1g}",
            "agrees",
            "the others are zero: a plate does not stretch",
        ),
        Claim(
            "The manipulator undergoes small deformations (Section 4.1; Fig. 7).",
            "small",
            f"tips deflect by {1e3 * np.abs(tips[0]).max():.1f} mm at rest and up to "
            f"{1e3 * np.abs(tips).max():.1f} mm in motion; the plate is {1e3 * THICKNESS:.0f} mm thick",
            "disagrees",
            "linear plate theory needs deflections well below the thickness",
        ),
        Claim(
            "Initial state (Section 6.1)",
            "joint values; q_e is not given",
            f"from q_e = 0 the inverse model asks for {1e-3 * spike:.1f} kN at once, from the static "
            f"deflection for {1e-3 * np.abs(run.forces[0]).max():.1f} kN",
            "not checkable",
            "start from the static deflection",
        ),
        Claim(
            "The system follows a spatial trajectory (Section 6).",
            "follows",
            f"in the loop of Fig. 3 within {number(strayed)} m; with the same Γ(t) open loop an offset "
            f"of {number(simulation.OFFSET)} m grows to {1e3 * growth.distance[-1]:.0f} mm in "
            f"{growth.time[-1]:.0f} s, small motions as exp({growth.rate:.1f} t)",
            "not checkable",
            "the loop recomputes Γ from the simulated state, so errors do not grow; a real robot needs "
            "feedback",
        ),
    ]


NOTES = (
    "The path's poses are not printed: home, two poses away from it in position and orientation, home; "
    "0.75 s rest, three moves of 1 s by fifth-order polynomials, 0.75 s rest.",
    "Gravity 9.81 m/s² along −z. Damping D = 2 · 0.4 · √K. No friction.",
    "What Fig. 5 does not prove is tested elsewhere: both models agree within 10⁻⁹ with an energy model "
    "of nodal masses, differentiated automatically, on general bodies with s, β, λ.",
    "λ is a cross product, ∫ Φ_k × Φ_j dm; the printed order of its indices turns its sign. I_op "
    "depends on q_e; the columns of MS_re stand side by side. The vector of Eq. 34 is (v̇ − g, ω̇, q̈_e).",
    "Eq. 12 has q̇_e for q_e; after Eq. 4, a₃ᵀ is the third row of the inverse Jacobian; Eqs. 9 and 10 "
    "are the same, 9 should read f = J⁻ᵀ (Γ − A q̈ − c); Eq. 43 has A_reᵀ in its second row.",
    "Table 3's link tensors belong to no real links (central inertias are negative), though the legs' "
    "mass matrices stay positive definite; carried as printed. IA of the prismatic joint is a mass, kg.",
)

if __name__ == "__main__":
    run_script(NAME, reproduce)
