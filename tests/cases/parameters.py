"""Robots whose parameters are known, and what their regressors tell."""

import numpy as np

from cases.robots import run_by
from gough import Robot
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.legs.register import KINDS
from gough.parameters.regressor import regressor
from gough.parameters.states import random_states
from oracles.random_robot import random_robot


def drawn(kind, seed=0, legs=6, friction=False, **changes):
    """A random robot file without friction that depends on loads."""
    data = random_robot(np.random.default_rng(seed), kind, legs, friction=friction)
    if friction:
        for name in KINDS[kind].numbers.LOAD_FRICTION:
            del data["legs"]["friction"][name]
    data["legs"] |= changes.pop("in_legs", {})
    return data | changes


def made(data):
    """The robot; NumPy runs its programs, which is quicker here than to compile them."""
    return run_by("numpy", Robot.from_dict(data))


def level_rails():
    """Gravity across all rails of a PUS robot; its rails are turned into the plane z = 0."""
    data = drawn("PUS", gravity=[0.0, 0.0, -9.81])
    rails = np.array(data["legs"]["rail_direction"])
    rails[:, 2] = 0.0
    data["legs"]["rail_direction"] = rails.tolist()
    data["legs"]["length"] = 1.6
    return data


def universal_axes(place, seed=0):
    """A RUS robot whose universal axes stand so to the motors': along, across, meeting or anyhow."""
    data = drawn("RUS", seed)
    legs = Robot.from_dict(data).mechanism.legs
    a, u = legs.motor_axis[..., 0].T, legs.e1[..., 0].T
    t = np.cross(a, u)
    axes = {"along": -a, "across": t, "radial": u, "meeting": 0.6 * u - 0.8 * a}
    if place in axes:
        reference = u if place == "across" else t
        data["legs"] |= {"axis": axes[place].tolist(), "reference": reference.tolist()}
    return data


def upright_motor(place):
    """The same with gravity along the second leg's motor."""
    data = universal_axes(place)
    return data | {"gravity": data["legs"]["motor_axis"][1]}


def singular_values(columns):
    """Of columns of unit length; those that are rounding count as 0."""
    sizes = np.linalg.norm(columns, axis=0)
    used = sizes > 1e-12 * sizes.max()
    return np.linalg.svd(columns[:, used] / sizes[used], compute_uv=False)


def stacked(robot, friction=False, states=140, seed=5):
    """The regressor of random states, each state's rows scaled to the same size."""
    W = regressor(robot, random_states(robot, states, seed), friction)
    W = W / np.linalg.norm(W, axis=(1, 2), keepdims=True)
    return W.reshape(-1, W.shape[-1])


# Essential parameters


def regular(kind, assumption):
    """A robot whose bodies meet an assumption, and no more than it."""
    data = drawn(kind)
    rng = np.random.default_rng(7)

    def body(line, tip):
        across = [axis for axis in range(3) if axis != line]
        center, inertia = np.zeros(3), rng.uniform(0.1, 0.15, 3)
        center[line] = rng.uniform(-0.2, 0.2)
        if assumption == "revolution":
            inertia[across[1]] = inertia[across[0]]
        ten = dict.fromkeys(STANDARD_PARAMETERS, 0.0)
        ten |= {"M": 2.0, f"M{'XYZ'[line]}": 2 * center[line]}
        ten |= dict(zip(("XX", "YY", "ZZ"), (inertia + 0.2).tolist(), strict=True))
        if assumption == "off-centre" and tip:
            for axis in across:
                ten[f"M{'XYZ'[axis]}"] = rng.uniform(-0.1, 0.1)
        return ten

    if kind == "UPS":
        data["legs"] |= {"cylinder": [body(1, False) for _ in range(6)]}
        data["legs"] |= {"rod": [body(2, True) for _ in range(6)]}
    else:
        data["legs"] |= {"link": [body(2, True) for _ in range(6)]}
    if kind == "RUS":
        data["legs"] |= {"crank": [body(0, False) for _ in range(6)]}
    return data | {"legs": data["legs"] | {"cross": {"mass": 0.0}}}
