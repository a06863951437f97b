"""Limits of joint angles are measured from the body that carries the joint.

The truth is closed-form geometry in NumPy: q = atan2(d·e2, d·e1) ∓ arccos(K/ρ) of each crank, the link's
direction turned back by q about the motor's axis, and its angle to the same at home.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cases.robots import rotary_hexapod
from gough import Motion, Robot
from gough.analysis.margins import Conditions
from gough.analysis.pose_boxes import Orientations, Positions
from gough.analysis.workspace import workspace
from gough.calibration.candidates import candidates
from oracles.random_robot import random_robot

pytestmark = pytest.mark.usefixtures("on_numpy")


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


class Cranks:
    """Rotary legs of a table, by closed forms; angles are NaN where a link does not reach."""

    def __init__(self, data):
        legs = data["legs"]
        self.motor = np.array(legs["motor"], float)
        self.axis = unit(np.array(legs["motor_axis"], float))
        zero = np.broadcast_to(np.array(legs["crank_zero"], float), self.axis.shape)
        along = np.sum(zero * self.axis, axis=-1, keepdims=True)
        self.e1 = unit(zero - along * self.axis)
        self.e2 = np.cross(self.axis, self.e1)
        self.radius = np.array(legs["crank_length"], float)
        self.length = np.array(legs["length"], float)
        self.tips = np.array(legs["platform"], float)
        self.sign = np.where(np.array(legs.get("branch", "minus")) == "plus", 1.0, -1.0)
        home = data["home"]
        self.position = np.array(home["position"], float)
        turn = home.get("rotation_vector", [0.0, 0.0, 0.0])
        self.rotation = Rotation.from_rotvec(turn).as_matrix()
        self.universal_at_home = self.on_crank(self.position, self.rotation)
        self.world_at_home = self.direction(self.position, self.rotation)[0]

    def direction(self, position, rotation):
        """Links' directions (..., legs, 3) and cranks' angles."""
        tips = position[..., None, :] + np.einsum("...ij,lj->...li", rotation, self.tips)
        d = tips - self.motor
        first, second = np.sum(d * self.e1, axis=-1), np.sum(d * self.e2, axis=-1)
        wanted = np.sum(d * d, axis=-1) + self.radius**2 - self.length**2
        with np.errstate(invalid="ignore"):
            open_ = np.arccos(wanted / (2 * self.radius * np.hypot(first, second)))
        q = np.arctan2(second, first) + self.sign * open_
        crank = np.cos(q)[..., None] * self.e1 + np.sin(q)[..., None] * self.e2
        return (d - np.expand_dims(self.radius, -1) * crank) / np.expand_dims(self.length, -1), q

    def on_crank(self, position, rotation):
        """Directions turned back with the cranks to where they are at q = 0."""
        direction, q = self.direction(position, rotation)
        back = np.zeros((*q.shape, 3))
        known = np.isfinite(q)
        axis = np.broadcast_to(self.axis, back.shape)
        turn = Rotation.from_rotvec(-q[known][:, None] * axis[known])
        back[known] = turn.apply(direction[known])
        back[~known] = np.nan
        return back

    def universal(self, position, rotation):
        """Angles of the universal joints (..., legs), rad."""
        now = self.on_crank(position, rotation)
        return np.arccos(np.clip(np.sum(now * self.universal_at_home, axis=-1), -1, 1))

    def spherical(self, position, rotation):
        """Angles of the spherical joints (..., legs), rad."""
        now = np.einsum("...ji,...lj->...li", rotation, self.direction(position, rotation)[0])
        before = self.world_at_home @ self.rotation
        return np.arccos(np.clip(np.sum(now * before, axis=-1), -1, 1))


def limited(data, **limits):
    """The table with these limits and no others."""
    return data | {"legs": data["legs"] | {"limits": limits}}


def poses(cranks, count, rng, far=0.06, turn=0.2):
    """Random positions and rotations about home that all links reach."""
    position = cranks.position + rng.uniform(-far, far, (count, 3))
    rotation = Rotation.from_rotvec(rng.uniform(-turn, turn, (count, 3))).as_matrix()
    rotation = rotation @ cranks.rotation
    reached = np.isfinite(cranks.direction(position, rotation)[1]).all(axis=-1)
    return position[reached], rotation[reached]


def delta(**changes):
    """A Delta with one rod for each parallelogram."""
    angle = np.deg2rad([0.0, 120.0, 240.0])
    outward = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    legs = {
        "kind": "RUS",
        "motor": (0.2 * outward).tolist(),
        "motor_axis": np.cross([0, 0, 1.0], outward).tolist(),
        "crank_zero": outward.tolist(),
        "crank_length": 0.3,
        "length": 0.8,
        "platform": (0.05 * outward).tolist(),
    }
    platform = {"mobility": "translation"}
    home = {"position": [0.0, 0.0, -0.7]}
    legs |= changes
    return {"format": 1, "name": "delta", "home": home, "platform": platform, "legs": legs}


@pytest.mark.parametrize("seed", [0, 1])
def test_check_measures_a_rotary_leg_from_its_crank(seed):
    data = random_robot(np.random.default_rng(seed), "RUS")
    cranks = Cranks(data)
    position, rotation = poses(cranks, 40, np.random.default_rng(seed + 9))
    motion = Motion(position, rotation)
    for name, angles in (
        ("universal_angle", cranks.universal(position, rotation)),
        ("spherical_angle", cranks.spherical(position, rotation)),
    ):
        allowed = 0.8 * angles.max()
        found = Robot.from_dict(limited(data, **{name: allowed})).check(motion).violations
        over = np.flatnonzero((angles > allowed).any(axis=0))
        assert [one.leg - 1 for one in found] == list(over)
        for one in found:
            assert one.limit == name
            assert one.value == pytest.approx(angles[:, one.leg - 1].max(), abs=1e-9)
            assert one.samples == np.sum(angles[:, one.leg - 1] > allowed)


def test_a_delta_and_a_rotary_group_beside_telescopes():
    data = delta()
    cranks = Cranks(data)
    position = cranks.position + np.array([[0.2, 0.1, -0.05], [-0.1, 0.0, 0.1]])
    angles = cranks.universal(position, np.broadcast_to(np.eye(3), (2, 3, 3)))
    table = limited(data, universal_angle=0.01)
    for one in Robot.from_dict(table).check(Motion(position)).violations:
        assert one.value == pytest.approx(angles[:, one.leg - 1].max(), abs=1e-9)
    # three telescopes beside three cranks: each group by its own carrier
    whole = Cranks(rotary_hexapod())
    three = {
        key: value[:3] if isinstance(value, list) else value
        for key, value in rotary_hexapod()["legs"].items()
    }
    feet = whole.motor[3:]
    telescopes = {"kind": "UPS", "base": feet.tolist(), "platform": whole.tips[3:].tolist()}
    groups = [one | {"limits": {"universal_angle": 0.01}} for one in (telescopes, three)]
    mixed = rotary_hexapod() | {"legs": groups}
    place, turn = np.array([0.03, 0.02, 0.43]), Rotation.from_rotvec([0.05, 0.1, 0.0]).as_matrix()
    reports = Robot.from_dict(mixed).check(Motion(place, turn)).violations

    def legs(position, rotation):
        return unit(position + whole.tips[3:] @ rotation.T - feet)

    leaning = np.arccos(np.sum(legs(place, turn) * legs(whole.position, np.eye(3)), axis=-1))
    expected = [*leaning, *whole.universal(place, turn)[:3]]
    assert [one.leg for one in reports] == [1, 2, 3, 4, 5, 6]
    for one, value in zip(reports, expected, strict=True):
        assert one.value == pytest.approx(value, abs=1e-9)


def test_room_and_clamp_end_where_the_joint_bends_so_far():
    data, allowed = rotary_hexapod(), 0.25
    cranks = Cranks(data)
    robot = Robot.from_dict(limited(data, universal_angle=allowed))
    room = robot.room(robot.home)
    for name, way, limit in room.ends()[:6]:
        assert limit.limit == "universal_angle"
        sign, axis = (1.0 if name[0] == "+" else -1.0), np.eye(3)["xyz".index(name[1])]
        place = cranks.position + sign * way * axis
        assert cranks.universal(place, np.eye(3)).max() == pytest.approx(allowed, abs=1e-6)
    end = robot.clamp(Motion(cranks.position + np.array([0.3, 0.0, 0.0]))).motion
    assert cranks.universal(end.position, end.rotation).max() == pytest.approx(allowed, abs=1e-6)


def test_calibration_poses_stay_within_the_joint_angles():
    data, allowed = rotary_hexapod(), 0.25
    cranks = Cranks(data)
    robot = Robot.from_dict(limited(data, universal_angle=allowed))
    poses, _, _ = candidates(robot, count=100)
    angles = cranks.universal(np.asarray(poses.position), np.asarray(poses.rotation)).max(axis=-1)
    assert 0.9 * allowed < angles.max() <= allowed


def test_workspace_is_that_of_a_grid():
    data, allowed = rotary_hexapod(), 0.25
    cranks = Cranks(data)
    found = workspace(Robot.from_dict(limited(data, universal_angle=allowed)), tolerance=0.05)
    axes = [np.linspace(low - 0.02, high + 0.02, 61) for low, high in found.bounds]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    angles = cranks.universal(grid, np.broadcast_to(np.eye(3), (len(grid), 3, 3)))
    inside = (angles <= allowed).all(axis=-1)
    volume = inside.sum() * np.prod([one[1] - one[0] for one in axes])
    assert abs(found.volume - volume) < found.error + 0.02 * volume


@pytest.mark.parametrize("turning", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bounds_over_boxes_hold_at_dense_points(turning, seed):
    """|g(centre + δ) − value − slope·δ| ≤ rest, g = l (cos angle − cos α) from closed forms."""
    data = random_robot(np.random.default_rng(seed), "RUS")
    cranks, rng = Cranks(data), np.random.default_rng(seed)
    allowed = 0.4
    robot = Robot.from_dict(limited(data, universal_angle=allowed))
    conditions = Conditions(robot)
    rows = np.array(conditions.labels) == "universal_angle"
    if turning:
        family = Orientations(conditions.points, cranks.position, cranks.rotation)
        middle, spread = np.zeros(3), 0.3
    else:
        family = Positions(conditions.points, cranks.rotation)
        middle, spread = cranks.position, 0.1
    tight = []
    for size in (0.2, 0.03, 1e-3, 1e-5):
        centre = middle + rng.uniform(-spread, spread, (60, 3))
        half = size * rng.uniform(0.2, 1, (60, 3))
        shift = half[:, None] * rng.choice([-1.0, -0.6, 0.0, 0.3, 1.0], (60, 40, 3))
        box = conditions(family.boxes(centre, half))
        motion = family.motion((centre[:, None] + shift).reshape(-1, 3))
        rotation = np.broadcast_to(motion.rotation, (len(motion), 3, 3))
        angle = cranks.universal(np.asarray(motion.position), rotation).reshape(60, 40, -1)
        value = cranks.length * (np.cos(angle) - np.cos(allowed))
        linear = box.value[:, None, rows] + np.einsum("nki,nsi->nsk", box.slope[:, rows], shift)
        known = np.isfinite(value)
        off = np.abs(value - linear)[known]
        rest = np.broadcast_to(box.rest[:, None, rows], value.shape)[known]
        assert known.mean() > 0.2
        assert np.all(off <= rest + 1e-12)
        tight.append(np.median(off / rest))
    assert tight[-1] > 1e-3
