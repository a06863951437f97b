"""Stiffness against the direct model, an energy and MuJoCo; accuracy against random robots."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

import gough
from cases.command import refused, run
from cases.common import each_kind, each_shape, few_states
from cases.errors import refusal
from gough import Motion, Robot
from gough.analysis.accuracy import Tolerances, accuracy, sampled
from gough.analysis.stiffness import along_actuators, stiffness
from gough.analysis.stiffness_map import stiffness_map
from gough.errors import InputError, NotFiniteError, SingularError
from oracles.random_robot import random_motion, random_robot

pytestmark = few_states


def case(kind, seed, shape=(), **changes):
    """A random robot and poses."""
    rng = np.random.default_rng(seed)
    data = random_robot(rng, kind)
    motion = random_motion(rng, data, shape)
    return Robot.from_dict(data | changes), Motion(motion["position"], motion["rotation"])


def moved(motion, step):
    """A pose displaced by steps (n, 6), R ← exp(δθ) R."""
    turn = Rotation.from_rotvec(step[:, 3:]).as_matrix()
    return Motion(motion.position + step[:, :3], turn @ motion.rotation)


@each_kind
@pytest.mark.parametrize("seed", range(3))
def test_stiffness_is_the_slope_of_the_direct_model(kind, seed):
    """K = −M ∂ξ̇/∂x of `direct_dynamics` with actuators as springs about the forces that hold."""
    robot, pose = case(kind, seed)
    rng = np.random.default_rng(seed)
    spring, wrench = rng.uniform(1e5, 1e6, 6), rng.normal(size=6) * 300
    found = stiffness(robot, pose, spring, wrench=wrench)
    held, q = found.forces, robot.inverse_kinematics(pose).q
    size = 1e-5
    ends = moved(pose, size * np.concatenate([np.eye(6), -np.eye(6)]))
    forces = held - spring * (robot.inverse_kinematics(ends).q - q)
    now = robot.direct_dynamics(ends, forces, wrench, friction=False)
    rate = np.concatenate([now.linear, now.angular], axis=1)
    slope = (rate[:6] - rate[6:]).T / (2 * size)
    expected = -robot.mass_matrix(pose) @ slope
    assert_allclose(found.matrix, expected, atol=2e-7 * np.abs(expected).max())
    geometric = found.matrix - found.actuators
    assert np.abs(geometric).max() > 100  # the preload is no rounding


@each_kind
def test_the_tool_goes_where_the_statics_say(kind):
    """Solve the loaded rest pose with spring actuators exactly; small loads move it by C w."""
    robot, pose = case(kind, 4)
    spring = 3e5
    found = stiffness(robot, pose, spring)
    q = robot.inverse_kinematics(pose).q
    tool = robot.description.tool
    load = np.array([40.0, -30.0, 50.0, 5.0, 4.0, -6.0])
    errors = []
    for share in (0.1, 0.02):
        here = pose
        for _ in range(8):
            wrench = robot.tool_wrench(here, share * load[:3], share * load[3:])
            short = found.forces - spring * (robot.inverse_kinematics(here).q - q)
            rest = robot.inverse_dynamics(here, wrench, friction=False).forces
            need = robot.jacobian(here).T @ (short - rest)
            step = np.linalg.solve(found.matrix, need)
            here = moved(here, step[np.newaxis])[0]
        turn = Rotation.from_matrix(here.rotation @ pose.rotation.T).as_rotvec()
        way = here.position + here.rotation @ tool - pose.position - pose.rotation @ tool
        predicted = found.deflection(share * load[:3], share * load[3:])
        errors.append(np.linalg.norm(way - predicted[:3]) / np.linalg.norm(way))
        assert_allclose(turn, predicted[3:], atol=2e-3 * np.abs(turn).max())
    assert errors[0] < 2e-3
    assert errors[1] < 0.3 * errors[0]  # first order in the load


def test_elastic_links_against_their_energy():
    """PUS legs with elastic links: K is the Hessian of the least energy of sliders and links."""
    robot, pose = case("PUS", 2, gravity=[0, 0, 0])
    rng = np.random.default_rng(0)
    slide, stretch = rng.uniform(2e5, 1e6, 6), rng.uniform(2e5, 1e6, 6)
    found = stiffness(robot, pose, slide, stretch)
    legs = robot.file.legs
    rail = np.array(legs.rail_direction)
    rail /= np.linalg.norm(rail, axis=1, keepdims=True)
    origin, length = np.array(legs.rail_origin), np.array(legs.length)
    q0 = robot.inverse_kinematics(pose).q

    def energy(step):
        here = moved(pose, step[np.newaxis])[0]
        tip = here.position + np.array(legs.platform) @ here.rotation.T
        total = 0.0
        for i in range(6):

            def stored(change, i=i):
                anchor = origin[i] + (q0[i] + 1e-3 * change) * rail[i]
                longer = np.linalg.norm(tip[i] - anchor) - length[i]
                return 0.5 * slide[i] * (1e-3 * change) ** 2 + 0.5 * stretch[i] * longer**2

            total += minimize_scalar(stored, bracket=(-1, 1), tol=1e-12).fun
        return total

    size = 1e-4
    for i, j in ((0, 0), (2, 4), (5, 5)):
        a, b = size * np.eye(6)[i], size * np.eye(6)[j]
        hessian = (energy(a + b) - energy(a - b) - energy(b - a) + energy(-a - b)) / (4 * size**2)
        assert hessian == pytest.approx(found.matrix[i, j], abs=3e-4 * np.abs(found.matrix).max())


def test_stiffness_and_sag_of_mujoco():
    """Platform on six springs: MuJoCo's spatial tendons, no loop to close, preloaded by the weight."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(0)
    data = random_robot(rng, "UPS", axial=False)
    data["gravity"] = [0.5, -0.3, -9.7]
    for body in ("cross", "cylinder", "rod"):
        data["legs"][body] = {"mass": 0.0}
    data["legs"]["rotor_mass"] = 0.0
    data["platform"] = {
        "mass": 80.0, "center_of_mass": [0.02, -0.01, 0.05], "inertia": np.diag([3.0, 4.0, 5.0]).tolist()
    }  # fmt: skip
    robot = Robot.from_dict(data)
    pose = robot.home
    spring = rng.uniform(1e5, 3e5, 6)
    found = stiffness(robot, pose, spring)
    relaxed = robot.inverse_kinematics(pose).q + found.forces / spring
    base, points = np.array(data["legs"]["base"]), np.array(data["legs"]["platform"])

    def text(vector):
        return " ".join(f"{x:.17g}" for x in np.ravel(vector))

    x, y, z, w = Rotation.from_matrix(pose.rotation).as_quat()
    sites = "".join(f'<site name="b{i}" pos="{text(b)}"/>' for i, b in enumerate(base))
    tips = "".join(f'<site name="p{i}" pos="{text(p)}"/>' for i, p in enumerate(points))
    tendons = "".join(
        f'<spatial name="t{i}" stiffness="{spring[i]:.17g}" springlength="{relaxed[i]:.17g}">'
        f'<site site="b{i}"/><site site="p{i}"/></spatial>'
        for i in range(6)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="{text(data["gravity"])}"/><worldbody>{sites}'
        f'<body pos="{text(pose.position)}" quat="{text([w, x, y, z])}"><freejoint/>'
        f'<inertial mass="80" pos="0.02 -0.01 0.05" diaginertia="3 4 5"/>{tips}</body></worldbody>'
        f"<tendon>{tendons}</tendon></mujoco>"
    )
    state = mujoco.MjData(model)
    mass = robot.mass_matrix(pose)

    def rate(step):
        """ξ̇, world axes; MuJoCo's angular acceleration is in the body's."""
        here = moved(pose, step[np.newaxis])[0]
        x, y, z, w = Rotation.from_matrix(here.rotation).as_quat()
        state.qpos[:] = [*here.position, w, x, y, z]
        state.qvel[:] = 0
        mujoco.mj_forward(model, state)
        return np.concatenate([state.qacc[:3], here.rotation @ state.qacc[3:]])

    assert np.abs(rate(np.zeros(6))).max() < 1e-8  # the same forces hold it
    size = 1e-5
    slope = np.array([rate(d) - rate(-d) for d in size * np.eye(6)]).T / (2 * size)
    assert_allclose(found.matrix, -mass @ slope, atol=1e-7 * np.abs(found.matrix).max())
    # what a tool force does to it, from MuJoCo alone: Newton on its accelerations
    force = np.array([30.0, -20.0, 40.0])
    wrench = robot.tool_wrench(pose, force)
    step = np.zeros(6)
    for _ in range(6):
        slope = np.array([rate(step + d) - rate(step - d) for d in size * np.eye(6)]).T / (2 * size)
        step = step - np.linalg.solve(slope, rate(step) + np.linalg.solve(mass, wrench))
    arm = pose.rotation @ robot.description.tool
    way = step[:3] + Rotation.from_rotvec(step[3:]).apply(arm) - arm
    assert_allclose(found.deflection(force)[:3], way, atol=5e-3 * np.abs(way).max())


