"""Motion files whose rates contradict their poses are refused, with column, line and likely reason.

The motion is written here by formulas: positions as sines, R = exp(a z×) exp(b x×), rates differentiated
by hand. What is wrong is put in by hand; what is right must pass, with few samples too.
"""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gough import Motion, trajectories
from gough.data.motion_files import read_motion
from gough.errors import FileError

COLUMNS = "time,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,ax,ay,az,alpha_x,alpha_y,alpha_z"


def record(samples=201, place=1e-9, start=0.0):
    """Fields of a motion of 1 s, positions rounded to `place`."""
    t = start + np.linspace(0, 1, samples)
    f = 2 * np.pi * np.array([1.0, 1.5, 0.7])
    size, phase = np.array([0.1, 0.05, 0.08]), np.array([0.2, 1.0, 2.0])
    turn = np.outer(t, f) + phase
    zero = np.zeros_like(t)
    a, ad, add = 0.4 * np.sin(7 * t), 2.8 * np.cos(7 * t), -19.6 * np.sin(7 * t)
    b, bd, bdd = 0.3 * np.cos(5 * t), -1.5 * np.sin(5 * t), -7.5 * np.cos(5 * t)
    x = np.stack([np.cos(a), np.sin(a), zero], -1)
    y = np.stack([-np.sin(a), np.cos(a), zero], -1)
    z = np.array([0.0, 0.0, 1.0])
    about = Rotation.from_rotvec(a[:, None] * z) * Rotation.from_rotvec(b[:, None] * [1.0, 0, 0])
    return {
        "t": t,
        "p": np.round((np.sin(turn) * size + [0, 0, 1.2]) / place) * place,
        "q": about.as_quat()[:, [3, 0, 1, 2]],
        "v": f * size * np.cos(turn),
        "w": ad[:, None] * z + bd[:, None] * x,
        "a": -(f**2) * size * np.sin(turn),
        "alpha": add[:, None] * z + bdd[:, None] * x + (ad * bd)[:, None] * y,
        "R": about.as_matrix(),
    }


def written(path, r):
    rows = np.column_stack([r[name] for name in ("t", "p", "q", "v", "w", "a", "alpha")])
    np.savetxt(path, rows, delimiter=",", header=COLUMNS, comments="", fmt="%.12g")
    return path


def into_platform(r, *names):
    return r | {name: np.einsum("nji,nj->ni", r["R"], r[name]) for name in names}


