"""Relations between parameters: the null space, and what the paper prints wrongly."""

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from cases.common import CLOSED, each_kind, each_shape
from cases.errors import refusal
from cases.parameters import drawn, level_rails, made, stacked, universal_axes
from gough import Motion
from gough.errors import InputError
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.legs.grouping import point_mass, prismatic, revolute
from gough.legs.parameters import LegParameters
from gough.legs.register import KINDS
from gough.mechanics.body import Frame
from gough.parameters.base import base_parameters
from gough.parameters.energy import energy_functions, robot_energy_functions
from gough.parameters.grouping import (
    grouped_parameters,
    leg_symbols,
    platform_symbols,
)
from gough.parameters.regressor import standard_parameters
from gough.parameters.states import random_states
from oracles.random_robot import random_motion, random_robot


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", CLOSED)
def test_relations_are_the_null_space_of_regressor_and_energy(kind, seed):
    robot = made(drawn(kind, seed))
    closed = grouped_parameters(robot)
    W = stacked(robot)
    sizes = np.linalg.norm(W, axis=0)
    sizes[sizes == 0] = 1.0
    null = closed.null_space * sizes[:, np.newaxis]
    null /= np.linalg.norm(null, axis=0)
    assert np.linalg.norm(W / sizes @ null, axis=0).max() < 1e-12
    values = np.linalg.svd(W / sizes, compute_uv=False)
    assert np.sum(values > 1e-9) + null.shape[1] == len(closed.names)
    # the same space, by the largest angle between the two
    other = np.linalg.svd(W / sizes)[2][closed.rank :].T
    mine = np.linalg.qr(null)[0]
    assert np.linalg.norm(mine - other @ (other.T @ mine), 2) < 1e-12
    energy = robot_energy_functions(robot, random_states(robot, 300, seed))
    energy = energy - energy.mean(axis=0)
    sizes = np.abs(energy).max(axis=0) @ np.abs(closed.null_space)
    off = np.abs(energy @ closed.null_space).max(axis=0)
    assert (off <= 1e-12 * np.maximum(sizes, 1.0)).all()


@each_shape
@each_kind
def test_energy_functions_give_the_energy(kind, shape):
    data = drawn(kind, 3)
    robot = made(data)
    motion = Motion(**random_motion(np.random.default_rng(4), data, shape))
    functions = robot_energy_functions(robot, motion)
    assert functions.shape == (*shape, 196)
    energy = robot.energy(motion)
    assert_allclose(
        functions @ standard_parameters(robot), energy.kinetic + energy.potential, rtol=1e-12
    )


def a_revolute_joint(rng, alpha, d, r):
    """A link that moves anyhow and one that turns on it: h of both, (1000, 10) each."""
    count = 1000
    axes = Rotation.random(count, rng).as_matrix()
    velocity, omega = rng.normal(size=(2, count, 3))
    theta, rate = rng.normal(size=(2, count, 1))
    origin, gravity = rng.normal(size=(count, 3)), rng.normal(size=3)
    turn = Rotation.from_rotvec([alpha, 0, 0]) * Rotation.from_rotvec(theta * [0, 0, 1.0])
    arm = axes @ [d, -r * np.sin(alpha), r * np.cos(alpha)]
    own = axes @ turn.as_matrix()
    moved = velocity + np.cross(omega, arm)
    link = Frame(origin + arm, own, moved, omega + rate * own[:, :, 2])
    antecedent = Frame(origin, axes, velocity, omega)
    return energy_functions(antecedent, gravity), energy_functions(link, gravity)


def printed_74(cos, sin, d, r):
    """Eq. 74 as the paper prints it."""
    table = revolute(cos, sin, d, r)
    keys = STANDARD_PARAMETERS.index
    table[keys("XY")] = [0, d * sin + d * r * sin, 0]
    table[keys("XZ")] = [0, -d * cos - d * r * cos, 0]
    table[keys("MY")] = [0, -sin, r * sin]
    return table