@each_kind
@each_shape
def test_batches(kind, shape):
    robot, pose = case(kind, 1, shape)
    found = stiffness(robot, pose, 1e6, 2e6)
    assert found.matrix.shape == (*shape, 6, 6)
    assert found.compliance.shape == (*shape, 6, 6)
    assert found.stable.shape == shape
    assert found.stable.all()
    assert found.deflection([0, 0, 1]).shape == (*shape, 6)
    for turning in ("free", "locked"):
        values, axes = found.principal(turning)
        assert values.shape == (*shape, 3)
        assert axes.shape == (*shape, 3, 3)
    errors = accuracy(robot, pose, Tolerances(leg=1e-5, mounting_angle=1e-4, tool=1e-6))
    assert errors.pose.shape == (*shape, 6, 6)
    assert errors.tool_error.shape == shape
    if 0 not in shape:
        place = (0,) * len(shape)
        one = stiffness(robot, pose[place], 1e6, 2e6)
        assert_allclose(found.compliance[place], one.compliance, rtol=1e-9, atol=1e-18)
        assert_allclose(
            errors.tool[place],
            accuracy(robot, pose[place], Tolerances(1e-5, mounting_angle=1e-4, tool=1e-6)).tool,
            rtol=1e-12,
        )
        draws = sampled(robot, pose, Tolerances(leg=1e-5), samples=3)
        assert draws.pose.shape == (*shape, 3, 6)
        assert draws.tool_error.shape == shape


