"""Long, Khalil & Martinet 2014: its plate, its simulation, and what the script says about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.common import impossible_bodies
from gough.data.paper_motions import paper_motion
from gough.errors import UnstableWarning
from gough.show.reproduction import load_paper, quiet

pytestmark = impossible_bodies


@pytest.fixture(scope="module")
def paper() -> Any:
    return load_paper("long-khalil-martinet-2014")


@pytest.fixture(scope="module")
def robot(paper: Any) -> gough.Robot:
    return gough.load(paper.NAME)


@pytest.fixture(scope="module")
def rest(robot: gough.Robot) -> gough.Motion:
    return robot.static_deflection(robot.home)


@pytest.fixture(scope="module")
def runs(paper: Any, robot: gough.Robot, rest: gough.Motion) -> list[Any]:
    return [
        paper.simulation.simulate(robot, rest, one, samples=451) for one in paper.results.TOLERANCES
    ]


def test_table_2(paper: Any, robot: gough.Robot) -> None:
    ours = paper.plate.frequencies(robot)
    off = np.abs(paper.printed.TABLE_2[:, 0] / ours - 1)
    assert off[:5].max() < 0.008
    assert off[5:7].max() < 0.011
    assert 0.08 < off[7:].min() < off[7:].max() < 0.1
    assert_allclose(paper.printed.TABLE_2[:, 0] ** 2, paper.printed.TABLE_2[:, 1], rtol=1e-6)
    assert robot.platform.mass == pytest.approx(paper.printed.PRINTED_MASS, rel=1e-4)
    assert_allclose(robot.platform.damping, 0.8 * ours, rtol=1e-12)


def test_table_2_by_calculix(paper: Any, robot: gough.Robot) -> None:
    """Stored, and on a coarser mesh computed where CalculiX is installed."""
    peers = paper.plate.peers
    stored = peers.read("calculix")["long-khalil-martinet-2014/table-2"]["values"]
    found = peers.plate.frequencies(robot, 4) if peers.installed("calculix") else stored
    for one in (stored, found):
        assert_allclose(one[:7], paper.plate.frequencies(robot)[:7], rtol=0.018)
        assert np.all(one[7:] < 0.93 * paper.printed.TABLE_2[7:, 0])
    assert_allclose(found, stored, rtol=0.02)
    assert np.abs(paper.printed.TABLE_2[:7, 0] / stored[:7] - 1).max() < 0.011


def test_coarse_meshes_do_not_explain_table_2(paper: Any) -> None:
    peers = paper.plate.peers
    stored = peers.read("calculix")
    found = paper.plate.meshes(stored["long-khalil-martinet-2014/table-2"]["values"])
    assert (found.count, found.like) == (18, 0)
    assert found.paper > 9
    assert found.worst < 4
    assert paper.plate.mass_of_typed_corners() == pytest.approx(73.06875, abs=1e-9)
    if peers.installed("calculix"):
        kept = stored["long-khalil-martinet-2014/coarse-meshes"]["values"][0]
        assert_allclose(peers.plate.listed(*peers.plate.COARSE[0]), kept, rtol=1e-6)


def test_table_3(paper: Any, robot: gough.Robot, monkeypatch: Any) -> None:
    """Real legs with its base parameters exist from 62.2 kg on."""
    monkeypatch.setattr(paper.legs, "NEAR", 0.5)
    assert paper.legs.least_cylinder(robot) == pytest.approx(62.2, abs=0.5)


def test_table_4(paper: Any, robot: gough.Robot) -> None:
    points, off, lengths = paper.attachment.table_4(robot)
    assert off < 7.5e-4
    assert lengths < 5e-4
    radii = np.linalg.norm((points - points.mean(axis=0))[:, :2], axis=1)
    assert_allclose(radii, 0.5, atol=7.5e-4)


def test_the_path_is_the_catalogue_s(paper: Any) -> None:
    parts = paper.path.path()
    assert parts[0].start == 0
    assert [one.stop for one in parts[:-1]] == [one.start for one in parts[1:]]
    for part in parts:
        times = np.linspace(part.start, part.stop, 7)[1:-1]
        motion = paper_motion(f"{paper.NAME}/poses")(times)
        asked = np.array([part.asked(t) for t in times])
        assert_allclose(asked[:, :3], motion.acceleration, atol=1e-13)
        assert_allclose(asked[:, 3:], motion.angular_acceleration, atol=1e-13)


def test_simulation(paper: Any, robot: gough.Robot, runs: list[Any]) -> None:
    coarse, fine = runs
    assert np.abs(coarse.forces - fine.forces).max() < 2e-3
    assert np.abs(coarse.motion.elastic - fine.motion.elastic).max() < 1e-7
    assert paper.simulation.imbalance(robot, fine) < 1e-8
    desired = paper_motion(f"{paper.NAME}/poses")(fine.time)
    assert_allclose(fine.motion.position, desired.position, atol=1e-8)
    assert_allclose(fine.motion.rotation, desired.rotation, atol=1e-8)
    assert_allclose(fine.motion.angular_velocity, desired.angular_velocity, atol=1e-8)
    still = fine.time < 0.75
    assert np.abs(fine.forces[still] - fine.forces[0]).max() < 1e-6
    assert np.abs(fine.forces[-1] - fine.forces[0]).max() < 5e-3  # settled again


def test_energy_goes_into_damping(paper: Any, robot: gough.Robot, runs: list[Any]) -> None:
    """Without the damping's share the balance of this motion is off by far more than its tolerance."""
    energy = robot.energy(runs[1].motion)
    stored = energy.kinetic + energy.potential
    power = robot.inverse_dynamics(runs[1].motion).power.sum(axis=1)
    lost = np.trapezoid(power, runs[1].time) - (stored[-1] - stored[0])
    assert lost > 1e-3 * np.ptp(stored)
    rate = runs[1].motion.elastic_velocity
    taken = np.trapezoid((rate**2 @ robot.platform.damping), runs[1].time)
    assert lost == pytest.approx(taken, rel=0.05)


