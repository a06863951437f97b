"""FMUs: FMPy finds nothing to say, and their motion is that of `gough.simulate`."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.common import few_states, impossible_bodies
from cases.errors import refusal
from cases.exported import COMPILER, run
from cases.robots import rotary_hexapod_with_masses
from gough.errors import InputError, MissingDataError, SampleError
from gough.exchange.fmu import build, export_fmu
from gough.simulation import simulate
from gough.simulation.controllers import GivenForces

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed")
from fmpy.validation import validate_fmu  # noqa: E402

from cases.mockups import Mockup  # noqa: E402

pytestmark = [
    impossible_bodies,
    few_states,
    pytest.mark.usefixtures("on_numpy"),
    pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine"),
]
PERIOD = 0.05
HELD, RUBBING, CHAINS, FLEXIBLE = "held", "rubbing", "chains", "flexible"
SMOOTH = {"motor_viscous": 0.02, "motor_coulomb": 0.05, "width": 0.05}


NAMES = {HELD: "alikoc-delta-2023", RUBBING: "alikoc-delta-2023", CHAINS: "shyam-heliostat-2017",
         FLEXIBLE: "long-khalil-martinet-2014"}  # fmt: skip


def robot_of(name):
    """One of each structure."""
    robot = gough.load(NAMES[name])
    return robot.edited({"legs.friction": SMOOTH}) if name == RUBBING else robot


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """FMUs by robot and options, each made once."""
    ready, patch = {}, pytest.MonkeyPatch()
    patch.setenv("CFLAGS", "-O0")

    def get(name, **options):
        key = (name, *sorted(options.items()))
        if key not in ready:
            path = tmp_path_factory.mktemp("fmu") / "robot.fmu"
            ready[key] = export_fmu(robot_of(name), path, **options)
        return ready[key]

    yield get
    patch.undo()


def pushed(robot, amplitude=0.03):
    """Start, and forces that are constant for a period each, around those that hold home."""
    home = robot.static_deflection(robot.home) if robot.modes else robot.home
    rest = robot.inverse_dynamics(home, friction=False).forces
    size = amplitude * np.abs(rest).max()

    def forces(times):
        begun = np.floor(np.asarray(times)[..., np.newaxis] / PERIOD + 1e-6) * PERIOD
        return rest + size * np.sin(12 * begun + np.arange(len(rest)))

    return home, forces


def simulated(robot, duration, start=None):
    home, forces = pushed(robot)
    return simulate(
        robot, GivenForces(forces), robot.home, duration, start=home if start is None else start,
        period=PERIOD, integrator="DOP853", rtol=1e-11, atol=1e-12, record=PERIOD, stop_on=(),
    )  # fmt: skip


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        (HELD, {"fmi": 2}),
        (RUBBING, {"fmi": 3}),
        (RUBBING, {"fmi": 3, "inverse": True}),
        (CHAINS, {"fmi": 2}),
        (FLEXIBLE, {"fmi": 2}),
    ],
)
def test_fmpy_has_nothing_to_say(exported, name, options):
    assert validate_fmu(str(exported(name, **options))) == []


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    ("name", "fmi", "duration"),
    [(HELD, 2, 1.0), (RUBBING, 3, 0.1), (CHAINS, 2, 0.1)],
)
def test_motion_is_that_of_simulate(exported, name, fmi, duration):
    robot = robot_of(name)
    expected, (_, forces) = simulated(robot, duration), pushed(robot)
    steps, rng = round(duration / PERIOD), np.random.default_rng(0)
    path = exported(name, fmi=fmi)
    with Mockup(path) as stepped, Mockup(path, "me") as exchanged:
        if fmi == 2:
            exchanged.fmu.enterContinuousTimeMode()
        for k in range(steps):
            for one in (stepped, exchanged):
                one.set(forces=forces(np.array(k * PERIOD)))
            for cut in (*sorted(rng.uniform(0, PERIOD, k % 3)), PERIOD):
                stepped.step(k * PERIOD + cut)
            exchanged.integrate((k + 1) * PERIOD)
            there = expected.motion[k + 1]
            for one in (stepped, exchanged):
                assert_allclose(one.get("position"), there.position, rtol=0, atol=1e-9)
                assert_allclose(one.get("rotation"), there.rotation.ravel(), rtol=0, atol=1e-9)
                assert_allclose(one.get("velocity"), there.velocity, rtol=0, atol=1e-9)
        legs = robot.inverse_kinematics(there)
        assert_allclose(stepped.get("q"), legs.q, rtol=0, atol=1e-9)
        assert_allclose(stepped.get("qd"), legs.qd, rtol=0, atol=1e-8)
        turned = stepped.get("rotation").reshape(3, 3)
        assert np.abs(turned.T @ turned - np.eye(3)).max() < 1e-15
    moved = np.abs(expected.motion.position - expected.motion.position[0]).max()
    assert moved > 1e-6


@pytest.mark.second_tier
def test_a_flexible_platform_starts_at_rest_and_accelerates_as_it_should(exported):
    robot = robot_of(FLEXIBLE)
    home = robot.static_deflection(robot.home)
    with Mockup(exported(FLEXIBLE, fmi=2)) as one:
        assert_allclose(one.get("elastic"), home.elastic, rtol=1e-12)
        for name in ("acceleration", "angular_acceleration"):
            assert np.abs(one.get(name)).max() < 1e-8
        forces = one.get("forces") * 1.01
        one.set(forces=forces)
        expected = robot.direct_dynamics(home, forces)
        assert_allclose(one.get("acceleration"), expected.linear, rtol=0, atol=1e-9)
        assert_allclose(one.get("elastic_acceleration"), expected.elastic, rtol=1e-9, atol=1e-9)
        one.step(1e-4)
        assert np.abs(one.get("elastic_velocity")).max() > 0


def test_start_and_parameters_are_those_of_an_edited_robot(exported):
    heavy = {"platform.mass": 1.3, "legs.friction.motor_viscous": 0.05}
    robot = robot_of(RUBBING).edited(heavy)
    start = gough.Motion(robot.home.position + np.array([0.02, -0.03, 0.01]), robot.home.rotation)
    expected = simulated(robot, PERIOD, start)
    _, forces = pushed(robot)
    given = {key.replace(".", "__"): value for key, value in heavy.items()}
    with Mockup(exported(RUBBING, fmi=3), position=start.position, **given) as one:
        one.set(forces=forces(np.array(0.0)))
        one.step(PERIOD)
        assert_allclose(one.get("position"), expected.motion.position[-1], rtol=0, atol=1e-9)


def test_a_state_is_kept_and_taken_again(exported):
    robot = robot_of(HELD)
    _, forces = pushed(robot)
    with Mockup(exported(HELD, fmi=2)) as one:
        one.set(forces=forces(np.array(0.0)))
        one.step(0.01)
        kept = one.fmu.getFMUstate()
        one.step(0.05)
        there = one.get("position")
        bytes_ = one.fmu.serializeFMUstate(kept)
        one.fmu.setFMUstate(one.fmu.deSerializeFMUstate(bytes_))
        one.time = 0.01
        one.step(0.05)
        assert_allclose(one.get("position"), there, rtol=0, atol=0)


def test_a_step_beyond_reach_is_discarded(exported):
    robot = robot_of(HELD)
    push = robot.inverse_dynamics(robot.home).forces * [0, 1, 1]
    with Mockup(exported(HELD, fmi=2), tolerance=1e-8) as one:
        one.set(forces=push)
        with pytest.raises(Exception, match="discard"):
            one.step(2.0)
        assert one.fmu.getBooleanStatus(3)  # it wants to end
        there, speed = one.get("position"), one.get("velocity")
    robot.inverse_kinematics(gough.Motion(there, robot.home.rotation))
    with pytest.raises(SampleError):  # C, which has no second look, stops a little before
        robot.inverse_kinematics(gough.Motion(there + 1e-3 * speed, robot.home.rotation))


def test_the_inverse_model_gives_the_forces(exported):
    robot = robot_of(RUBBING)
    motion = robot.motion(
        robot.home.position + np.array([0.01, 0.02, -0.01]), [0.1, -0.2, 0.3], [1.0, 2.0, -3.0]
    )
    wrench = np.array([1.0, -2.0, 3.0, 0, 0, 0])
    expected = robot.inverse_dynamics(motion, wrench)
    with Mockup(exported(RUBBING, fmi=3, inverse=True)) as one:
        one.set(position=motion.position, velocity=motion.velocity)
        one.set(acceleration=motion.acceleration, wrench=wrench)
        assert_allclose(one.get("forces"), expected.forces, rtol=1e-10)
        assert_allclose(one.get("power"), expected.power, rtol=1e-10)
        one.set(angular_velocity=[0.1, 0, 0])  # what its platform cannot do
        with pytest.raises(Exception, match=r"fmi3GetFloat64|failed"):
            one.get("forces")


def test_reactions_on_request(tmp_path, monkeypatch):
    monkeypatch.setenv("CFLAGS", "-O0")
    robot = gough.Robot.from_dict(rotary_hexapod_with_masses())
    path = robot.export_fmu(tmp_path / "robot.fmu", reactions=True)
    assert validate_fmu(str(path)) == []
    turn = Rotation.from_rotvec([0.1, 0.05, -0.1])
    motion = gough.Motion(robot.home.position, turn.as_matrix() @ robot.home.rotation)
    forces = robot.inverse_dynamics(motion).forces + np.arange(6.0)
    found = robot.direct_dynamics(motion, forces)
    moving = motion.replace(acceleration=found.linear, angular_acceleration=found.angular)
    expected = robot.reactions(moving)
    start = {"position": motion.position, "quaternion": turn.as_quat(scalar_first=True)}
    with Mockup(path, **start) as one:
        one.set(forces=forces)
        assert_allclose(one.get("acceleration"), found.linear, rtol=1e-10)
        told = one.get("reactions.spherical").reshape(6, 3)
        assert_allclose(told, expected.spherical, rtol=0, atol=1e-9 * np.abs(told).max())
        assert "reactions.guide[1,1]" not in one.references


def test_what_cannot_be_exported(tmp_path, monkeypatch):
    robot, path = robot_of(HELD), tmp_path / "robot.fmu"
    with refusal(InputError, "fmi", 2, 3, 1):
        export_fmu(robot, path, fmi=1)
    with refusal(MissingDataError, "masses", "legs", "FMU"):
        export_fmu(gough.load("dietmaier-1998"), path)
    monkeypatch.setenv("CC", "no-such-compiler")
    with refusal(InputError, "--sources-only"):
        export_fmu(robot, path)
    assert not path.exists()
    first = export_fmu(robot, path, sources_only=True).read_bytes()
    assert export_fmu(robot, path, sources_only=True).read_bytes() == first
    names = zipfile.ZipFile(path).namelist()
    assert not [name for name in names if name.startswith("binaries")]
    assert "sources/forward.c" in names


@pytest.mark.second_tier
@pytest.mark.parametrize(("fmi", "inverse"), [(2, False), (3, False), (3, True)])
def test_sources_compile_without_a_warning(exported, tmp_path, fmi, inverse):
    name = HELD if fmi == 2 else RUBBING
    path = exported(name, **({"fmi": fmi, "inverse": True} if inverse else {"fmi": fmi}))
    zipfile.ZipFile(path).extractall(tmp_path)
    sources = sorted((tmp_path / "sources").glob("*.c"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    built = run(COMPILER, *flags, *sources)
    assert built.returncode == 0, built.stderr
    assert build.place(2).startswith("binaries/")