def test_principal_axes_bound_what_a_force_can_do():
    robot, pose = case("UPS", 3)
    found = stiffness(robot, pose, 1e6)
    rng = np.random.default_rng(0)
    force = rng.normal(size=(500, 3))
    force /= np.linalg.norm(force, axis=1, keepdims=True)
    moved_by = np.linalg.norm((found.compliance[:3, :3] @ force.T), axis=0)
    free, axes = found.principal()
    locked, _ = found.principal("locked")
    assert (moved_by <= 1.001 / free[0]).all()
    assert (moved_by >= 0.999 / free[2]).all()
    assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    weakest = found.compliance[:3, :3] @ axes[:, 0]
    assert_allclose(weakest, axes[:, 0] / free[0], atol=2e-3 / free[0])
    assert (locked > free).all()  # turning gives way as well


def test_flexible_platform():
    """K, modes included, is the slope of the direct model; bending only adds compliance."""
    robot = gough.load("long-khalil-martinet-2014")
    rigid, pose, spring, size = robot.rigid, robot.home, 1e7, 6 + robot.modes
    found = stiffness(robot, pose, spring)
    assert found.matrix.shape == (size, size)
    rest, q = found.motion, robot.inverse_kinematics(found.motion).q
    steps = 1e-6 * np.concatenate([np.eye(size), -np.eye(size)])
    ends = moved(rest, steps[:, :6])
    ends = Motion(ends.position, ends.rotation, elastic=rest.elastic + steps[:, 6:])
    forces = found.forces - spring * (robot.inverse_kinematics(ends).q - q)
    now = robot.direct_dynamics(ends, forces, friction=False)
    rate = np.concatenate([now.linear, now.angular, now.elastic], axis=1)
    slope = (rate[:size] - rate[size:]).T / 2e-6
    expected = -robot.mass_matrix(rest) @ slope
    assert_allclose(found.matrix, expected, atol=1e-6 * np.abs(expected).max())
    # the weight on its soft plate makes this pose unstable; both ways to ask say so
    with pytest.warns(gough.errors.UnstableWarning):
        lowest = robot.natural_frequencies(pose, spring).frequencies[0]
    assert not found.stable
    assert lowest < 0
    # without preload bending adds to every compliance: in series, C grows by a positive matrix
    bending, stiff = (stiffness(one, pose, spring, preload=False) for one in (robot, rigid))
    assert bending.stable
    scale = np.sqrt(np.diag(bending.compliance))
    more = (bending.compliance - stiff.compliance) / np.outer(scale, scale)
    assert np.linalg.eigvalsh(more)[0] > -1e-12
    assert np.trace(more) > 0.5
    # a stiffness for each pose and leg is the same as one for all
    twice = Motion(np.tile(pose.position, (2, 1)))
    each = rigid.natural_frequencies(twice, np.full((2, 6), spring)).frequencies
    assert_allclose(each[1], rigid.natural_frequencies(pose, spring).frequencies)
    chart = stiffness_map(robot, spring, bounds=[[0.0, 0.4], [0.8, 1.2]], points=2)
    corner = Motion([0.4, 0.8, pose.position[2]])
    hertz = robot.natural_frequencies(corner, spring).frequencies[0]
    assert chart.frequency[0, 1] == pytest.approx(hertz, rel=1e-9)
    assert chart.stable[0, 1] == (hertz > 0)
    with refusal(InputError, "actuators", "shape"):
        rigid.natural_frequencies(twice, np.full((3, 6), spring))


