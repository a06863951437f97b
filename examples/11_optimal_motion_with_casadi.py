"""The shape of a move that asks least of the actuators, by CasADi.

Rest to rest in 0.5 s over 0.2 m. Three coefficients of a polynomial are free; the cost is the mean
square force, computed by gough's own equations as a CasADi function.
"""

import warnings

import numpy as np

import gough

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import casadi
except ImportError:  # pip install 'gough[casadi]'
    casadi = None

robot = gough.load("kim-ryu-2002")
duration, start, end = 0.5, np.array([-0.1, 0.0, 0.8]), np.array([0.1, 0.0, 0.8])
times = np.linspace(0, duration, 31)
tau = times / duration


def shape(extra):
    """s and s̈ T² of 10τ³ − 15τ⁴ + 6τ⁵ plus τ³(1−τ)³ (a + b τ + c τ²): at rest at both ends."""
    base = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])
    bump = np.polynomial.Polynomial([0, 0, 0, 1]) * np.polynomial.Polynomial([1, -1]) ** 3
    terms = [bump * np.polynomial.Polynomial([0] * k + [1]) for k in range(3)]
    s = base(tau) + sum(e * term(tau) for e, term in zip(extra, terms, strict=True))
    faster = base.deriv(2)(tau) + sum(
        e * term.deriv(2)(tau) for e, term in zip(extra, terms, strict=True)
    )
    rate = base.deriv()(tau) + sum(
        e * term.deriv()(tau) for e, term in zip(extra, terms, strict=True)
    )
    return s, rate / duration, faster / duration**2


def mean_square(extra):
    """Mean square force along a move, N², by gough itself."""
    s, rate, faster = (np.asarray(one)[:, np.newaxis] for one in shape(extra))
    way = end - start
    motion = gough.Motion(
        start + s * way, velocity=rate * way, acceleration=faster * way, time=times
    )
    return np.mean(robot.inverse_dynamics(motion, friction=False).forces ** 2)


if casadi is None:
    print("needs casadi")
    best = np.zeros(3)
else:
    model = robot.to_casadi("inverse_dynamics")
    extra = casadi.SX.sym("extra", 3)
    s, rate, faster = shape([extra[0], extra[1], extra[2]])
    way, cost = casadi.DM(end - start), 0
    for k in range(len(times)):
        given = {
            "position": casadi.DM(start) + s[k] * way,
            "rotation": casadi.DM.eye(3),
            "velocity": rate[k] * way,
            "angular_velocity": casadi.DM.zeros(3),
            "acceleration": faster[k] * way,
            "angular_acceleration": casadi.DM.zeros(3),
            "wrench": casadi.DM.zeros(6),
        }
        cost += casadi.sumsqr(model.call(given)["forces"]) / (6 * len(times))
    quiet = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}}
    solver = casadi.nlpsol("solver", "ipopt", {"x": extra, "f": cost}, quiet)
    best = np.array(solver(x0=np.zeros(3))["x"]).ravel()

before, after = mean_square(np.zeros(3)), mean_square(best)
print(f"rms force {np.sqrt(before):.3f} N with the quintic, {np.sqrt(after):.3f} N optimised")
assert after <= before
