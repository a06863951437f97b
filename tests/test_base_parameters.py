"""Base and essential parameters: counts, relations, what the paper prints wrongly."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

from gough import Motion, Robot, load
from gough.cli.app import app
from gough.errors import GoughError, InputError
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.legs.grouping import point_mass, prismatic, revolute
from gough.legs.register import KINDS
from gough.mechanics.body import Frame
from gough.model.execution import numpy_executor
from gough.parameters.base import base_parameters, base_regressor
from gough.parameters.energy import energy_functions, robot_energy_functions
from gough.parameters.essential import ASSUMPTIONS, essential_parameters
from gough.parameters.grouping import grouped_parameters, leg_symbols, platform_symbols
from gough.parameters.regressor import regressor, standard_parameters
from gough.parameters.special import special_of_legs
from gough.parameters.states import random_states
from gough.show.parameter_tables import counts, find
from oracles.random_robot import random_motion, random_robot

SHAPES = [(), (1,), (3, 1, 2), (0,)]
LEAST_GAP = 1e10


def drawn(kind, seed=0, legs=6, friction=False, **changes):
    """A random robot file without friction that depends on loads."""
    data = random_robot(np.random.default_rng(seed), kind, legs, friction=friction)
    if friction:
        for name in Robot.from_dict(data).mechanism.legs.LOAD_FRICTION:
            del data["legs"]["friction"][name]
    data["legs"] |= changes.pop("in_legs", {})
    return data | changes


def made(data):
    """The robot; NumPy runs its programs, which is quicker here than to compile them."""
    robot = Robot.from_dict(data)
    robot.__dict__["executor"] = numpy_executor(robot.mechanism)
    return robot


def upright(kind):
    """All first universal axes along gravity."""
    down = [0.3, -2.0, -9.0]
    return drawn(kind, gravity=down, in_legs={"axis": down, "reference": [1.0, 0.0, 0.0]})


def level_rails():
    """Gravity across all rails of a PUS robot; its rails are turned into the plane z = 0."""
    data = drawn("PUS", gravity=[0.0, 0.0, -9.81])
    rails = np.array(data["legs"]["rail_direction"])
    rails[:, 2] = 0.0
    data["legs"]["rail_direction"] = rails.tolist()
    data["legs"]["length"] = 1.6
    return data


def coinciding(kind):
    data = drawn(kind)
    points = data["legs"]["platform"]
    points[1], points[3], points[5] = points[0], points[2], points[4]
    return data


def singular_values(columns):
    """Of columns of unit length; those that are rounding count as 0."""
    sizes = np.linalg.norm(columns, axis=0)
    used = sizes > 1e-12 * sizes.max()
    return np.linalg.svd(columns[:, used] / sizes[used], compute_uv=False)


def clear_rank(columns):
    values = singular_values(columns)
    floor = np.finfo(float).eps * len(values)  # falls below are falls of rounding
    steps = np.maximum(values[:-1], floor) / np.maximum(values[1:], floor)
    rank = int(np.argmax(steps)) + 1
    assert steps[rank - 1] > LEAST_GAP
    return rank


def stacked(robot, friction=False, states=140, seed=5):
    """The regressor of random states, each state's rows scaled to the same size."""
    W = regressor(robot, random_states(robot, states, seed), friction)
    W = W / np.linalg.norm(W, axis=(1, 2), keepdims=True)
    return W.reshape(-1, W.shape[-1])


# Counts


def test_a_general_hexapod_has_94_of_196_and_88_of_190_without_rotors():
    robot = made(drawn("UPS"))
    found = base_parameters(robot)
    assert (len(found.names), found.rank) == (196, 94)
    assert found.gap > LEAST_GAP
    assert counts(found) == {"legs": (180, 78), "rotors": (6, 6), "platform": (10, 10)}
    for leg in range(6):
        assert sum(name.startswith(f"leg {leg + 1} ") for name in found.base_names) == 13 + 1
    without = [i for i, name in enumerate(found.names) if not name.endswith("rotor_mass")]
    assert len(without) == 190
    assert clear_rank(stacked(robot)[:, without]) == 88


def test_table_ii_names_the_groups():
    """Khalil & Guegan 2004, Table II; cross, cylinder and rod are links 1, 2, 3."""
    found = base_parameters(made(drawn("UPS")))
    assert [name.removeprefix("leg 4 ") for name in found.base_names if "leg 4" in name] == [
        *("cross ZZ", "cross MX", "cross MY"),
        *(f"cylinder {key}" for key in ("XX", "XY", "XZ", "YZ", "ZZ", "MX", "MY")),
        *("rod MX", "rod MY", "rod MZ", "rotor_mass"),
    ]
    assert (
        "leg 2 cylinder XX − leg 2 cylinder YY + leg 2 rod XX − leg 2 rod ZZ" in found.relations()
    )


