"""Simulations against exact ones: held commands, lags, springs, pushes between steps, friction.

The robot is a platform on six legs without mass, without weight: its equation is M ẍ = Jᵀ Γ with M and J
from the geometry below, so that exact solutions need nothing of gough.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import linalg
from scipy.integrate import solve_ivp

import gough
from cases.simulations import in_python
from gough.errors import InputError
from gough.simulation import Actuators, GivenForces, LegPD, Push, Sensors

BASE = np.array([[0.6, 0.2], [-0.1, 0.65], [-0.5, 0.4], [-0.5, -0.4], [-0.1, -0.65], [0.6, -0.2]])
TIPS = np.array([[0.3, 0.3], [0.1, 0.4], [-0.4, 0.1], [-0.4, -0.1], [0.1, -0.4], [0.3, -0.3]])
HEIGHT, MASS, INERTIA, ROTOR = 1.2, 50.0, (4.0, 4.0, 7.0), 5.0
TINY = {"mass": 1e-9}


@functools.cache
def robot(**changes):
    legs = {
        "kind": "UPS", "base": [[*p, 0.0] for p in BASE.tolist()],
        "platform": [[*p, 0.0] for p in TIPS.tolist()],
        "cross": TINY, "cylinder": TINY, "rod": TINY,
    }  # fmt: skip
    file = {
        "format": 1, "name": "platform", "gravity": [0, 0, 0],
        "home": {"position": [0, 0, HEIGHT]}, "legs": legs,
        "platform": {"mass": MASS, "inertia": np.diag(INERTIA).tolist()},
    }  # fmt: skip
    return (
        gough.Robot.from_dict(file).edited(dict(changes))
        if changes
        else gough.Robot.from_dict(file)
    )


@functools.cache
def sprung():
    return robot().edited(
        {"legs.rotor_mass": ROTOR, "legs.drive": {"stiffness": 8e6, "damping": 0.0}}
    )


def equation():
    """M (6, 6) and J (6, 6) at home: q̇ = u·v + (r × u)·ω."""
    legs = np.c_[TIPS, np.full(6, HEIGHT)] - np.c_[BASE, np.zeros(6)]
    u = legs / np.linalg.norm(legs, axis=1)[:, None]
    return np.diag([MASS] * 3 + list(INERTIA)), np.c_[u, np.cross(np.c_[TIPS, np.zeros(6)], u)]


def held(A, B, K, period):
    """x_{k+1} of a plant under the command K x_k held over a period."""
    n, m = B.shape
    step = linalg.expm(np.block([[A, B], [np.zeros((m, n + m))]]) * period)
    return step[:n, :n] + step[:n, n:] @ K


def of_springs(K, D, period):
    """Φ of x = (pose, twist, elongation, rotor rate) under Γ = −K q − D q̇."""
    M, J = equation()
    k, I6, Z = 8e6, np.eye(6), np.zeros((6, 6))
    Mi = np.linalg.inv(M)
    A = np.block(
        [[Z, I6, Z, Z], [Z, Z, Mi @ J.T * k, Z], [Z, -J, Z, I6], [Z, Z, -k / ROTOR * I6, Z]]
    )
    B = np.concatenate([Z, Z, Z, I6 / ROTOR])
    return held(A, B, np.block([[-K * J, -D * J, Z, Z]]), period)


def of_lag(K, D, lag, period):
    """Φ of x = (pose, twist, force) under Γ̇ = (−K q − D q̇ − Γ)/lag."""
    M, J = equation()
    I6, Z = np.eye(6), np.zeros((6, 6))
    A = np.block([[Z, I6, Z], [Z, Z, np.linalg.solve(M, J.T)], [Z, Z, -I6 / lag]])
    return held(A, np.concatenate([Z, Z, I6 / lag]), np.block([[-K * J, -D * J, Z]]), period)


def offset(size=1e-9):
    home = robot().home
    return gough.Motion(home.position + size * np.array([1.0, 0.4, 0.2]), home.rotation)


@pytest.mark.parametrize("inside", [True, False])
def test_springs_under_a_held_command_grow_as_they_do(inside, monkeypatch):
    if not inside:
        in_python(monkeypatch)
    phi = of_springs(3e4, 3e3, 1e-3)
    radius = np.abs(linalg.eigvals(phi)).max()
    assert radius > 1.05  # unstable, which one Runge–Kutta step a millisecond hides
    count = 120 if inside else 20
    run = gough.simulate(
        sprung(), LegPD(3e4, 3e3), robot().home, count * 1e-3, start=offset(), friction=False
    )
    x = np.zeros(24)
    x[:3] = offset().position - robot().home.position
    exact = [x := phi @ x for _ in range(count)]
    found = run.motion.position[1:] - robot().home.position
    size = np.abs(np.array(exact)[:, :3]).max(axis=1)
    assert np.abs(found - np.array(exact)[:, :3]).max(axis=1)[-1] < 0.01 * size[-1]
    assert np.exp(run.accuracy.growth * 1e-3) == pytest.approx(radius, rel=1e-4)
    assert f"grows by {radius:.4f}" in str(run)


@pytest.mark.parametrize(("damping", "lag"), [(4e4, 5e-4), (3e4, 5e-4), (3.5e4, 7e-4)])
def test_drives_that_lag_are_stable_where_they_are(damping, lag):
    phi = of_lag(30 * damping, damping, lag, 1e-3)
    radius = np.abs(linalg.eigvals(phi)).max()
    run = gough.simulate(
        robot(), LegPD(30 * damping, damping), robot().home, 0.06, start=offset(),
        actuators=Actuators(lag=lag),
    )  # fmt: skip
    assert np.exp(run.accuracy.growth * 1e-3) == pytest.approx(radius, abs=1e-5)
    assert ("unstable" in str(run)) == (radius > 1)
    _, J = equation()
    x = np.zeros(18)
    x[:3] = offset().position - robot().home.position
    x[12:] = -30 * damping * J[:, :3] @ x[:3]  # drives start at their first command
    for _ in range(60):
        x = phi @ x
    apart = np.abs(run.motion.position[-1] - robot().home.position - x[:3]).max()
    assert apart < 0.03 * np.abs(x[:3]).max()  # 5e-4 a period


def test_delays_and_filters_count_in_the_growth():
    """Loop of one period's delay and of differentiated encoders, by its own companion matrices."""
    M, J = equation()
    I6, Z = np.eye(6), np.zeros((6, 6))
    A, B = np.block([[Z, I6], [Z, Z]]), np.concatenate([Z, np.linalg.solve(M, J.T)])
    step = linalg.expm(np.block([[A, B], [np.zeros((6, 18))]]) * 1e-3)
    Ad, Bd = step[:12, :12], step[:12, 12:]
    K, D, T, tau = 1e5, 8e3, 1e-3, 2e-3
    read = np.c_[-K * J, -D * J]
    late = np.block([[Ad, Bd], [read, Z]])
    run = gough.simulate(
        robot(), LegPD(K, D), robot().home, 0.01, start=offset(), sensors=Sensors(delay=T)
    )
    radius = np.abs(linalg.eigvals(late)).max()
    assert np.exp(run.accuracy.growth * T) == pytest.approx(radius, abs=1e-6)
    g = T / (tau + T)  # w ← w + g ((q − q before)/T − w)
    rate = np.c_[g / T * J, Z, -g / T * I6, (1 - g) * I6]
    command = np.c_[-K * J, np.zeros((6, 18))] - D * rate
    own = np.concatenate([np.c_[Ad, np.zeros((12, 12))], np.c_[J, np.zeros((6, 18))], rate])
    radius = np.abs(linalg.eigvals(own + np.r_[Bd, Z, Z] @ command)).max()
    filtered = Sensors(resolution=1e-9, rate_filter=tau)
    run = gough.simulate(robot(), LegPD(K, D), robot().home, 0.01, start=offset(), sensors=filtered)
    assert np.exp(run.accuracy.growth * T) == pytest.approx(radius, abs=1e-6)


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("period", [1e-3, None])
@pytest.mark.parametrize("integrator", ["rk4", "DOP853"])
@pytest.mark.parametrize("span", [(0.0203, 0.0205), (0.0209, 0.0225), (0.02, 0.021)])
def test_a_push_gives_its_impulse_wherever_it_falls(span, integrator, period, inside, monkeypatch):
    """Free platform: v = F Δt/m, p − p₀ = v (t − mid) after a push of 500 N."""
    if not inside:
        if integrator != "rk4":
            return
        in_python(monkeypatch)
    run = gough.simulate(
        robot(), GivenForces(np.zeros(6)), robot().home, 0.04, period=period, record=1e-3,
        integrator=integrator, wrench=Push([500.0, 0, 0, 0, 0, 0], *span),
    )  # fmt: skip
    speed = 500.0 * (span[1] - span[0]) / MASS
    way = speed * (0.04 - sum(span) / 2)
    assert run.motion.velocity[-1, 0] == pytest.approx(speed, rel=1e-8)
    assert run.motion.position[-1, 0] == pytest.approx(way, rel=1e-7)