def test_without_preload_no_masses_are_needed():
    robot = gough.load("dietmaier-1998")
    pose = Motion([0.3, 0.2, 1.0])
    found = stiffness(robot, pose, 1e6, preload=False)
    jacobian = robot.jacobian(pose)
    assert_allclose(found.matrix, 1e6 * jacobian.T @ jacobian)
    assert_allclose(found.matrix, found.actuators)


def test_nonsense_is_refused():
    robot, pose = case("UPS", 1)
    with refusal(InputError, 1e-09):
        stiffness(robot, pose, -1.0)
    with refusal(InputError, 1e-09):
        stiffness(robot, pose, np.nan)
    with refusal(InputError, "shape"):
        stiffness(robot, pose, np.ones(5))
    with refusal(InputError, "infinitely"):
        stiffness(robot, pose, np.inf)
    with refusal(InputError, "preload"):
        stiffness(robot, pose, 1e6, wrench=np.zeros(6), preload=False)
    with refusal(InputError, "turning"):
        stiffness(robot, pose, 1e6).principal("loose")
    with refusal(InputError, "tolerance", "base"):
        Tolerances(base=-1e-6)
    with refusal(InputError, "PUS"):
        accuracy(robot, pose, Tolerances(rail=1e-4))
    with refusal(InputError, "samples"):
        sampled(robot, pose, Tolerances(leg=1e-4), samples=0)
    assert along_actuators(robot, pose, 2e6, 2e6) == pytest.approx(np.full(6, 1e6))


def test_a_singular_pose_holds_no_load():
    """Legs that all meet in one line of the platform: similar hexagons are singular everywhere."""
    ring = [[np.cos(a), np.sin(a), 0.0] for a in np.arange(6) * np.pi / 3]
    with pytest.warns(gough.errors.ArchitectureWarning):
        robot = Robot.from_dict(
            {
                "format": 1,
                "name": "similar",
                "home": {"position": [0, 0, 1.0]},
                "legs": {"kind": "UPS", "base": ring, "platform": (0.5 * np.array(ring)).tolist()},
            }
        )
    with pytest.raises(SingularError):
        stiffness(robot, robot.home, 1e6, preload=False)
    both = Motion(np.tile(robot.home.position, (2, 1)))
    found = stiffness(robot, both, 1e6, preload=False, on_error="nan")
    assert np.isnan(found.compliance).all()
    assert not found.stable.any()
    for ask in (accuracy, sampled):
        with pytest.raises(SingularError):
            ask(robot, both, Tolerances(leg=1e-6))
    assert np.isnan(accuracy(robot, both, Tolerances(leg=1e-6), on_error="nan").tool).all()
    lost = Motion([[0, 0, 1.0], [0, 0, np.nan]])
    with refusal(NotFiniteError, "sample 1"):
        accuracy(robot, lost, Tolerances(leg=1e-6))