WRONG = {
    "five times": (lambda r: r | {"v": 5 * r["v"]}, "v", "vx, vy, vz are 5 times the rates"),
    "degrees": (lambda r: r | {"w": np.rad2deg(r["w"])}, "w", "57.3 times .* (degrees)"),
    "rpm": (lambda r: r | {"w": r["w"] * 30 / np.pi}, "w", "(revolutions per minute)"),
    "millimetres": (lambda r: r | {"v": 1e3 * r["v"]}, "v", "1000 times .*millimetres"),
    "platform axes": (lambda r: into_platform(r, "w", "alpha"), "w", "in platform axes"),
    "accelerations in platform axes": (
        lambda r: into_platform(r, "alpha"), "alpha_", "alpha_z look to be in platform axes"),
    "sign": (lambda r: r | {"w": -r["w"]}, "w", "of the wrong sign"),
    "sign of one": (lambda r: r | {"v": r["v"] * [1, -1, 1]}, "v", "vy is of the wrong sign"),
    "one column": (lambda r: r | {"a": r["a"] * [1, 1, 2]}, "a", "az is 2 times the rates"),
    "late": (lambda r: r | {"v": np.r_[r["v"][:1], r["v"][:-1]]}, "v", "one sample too late"),
    "early": (lambda r: r | {"v": np.r_[r["v"][1:], r["v"][-1:]]}, "v", "one sample too early"),
    "exchanged": (lambda r: r | {"v": r["v"][:, [1, 0, 2]]}, "v", "columns vx, vy look exchanged"),
    "zero": (
        lambda r: r | dict.fromkeys(("v", "w", "a", "alpha"), 0 * r["v"]), "v", "zero all along"),
    "gravity": (lambda r: r | {"a": r["a"] + [0, 0, 9.81]}, "a", "az is off by 9.81 .*gravity"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_contradicts_is_refused_with_its_reason(tmp_path, what):
    change, column, reason = WRONG[what]
    path = written(tmp_path / "motion.csv", change(record()))
    with pytest.raises(FileError) as refused:
        read_motion(path)
    said = str(refused.value)
    line, named = re.search(r"line (\d+), column (\w+):", said).groups()
    assert 2 <= int(line) <= 202
    assert named[:-1] == column
    assert re.search(reason.replace("(", r"\(").replace(")", r"\)"), said)
    assert "leave all velocities and accelerations out" in said


def test_the_line_and_the_numbers_are_those_of_the_file(tmp_path):
    r = record()
    wrong = r["v"].copy()
    wrong[77, 1] += 40.0
    with pytest.raises(FileError, match=r"line 7[89], column vy: 39\.9\d m/s"):
        read_motion(written(tmp_path / "motion.csv", r | {"v": wrong}))


@pytest.mark.parametrize("samples", [8, 9, 12, 31, 201, 5001])
def test_exact_rates_pass(tmp_path, samples):
    r = record(samples)
    motion = read_motion(written(tmp_path / "motion.csv", r))
    np.testing.assert_allclose(motion.velocity, r["v"], rtol=1e-10)


@pytest.mark.parametrize(("samples", "place"), [(1001, 1e-5), (10_001, 1e-5), (10_001, 1e-6)])
def test_rounded_positions_pass_beside_exact_rates(tmp_path, samples, place):
    read_motion(written(tmp_path / "motion.csv", record(samples, place)))


@pytest.mark.parametrize("place", [1e-5, 1e-4])
def test_a_slow_motion_passes_whose_steps_are_less_than_a_digit(tmp_path, place):
    """A fiftieth of the way: 1 µm a sample, written to 10 or 100 µm, beside exact rates."""
    r = record(10_001)
    middle = np.array([0, 0, 1.2])
    small = {"p": np.round((middle + 0.02 * (r["p"] - middle)) / place) * place}
    small |= {name: 0.02 * r[name] for name in ("v", "a")}
    still = {"q": np.tile([1.0, 0, 0, 0], (10_001, 1)), "w": 0 * r["v"], "alpha": 0 * r["v"]}
    whole = r | small | still
    read_motion(written(tmp_path / "slow.csv", whole))
    with pytest.raises(FileError, match=r"vx, vy, vz are [34]\.?\d* times"):
        read_motion(
            written(tmp_path / "wrong.csv", whole | {"v": 4 * whole["v"], "a": 4 * whole["a"]})
        )


def test_gaps_and_uneven_times_pass(tmp_path):
    r = record(1001)
    keep = np.sort(np.random.default_rng(0).permutation(1001)[:600])
    keep = keep[(keep < 300) | (keep > 520)]
    read_motion(written(tmp_path / "motion.csv", {name: value[keep] for name, value in r.items()}))


def test_rates_that_jump_pass(tmp_path):
    """Full acceleration, then full braking."""
    t, a = np.linspace(0, 1, 101), 3.0
    late, side = t > 0.503, np.array([1.0, 0.0, 0.0])
    middle = a * 0.503**2 / 2
    x = np.where(late, middle + a * 0.503 * (t - 0.503) - a * (t - 0.503) ** 2 / 2, a * t**2 / 2)
    v = np.where(late, a * 0.503 - a * (t - 0.503), a * t)
    none = np.zeros((101, 3))
    r = {
        "t": t,
        "p": np.outer(x, side),
        "q": np.tile([1.0, 0, 0, 0], (101, 1)),
        "w": none,
        "alpha": none,
    }
    accelerations = np.outer(np.where(late, -a, a), side)
    read_motion(written(tmp_path / "bang.csv", r | {"v": np.outer(v, side), "a": accelerations}))


def test_waypoints_with_rests_written_as_zeros_are_refused(tmp_path):
    poses = Motion([[0, 0, 1.2], [0.1, 0, 1.2], [0, 0, 1.2]])
    moves = trajectories.RestToRest(poses, durations=1.0)([0.0, 1.0, 2.0])
    r = {"t": moves.time, "p": moves.position, "q": np.tile([1.0, 0, 0, 0], (3, 1))}
    r |= dict.fromkeys(("v", "w", "a", "alpha"), np.zeros((3, 3)))
    with pytest.raises(FileError, match="vx, vy, vz are zero all along"):
        read_motion(written(tmp_path / "rests.csv", r))


def test_a_motion_in_python_is_used_as_given():
    assert not Motion([[0, 0, 1.2], [0.1, 0, 1.2]], time=[0.0, 1.0]).velocity.any()
