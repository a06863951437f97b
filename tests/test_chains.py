"""Chain legs: the same robots as closed forms, continued along motions, refused where they must be."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cases.closeness import assert_near
from cases.errors import refusal, warning
from cases.families import any_state, draw, random_states
from cases.families.parts import chains, pose, revolute, robot_file
from cases.families.planar import frictionless, planar_rrr, with_spherical_ends
from cases.families.spatial import rotary_delta
from cases.robots import with_body
from gough import Motion, Robot
from gough.description.modal.body import ModalBody
from gough.errors import ConstraintError, FileError, FreedomWarning, InputError, ReachError
from gough.model.own_coordinates import Solver
from oracles.arrays import unit
from oracles.flexible_energy import random_elastic, random_modal_body
from oracles.parallel import ParallelOracle
from oracles.parallel.as_chains import as_chains, with_universal_ends
from oracles.random_robot import random_motion, random_robot

on_numpy = pytest.mark.usefixtures("on_numpy")
STATES = 6


def same_answers(one: Robot, other: Robot, motion: Motion, within: float) -> None:
    """All that does not depend on how a leg is written."""
    legs, others = one.inverse_kinematics(motion), other.inverse_kinematics(motion)
    for key in ("q", "qd", "qdd"):
        assert_near(getattr(legs, key), getattr(others, key), within)
    wrench = np.arange(6.0)
    forces = one.inverse_dynamics(motion, wrench, friction=False).forces
    assert_near(forces, other.inverse_dynamics(motion, wrench, friction=False).forces, within)
    pushes = [robot.reactions(motion, wrench, friction=False).spherical for robot in (one, other)]
    assert_near(*pushes, within)
    moved = [
        robot.direct_dynamics(motion, forces, wrench, friction=False) for robot in (one, other)
    ]
    assert_near(moved[0].linear, moved[1].linear, within)
    assert_near(moved[0].angular, moved[1].angular, within)
    energies = [robot.energy(motion) for robot in (one, other)]
    assert_near(energies[0].kinetic, energies[1].kinetic, within)
    assert_near(energies[0].potential, energies[1].potential, within)


@on_numpy
@pytest.mark.parametrize("kind", ["UPS", "PUS", "RUS"])
def test_hexapods_as_chains_equal_their_closed_forms(kind: str) -> None:
    data, oracle = draw(f"6-{kind}", 0)
    motion = Motion(**random_states(2, oracle, STATES))
    same_answers(Robot.from_dict(as_chains(data)), Robot.from_dict(data), motion, 1e-11)


@on_numpy
@pytest.mark.parametrize("timed", [False, True])
def test_a_flexible_platform_on_chains_moves_as_on_closed_forms(timed: bool) -> None:
    rng = np.random.default_rng(5)
    data = random_robot(rng, "UPS")
    modal = random_modal_body(rng, np.array(data["legs"]["platform"]), 3, general=False)
    states = random_motion(rng, data, (STATES,))
    bent = {
        name: value * np.ones((STATES, 1)) for name, value in random_elastic(rng, modal).items()
    }
    motion = Motion(**states, **bent, time=np.linspace(0, 1, STATES) if timed else None)
    closed, chains = (
        with_body(Robot.from_dict(one), ModalBody(**modal)) for one in (data, as_chains(data))
    )
    same_answers(chains, closed, motion, 1e-11)
    undeformed = Motion(**states, time=motion.time)
    of_chains, of_closed = (one.inverse_kinematics(undeformed).q for one in (chains, closed))
    assert_near(of_chains, of_closed, 1e-11)
    seen = chains.rigid.chains_of(motion)  # a controller that believes in a rigid platform
    assert_near(seen, chains.chains_of(undeformed), 1e-6)


@on_numpy
def test_a_delta_of_chains_equals_rus_with_translation() -> None:
    data = rotary_delta(np.random.default_rng(3))
    chains = with_universal_ends(as_chains(data))
    motion = Motion(**random_states(3, ParallelOracle(data), STATES))
    one, other = Robot.from_dict(chains), Robot.from_dict(data)
    assert one.mobility == other.mobility == 3
    wrench = np.arange(6.0)
    for key in ("q", "qd", "qdd"):
        legs = [getattr(robot.inverse_kinematics(motion), key) for robot in (one, other)]
        assert_near(*legs, 1e-11)
    forces = [
        robot.inverse_dynamics(motion, wrench, friction=False).forces for robot in (one, other)
    ]
    assert_near(*forces, 1e-11)


@on_numpy
def test_a_planar_robot_of_chains_equals_points_kept_to_a_plane() -> None:
    data = frictionless(planar_rrr(np.random.default_rng(4)))
    motion = Motion(**random_states(4, ParallelOracle(data), STATES))
    one, other = Robot.from_dict(data), Robot.from_dict(with_spherical_ends(data))
    forces = [robot.inverse_dynamics(motion, np.arange(6.0)).forces for robot in (one, other)]
    assert_near(*forces, 1e-11)


def test_compiled_programs_give_what_numpy_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    data, oracle = draw("3-RPS", 0)
    motion = Motion(**random_states(5, oracle, STATES))
    compiled = Robot.from_dict(data).inverse_dynamics(motion).forces
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    assert_near(compiled, Robot.from_dict(data).inverse_dynamics(motion).forces, 1e-12)


@on_numpy
@pytest.mark.parametrize("shape", [(), (1,), (3, 1, 2), (0,)])
def test_batches_of_any_shape(shape: tuple[int, ...]) -> None:
    data, _ = draw("3-RPS", 0)
    robot = Robot.from_dict(data)
    home = np.array([robot.home.position[2], 0.0, 0.0])
    u = home + 0.05 * np.random.default_rng(0).uniform(-1, 1, (*shape, 3))
    motion = robot.motion(u, 0 * u + 0.1)
    assert motion.shape == shape
    assert robot.inverse_dynamics(motion).forces.shape == (*shape, 3)
    for place in np.ndindex(shape):
        assert_near(robot.motion(u[place]).position, motion.position[place], 1e-12)


CRANKS = {
    "type": "revolute",
    "axis": [0, 0, 1],
    "body": {"mass": 1.0, "inertia": np.eye(3).tolist()},
}


def parallelogram() -> dict[str, object]:
    """A platform on two parallel cranks of 0.3 m: it goes around in a circle."""

    def leg(x: float) -> dict[str, object]:
        joints = [
            {**CRANKS, "point": [x, 0, 0], "actuated": x == 0, "home": 0.5},
            {"type": "revolute", "axis": [0, 0, 1], "point": [x, 0.3, 0]},
        ]
        return {"kind": "chain", "joints": joints}

    return {
        "format": 1,
        "name": "parallelogram",
        "home": {"position": [0.5, 0.3, 0]},
        "legs": [leg(0.0), leg(1.0)],
        "platform": {"mass": 2.0, "inertia": (0.1 * np.eye(3)).tolist(), "coordinates": ["x"]},
    }


@pytest.mark.second_tier
@on_numpy
def test_whole_turns_are_counted_along_time() -> None:
    robot = Robot.from_dict(parallelogram())
    assert robot.mobility == 1
    angle = np.linspace(0, 5 * np.pi, 400)
    circle = np.stack([0.5 - 0.3 * np.sin(angle), 0.3 * np.cos(angle), 0 * angle], axis=-1)
    along = robot.inverse_kinematics(Motion(circle, time=angle)).q[:, 0]
    assert_near(along, 0.5 + angle, 1e-12)
    coarse = robot.inverse_kinematics(Motion(circle[::40], time=angle[::40])).q[:, 0]
    assert_near(coarse, (0.5 + angle)[::40], 1e-12)


@on_numpy
def test_what_a_platform_cannot_do_is_refused() -> None:
    robot = Robot.from_dict(parallelogram())
    with pytest.raises(ConstraintError):
        robot.inverse_kinematics(Motion([0.5, 0.3, 1e-4]))
    robot.inverse_kinematics(Motion([0.5, 0.3, 1e-7]))
    with pytest.raises(ConstraintError):
        robot.energy(Motion([0.5, 0.3, 0], velocity=[1, 1, 0]))
    with refusal(ReachError, "millimetres"):
        robot.motion([500.0])
    assert np.isnan(robot.motion([[500.0], [0.5]], on_error="nan").position[:, 0]).tolist() == [
        True,
        False,
    ]
    turning = Motion([0.5, 0.3, 0], velocity=[1, 0, 0])
    with pytest.raises(ConstraintError):  # it must go round
        robot.inverse_dynamics(turning)
    robot.energy(turning)
    bent = Motion([0.5, 0.3, 0], velocity=[1, 0, 0], acceleration=[0, -1 / 0.3, 0])
    assert np.isfinite(robot.inverse_dynamics(bent).forces).all()
    assert np.isnan(robot.inverse_dynamics(turning, on_error="nan").forces).all()
    with pytest.raises(ReachError):
        robot.inverse_kinematics(Motion([3.0, 0.3, 0]))


@on_numpy
def test_a_home_in_line_is_told() -> None:
    flat = parallelogram()
    for leg in flat["legs"]:
        place = leg["joints"][0]["point"][0]
        leg["joints"][1]["point"] = [place + 0.3, 0, 0]
    flat["home"] = {"position": [0.8, 0, 0]}
    flat["platform"].pop("coordinates")
    with warning(FreedomWarning, "home"):
        Robot.from_dict(flat)


@on_numpy
def test_rounded_files_are_told() -> None:
    data = parallelogram()
    data["legs"][1]["joints"][1]["axis"] = [2e-4, 0, 1]
    with pytest.warns(FreedomWarning), pytest.raises(FileError):
        Robot.from_dict(data)
    with warnings.catch_warnings(action="error", category=FreedomWarning):
        Robot.from_dict(parallelogram())


@on_numpy
def test_too_few_actuators() -> None:
    data = parallelogram()
    data["legs"][0]["joints"][0]["actuated"] = False
    robot = Robot.from_dict(data)
    with refusal(InputError, 0):
        robot.inverse_dynamics(robot.home)
    assert robot.condition_number(robot.home) == np.inf
    fallen = robot.direct_dynamics(robot.home, np.zeros(0))
    assert np.isfinite(fallen.linear).all()


@on_numpy
@pytest.mark.parametrize(("names", "words"), [(["x", "y"], (2,)), (["z"], ())])
def test_coordinates_that_do_not_fit(names: list[str], words: str) -> None:
    data = parallelogram()
    data["platform"]["coordinates"] = names
    with refusal(FileError, *words):
        Robot.from_dict(data)


@on_numpy
def test_several_motors_in_a_leg_and_redundancy() -> None:
    data, oracle = draw("planar 4-RRR", 0)
    robot = Robot.from_dict(data)
    motion = Motion(**random_states(1, oracle, 2))
    rows = np.random.default_rng(0).normal(size=4)
    least = robot.inverse_dynamics(motion, friction=False).forces
    loaded = robot.inverse_dynamics(motion, friction=False, preload=rows).forces
    moved = [robot.direct_dynamics(motion, one, friction=False) for one in (least, loaded)]
    assert_near(moved[0].linear, moved[1].linear, 1e-10)
    assert np.all(np.linalg.norm(loaded - least, axis=-1) > 1e-3)
    assert np.all(np.linalg.norm(least, axis=-1) < np.linalg.norm(loaded, axis=-1))


@on_numpy
def test_a_random_hexapod_has_six_directions() -> None:
    robot = Robot.from_dict(random_robot(np.random.default_rng(0), "UPS"))
    assert robot.mobility == 6
    assert robot.coordinates == ("x", "y", "z", "rx", "ry", "rz")


@on_numpy
def test_a_sample_does_not_depend_on_its_neighbours():
    """Rows are continued in strides of their own, bit for bit."""
    table, oracle = draw("planar 4-RRR", 0)
    states = random_states(1, oracle, 4)
    apart = [{key: value[i] for key, value in states.items()} for i in range(4)]
    robot = Robot.from_dict(table)
    together = robot.inverse_kinematics(Motion(**states)).q
    alone = [robot.inverse_kinematics(Motion(**one)).q for one in apart]
    assert_array_equal(together, alone)
    u = states["position"][:, [0, 2]]
    u = np.column_stack([u, [0.01, 0.2, -0.3, 0.0]])
    rows = [robot.motion(one).position for one in u]
    assert_array_equal(robot.motion(u).position, rows)


@on_numpy
def test_joints_stay_on_their_branch_where_arms_are_badly_placed():
    """Two arms of six joints: long strides would throw some of them far away."""
    rng = np.random.default_rng(7)
    legs = []
    for base, tip in (([-0.8, 0, 0], [-0.2, 0, 0.8]), ([0.8, 0.1, 0], [0.2, 0, 0.8])):
        points = np.linspace(base, tip, 6) + rng.uniform(-0.3, 0.3, (6, 3))
        points[-1] = tip
        legs.append([revolute(point, unit(rng.normal(size=3)), True) for point in points])
    place = pose(rng, np.array([0, 0, 0.8]))
    table = robot_file(rng, "two arms", [chains(rng, legs)], place)
    robot, oracle = Robot.from_dict(table), ParallelOracle(table)
    assert robot.actuator_count == 12
    _, places, offsets = oracle.actuators
    for _ in range(6):
        try:
            state = any_state(rng, oracle, 1.0)
            u = Solver.of(robot).placed(Motion(**state))[:6]
            wanted = oracle.posture(u, 0.003)
        except ValueError:
            continue  # the line leaves what the arms reach
        q = wanted.configuration[places] + offsets
        assert_near(robot.inverse_kinematics(Motion(**state)).q, q, 1e-9)
        assert_near(robot.inverse_kinematics(robot.motion(u)).q, q, 1e-9)


@on_numpy
def test_actuators_of_chains_may_turn_by_more_than_half_a_turn_between_samples():
    hinge = {"type": "revolute", "point": [0, 0, 0], "axis": [0, 0, 1]}
    legs = [
        {"kind": "chain", "joints": [{**hinge, "actuated": True, "home": 0.5}]},
        {"kind": "chain", "joints": [hinge]},
    ]
    home = {"position": [0, 0, 0]}
    robot = Robot.from_dict({"format": 1, "name": "door", "home": home, "legs": legs})
    assert robot.coordinates == ("rz",)
    turns = np.array([[0.0], [4.0], [-1.0]])
    q = robot.inverse_kinematics(robot.motion(turns, time=[0.0, 1.0, 2.0])).q
    assert_near(q, turns + 0.5, 1e-12)


@on_numpy
def test_a_robot_without_actuators_moves_but_takes_no_forces():
    table = copy.deepcopy(draw("3-RPS", 0)[0])
    for joint in table["legs"]["joints"]:
        joint.pop("actuated", None)
        joint.pop("rotor_inertia", None)
    robot = Robot.from_dict(table)
    assert robot.inverse_kinematics(robot.home).q.shape == (0,)
    assert robot.jacobian(robot.home).shape == (0, 6)
    falls = robot.direct_dynamics(robot.home, np.zeros(0))
    assert np.isfinite(falls.linear).all()
    with refusal(InputError, "many", "actuators"):
        robot.inverse_dynamics(robot.home)