@pytest.mark.second_tier_from(1)
@each_kind
def test_first_order_spread_is_that_of_random_robots(kind):
    robot, pose = case(kind, 6)
    every = {"leg": 2e-5, "base": 3e-5, "platform": 2e-5, "mounting": 1e-5, "tool": 2e-5}
    every |= {"mounting_angle": 3e-5}
    own = {"link": 4e-5, "rail": 5e-5, "crank": 3e-5, "motor_axis": 5e-5}
    every |= {name: own[name] for name in robot.leg_kind.tolerances.names if name in own}
    count = 4000
    noise = 5 * np.sqrt(2 / count)
    for given in ({name: value} for name, value in every.items()):
        first = accuracy(robot, pose, Tolerances(**given))
        (name,) = given
        assert_allclose(first.shares[name], first.tool)
        assert sum(np.any(share) for share in first.shares.values()) == 1
        drawn = sampled(robot, pose, Tolerances(**given), samples=count)
        scale = np.trace(first.tool)
        assert np.abs(drawn.tool_covariance - first.tool).max() < noise * scale
        if name != "tool":
            scale = np.sqrt(np.diag(first.pose))
            scaled = (drawn.pose_covariance - first.pose) / np.outer(scale, scale).clip(1e-30)
            assert np.abs(scaled).max() < noise
    first = accuracy(robot, pose, Tolerances(**every))
    drawn = sampled(robot, pose, Tolerances(**every), samples=count, seed=3)
    assert first.tool_error == pytest.approx(drawn.tool_error, rel=noise)
    assert_allclose(first.tool, np.sum(list(first.shares.values()), axis=0))
    assert first.turn_error == pytest.approx(
        np.sqrt(np.mean(np.sum(drawn.pose[:, 3:] ** 2, axis=1))), rel=noise
    )


def test_map_is_that_of_its_poses():
    robot = gough.load("kim-ryu-2002")
    bounds = [[-0.7, 0.7], [-0.2, 0.2]]
    parts = []
    found = stiffness_map(robot, 1e7, 5e7, bounds=bounds, points=5, progress=parts.append)
    assert parts[-1] == 1
    assert np.isnan(found.weakest[:, 0]).all()  # out of the limits
    pose = Motion([found.first[2], found.second[3], found.at], robot.home.rotation)
    one = stiffness(robot, pose, 1e7, 5e7)
    assert found.weakest[3, 2] == pytest.approx(one.principal()[0][0], rel=1e-9)
    hertz = robot.natural_frequencies(pose, one.along).frequencies[0]
    assert found.frequency[3, 2] == pytest.approx(hertz, rel=1e-9)
    bare = stiffness_map(robot, 1e7, across="y", points=2, preload=False)
    assert np.isnan(bare.frequency).all()
    for wrong in ({"across": "w"}, {"points": 1}, {"bounds": [[1, 0], [0, 1]]}):
        with pytest.raises(InputError):
            stiffness_map(robot, 1e7, **wrong)


def test_command_line(tmp_path):
    words = ["kim-ryu-2002", "--stiffness", "1e7", "--leg-stiffness", "5e7"]
    extra = ["--load", "0,0,100,0,0,0", "--errors", "leg=1e-5,base=2e-5"]
    picture = tmp_path / "map.png"
    found = run("stiffness", *words, *extra, "--points", "4", "-o", picture)
    assert found.returncode == 0, found.stderr
    assert "N/µm" in found.stdout
    assert "µm, " in found.stdout
    assert picture.stat().st_size > 1000
    found = run("stiffness", *words, *extra, "--json", "--pose", "0.05,0,0.8,0,5,0")
    numbers = json.loads(found.stdout)
    robot = gough.load("kim-ryu-2002")
    pose = Motion([0.05, 0, 0.8], Rotation.from_rotvec([0, 5, 0], degrees=True))
    again = stiffness(robot, pose, 1e7, 5e7)
    assert_allclose(numbers["compliance_at_tool"], again.compliance, rtol=1e-12)
    assert_allclose(numbers["deflection"], again.deflection([0, 0, 100]), rtol=1e-9, atol=1e-20)
    exact = accuracy(robot, pose, Tolerances(leg=1e-5, base=2e-5))
    assert numbers["accuracy"]["tool_error"] == pytest.approx(float(exact.tool_error))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--stiffness", "0"], "of 1e-09 to 1e+18 N/m"),
        (["--stiffness", "1e7", "--pose", "1,2,3"], "--pose"),
        (["--stiffness", "1e7", "--errors", "legs=1"], "--errors"),
        (["--stiffness", "1e7", "--errors", "leg=soft"], "--errors"),
        (["--stiffness", "1e7", "--slice", "z"], "--slice"),
        (["--stiffness", "1e7", "-o", "a.txt"], "must end in"),
    ],
)
def test_command_line_refuses_nonsense(words, said):
    assert said in refused("stiffness", "kim-ryu-2002", *words)
