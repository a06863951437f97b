"""Kim & Ryu 2002: inverse dynamics of the HexaSlide (PUS legs), link inertia and joint friction.

Every body alone (Newton–Euler), links slender (n·ω_l = 0). With a the rail's direction, n the link's,
λ the slider's coordinate, l the link's length, G the platform's centre of mass and f_u, f_p the
friction couples on a link, corrected:

    λ = a·d − √k,  k = (a·d)² − d·d + l²,  λ̇ = a·ḋ − k̇/(2√k),  λ̈ = a·d̈ − (2 k̈ k − k̇²)/(4 k √k)    (8-10)
    ω_l = n×ṅ,  ω̇_l = n×n̈                                                                    (19)
    T_1 = [n_i; GB_i×n_i],  T = [m g − m G̈ + Σ t_i; −I ω̇ − ω×I ω + Σ GB_i×t_i]                (26)
    t = n×((I_l + m_l l²/4) ω̇_l + ω_l×I_l ω_l)/l + ½ m_l n×n×(λ̈ a − g)                    (23, 27)
    τ = m_s (λ̈ − a·g) + a·{n×(I_l ω̇_l + ω_l×I_l ω_l)/l + ½ m_l (1 + n nᵀ)(l n̈/2 + λ̈ a − g)
        − n γ T_1⁻¹ T}                                                                       (29)

Joint friction, iterated until it agrees with the loads F_A, F_B, N it depends on:

    f_s = −c_s λ̇ − μ (|u·N| + |v·N|) sign λ̇                                              (30)
    f_u = −c_u ω_l − k_u ‖F_A‖ ω_l/‖ω_l‖,  f_p the same with ω_l − ω and F_B               (31)

The paper's reference, the program DADS, is replaced by Pinocchio (legs opened at the spherical
joints and closed by projection) or, where that is not installed, by gough's exact model.
"""

from __future__ import annotations

import importlib
import importlib.util
import time
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

import gough
from gough.data.paper_motions import kim_ryu_circle, paper_motion
from gough.formulations import newton_euler
from gough.show import plots
from gough.show.reproduction import (
    Claim,
    Figure,
    Progress,
    Reproduction,
    leg_panels,
    number,
    run_script,
)
from gough.trajectories import Circle, Trajectory

Array = NDArray[np.float64]
NAME = "kim-ryu-2002"
LEGS = [f"leg {i}" for i in range(1, 7)]
RADIUS = 0.1
SPEEDS = (20, 40, 60)
TIME = np.linspace(0.0, 3.0, 601)
"""The paper's simulations: 3 s in steps of 0.005 s."""
EVERY = 3
"""The reference is computed at every third of them."""


def dot(a: Array, b: Array) -> Array:
    """a·b along the last axis."""
    return np.asarray((a * b).sum(axis=-1))


class Numbers(NamedTuple):
    """The paper's Appendix A.1 as the robot file has it; a row a leg."""

    A0: Array
    a: Array
    CB: Array
    length: float
    alpha: Array
    slider_mass: float
    link_mass: float
    link_inertia: Array
    mass: float
    CG: Array
    inertia: Array
    gravity: Array


def numbers(robot: gough.Robot) -> Numbers:
    """Read the robot file."""
    legs: Any = robot.file.legs
    platform: Any = robot.file.platform
    parts: Any = robot.description.legs
    slider, link = legs.slider[0], legs.link[0]
    return Numbers(
        A0=parts.rail_origin[..., 0].T,
        a=parts.rail_direction[..., 0].T,
        CB=np.asarray(legs.platform),
        length=float(legs.length),
        alpha=parts.axis[..., 0].T,
        slider_mass=float(slider.mass),
        link_mass=float(link.mass),
        link_inertia=np.asarray(link.inertia),
        mass=float(platform.mass),
        CG=np.asarray(platform.center_of_mass),
        inertia=np.asarray(platform.inertia),
        gravity=robot.description.gravity,
    )


