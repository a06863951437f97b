"""Two springs of a drive and where its rotor is between them; masses that no body has.

The truth is a mass on springs: f = √(k/(m + rotor))/2π where the rotor swings, √(k/m)/2π where not.
"""

import json

import numpy as np
import pytest

from cases.command import refused, run
from gough import Robot
from gough.errors import FileError

pytestmark = pytest.mark.usefixtures("on_numpy")


def lift(**more):
    """Three sliders at right angles with links along their rails; the platform keeps its rotation."""
    rails = np.eye(3)
    legs = {
        "kind": "PUS",
        "rail_origin": (-1.0 * rails).tolist(),
        "rail_direction": rails.tolist(),
        "length": 0.5,
        "axis": np.roll(rails, 1, axis=0).tolist(),
        "platform": [[0, 0, 0]] * 3,
        "rotor_mass": 30.0,
        **{body: {} for body in ("slider", "cross", "link")},
        **more,
    }
    platform = {"mass": 20.0, "inertia": np.eye(3).tolist(), "mobility": "translation"}
    home = {"position": [0.0, 0, 0]}
    data = {"format": 1, "name": "lift", "gravity": [0, 0, 0], "home": home}
    return data | {"platform": platform, "legs": legs}


def hertz(stiffness, mass):
    return np.sqrt(stiffness / mass) / (2 * np.pi)


def test_a_rotor_swings_on_its_servo_and_is_locked_before_its_drive(tmp_path):
    plain, sprung = tmp_path / "plain.toml", tmp_path / "sprung.toml"
    plain.write_text(Robot.from_dict(lift()).text, "utf-8")
    sprung.write_text(Robot.from_dict(lift(drive={"stiffness": 1e6})).text, "utf-8")
    for words, mass, rotors in (
        ((plain, "--stiffness", "1e6"), 50.0, "swing"),
        ((sprung,), 20.0, "locked"),
    ):
        answer = run("stiffness", *words, "--json")
        found = json.loads(answer.stdout)
        np.testing.assert_allclose(found["natural_frequencies"], hertz(1e6, mass), rtol=1e-9)
        assert found["rotors"] == rotors
        assert f"Hz, rotors {rotors}" in run("stiffness", *words).stdout


@pytest.mark.parametrize(
    "change",
    [
        {"platform.mass": -2.0},
        {"legs.link": {"mass": -1.0}},
        {"legs.slider": [{"mass": 1.0}, {"mass": 1.0}, {"mass": -0.5}]},
    ],
)
def test_a_negative_mass_is_refused(change, tmp_path):
    with pytest.raises(FileError, match=r"mass is -[0-9.]+ kg"):
        Robot.from_dict(lift()).edited(change)
    text = Robot.from_dict(lift()).text.replace("mass = 20.0", "mass = -20.0")
    (tmp_path / "wrong.toml").write_text(text, "utf-8")
    assert "mass is -20 kg" in refused("show", tmp_path / "wrong.toml")