@pytest.mark.parametrize(
    ("data", "rank"),
    [
        (upright("UPS"), 76 + 6),
        (drawn("UPS", gravity=[0, 0, 0]), 64 + 6),
        (coinciding("UPS"), 88 + 6),
        (drawn("UPS", legs=8), 13 * 8 + 10 + 8),
        (drawn("PUS"), 70 + 6),
        (upright("PUS"), 70 + 6),
        (drawn("PUS", gravity=[0, 0, 0]), 70),  # slider and rotor mass are one
        (level_rails(), 70),
        (coinciding("PUS"), 70 + 6),
        (drawn("PUS", legs=7), 10 * 7 + 10 + 7),
        (drawn("UPS", friction=True), 94 + 6 * 4),  # Coulomb force and screw drag are one
        (drawn("PUS", friction=True), 76 + 6 * 4),
    ],
)
def test_numbers_and_reasoning_agree(data, rank):
    """Rank and relations from the regressor are those of the closed form, to 1e-12."""
    friction = "friction" in data["legs"]
    robot = made(data)
    by_numbers, closed = base_parameters(robot, friction), grouped_parameters(robot, friction)
    assert by_numbers.rank == closed.rank == rank
    assert by_numbers.gap > LEAST_GAP
    assert by_numbers.base_names == closed.base_names
    assert_allclose(by_numbers.grouping, closed.grouping, rtol=0, atol=1e-12)
    assert by_numbers.no_effect.tolist() == closed.no_effect.tolist()
    assert np.isnan(closed.gap)


@pytest.mark.parametrize(("kind", "count"), [("UPS", 14), ("PUS", 11)])
def test_an_open_leg(kind, count):
    """The energy of a leg alone: as many independent functions as the rules leave parameters."""
    robot = made(drawn(kind))
    energy = robot_energy_functions(robot, random_states(robot, 200))
    for leg in (0, 4):
        alone = energy[:, 30 * leg : 30 * leg + 30]
        changing = alone - alone.mean(axis=0)  # a constant energy has no effect
        assert clear_rank(changing) == count
    assert len(KINDS[kind].parameters.opened().felt) == count + 1  # the rotor


# Relations


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["UPS", "PUS"])
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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["UPS", "PUS"])
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


def test_symbols_say_what_the_numbers_do():
    for kind in ("UPS", "PUS"):
        robot = made(drawn(kind))
        felt = leg_symbols(robot.leg_kind.parameters, special_of_legs(robot), 0)
        names = [name for name in grouped_parameters(robot).base_names if "leg 1 " in name]
        assert [f"leg 1 {name}" for name in felt] == names
    assert felt["slider M"] == "slider M + cross M + link M − link MZ/l"
    assert platform_symbols(KINDS["UPS"].parameters)["XY"] == "XY − Σ x y rod M"
    level = leg_symbols(KINDS["PUS"].parameters, special_of_legs(made(level_rails())), 0)
    assert level["rotor_mass"] == "rotor_mass + slider M + cross M + link M − link MZ/l"
    assert "slider M" not in level


# Forces


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["UPS", "PUS"])
def test_forces_from_base_parameters(kind, seed):
    data = drawn(kind, seed, friction=True)
    robot = made(data)
    motion = Motion(**random_motion(np.random.default_rng(seed), data, (50,)))
    for friction in (False, True):
        expected = robot.inverse_dynamics(motion, friction=friction).forces
        limit = 1e-11 * np.abs(expected).max(axis=-1)
        full = robot.regressor(motion, friction) @ standard_parameters(robot, friction)
        assert (np.abs(full - expected).max(axis=-1) < limit).all()
        for base in (base_parameters(robot, friction), grouped_parameters(robot, friction)):
            found = base_regressor(robot, base, motion) @ base.values
            assert (np.abs(found - expected).max(axis=-1) < limit).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_base_regressor_in_any_shape(shape):
    data = drawn("PUS")
    robot = made(data)
    base = grouped_parameters(robot)
    motion = Motion(**random_motion(np.random.default_rng(0), data, shape))
    assert base_regressor(robot, base, motion).shape == (*shape, 6, 76)


def test_friction_that_depends_on_loads_is_refused_by_name():
    robot = load("kim-ryu-2002")
    for call in (base_parameters, grouped_parameters):
        with pytest.raises(InputError, match="slider_coulomb, universal_coulomb, spherical_coul"):
            call(robot, friction=True)
    with pytest.raises(InputError, match="not linear"):
        robot.regressor(robot.home, friction=True)


def test_too_few_legs_are_refused():
    with pytest.raises(InputError, match="5 legs"):
        base_parameters(made(drawn("UPS", legs=5)))


# States


@pytest.mark.parametrize("kind", ["UPS", "PUS"])
def test_states_without_a_home_within_reach(kind):
    data = drawn(kind)
    del data["home"]
    assert base_parameters(made(data)).gap > LEAST_GAP
    far = drawn(kind, home={"position": [0.0, 0.0, 50.0]})
    if kind == "PUS":
        assert base_parameters(made(far)).rank == 76