def equation_29(
    this: Numbers, motion: gough.Motion, link_inertia: bool = True, printed: bool = False
) -> Array:
    """Actuator forces (n, 6), no friction, by the paper's equations one after the other.

    Without `link_inertia` the terms of Eq. 34 are left out. `printed`: those terms with n×a for
    n×n×a, and with ω_l for ω̇_l in the moment row, as the paper prints them.
    """
    a, g, length, m_l = this.a, this.gravity, this.length, this.link_mass
    R, omega, omega_dot = motion.rotation, motion.angular_velocity, motion.angular_acceleration

    def swing(arm: Array) -> Array:
        w, wd = (one[..., None, :] for one in (omega, omega_dot))
        return np.cross(wd, arm) + np.cross(w, np.cross(w, arm))

    arm = np.einsum("...ij,kj->...ki", R, this.CB)
    d = motion.position[..., None, :] + arm - this.A0
    dd = motion.velocity[..., None, :] + np.cross(omega[..., None, :], arm)
    ddd = motion.acceleration[..., None, :] + swing(arm)
    along, along_d, along_dd = (dot(a, one) for one in (d, dd, ddd))
    k = along**2 - dot(d, d) + length**2
    kd = 2 * along_d * along - 2 * dot(dd, d)
    kdd = 2 * along_d**2 + 2 * along * along_dd - 2 * dot(dd, dd) - 2 * dot(d, ddd)
    root = np.sqrt(k)
    lam = (along - root)[..., None]
    lam_d, lam_dd = along_d - kd / (2 * root), along_dd - (2 * kdd * k - kd**2) / (4 * k * root)
    n = (d - lam * a) / length

    center = np.einsum("...ij,j->...i", R, this.CG)
    GB = arm - center[..., None, :]
    tensor = R @ this.inertia @ R.swapaxes(-1, -2)
    spin = np.einsum("...ij,...j->...i", tensor, omega_dot)
    spin = spin + np.cross(omega, np.einsum("...ij,...j->...i", tensor, omega))
    t = -0.5 * m_l * np.cross(n, np.cross(n, g))
    u = t
    held = -0.5 * m_l * (g + n * dot(n, g)[..., None])
    if link_inertia:
        nd = (dd - lam_d[..., None] * a) / length
        ndd = (ddd - lam_dd[..., None] * a) / length
        wl, wld = np.cross(n, nd), np.cross(n, ndd)
        y = np.cross(n, this.alpha)
        y = y / np.linalg.norm(y, axis=-1, keepdims=True)
        Rl = np.stack([np.cross(y, n), y, n], axis=-1)
        Il = Rl @ this.link_inertia @ Rl.swapaxes(-1, -2)
        turn, gyro = (Il @ wld[..., None])[..., 0], np.cross(wl, (Il @ wl[..., None])[..., 0])
        lifted = lam_dd[..., None] * a
        across = np.cross(n, lifted) if printed else np.cross(n, np.cross(n, lifted))
        t = t + np.cross(n, turn + m_l * length**2 / 4 * wld + gyro) / length + 0.5 * m_l * across
        u = t
        if printed:
            slow = (Il @ wl[..., None])[..., 0] + m_l * length**2 / 4 * wl
            u = t + np.cross(n, slow - turn - m_l * length**2 / 4 * wld) / length
        moved = length / 2 * ndd + lifted
        held = held + np.cross(n, turn + gyro) / length
        held = held + 0.5 * m_l * (moved + n * dot(n, moved)[..., None])
    accelerated = motion.acceleration + swing(center[..., None, :])[..., 0, :]
    force = this.mass * (g - accelerated) + t.sum(axis=-2)
    T = np.concatenate([force, np.cross(GB, u).sum(axis=-2) - spin], axis=-1)
    T1 = np.concatenate([n, np.cross(GB, n)], axis=-1).swapaxes(-1, -2)
    axial = np.linalg.solve(T1, T[..., None])
    forces: Array = this.slider_mass * (lam_dd - a @ g) + dot(a, held - n * axial)
    return forces


