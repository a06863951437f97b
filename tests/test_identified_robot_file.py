"""The robot file that identification writes: nearest to the drawing, possible, and what is validated."""

import json

import numpy as np
import pytest

import gough
from cases.command import run
from cases.logged_hexapod import hexapod, log_of, wobble
from gough.parameters.consistency import adopted, moved, standard_values
from gough.parameters.identification import identify, validate

pytestmark = pytest.mark.usefixtures("on_numpy")
TEN = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")


@pytest.fixture(scope="module")
def measured():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOUGH_ENGINE", "numpy")
        machine, drawing = hexapod(), hexapod(1.3)
        log = log_of(machine)
        return machine, drawing, log, identify(drawing, log, friction=False)


def bodies(robot):
    """Ten parameters of all bodies by name, from the file."""
    legs = robot.file.legs
    for name in ("cross", "cylinder", "rod"):
        (table,) = getattr(legs, name)
        each = [np.broadcast_to(getattr(table, key), 6) for key in TEN]
        for i, ten in enumerate(np.transpose(each)):
            yield f"leg {i + 1} {name}", ten
    platform = robot.file.platform
    yield "platform", np.array([getattr(platform, key) for key in TEN])


def own_pseudo_inertia(ten):
    """∫ [x; 1][x; 1]ᵀ dm."""
    inertia = np.array(
        [[ten[0], ten[1], ten[2]], [ten[1], ten[3], ten[4]], [ten[2], ten[4], ten[5]]]
    )
    found = np.zeros((4, 4))
    found[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    found[:3, 3] = found[3, :3] = ten[6:9]
    found[3, 3] = ten[9]
    return found


def test_bodies_are_possible_and_near_the_machine(measured):
    _, drawing, _, found = measured
    written = adopted(drawing, found)
    for name, ten in bodies(written):
        matrix = own_pseudo_inertia(ten)
        size = np.sqrt(ten[-1]) * np.array([0.3, 0.3, 0.3, 1])
        assert np.linalg.eigvalsh(matrix / np.outer(size, size)).min() > -1e-12, name
    masses = {name: ten[-1] for name, ten in bodies(written)}
    assert 38 < masses["platform"] < 44
    for leg in range(1, 7):
        assert 0.3 < masses[f"leg {leg} cross"] < 0.8  # of 0.5 kg
        assert 5 < masses[f"leg {leg} cylinder"] < 13  # of 8 kg
        assert 1.5 < masses[f"leg {leg} rod"] < 5  # of 3 kg


def test_what_is_written_is_at_least_as_good_as_what_was_found(measured):
    """Forces on another motion, beside those of the machine, without noise."""
    machine, drawing, _, found = measured
    motion = wobble(machine, seed=5)(np.arange(100) / 50)
    exact = machine.inverse_dynamics(motion).forces
    quiet = log_of(machine, noise=0.0, start=0.7)

    def off(robot):
        return np.sqrt(np.mean((robot.inverse_dynamics(motion).forces - exact) ** 2))

    written = adopted(drawing, found)
    assert off(written) < 0.1 * off(drawing)
    judged = validate(drawing, found, quiet, written)
    base = validate(drawing, found, quiet)
    assert np.mean(judged.error) < 1.3 * np.mean(base.error)


def test_what_the_log_does_not_show_stays(measured):
    """A platform that only shifts shows nothing of its own inertia."""
    machine, drawing, *_ = measured
    found = identify(drawing, log_of(machine, turns=0.0), friction=False)
    values = standard_values(drawing, found)
    names = found.base.names
    still = [names.index(f"platform {key}") for key in ("XX", "XY", "XZ", "YY", "YZ", "ZZ")]
    assert not {names[i] for i in still} & {*moved(drawing, found, values)}
    assert "platform M" in moved(drawing, found, values)
    np.testing.assert_allclose(values[still], found.base.standard[still], atol=1e-3)


def test_a_noisy_log_moves_less(measured):
    machine, drawing, _, found = measured
    loud = identify(drawing, log_of(machine, noise=1.0), friction=False)
    few, many = (moved(drawing, one, standard_values(drawing, one)) for one in (loud, found))
    assert len(few) < 0.6 * len(many)


def test_the_command_validates_the_robot_that_it_writes(measured, tmp_path):
    machine, drawing, log, _ = measured
    drawing.save(tmp_path / "drawing.toml")
    second = log_of(machine, seed=1, start=0.7)
    for name, one in (("log", log), ("log2", second)):
        table = np.column_stack([one.time, one.q, one.forces])
        header = ",".join(
            [
                "time [s]",
                *(f"q{i} [m]" for i in range(1, 7)),
                *(f"force{i} [N]" for i in range(1, 7)),
            ]
        )
        np.savetxt(tmp_path / f"{name}.csv", table, "%.12g", ",", header=header, comments="")
    said = {}
    for option in ("--consistent", "--unconstrained"):
        words = [tmp_path / "drawing.toml", tmp_path / "log.csv", "--no-friction", option, "--json"]
        words += ["--validate", tmp_path / "log2.csv", "-o", tmp_path / "new.toml"]
        said[option] = json.loads(run("identify", *map(str, words)).stdout)
        written = gough.load(tmp_path / "new.toml")
        judged = said[option]["validation"]["error"]
        motion = wobble(machine)(0.7 + np.arange(401) / 100)
        away = written.inverse_dynamics(motion).forces - second.forces
        own = np.sqrt(np.mean(away[50:-50] ** 2, axis=0))
        np.testing.assert_allclose(judged, own, rtol=0.1)
        assert said[option]["moved"]