def test_equation_74_corrected_and_as_printed():
    alpha, d, r = 0.7, 0.3, 0.5
    before, link = a_revolute_joint(np.random.default_rng(0), alpha, d, r)
    xx, _, _, yy, *_ = link.T
    grouped = np.stack([yy + xx, link[:, 8], link[:, 9]], axis=1)  # YY_j leaves XX_j − YY_j
    right = revolute(np.cos(alpha), np.sin(alpha), d, r)
    assert_allclose(before @ right, grouped, atol=1e-12)
    printed = printed_74(np.cos(alpha), np.sin(alpha), d, r)
    wrong = []
    for i, key in enumerate(STANDARD_PARAMETERS):
        one = right.copy()
        one[i] = printed[i]
        if np.abs(before @ one - grouped).max() > 1e-3:
            wrong.append(key)
    assert wrong == ["XY", "XZ", "MY"]


def test_equation_75_is_right_as_printed():
    alpha, theta = 0.7, -1.2
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    cca, ssa, csa = ca * ca, sa * sa, ca * sa
    cct, sst, cst = ct * ct, st * st, ct * st
    printed = [
        [cct, -2 * cst, 0, sst, 0, 0],
        [cst * ca, (cct - sst) * ca, -ct * sa, -cst * ca, st * sa, 0],
        [cst * sa, (cct - sst) * sa, ct * ca, -cst * sa, -st * ca, 0],
        [sst * cca, 2 * cst * cca, -2 * st * csa, cct * cca, -2 * ct * csa, ssa],
        [sst * csa, 2 * cst * csa, st * (cca - ssa), cct * csa, ct * (cca - ssa), -csa],
        [sst * ssa, 2 * cst * ssa, 2 * st * csa, cct * ssa, 2 * ct * csa, cca],
    ]
    turn = Rotation.from_rotvec([alpha, 0, 0]) * Rotation.from_rotvec([0, 0, theta])
    assert_allclose(prismatic(turn.as_matrix()), printed, atol=1e-15)


def paper_frame():
    """Platform frame of the paper: P1 its origin, P2 on x, P6 in the xy plane."""
    data = drawn("UPS", 2)
    points = np.array(data["legs"]["platform"])
    points = points - points[0]
    x = points[1] / np.linalg.norm(points[1])
    z = np.cross(x, points[5]) / np.linalg.norm(np.cross(x, points[5]))
    axes = np.stack([x, np.cross(z, x), z])
    points = points @ axes.T
    points[0], points[1, 1:], points[5, 2] = 0, 0, 0
    data["legs"]["platform"] = points.tolist()
    old = Rotation.from_rotvec(data["home"]["rotation_vector"])
    shift = old.apply(
        np.array(random_robot(np.random.default_rng(2), "UPS")["legs"]["platform"])[0]
    )
    turned = old * Rotation.from_matrix(axes.T)
    data["home"] = {
        "position": (np.array(data["home"]["position"]) + shift).tolist(),
        "rotation_vector": turned.as_rotvec().tolist(),
    }
    return data


PRINTED_SUMS = {
    "XX": (2, 6), "XY": (3, 6), "XZ": (3, 5), "YY": (3, 6), "YZ": (3, 5), "ZZ": (2, 6),
    "MX": (3, 6), "MY": (2, 6), "MZ": (3, 5), "M": (1, 6),
}  # fmt: skip
"""First and last leg of the sums in Eqs. 57–66, as printed."""


def test_equations_57_to_66_as_printed_are_wrong_in_60_and_63():
    robot = made(paper_frame())
    found = base_parameters(robot)
    assert found.rank == 94
    named = dict(zip(found.base_names, found.grouping, strict=True))
    points = robot.mechanism.points[..., 0].T
    missed = {}
    for i, (key, (first, last)) in enumerate(PRINTED_SUMS.items()):
        for leg in range(1, 7):
            printed = point_mass(points[leg - 1])[i] if first <= leg <= last else 0.0
            true = named[f"platform {key}"][found.names.index(f"leg {leg} rod M")]
            if abs(printed - true) > 1e-12:
                missed[key] = [*missed.get(key, []), leg]
    assert missed == {"YY": [2], "MX": [2]}