def pinocchio_forces(robot: gough.Robot, motion: gough.Motion) -> Array:
    """Actuator forces (n, 6), no friction, by Pinocchio on the opened legs.

    A leg is a chain slider-cross-link with tip velocity L θ̇; the platform is free, ξ = (v, ω),
    and the tip moves with W ξ, W = [1, −r×]. Pinocchio's inverse dynamics (RNEA) of legs, H, and of
    the platform, F, then give Jᵀ Γ = F + Σ (L⁻¹ W)ᵀ H, where J's rows are the first of L⁻¹ W.
    """
    pin: Any = importlib.import_module("pinocchio")
    this = numbers(robot)
    parts: Any = robot.description.legs
    world = pin.LOCAL_WORLD_ALIGNED
    legs = []
    for i in range(6):
        axis, reference = this.alpha[i], parts.reference[:, i, 0]
        base = np.column_stack([reference, np.cross(axis, reference), axis])
        model = pin.Model()
        model.gravity.linear = this.gravity
        slider = model.addJoint(
            0, pin.JointModelPrismaticUnaligned(this.a[i]), pin.SE3(np.eye(3), this.A0[i]), "λ"
        )
        model.appendBodyToJoint(
            slider, pin.Inertia(this.slider_mass, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity()
        )
        cross = model.addJoint(slider, pin.JointModelRZ(), pin.SE3(base, np.zeros(3)), "φ1")
        # φ2 turns about the cross's y, which is the link's −y
        half_turn = pin.SE3(np.diag([-1.0, -1.0, 1.0]), np.zeros(3))
        link = model.addJoint(
            cross, pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0])), half_turn, "φ2"
        )
        middle = np.array([0.0, 0.0, this.length / 2])
        model.appendBodyToJoint(
            link, pin.Inertia(this.link_mass, middle, this.link_inertia), pin.SE3.Identity()
        )
        at_tip = pin.SE3(np.eye(3), np.array([0.0, 0.0, this.length]))
        tip = model.addFrame(pin.Frame("tip", link, 0, at_tip, pin.FrameType.OP_FRAME))
        legs.append((model, model.createData(), tip))
    free = pin.Model()
    free.gravity.linear = this.gravity
    free.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
    free.appendBodyToJoint(1, pin.Inertia(this.mass, this.CG, this.inertia), pin.SE3.Identity())
    data = free.createData()

    guesses = robot.inverse_kinematics(motion).joints
    forces = np.empty((len(motion), 6))
    for k in range(len(motion)):
        R, omega = motion.rotation[k], motion.angular_velocity[k]
        to_body = np.kron(np.eye(2), R.T)
        twist = np.concatenate([motion.velocity[k], omega])
        rate = np.concatenate([motion.acceleration[k], motion.angular_acceleration[k]])
        spatial = to_body @ rate
        spatial[:3] -= np.cross(R.T @ omega, R.T @ motion.velocity[k])
        place = pin.SE3ToXYZQUAT(pin.SE3(R, motion.position[k]))
        wanted = to_body.T @ pin.rnea(free, data, place, to_body @ twist, spatial)
        rows = []
        for i, (model, own, tip) in enumerate(legs):
            arm = R @ this.CB[i]
            W = np.hstack([np.eye(3), -pin.skew(arm)])
            theta = guesses[k, i]
            for _ in range(2):  # Newton: the tip must be where the platform is
                L = pin.computeFrameJacobian(model, own, theta, tip, world)[:3]
                pin.framesForwardKinematics(model, own, theta)
                missing = motion.position[k] + arm - own.oMf[tip].translation
                theta = theta + np.linalg.solve(L, missing)
            L = pin.computeFrameJacobian(model, own, theta, tip, world)[:3]
            theta_d = np.linalg.solve(L, W @ twist)
            pin.forwardKinematics(model, own, theta, theta_d, np.zeros(3))
            drift = pin.getFrameClassicalAcceleration(model, own, tip, world).linear
            centripetal = np.cross(omega, np.cross(omega, arm))
            theta_dd = np.linalg.solve(L, W @ rate + centripetal - drift)
            map_ = np.linalg.solve(L, W)
            wanted = wanted + map_.T @ pin.rnea(model, own, theta, theta_d, theta_dd)
            rows.append(map_[0])
        forces[k] = np.linalg.solve(np.array(rows).T, wanted)
    return forces