def test_forces_that_say_when_they_jump():
    """A table of forces with jumps between steps: the impulse is the table's."""
    _, J = equation()

    def forces(times):
        within = (times >= 0.00513) & (times < 0.00789)
        return within[:, None] * np.linalg.solve(J.T, [0, 0, 100.0, 0, 0, 0])

    forces.breaks = (0.00513, 0.00789)
    run = gough.simulate(robot(), GivenForces(forces), robot().home, 0.02, period=None)
    assert run.motion.velocity[-1, 2] == pytest.approx(100 * 0.00276 / MASS, rel=1e-5)


def test_the_stated_error_is_the_error():
    """A platform on springs, 40 rad/s and more, with steps of 10 ms: error against SciPy's solution."""
    M, J = equation()
    start = offset(1e-6)
    run = gough.simulate(
        robot(), LegPD(5e4), robot().home, 0.5, start=start, period=None, step=1e-2
    )
    stiff = np.linalg.solve(M, J.T @ J * 5e4)
    x0 = np.r_[start.position - robot().home.position, np.zeros(9)]
    rates = np.block([[np.zeros((6, 6)), np.eye(6)], [-stiff, np.zeros((6, 6))]])
    exact = np.array([linalg.expm(rates * t) @ x0 for t in run.time])
    error = np.linalg.norm(run.motion.position - robot().home.position - exact[:, :3], axis=1).max()
    assert error > 1e-10
    assert run.accuracy.position[0] == pytest.approx(error, rel=0.2)
    assert run.accuracy.span == pytest.approx(0.5)