def test_equation_55_as_printed_is_wrong_in_its_first_line():
    rng = np.random.default_rng(0)
    speed, omega = rng.normal(size=(2, 100, 3))
    L = rng.normal(size=3)
    w1, w2, _ = omega.T
    platform = Frame(np.zeros((100, 3)), np.broadcast_to(np.eye(3), (100, 3, 3)), speed, omega)
    tip = platform._replace(velocity=speed + np.cross(omega, L))
    mass = energy_functions(tip, np.zeros(3))[:, 9]
    by_56 = energy_functions(platform, np.zeros(3)) @ point_mass(L)
    assert_allclose(by_56, mass, atol=1e-13)
    true = 0.5 * w1 * w1 * (L[1] ** 2 + L[2] ** 2) - w1 * w2 * L[0] * L[1]
    printed = 0.5 * w1 * w2 * (L[1] ** 2 + L[2] ** 2) - w1 * w1 * L[0] * L[1]
    assert np.abs(by_56 - true + printed - mass).max() > 0.1


def test_a_kind_without_closed_form_says_so_and_numbers_do():
    class Unknown(LegParameters):
        kind = "XYZ"

    known = made(drawn("UPS"))
    unknown = made(drawn("UPS"))
    kind = replace(unknown.leg_kind, parameters=Unknown())
    groups = tuple(one._replace(kind=kind) for one in unknown.description.groups)
    object.__setattr__(unknown, "description", unknown.description._replace(groups=groups))
    with refusal(InputError, "XYZ"):
        grouped_parameters(unknown)
    found = base_parameters(unknown)
    assert found.rank == base_parameters(known).rank
    assert found.special == ()


def test_symbols_say_what_the_numbers_do():
    found = {}
    for kind in CLOSED:
        robot = made(drawn(kind))
        found[kind] = felt = leg_symbols(robot, 0)
        names = [name for name in grouped_parameters(robot).base_names if "leg 1 " in name]
        assert [f"leg 1 {name}" for name in felt] == names
    felt = found["PUS"]
    assert felt["slider M"] == "slider M + cross M + link M − link MZ/l"
    assert platform_symbols([KINDS["UPS"].parameters])["XY"] == "XY − Σ x y rod M"
    level = leg_symbols(made(level_rails()), 0)
    assert level["rotor_mass"] == "rotor_mass + slider M + cross M + link M − link MZ/l"
    assert "slider M" not in level


VALUES = re.compile(r"([a-z_]+ [A-Z]+|rotor_inertia)|(k_x|k_y|[rl²()/+−]|[0-9.]+)")


@pytest.mark.parametrize("gravity", [None, [0, 0, 0]])
@pytest.mark.parametrize("axis", ["any", "along", "meeting"])
def test_symbols_of_cranks_have_the_values_of_the_numbers(axis, gravity):
    """What is printed is read and worked out."""
    data = universal_axes(axis)
    robot = made(data if gravity is None else data | {"gravity": gravity})
    closed, parts, leg = grouped_parameters(robot), robot.mechanism.legs, 3
    own = {
        name.removeprefix(f"leg {leg + 1} "): value
        for name, value in zip(closed.names, closed.standard, strict=True)
    }
    k_x, k_y, _ = parts.axis_on_crank[:, leg, 0]
    sizes = {"k_x": k_x, "k_y": k_y, "r": parts.crank_length[leg, 0], "l": parts.length[leg, 0]}
    values = dict(zip(closed.base_names, closed.values, strict=True))
    for name, text in leg_symbols(robot, leg).items():
        said = ""
        for parameter, sign in VALUES.findall(text):
            word = f"({float(own[parameter])!r})" if parameter else sign
            word = f"({float(sizes[sign])!r})" if sign in sizes else word
            word = {"²": "**2", "−": "-"}.get(word, word)
            times = said and said[-1] in ")2" and word[0] not in "+-*/)"
            said += f"*{word}" if times else word
        assert eval(said, {}) == pytest.approx(values[f"leg {leg + 1} {name}"], rel=1e-12)