def reference(robot: gough.Robot, motion: gough.Motion) -> tuple[str, Array]:
    """Frictionless actuator forces by an independent program, and its name."""
    if importlib.util.find_spec("pinocchio") is None:
        return "gough's exact model", robot.inverse_dynamics(motion, friction=False).forces
    return "Pinocchio", pinocchio_forces(robot, motion)


class Accuracy(NamedTuple):
    """Kim & Ryu's equations along one motion, no friction."""

    motion: gough.Motion
    forces: Array
    program: str
    reference: Array
    """At every `EVERY`-th sample."""
    error: float
    """Largest difference from the reference, N."""
    slender: float
    """The same from the exact model whose links have no inertia about their axis, N."""


def accuracy(robot: gough.Robot, trajectory: Trajectory) -> Accuracy:
    """Eq. 29 against the reference."""
    motion, this = trajectory(TIME), numbers(robot)
    forces = equation_29(this, motion)
    program, right = reference(robot, motion[::EVERY])
    thin = this.link_inertia * np.diag([1.0, 1.0, 0.0])
    exact = robot.edited({"legs.link.inertia": thin}).inverse_dynamics(motion, friction=False)
    error, slender = np.abs(forces[::EVERY] - right), np.abs(forces - exact.forces)
    return Accuracy(motion, forces, program, right, float(error.max()), float(slender.max()))


class LinkInertia(NamedTuple):
    """Actuator forces on the circle at one speed, no friction, and the links' part of them."""

    total: Array
    links: Array
    printed: Array
    """The total with Eq. 34 as printed."""

    @property
    def peak_share(self) -> float:
        """Largest link-inertia force over largest force."""
        return float(np.abs(self.links).max() / np.abs(self.total).max())

    @property
    def rms_share(self) -> float:
        """The same of root-mean-square values."""
        return rms(self.links) / rms(self.total)


def rms(values: Array) -> float:
    """Root of the mean square over legs and time."""
    return float(np.sqrt(np.mean(values**2)))


def link_inertia(
    robot: gough.Robot, rpm: float, time: Array = TIME, plane: tuple[int, int] = (0, 1)
) -> LinkInertia:
    """Eqs. 29 and 34 on the circle, in the plane of the axes given."""
    center = robot.home.position
    motion, this = (
        Circle(center, RADIUS, rpm=rpm, axes=np.eye(3)[list(plane)])(time),
        numbers(robot),
    )
    total = equation_29(this, motion)
    links = total - equation_29(this, motion, link_inertia=False)
    return LinkInertia(total, links, equation_29(this, motion, printed=True))


def growth_error(robot: gough.Robot) -> float:
    """Largest departure of the link-inertia force from speed squared, at equal places."""
    turn = np.linspace(0.0, 60.0, 121)
    slow, *fast = (link_inertia(robot, rpm, turn / rpm).links / rpm**2 for rpm in SPEEDS)
    return float(max(np.abs(one - slow).max() for one in fast) / np.abs(slow).max())


class Rubbing(NamedTuple):
    """Loss of explicit friction at one speed, N: largest error of the actuator forces."""

    couples: float
    """With couples of the frictionless loads F_A, F_B, and N of the loads these couples cause."""
    everything: float
    """With N of the frictionless loads too."""
    printed: float
    """With (u − v)·N for |u·N| + |v·N| in the slider's friction, Eq. 30 as printed."""
    driving: float
    """Part of all states and legs in which the printed friction pushes the slider along."""
    spin: float
    """Difference of the consistent slender model from the exact one, whose links spin."""