def test_deflection(paper: Any, robot: gough.Robot, runs: list[Any]) -> None:
    center, turn, tips = paper.attachment.deformations(robot, runs[1].motion)
    assert np.abs(tips[0]).max() == pytest.approx(0.01305, abs=2e-5)
    assert np.all(tips[..., :2] == 0)
    assert np.all(center[:, :2] == 0)
    assert np.all(turn[:, 2] == 0)
    assert np.abs(center[:, 2]).max() > 1e-4
    assert np.abs(turn[:, :2]).max() > 1e-4


def test_started_undeformed(paper: Any, robot: gough.Robot, rest: gough.Motion) -> None:
    run = paper.simulation.simulate(robot, robot.home, stop=0.7, samples=141)
    assert np.abs(run.forces).max() == pytest.approx(9743, abs=5)
    assert np.abs(run.forces[0]).max() == np.abs(run.forces).max()
    held = robot.inverse_dynamics(rest).forces
    assert_allclose(run.forces[-1], held, atol=0.05)
    assert_allclose(run.motion.elastic[-1], rest.elastic, atol=1e-5)


def test_what_fig_5_shows(paper: Any, robot: gough.Robot, runs: list[Any]) -> None:
    found = paper.models.agreement(robot, runs[1])
    assert found.right < 1e-11
    assert found.both_wrong < 1e-11
    assert found.one_wrong > 0.1
    assert found.forces > 1000
    assert paper.models.elimination_error(robot, runs[1].motion[::50]) < 1e-11


def test_open_loop_is_unstable(paper: Any, robot: gough.Robot) -> None:
    found = paper.simulation.open_loop(robot, 1.5, 31)
    assert found.distance[0] == pytest.approx(paper.simulation.OFFSET, rel=1e-9)
    assert found.distance[-1] > 1000 * found.distance[0]
    growth = np.diff(np.log(found.distance))[-5:] / np.diff(found.time)[-5:]
    assert np.all((growth > 3) & (growth < found.rate * 1.05))
    assert found.rate == pytest.approx(7.41, abs=0.02)