def test_friction_within_a_narrow_width_does_not_chatter():
    """The platform braked by 20 N a leg, width 1e-4 m/s: SciPy's LSODA on M v̇ = −Jᵀ f(J v)."""
    rubbing = robot().edited({"legs.friction": {"slider_coulomb": 20.0, "width": 1e-4}})
    M, J = equation()
    home = robot().home
    start = gough.Motion(home.position, home.rotation, [0, 0, 0.02])

    def rate(t, y):
        q = J @ y
        return np.linalg.solve(M, -J.T @ (20 * q / np.sqrt(q * q + 1e-8)))

    found = solve_ivp(
        rate, (0, 0.02), [0, 0, 0.02, 0, 0, 0], "LSODA", np.arange(21) * 1e-3, rtol=1e-9, atol=1e-12
    )
    run = gough.simulate(rubbing, GivenForces(np.zeros(6)), home, 0.02, start=start)
    assert np.abs(run.motion.velocity[:, 2] - found.y[2]).max() < 2e-5
    lost = run.energy_audit()["loss"][-1]
    assert lost == pytest.approx(0.5 * MASS * 0.02**2, rel=1e-3)


def test_a_mode_that_no_step_follows_is_refused():
    fast = robot().edited(
        {"legs.rotor_mass": 1e-4, "legs.drive": {"stiffness": 1e9, "damping": 0.0}}
    )
    with pytest.raises(InputError, match=r"fastest mode, 5.*Hz.*shorter step"):
        gough.simulate(fast, LegPD(1e3, 1e2), robot().home, 0.01)


def test_rates_come_from_readings():
    """Γ = −D q̇ of encoders of 10 µm: differences of rounded lengths, filtered as the docs say."""
    sensors = Sensors(resolution=1e-5, rate_filter=3e-3)
    home = robot().home
    start = gough.Motion(home.position, home.rotation, [0.05, 0.02, 0.1])
    run = gough.simulate(robot(), LegPD(0.0, 100.0), home, 0.05, start=start, sensors=sensors)
    points = run.motion.position[:, None] + np.einsum(
        "tij,lj->tli", run.motion.rotation, np.c_[TIPS, np.zeros(6)]
    )
    q = np.linalg.norm(points - np.c_[BASE, np.zeros(6)], axis=-1)
    _, J = equation()
    rate = J @ np.r_[start.velocity, 0, 0, 0]
    last = 1e-5 * np.rint((q[0] - 1e-3 * rate) / 1e-5)
    for k in range(50):
        now = 1e-5 * np.rint(q[k] / 1e-5)
        rate = rate + 0.25 * ((now - last) / 1e-3 - rate)
        last = now
        np.testing.assert_allclose(run.command[k], -100 * rate, atol=1e-6)


@pytest.mark.parametrize("integrator", ["BDF", "Radau", "LSODA"])
def test_implicit_solvers_stay_at_rest(integrator):
    """Held by friction within its width and no force at all: it stays, and the solver finds steps."""
    rubbing = robot().edited({"legs.friction": {"slider_coulomb": 20.0, "width": 1e-4}})
    run = gough.simulate(
        rubbing, GivenForces(np.zeros(6)), robot().home, 0.02, period=None, integrator=integrator
    )
    assert not run.partial
    assert np.abs(run.motion.position - robot().home.position).max() < 1e-12


def test_the_longest_step_of_an_adaptive_solver():
    """A push of 1 ms that nobody tells, in a simulation of 0.1 s: seen with step, m v = F Δt."""

    def push(times):
        within = (times >= 0.05) & (times < 0.051)
        return within[:, None] * np.array([500.0, 0, 0, 0, 0, 0])

    run = gough.simulate(
        robot(), GivenForces(np.zeros(6)), robot().home, 0.1, period=None, record=0.01, wrench=push,
        integrator="RK45", step=2e-4, rtol=1e-6, atol=1e-9,
    )  # fmt: skip
    assert run.motion.velocity[-1, 0] == pytest.approx(500 * 1e-3 / MASS, rel=0.01)