def explicit_friction(robot: gough.Robot, rpm: float) -> Rubbing:
    """One pass of Eqs. 30 to 32 in place of the fixed point."""
    motion, this = kim_ryu_circle(rpm)(TIME), numbers(robot)
    law: Any = robot.file.legs.friction
    legs, free = robot.inverse_kinematics(motion), robot.reactions(motion, friction=False)
    n, a = legs.direction, this.a
    spinning = legs.link_angular_velocity
    omega = spinning - n * dot(n, spinning)[..., None]
    GB = np.einsum("...ij,kj->...ki", motion.rotation, this.CB - this.CG)
    T1 = np.concatenate([n, np.cross(GB, n)], axis=-1).swapaxes(-1, -2)

    def couple(viscous: float, coulomb: float, load: Array, rate: Array) -> Array:
        size = np.linalg.norm(rate, axis=-1, keepdims=True)
        pressed = np.linalg.norm(load, axis=-1, keepdims=True)
        return np.asarray(-(viscous + coulomb * pressed / size) * rate)

    def felt(on_link: Array, on_platform: Array) -> Array:
        """Eq. 32: what couples add to F_A."""
        bent = -np.cross(n, on_link) / this.length
        moment = (np.cross(GB, bent) + on_platform).sum(axis=-2)
        T = np.concatenate([bent.sum(axis=-2), moment], axis=-1)
        return np.asarray(bent - n * np.linalg.solve(T1, T[..., None]))

    f_u = couple(law.universal_viscous, law.universal_coulomb, free.universal, omega)
    relative = omega - motion.angular_velocity[:, None]
    f_p = couple(law.spherical_viscous, law.spherical_coulomb, free.spherical, relative)
    added = felt(f_u, 0 * f_u) + felt(f_p, -f_p)
    smooth = robot.inverse_dynamics(motion, friction=False).forces + dot(a, added)
    u, v = this.alpha, np.cross(a, this.alpha)

    def forces(F_A: Array, printed: bool = False) -> Array:
        N = F_A - this.slider_mass * this.gravity
        load = dot(u - v, N) if printed else np.abs(dot(u, N)) + np.abs(dot(v, N))
        sense = np.sign(legs.qd)
        return np.asarray(smooth + law.slider_viscous * legs.qd + law.slider_coulomb * load * sense)

    right = newton_euler.inverse_dynamics(robot, motion).forces
    pressed = free.universal + added
    once, all_once, printed = forces(pressed), forces(free.universal), forces(pressed, True)
    normal = dot(u - v, pressed - this.slider_mass * this.gravity)
    exact = robot.inverse_dynamics(motion).forces
    return Rubbing(
        couples=float(np.abs(once - right).max()),
        everything=float(np.abs(all_once - right).max()),
        printed=float(np.abs(printed - once).max()),
        driving=float(np.mean(normal < 0)),
        spin=float(np.abs(exact - right).max()),
    )


def seconds(robot: gough.Robot, with_links: bool) -> float:
    """Time for the 601 states of the circle at 40 rpm, best of ten."""
    motion, this = kim_ryu_circle(40)(TIME), numbers(robot)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        equation_29(this, motion, with_links)
        times.append(time.perf_counter() - start)
    return min(times)


def accuracy_figure(name: str, this: Accuracy, caption: str) -> Figure:
    """Forces of both programs, and their difference."""
    sampled = TIME[::EVERY]
    difference = (this.forces[::EVERY] - this.reference) * 1e6
    panels = [
        (f"(a) lines: Kim & Ryu, circles: {this.program}", this.forces, "actuator force [N]"),
        ("(b) difference", np.full_like(this.forces, np.nan), "difference [µN]"),
    ]
    picture = leg_panels(TIME, panels, LEGS)
    upper, lower = picture.axes
    for i, color in enumerate(plots.PALETTE[:6]):
        marks: Any = {"color": color, "marker": "o", "markersize": 3, "markerfacecolor": "white"}
        upper.plot(sampled[::4], this.reference[::4, i], linestyle="", **marks)
        style = upper.get_lines()[i].get_linestyle()
        lower.plot(sampled, difference[:, i], color=color, linestyle=style)
    lower.set_xlim(TIME[0], TIME[-1])
    return Figure(name, caption, picture)