def test_states_near_a_singular_home_stay_clear_of_it():
    """Turned by 90° about z a hexapod with regular base and platform is singular."""
    angle = np.pi / 3 * np.arange(6)
    ring = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    data = drawn("UPS", home={"position": [0, 0, 1], "rotation_vector": [0, 0, np.pi / 2]})
    data["legs"] |= {"base": ring.tolist(), "platform": (ring[[1, 0, 3, 2, 5, 4]] / 2).tolist()}
    robot = made(data)
    states = random_states(robot, 50)
    home = float(robot.condition_number(robot.home, on_error="nan"))
    worst = robot.condition_number(states).max()
    assert not home < 1e4
    assert worst < 1e3
    assert base_parameters(robot).gap > LEAST_GAP


# Essential parameters


def regular(kind, assumption):
    """A robot whose bodies meet an assumption, and no more than it."""
    data = drawn(kind)
    rng = np.random.default_rng(7)

    def body(line, tip):
        across = [0, 2] if line == 1 else [0, 1]
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
    return data | {"legs": data["legs"] | {"cross": {"mass": 0.0}}}


@pytest.mark.parametrize(
    ("kind", "assumption", "count"),
    [
        ("UPS", "off-centre", 52),
        ("UPS", "symmetric", 40),
        ("UPS", "revolution", 34),
        ("PUS", "off-centre", 46),
        ("PUS", "symmetric", 34),
        ("PUS", "revolution", 28),
    ],
)
def test_essential_parameters_of_an_assumption(kind, assumption, count):
    data = regular(kind, assumption)
    robot = made(data)
    base = grouped_parameters(robot)
    found = essential_parameters(base, assumption)
    assert found.count == count + 6  # and the rotors
    assert found.broken == ()
    assert_allclose(found.expansion @ found.values, base.values, rtol=1e-12, atol=1e-14)
    motion = Motion(**random_motion(np.random.default_rng(1), data, (20,)))
    forces = base_regressor(robot, base, motion) @ found.expansion @ found.values
    expected = robot.inverse_dynamics(motion, friction=False).forces
    assert_allclose(forces, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    # no column of the essential regressor is superfluous
    W = stacked(robot)[:, base.independent] @ found.expansion
    assert singular_values(W)[-1] > 1e-4
    stronger = list(ASSUMPTIONS)[list(ASSUMPTIONS).index(assumption) + 1 :]
    assert all(essential_parameters(base, other).broken for other in stronger)


def test_revolution_ties_the_transverse_inertias():
    found = essential_parameters(grouped_parameters(made(drawn("UPS"))), "revolution")
    assert "leg 1 cylinder XX = leg 1 cylinder ZZ − leg 1 cross ZZ" in found.dropped()
    assert "leg 3 rod MX = 0" in found.dropped()
    assert any("cross ZZ" in one for one in found.broken)
    with pytest.raises(InputError, match="off-centre, symmetric, revolution"):
        essential_parameters(found.base, "round")


# What is said


def test_special_cases_are_said():
    said = {
        "no gravity": drawn("PUS", gravity=[0, 0, 0]),
        "all legs: first universal axis parallel to gravity": upright("UPS"),
        "platform points coincide, legs 1 and 2, 3 and 4, 5 and 6": coinciding("PUS"),
        "all legs: rail level": level_rails(),
        "link: no products of inertia": regular("PUS", "symmetric"),
    }
    for words, data in said.items():
        assert any(one.startswith(words) for one in grouped_parameters(made(data)).special)
    assert grouped_parameters(made(drawn("UPS"))).special == ()


def test_the_two_ways_agree_on_the_catalogue():
    found = find(load("kim-ryu-2002"), assumption="symmetric")
    assert found.disagreement < 1e-12
    assert found.essential is not None
    assert found.essential.count == 34 + 6


def test_command_prints_the_table_and_json():
    run = CliRunner().invoke(app, ["parameters", "kim-ryu-2002", "--assume", "revolution"])
    assert run.exit_code == 0, run.output
    assert "196 standard parameters, 76 base parameters" in run.output
    assert "slider M + cross M + link M − link MZ/l" in run.output
    assert "34 essential parameters" in " ".join(run.output.split())
    run = CliRunner().invoke(app, ["parameters", "kim-ryu-2002", "--json"])
    data = json.loads(run.stdout)
    assert (data["standard"], data["base"], data["rank"]) == (196, 76, 76)
    named = {one["name"]: one for one in data["parameters"]}
    mass = named["leg 1 slider M"]
    assert mass["unit"] == "kg"
    assert mass["terms"]["leg 1 link MZ"] == pytest.approx(-1 / 0.9)
    assert mass["value"] == pytest.approx(0.9971 + 2.1729 / 2)


@pytest.mark.parametrize(
    "arguments",
    [["dietmaier-1998"], ["kim-ryu-2002", "--friction"], ["kim-ryu-2002", "--assume", "round"]],
)
def test_command_refuses(arguments):
    run = CliRunner().invoke(app, ["parameters", *arguments])
    assert isinstance(run.exception, GoughError)  # which `main` prints as one line
