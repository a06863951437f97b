"""The washout tilts no faster than its rate, about any axis: in Python and in the exported C."""

import subprocess

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cases.exported import COMPILER
from gough.cueing import Vehicle, Washout, export_washout

STEP = 0.02
RATE = 3.0
"""deg/s"""
MAIN = r"""
#include "NAME.h"
#include <stdio.h>
int main(void)
{
    gough_washout_memory memory;
    gough_washout_answer answer;
    gough_washout_pose pose;
    gough_real none[3] = {0, 0, 0}, push[3] = {2.5, 2.0, 0}, force[3];
    int i;
    gough_washout_begin(&memory);
    for (i = 0; i < 300; i++) {
        gough_washout_force(&NAME, &memory, push, none, force);
        gough_washout_next(&NAME, &memory, force, none, &answer);
        gough_washout_place(&NAME, &answer, &pose);
        for (int j = 0; j < 9; j++)
            printf("%.17g ", (double)pose.rotation[j / 3][j % 3]);
        printf("\n");
    }
    return 0;
}
"""


def turn_rates(rotations):
    """The angle between neighbours over the time between them, deg/s (SciPy)."""
    turns = Rotation.from_matrix(rotations)
    return np.degrees((turns[1:] * turns[:-1].inv()).magnitude()) / STEP


@pytest.fixture(scope="module")
def diagonal():
    """A vehicle that brakes and corners at once, which tilts about x and y."""
    t = np.arange(300) * STEP
    return Vehicle.of(t, np.tile([2.5, 2.0, 0.0], (len(t), 1)), np.zeros((len(t), 3)))


def test_tilt_about_two_axes_keeps_the_rate(kim, on_numpy, diagonal):
    motion = Washout(tilt_rate=RATE).cue(kim, diagonal, kim.limits).motion(kim, 1.0)
    rates = turn_rates(motion.rotation)
    assert rates.max() <= RATE * (1 + 1e-9)
    assert rates.max() > 0.99 * RATE
    speed = np.linalg.norm(motion.angular_velocity, axis=1).max()
    assert speed <= np.radians(RATE) * (1 + 1e-9)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_the_exported_c_keeps_the_rate(kim, on_numpy, tmp_path):
    folder = export_washout(kim, tmp_path / "washout", Washout(tilt_rate=RATE), step=STEP)
    name = next(folder.glob("gough_*_washout.h")).stem
    (folder / "main.c").write_text(MAIN.replace("NAME", name))
    program = tmp_path / "rates"
    sources = [folder / one for one in ("gough_washout.c", f"{name}.c", "main.c")]
    subprocess.run([COMPILER, "-std=c99", "-o", program, *sources, "-lm"], check=True)
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    rotations = np.array(lines.split(), dtype=float).reshape(-1, 3, 3)
    rates = turn_rates(rotations)
    assert rates.max() <= RATE * (1 + 1e-9)
    assert rates.max() > 0.99 * RATE


def test_an_axis_that_cannot_turn_takes_nothing_from_the_others(kim, on_numpy, diagonal):
    """A platform that turns about x alone tilts about it as fast as the rate allows."""

    class Rolling:
        """The robot, of which roll and heave alone are asked."""

        coordinates = ("z", "rx")

        def __getattr__(self, name):
            return getattr(kim, name)

    moved = Washout(tilt_rate=RATE).cue(Rolling(), diagonal, kim.limits)
    assert np.degrees(np.abs(moved.rate[:, 1]).max()) == pytest.approx(RATE, rel=1e-9)