def speed_figure(robot: gough.Robot) -> Figure:
    """Link inertia over speed."""
    rpm = np.geomspace(10, 100, 21)
    found = [link_inertia(robot, one, np.linspace(0, 60 / one, 121)) for one in rpm]
    peak, mean = ([kind(one.links) for one in found] for kind in (lambda x: np.abs(x).max(), rms))
    with matplotlib.rc_context(plots.STYLE):
        picture = Picture(figsize=(7.5, 3.3), layout="constrained")
        left, right = picture.subplots(1, 2)
        left.loglog(rpm, peak, color=plots.BLUE, label="peak")
        left.loglog(rpm, mean, color=plots.VERMILION, linestyle="--", label="rms")
        right.semilogx(rpm, [100 * one.peak_share for one in found], color=plots.BLUE)
        right.semilogx(rpm, [100 * one.rms_share for one in found], color=plots.VERMILION, ls="--")
        left.set(ylabel="link-inertia force [N]")
        left.set_title("(a) grows as speed squared", loc="left", fontsize=10)
        right.set(ylabel="share of the actuator force [%]", ylim=(0, None))
        right.set_title("(b) share", loc="left", fontsize=10)
        for axes in (left, right):
            axes.set(xlabel="speed on the circle [rpm]")
            axes.set_xticks([10, *SPEEDS, 100], labels=["10", *map(str, SPEEDS), "100"])
            axes.minorticks_off()
            for one in SPEEDS:
                axes.axvline(one, color=plots.GREY, linewidth=0.8, linestyle=":")
        left.set_yticks([0.3, 1, 3, 10, 30], labels=["0.3", "1", "3", "10", "30"])
        picture.legend(handles=left.get_lines()[:2], loc="outside right center")
    caption = (
        "Actuator force for the links' inertia alone on the circle of 100 mm, largest and "
        "root-mean-square values over legs and time; dotted: the paper's speeds and 40 rpm."
    )
    return Figure("link-inertia-speed", caption, picture)


def reproduce(progress: Progress) -> Reproduction:
    """Everything: claims, figures, notes."""
    robot = gough.load(NAME)
    progress("accuracy against an independent program")
    circle = accuracy(robot, kim_ryu_circle(40))
    ramp = accuracy(robot, paper_motion(f"{NAME}/acceleration"))
    fast = accuracy(robot, kim_ryu_circle(120))
    progress("link inertia")
    links = {rpm: link_inertia(robot, rpm) for rpm in SPEEDS}
    progress("friction")
    motion = kim_ryu_circle(20)(TIME)
    friction = newton_euler.friction_forces(robot, motion)
    sticky = robot.edited(
        {f"legs.friction.{joint}_coulomb": 5 * 0.006 for joint in ("universal", "spherical")}
    )
    more = newton_euler.friction_forces(sticky, motion)
    explicit = {rpm: explicit_friction(robot, rpm) for rpm in (*SPEEDS, 120)}
    progress("figures")
    figures = [
        Figure(
            "robot",
            "The HexaSlide at the start of the circle, assumed horizontal about the home point. z₀ "
            "points down.",
            plots.draw(robot, kim_ryu_circle(40).sample(101)),
        ),
        accuracy_figure(
            "fig-7",
            circle,
            "Fig. 7. Circle of 100 mm at 40 rpm, no friction: (a) actuator forces, (b) difference of "
            f"the two programs. {circle.program} stands in for DADS.",
        ),
        accuracy_figure(
            "fig-8",
            ramp,
            "Fig. 8. Accelerations ±(0.1, 0.1, 0.1 m/s², 0.05, 0.05, 0.1 rad/s²) of Eq. 33, from "
            "home, no friction. The acceleration changes sign at 1.5 s.",
        ),
        *(_link_figure(rpm, links[rpm]) for rpm in SPEEDS),
        speed_figure(robot),
        Figure(
            "fig-11",
            "Fig. 11. Additional actuator forces due to friction at (a) sliders, (b) universal and "
            "(c) spherical joints; circle of 100 mm at 20 rpm. Coulomb friction jumps where a slider "
            "turns back.",
            leg_panels(
                TIME,
                [
                    ("(a) sliders", friction.slider, "force [N]"),
                    ("(b) universal joints", friction.universal, "force [N]"),
                    ("(c) spherical joints", friction.spherical, "force [N]"),
                ],
                LEGS,
            ),
        ),
    ]
    return Reproduction(
        NAME,
        "Kim & Ryu 2002: inverse dynamics of the HexaSlide",
        robot.file.source,
        [
            *_accuracy_claims(circle, ramp, fast),
            *_link_claims(robot, links),
            *_friction_claims(links[20].total, friction, more, explicit),
        ],
        figures,
        NOTES,
    )