def test_zero_dynamics(paper: Any, robot: gough.Robot, monkeypatch: Any) -> None:
    monkeypatch.setattr(paper.zero_dynamics, "POSES", 200)
    found = paper.zero_dynamics.health(robot)
    assert found.home == pytest.approx(-16.2, abs=0.05)
    assert found.along < -10
    assert 0.15 < found.unstable < 0.35
    assert found.poles[found.angles == 0].item() == pytest.approx(found.home, rel=1e-9)
    assert found.poles[found.angles == -20].item() > 100
    assert found.crossing == pytest.approx(-18.03, abs=0.01)  # the one sign change of det J_sys⁻ᵀ
    assert found.condition < 100
    assert found.determinant[found.angles == 0].item() == pytest.approx(1)
    tilted = robot.home.replace(rotation=Rotation.from_euler("x", -20, degrees=True))
    with pytest.warns(UnstableWarning):
        robot.elastic_health(tilted)


def test_fewer_modes(paper: Any, robot: gough.Robot, runs: list[Any], monkeypatch: Any) -> None:
    """Modes that no leg feels are as good as absent."""
    body: Any = robot.description.modal
    shapes = ("shapes", "rotations", "tip_shapes", "tip_rotations")
    cut = {name: getattr(body, name)[..., :7] for name in shapes}
    cut |= {name: getattr(body, name)[:, :7] for name in ("origin_shapes", "origin_rotations")}
    cut |= {name: getattr(body, name)[:7, :7] for name in ("stiffness", "damping")}
    seven, muted = paper.modes.with_body(robot, **cut), paper.modes.muted(robot, 7)
    assert (seven.modes, muted.modes) == (7, 10)
    motion, felt = runs[0].motion[::50], np.arange(10) < 7
    few = motion.replace(
        elastic=motion.elastic[..., :7],
        elastic_velocity=motion.elastic_velocity[..., :7],
        elastic_acceleration=None,
    )
    many = motion.replace(
        elastic=motion.elastic * felt, elastic_velocity=motion.elastic_velocity * felt
    )
    found, wanted = muted.inverse_dynamics(many), seven.inverse_dynamics(few)
    assert_allclose(found.forces, wanted.forces, rtol=1e-9, atol=1e-7)
    ahead = found.elastic_acceleration
    assert_allclose(ahead[..., :7], wanted.elastic_acceleration, rtol=1e-8, atol=1e-7)
    assert np.abs(ahead[..., 7:]).max() < 1e-9
    monkeypatch.setattr(paper.modes, "COUNTS", (7, 10))
    fit = paper.modes.convergence(robot, quiet)
    assert_allclose(fit.sag, [0.01203, 0.01305], atol=1e-5)
    assert 50 < fit.forces[0] < 300
    assert np.isnan(fit.forces[1])


def test_rigid_forces_differ(robot: gough.Robot, runs: list[Any], paper: Any) -> None:
    rigid = robot.rigid.inverse_dynamics(paper_motion(f"{paper.NAME}/poses")(runs[1].time)).forces
    assert 20 < np.abs(runs[1].forces[0] - rigid[0]).max() < 40
    assert 1000 < np.abs(runs[1].forces - rigid).max() < 2000


def test_elastic_motion_takes_what_the_loop_takes(
    robot: gough.Robot, runs: list[Any], paper: Any
) -> None:
    """At every sample, from the same start: `gough forces` says what the paper's simulation needs."""
    fine = runs[1]
    motion = robot.elastic_motion(paper_motion(f"{paper.NAME}/poses").sample(len(fine.time)))
    assert_allclose(motion.time, fine.time, atol=1e-12)
    forces = robot.inverse_dynamics(motion).forces
    largest = np.abs(fine.forces).max()
    assert largest == pytest.approx(5148, rel=1e-3)
    assert np.abs(forces - fine.forces).max() < 1e-8 * largest
