"""Numbers that only a mistake explains are questioned, whatever stands beside them.

The truth is what a file or an argument says: where it is, in which unit, what its mask hides.
"""

import warnings

import numpy as np
import pytest

import gough
from gough import Motion, Robot
from gough.errors import GoughError, InputError, ReachError, UnitsWarning

pytestmark = pytest.mark.usefixtures("on_numpy")
NAMES = ["dietmaier-1998", "kim-ryu-2002", "shah-3rrr-2012"]


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_sample_does_not_hide_its_neighbours(name):
    """A pose in millimetres is refused alone and beside a NaN; good ones are answered as ever."""
    robot = gough.load(name)
    home = robot.home.position
    far = home + 1e4 * np.eye(3)[0]
    lost = np.full(3, np.nan)
    for places in ([far], [lost, far], [far, lost, home]):
        poses = Motion(np.array(places), robot.home.rotation)
        with pytest.raises(ReachError, match="millimetres"):
            robot.inverse_kinematics(poses[[i for i, one in enumerate(places) if one is far]])
        with pytest.raises(GoughError, match=r"millimetres|not finite|NaN"):
            robot.inverse_kinematics(poses)
        q = robot.inverse_kinematics(poses, on_error="nan").q
        good = [one is home for one in places]
        np.testing.assert_array_equal(np.isfinite(q).all(axis=-1), good)


def test_masks_inside_lists_are_not_forgotten():
    hidden = np.ma.masked_array([0.0, 0.0, 0.9], mask=[False, False, True])
    for value in ([hidden], (hidden, [0, 0, 1.0]), [[hidden]], [0.0, 0.0, np.ma.masked]):
        with pytest.raises(InputError, match="position"):
            Motion(value)
    assert Motion([[0, 0, 0.9], (0, 0, 1.0)]).shape == (2,)
    assert Motion([np.zeros(3), np.ones(3)]).shape == (2,)


def hexapod(home, **more):
    angle = np.deg2rad([-10, 10, 110, 130, 230, 250])
    tips = np.deg2rad([-50, 50, 70, 170, 190, 290])

    def ring(radius, angles):
        return (radius * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=-1)).tolist()

    legs = {"kind": "UPS", "base": ring(0.5, angle), "platform": ring(0.3, tips)} | more
    return {"format": 1, "name": "six", "home": {"position": home}, "legs": legs}


def loaded(data, folder):
    path = folder / "six.toml"
    path.write_text(Robot.from_dict(data).text, "utf-8")
    return gough.load(path)


def test_a_home_in_millimetres_is_questioned(tmp_path):
    with pytest.warns(UnitsWarning, match=r"home is 1200 m .* millimetres"):
        loaded(hexapod([0, 0, 1200]), tmp_path)
    strokes = {"limits": {"stroke": [0.8, 1.5]}}
    with pytest.warns(UnitsWarning, match="home is 1200 m"):
        loaded(hexapod([0, 0, 1200], **strokes), tmp_path)
    with warnings.catch_warnings(action="error", category=UnitsWarning):
        loaded(hexapod([0, 0, 1.2]), tmp_path)
        loaded(hexapod([0, 0, 12.0]), tmp_path)
        for name in gough.catalogue():
            gough.load(name)