def _link_figure(rpm: int, this: LinkInertia) -> Figure:
    paper = {20: "Fig. 9. ", 60: "Fig. 10. "}.get(rpm, "Between Figs. 9 and 10. ")
    panels = [
        ("(a) total", this.total, "actuator force [N]"),
        ("(b) link inertia alone", this.links, "actuator force [N]"),
    ]
    name = {20: "fig-9", 60: "fig-10"}.get(rpm, f"link-inertia-{rpm}rpm")
    caption = (
        f"{paper}Circle of 100 mm at {rpm} rpm, no friction: total force, and link inertia's part."
    )
    return Figure(name, caption, leg_panels(TIME, panels, LEGS))


def _accuracy_claims(circle: Accuracy, ramp: Accuracy, fast: Accuracy) -> list[Claim]:
    def found(this: Accuracy) -> str:
        return (
            f"{this.program}: largest difference {number(this.error, '.1e')} N of "
            f"{np.abs(this.forces).max():.1f} N"
        )

    worst = max(one.slender for one in (circle, ramp, fast))
    return [
        Claim(
            "Circle at 40 rpm: the derived equations give almost the same forces as DADS (Fig. 7).",
            "almost the same",
            found(circle),
            "agrees",
        ),
        Claim(
            "The same for a motion of constant acceleration, Eq. 33 (Fig. 8).",
            "almost the same",
            found(ramp),
            "agrees",
        ),
        Claim(
            "The small discrepancy may be due to the slender-link model.",
            "may be",
            "against an exact model without inertia about the links' axes it falls to "
            f"{number(worst)} N",
            "agrees",
            "here all of it is",
        ),
        Claim(
            "Good agreement at higher speeds too.",
            "good",
            f"at 120 rpm, {found(fast)}",
            "agrees",
            "the neglected term grows as speed squared",
        ),
    ]


def _link_claims(robot: gough.Robot, links: dict[int, LinkInertia]) -> list[Claim]:
    def share(rpm: int) -> str:
        this = links[rpm]
        return (
            f"{rpm} rpm: {np.abs(this.links).max():.2f} N of {np.abs(this.total).max():.1f} N, "
            f"{this.peak_share:.1%} of the peak, {this.rms_share:.1%} rms"
        )

    upright = [link_inertia(robot, 60, plane=plane) for plane in ((0, 2), (1, 2))]
    wrong = [np.abs(links[rpm].printed - links[rpm].total).max() for rpm in (20, 60)]
    motion = kim_ryu_circle(60)(TIME)
    same = newton_euler.link_inertia_forces(robot, motion) - links[60].links
    long, short = (seconds(robot, with_links) for with_links in (True, False))
    return [
        Claim(
            "Link inertia may be insignificant in slow operation (Fig. 9).",
            "20 rpm: may be insignificant",
            share(20),
            "agrees",
        ),
        Claim(
            "The higher the speed, the more significant (Figs. 9, 10).",
            "more significant",
            f"{share(40)}; force over speed squared is the same at 20, 40 and 60 rpm within "
            f"{number(growth_error(robot))}",
            "agrees",
            "Eq. 34 has no terms but those with speed squared",
        ),
        Claim(
            "Link inertia must be included in higher-speed operation (Fig. 10).",
            "60 rpm: must be included",
            share(60),
            "agrees",
            "peak share on circles in the (x, z) and (y, z) planes: "
            + " and ".join(f"{one.peak_share:.0%}" for one in upright),
        ),
        Claim(
            "Eq. 34 is the link inertia's part of Eq. 29.",
            "½ m λ̈ n×a, and ω_l for ω̇_l in its moment row",
            f"corrected, it is, within {number(np.abs(same).max())} N; as printed the forces are off by "
            f"{wrong[0]:.2f} N at 20 rpm and {wrong[1]:.2f} N at 60 rpm",
            "paper wrong",
            "½ m λ̈ n×n×a, and ω̇_l in both rows",
        ),
        Claim(
            "Calculation time with and without link inertia, 3 s in steps of 0.005 s",
            "16.59 s and 8.52 s, ratio 1.9 (MATLAB, Pentium III 650)",
            f"{1e3 * long:.1f} ms and {1e3 * short:.1f} ms, ratio {long / short:.1f}",
            "agrees",
            "ratio of the same size; times belong to program and computer",
        ),
    ]


