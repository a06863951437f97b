"""What retiming claims, measured: `python -m benchmarks.planning [robots…]`.

Durations beside a direct transcription solved by cvxpy (D. Verscheure et al., Time-optimal path tracking
for robots: a convex optimization approach, IEEE Trans. Automatic Control 54, 2009), which shares nothing
with `gough.planning` but the robot's inverse model; limits at ten times finer samples. Rooms and clamped
poses: `tests/cases/rooms.py`.
"""

import sys
import time
import tomllib
import warnings

import cvxpy
import numpy as np
from scipy.spatial.transform import Rotation

import gough
from gough.base.pose_spline import quintic
from gough.description.catalogue import catalogue_text
from gough.planning import retime
from gough.planning.course import course_of

ROBOTS = (
    "kim-ryu-2002",
    "plaza-hexaglide-2019",
    "pollen-reachy-mini-2025",
    "alikoc-delta-2023",
    "chablat-orthoglide-2003",
    "shyam-heliostat-2017",
)
COLLOCATION = 300


def rubbing(name):
    """A catalogue robot, with friction where its file has none."""
    data = tomllib.loads(catalogue_text(name))
    legs = data["legs"]
    for group in legs if isinstance(legs, list) else [legs]:
        if group["kind"] == "RUS":
            group.setdefault("friction", {"motor_viscous": 0.05, "motor_coulomb": 0.05})
        elif group["kind"] == "chain":
            for joint in group["joints"]:
                if joint.get("actuated"):
                    joint |= {"viscous": 50.0, "coulomb": 20.0}
        else:
            group.setdefault("friction", {"slider_viscous": 20.0, "slider_coulomb": 0.1})
    return gough.Robot.from_dict(data)


def smooth_path(robot, rng):
    """A spline about home that the robot can make, with time."""
    count = 7
    if robot.mobility == 6:
        size = 0.1 * robot.length_scale
        turn = Rotation.from_rotvec(0.08 * rng.normal(size=(count, 3)))
        poses = gough.Motion(
            robot.home.position + size * rng.normal(size=(count, 3)),
            turn * Rotation.from_matrix(robot.home.rotation),
        )
        return gough.trajectories.Spline(np.arange(count, dtype=float), poses)
    home = dict(zip(["x", "y", "z"], robot.home.position, strict=True))
    middle = np.array([home.get(name, 0.0) for name in robot.coordinates])
    spread = [0.05 if name.startswith("r") else 0.05 * robot.leg_size for name in robot.coordinates]
    u = middle + np.array(spread) * rng.normal(size=(count, robot.mobility))
    spline = quintic(np.arange(count, dtype=float), u)
    t = np.linspace(0, count - 1, 80)
    return robot.motion(spline(t), spline(t, 1), spline(t, 2), time=t)


def transcribed(robot, stretch, speed, force, guess):
    """The least duration by convex optimisation; friction is straight in σ̇² about the profile before."""
    begin, end = stretch.begin, stretch.end
    s = np.linspace(begin, end, COLLOCATION + 1)
    d, middle = np.diff(s), (s[1:] + s[:-1]) / 2
    path = stretch.guide.state(middle)

    def forces(rate, second, friction):
        along, bend = rate[:, None], second[:, None]
        motion = gough.Motion(
            path.position,
            path.rotation,
            path.velocity * along,
            path.angular_velocity * along,
            path.acceleration * along**2 + path.velocity * bend,
            path.angular_acceleration * along**2 + path.angular_velocity * bend,
        )
        return robot.inverse_dynamics(motion, None, friction).forces

    one, none = np.ones(COLLOCATION), np.zeros(COLLOCATION)
    rest = forces(none, none, False)
    push, drift = forces(none, one, False) - rest, forces(one, none, False) - rest
    rates = robot.inverse_kinematics(path).qd
    rubs, slope, last = np.zeros_like(rest), np.zeros_like(rest), np.inf
    unit = ((end - begin) / guess) ** 2
    for turn in range(8):
        y = cvxpy.Variable(COLLOCATION + 1, nonneg=True)
        root, slow = cvxpy.Variable(COLLOCATION + 1, nonneg=True), cvxpy.Variable(COLLOCATION)
        u = cvxpy.multiply(unit * (y[1:] - y[:-1]), 1 / (2 * d))
        x = unit * (y[1:] + y[:-1]) / 2
        rules = [y[0] == 0, y[COLLOCATION] == 0, root <= cvxpy.sqrt(y)]
        rules.append(cvxpy.inv_pos(root[1:] + root[:-1]) <= slow)
        for j in range(robot.actuator_count):
            load = cvxpy.multiply(push[:, j], u) + cvxpy.multiply(drift[:, j] + slope[:, j], x)
            rules.append(cvxpy.abs(load + rest[:, j] + rubs[:, j]) / force <= 1)
            rules.append(cvxpy.multiply((rates[:, j] / speed) ** 2, x) <= 1)
        cost = cvxpy.sum(cvxpy.multiply(2 * d / (end - begin), slow))
        problem = cvxpy.Problem(cvxpy.Minimize(cost), rules)
        try:
            problem.solve(solver=cvxpy.CLARABEL)
        except cvxpy.error.SolverError:
            problem.solve(solver=cvxpy.SCS, eps=1e-6, max_iters=100_000)
        if y.value is None:
            return np.nan
        duration = float(problem.value) * guess
        squares = unit * np.maximum(y.value, 0.0)
        at, bend = (squares[1:] + squares[:-1]) / 2, np.diff(squares) / (2 * d)
        if turn == 0:  # that was without friction, and too fast
            at, bend = at / 4, bend / 4

        def rubbing_at(at, bend=bend):
            linear = push * bend[:, None] + drift * at[:, None] + rest
            return forces(np.sqrt(at), bend, True) - linear

        now = rubbing_at(at)
        slope = (rubbing_at(1.01 * at) - now) / (0.01 * at[:, None])
        rubs = now - slope * at[:, None]
        if abs(duration - last) < 1e-3 * duration:
            break
        last = duration
    return duration


def retime_all(names):
    """Durations, limits and activity of retimed splines."""
    for name in names:
        robot = rubbing(name)
        motion = smooth_path(robot, np.random.default_rng(7))
        sampled = motion if isinstance(motion, gough.Motion) else motion.sample(200)
        still = gough.Motion(sampled.position, sampled.rotation)
        holding = np.abs(robot.inverse_dynamics(still).forces).max()
        needed = np.abs(robot.inverse_dynamics(sampled).forces).max()
        force = min(1.5 * holding + 2 * (needed - holding), 0.95 * float(robot.limits.force.min()))
        speed = 3 * np.abs(robot.inverse_kinematics(sampled).qd).max()
        start = time.process_time()
        found = retime(robot, motion, force=force, speed=speed)
        took = time.process_time() - start
        cells = sum(len(part.marks()) - 1 for part in found._parts)
        share = found.shares(np.linspace(0, found.duration, 10 * cells + 1)).max(axis=1)
        convex = sum(
            transcribed(robot, part, speed, force, found.duration)
            for part in course_of(robot, motion)
        )
        print(
            f"{name}: {found.duration:.5f} s, convex {convex:.5f} s "
            f"({found.duration / convex - 1:+.2%}); "
            f"largest share − 1 = {share.max() - 1:.1e}; share > 0.99 {np.mean(share > 0.99):.1%}, "
            f"> 0.95 {np.mean(share > 0.95):.1%} of the time; {took:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    retime_all(sys.argv[1:] or ROBOTS)