def _friction_claims(
    total: Array,
    friction: newton_euler.FrictionForces,
    more: newton_euler.FrictionForces,
    explicit: dict[int, Rubbing],
) -> list[Claim]:
    largest = np.abs(total).max()
    slider, universal, spherical = (
        np.abs(one).max() for one in (friction.slider, friction.universal, friction.spherical)
    )
    losses = ", ".join(f"{explicit[rpm].couples:.2f}" for rpm in SPEEDS)
    return [
        Claim(
            "Universal and spherical friction have small influence on the total force (Fig. 11).",
            "small",
            f"at 20 rpm: universal {universal:.2f} N ({universal / largest:.1%}), spherical "
            f"{spherical:.2f} N ({spherical / largest:.1%}), sliders {slider:.2f} N "
            f"({slider / largest:.1%}) of {largest:.1f} N",
            "agrees",
            "but spherical friction asks for more than twice the link inertia's force at this speed",
        ),
        Claim(
            "That is caused by relatively small friction coefficients.",
            "small coefficients",
            "with five times the Coulomb coefficients of both joints: universal "
            f"{np.abs(more.universal).max():.1f} N, spherical {np.abs(more.spherical).max():.1f} N",
            "agrees",
            "more than five times as much: friction raises the loads it depends on",
        ),
        Claim(
            "Friction couples (Eq. 31) are proportional to ‖F_A‖, ‖F_B‖ and enter by Eq. 32.",
            "no word on F_A, F_B depending on them",
            f"one pass with frictionless F_A, F_B is off by {losses} N at 20, 40, 60 rpm and "
            f"{explicit[120].couples:.2f} N at 120 rpm; with frictionless N too by "
            f"{explicit[20].everything:.2f} N at 20 rpm",
            "not checkable",
            "friction is implicit: it takes iterating, of which the paper does not speak",
        ),
        Claim(
            "Slider friction is proportional to (uᵀ − vᵀ) N (Eq. 30).",
            "(uᵀ − vᵀ) N",
            f"off by up to {explicit[20].printed:.1f} N at 20 rpm; at 120 rpm it pushes the slider "
            f"along in {explicit[120].driving:.0%} of all states",
            "paper wrong",
            "it has no definite sign: |u·N| + |v·N|",
        ),
        Claim(
            "A slender link's rotation about its axis is negligible, and the universal joint's couple "
            "is along the link (Sections 2.3, 3.2).",
            "negligible",
            "without friction, yes (above); with friction the exact forces differ by "
            f"{explicit[20].spin:.2f} N at 20 rpm and {explicit[60].spin:.2f} N at 60 rpm",
            "disagrees",
            "the joints rub about the link's axis too, and the couple is along α×β, not n",
        ),
    ]


NOTES = (
    "The circle's plane and centre are not given: horizontal, about the home point C = (0, 0, 0.80) m, "
    "R = 1. With it go the home pose, the joint axes α = unit(z × a) and the guide's normals u = α, "
    "v = a × α. All forces depend on these.",
    "Figures 7 to 10 have no friction, as the paper says of Figs. 7 and 8. The paper's curves carry no "
    "numbers in the text; claims are its statements.",
    "z₀ points down (g = +9.81 z₀): the platform hangs. The printed GC′ is read as CG′ = +0.007 z.",
    "Euler angles: R = R_Y(θ) R_X(Ψ) R_Z(φ); Eq. 1's subscripts are exchanged, its matrices right.",
    "Also corrected: Eq. 3 (lost dots), Eq. 10 (k̈ in the numerator, last term −2 dᵀd̈), Eq. 13 (third "
    "column n), Eq. 19 (ṅ×ṅ = 0), Eq. 23 (−f_u/l), Eq. 24 (1 + n×n× = n nᵀ), Eq. 25 (ω̇), Eqs. 27 and 34 "
    "(n×n×a), Eqs. 28 and 29 (l/4 and n̈), Eq. 30 (ball screw 2π τ_b sign λ̇/lead).",
)

if __name__ == "__main__":
    run_script(NAME, reproduce)
