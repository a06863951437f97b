"""Pictures show what they claim: every leg, every unit, gravity down, and whole files or none."""

from __future__ import annotations

import functools
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import BboxImage
from mpl_toolkits.mplot3d.proj3d import proj_transform
from PIL import Image
from scipy.spatial.transform import Rotation

import gough
from cases.common import WITH_MASSES, few_states, impossible_bodies
from cases.errors import refusal
from gough.analysis.closest import closest
from gough.errors import FileError, InputError, MissingDataError, ReachError
from gough.motion import Motion
from gough.show import plots
from gough.show.layout import SceneLayout
from gough.show.parts import leg_parts, robot_parts, standing_parts
from gough.show.pictures.animation import animate
from gough.show.pictures.closest import distance_curves
from gough.show.pictures.curves import curves, taking_turns
from gough.show.pictures.robot import VIEWS
from gough.show.pictures.solid import rastered
from gough.simulation import LegPD

load = functools.cache(gough.load)
pytestmark = [impossible_bodies, few_states]


def swing(robot: gough.Robot, samples: int = 21) -> Motion:
    t = np.linspace(0.0, 2.0, samples)
    s = np.sin(np.pi * t)
    position = robot.home.position + 0.04 * np.stack([s, 1 - np.cos(np.pi * t), s**2], axis=-1)
    return Motion.from_samples(t, position, Rotation.from_rotvec(0.1 * np.outer(s, [1, 0.5, 0])))


def parts(robot: gough.Robot, name: str, pose: Motion | None = None) -> list[np.ndarray]:
    """The (2, 3) ends of all parts of one name as they are drawn, leg by leg."""
    found, places = robot_parts(robot, SceneLayout.of(robot), pose or robot.home)
    ends = []
    for part, place, turn, stretch in zip(found, *places, strict=True):
        if part.name == name:
            low, high = part.mesh.vertices[:, 2].min(), part.mesh.vertices[:, 2].max()
            axis = Rotation.from_quat(turn, scalar_first=True).apply([0.0, 0.0, stretch])
            ends.append(np.stack([place + low * axis, place + high * axis]))
    return ends


def on_page(figure: Figure, points: np.ndarray) -> np.ndarray:
    """Points in space as the viewer sees them: right, up (fractions of the page), towards him."""
    figure.draw_without_rendering()
    axes = figure.axes[0]
    x, y, depth = proj_transform(*points.T, axes.get_proj())
    page = (axes.transData - figure.transFigure).transform(np.stack([x, y], axis=-1))
    return np.column_stack([page, -depth])


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("name", WITH_MASSES)
def test_drawing_shows_every_leg_where_it_is(name):
    robot = load(name)
    figure = plots.draw(robot)
    legs = robot.inverse_kinematics(robot.home)
    tips = robot.home.position + robot.description.platform_points[..., 0].T
    if robot.kind == "UPS":
        ends = [rod[1] for rod in parts(robot, "rod")]
        starts = [leg[0] for leg in parts(robot, "cylinder")]
        np.testing.assert_array_equal(starts, robot.description.legs.base[..., 0].T)
    else:
        ends = [leg[1] for leg in parts(robot, "link")]
        ground = [one for one in standing_parts(SceneLayout.of(robot)) if one.name == "rail"]
        along = robot.description.legs.rail_direction[..., 0].T
        strokes = [np.ptp(one.mesh.vertices @ way) for one, way in zip(ground, along, strict=True)]
        limits = robot.description.limits
        np.testing.assert_allclose(strokes, limits.longest - limits.shortest)
        centres = [np.mean(slider, axis=0) for slider in parts(robot, "slider")]
        origins = robot.description.legs.rail_origin[..., 0].T
        np.testing.assert_allclose(centres, origins + legs.q[:, None] * along, atol=1e-12)
    np.testing.assert_allclose(ends, tips, atol=1e-12)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert set("123456") <= set(texts)
    assert {"$x_0$", "$y_0$", "$z_0$", "$x_P$", "$y_P$", "$z_P$", "$g$"} <= set(texts)


def test_near_parts_hide_far_ones():
    """Two squares seen face on: in every pixel the nearer one, and nothing outside."""
    square = np.array([[0, 0, 0], [60, 0, 0], [60, 60, 0], [0, 60, 0]], dtype=float)
    far, near = square + np.array([10, 10, 1.0]), square / 2 + np.array([30, 30, 2.0])
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    for order in ((far, near), (near, far)):
        corners = np.concatenate([one[faces] for one in order])
        which, weights = rastered(corners, 100, 90)
        nearest = np.where(which >= 0, corners[which][..., 2].mean(axis=-1), 0.0)
        wanted = np.zeros((90, 100))
        wanted[10:70, 10:70] = 1.0
        wanted[30:60, 30:60] = 2.0
        np.testing.assert_array_equal(nearest, wanted)
        there = np.einsum("hwi,hwij->hwj", weights, corners[which])[which >= 0][:, :2]
        rows, columns = np.nonzero(which >= 0)
        np.testing.assert_allclose(there, np.stack([columns, rows], axis=-1) + 0.5, atol=1e-9)


@pytest.mark.second_tier
def test_a_leg_before_the_platform_is_drawn_over_it():
    robot = load("kim-ryu-2002")
    figure = plots.draw(robot)
    figure.draw_without_rendering()
    (image,) = [one for one in figure.axes[0].get_children() if isinstance(one, BboxImage)]
    pixels = np.asarray(image.get_array())
    seen = {tuple(one) for one in pixels[pixels[..., 3] > 0][::50, :3] // 64}
    assert len(seen) > 5  # legs, rails, platform in their colours
    above, front = (plots.draw(robot, view=VIEWS[name]) for name in ("top", "front"))
    assert (above.axes[0].elev, front.axes[0].elev) == (90.0, 0.0)


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("name", WITH_MASSES)
def test_drawing_has_equal_scales_units_and_title(name):
    figure = plots.draw(load(name))
    axes = figure.axes[0]
    assert [axes.get_xlabel(), axes.get_ylabel(), axes.get_zlabel()] == ["x [m]", "y [m]", "z [m]"]
    spans = np.abs([np.subtract(*getattr(axes, f"get_{c}lim")()) for c in "xyz"])
    np.testing.assert_allclose(spans / spans[0], axes._box_aspect / axes._box_aspect[0])
    assert name in figure.get_suptitle()


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    "gravity",
    [[0, 0, -9.81], [0, 0, 9.81], [9.81, 0, 0], [0, -9.81, 0]],
)
def test_gravity_points_down_the_page_and_space_stays_right_handed(gravity):
    robot = load("kim-ryu-2002").edited({"gravity": gravity})
    figure = plots.draw(robot)
    middle = robot.home.position / 2
    start, end = on_page(figure, np.stack([middle, middle + 0.1 * np.sign(gravity)]))
    assert end[1] < start[1] - 0.02
    assert abs(end[0] - start[0]) < 0.1 * abs(end[1] - start[1])
    steps = on_page(figure, np.vstack([middle, middle + 0.01 * np.eye(3)]))
    assert np.linalg.det(steps[1:] - steps[0]) > 0


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("name", WITH_MASSES)
def test_drawing_stays_on_the_page(tmp_path, name):
    robot = load(name)
    figure = plots.draw(robot, swing(robot))
    plots.save(figure, tmp_path / "robot.png")
    pixels = matplotlib.image.imread(tmp_path / "robot.png")[..., :3]
    for edge in (pixels[:10], pixels[-10:], pixels[:, :10], pixels[:, -10:]):
        assert edge.min() == 1.0
    legend = figure.legends[0].get_window_extent()
    for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis, figure.axes[0].zaxis):
        assert axis.get_tightbbox().y0 > legend.y1


def test_motion_draws_its_first_pose_and_its_path():
    robot = load("sinatra-xi-staicu-2009")
    motion = swing(robot)
    figure = plots.draw(robot, motion)
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    path = np.stack(lines["path of the origin"].get_data_3d(), axis=-1)
    np.testing.assert_array_equal(path, motion.position)
    assert "t = 0 s" in figure.get_suptitle()
    assert "path of the origin" not in {
        line.get_label() for line in plots.draw(robot, motion[0]).axes[0].get_lines()
    }
    grid = plots.draw(robot, motion[:20].reshape(4, 5))
    runs = [one for one in grid.axes[0].get_lines() if one.get_label() == "path of the origin"]
    assert [len(run.get_data_3d()[0]) for run in runs] == [5] * 4
    assert [text.get_text() for text in grid.legends[0].get_texts()].count(
        "path of the origin"
    ) == 1


def test_tool_is_drawn_where_it_is():
    robot = load("kim-ryu-2002").edited({"tool": [0.1, 0, 0.2]})
    pose = robot.home.replace(rotation=Rotation.from_rotvec([0, 0, np.pi / 2]))
    lines = {line.get_label(): line for line in plots.draw(robot, pose).axes[0].get_lines()}
    tool = np.ravel(lines["tool"].get_data_3d())
    np.testing.assert_allclose(tool, np.add(robot.home.position, [0, 0.1, 0.2]), atol=1e-12)
    bare = plots.draw(load("kim-ryu-2002"))
    assert "tool" not in [line.get_label() for line in bare.axes[0].get_lines()]


@pytest.mark.second_tier
def test_robots_without_limits_gravity_or_flat_platform():
    turn = np.linspace(0, 2 * np.pi, 3, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=-1)
    three = gough.Robot.from_dict(
        {
            "format": 1,
            "name": "cost $5 or $6",
            "gravity": [0, 0, 0],
            "home": {"position": [0, 0, 0.4]},
            "legs": {
                "kind": "PUS",
                "length": 0.5,
                "rail_origin": ring,
                "rail_direction": -ring,
                "platform": 0.2 * ring,
            },
        }
    )
    figure = plots.draw(three)
    figure.draw_without_rendering()
    assert len(parts(three, "link")) == 3
    assert "$g$" not in [text.get_text() for text in figure.axes[0].texts]
    bumpy = np.array([[1, 0, 0], [0, 1, 0.8], [-1, 0, 0], [0, -1, 0.8], [0.7, 0.7, 0], [0, 0, 1.5]])
    solid = gough.Robot.from_dict(
        {
            "format": 1,
            "name": "solid",
            "home": {"position": [0.1, 0.2, 3]},
            "legs": {"kind": "UPS", "base": 2 * bumpy, "platform": bumpy},
        }
    )
    plots.draw(solid).draw_without_rendering()


def test_what_cannot_be_drawn_is_said():
    robot = load("kim-ryu-2002")
    with pytest.raises(ReachError):
        plots.draw(robot, Motion([0, 0, 9]))
    with refusal(InputError, "nothing", "draw"):
        plots.draw(robot, swing(robot)[:0])
    homeless = robot.text.replace("home = {", "# home = {")
    with refusal(MissingDataError, "home"):
        plots.draw(gough.Robot.from_text(homeless))


@pytest.mark.second_tier
def test_names_are_no_formulas():
    robot = load("kim-ryu-2002").edited({"name": r"$\frac{$"})
    near = closest(robot, swing(robot), leg_radius=0.01)
    numbers = np.zeros((3, 1))
    for figure in (
        distance_curves(near, robot.name),
        curves(numbers[:, 0], "x", [(numbers, "y")], ["z"], robot.name),
        robot.plot(),
    ):
        Figure.draw_without_rendering(figure)


@pytest.mark.parametrize("name", WITH_MASSES)
def test_leg_curves_are_the_legs(name):
    robot = load(name)
    motion = swing(robot)
    legs = robot.inverse_kinematics(motion)
    figure = plots.leg_curves(motion, legs)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "$q$ [m]", r"$\dot q$ [m/s]", r"$\ddot q$ [m/s²]",
    ]  # fmt: skip
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "time [s]"]
    for axes, values in zip(figure.axes, (legs.q, legs.qd, legs.qdd), strict=True):
        curves = np.stack([line.get_ydata() for line in axes.get_lines()], axis=-1)
        np.testing.assert_array_equal(curves, values)
        assert axes.get_xlim() == (0.0, 2.0)
    styles = {(line.get_color(), line.get_linestyle()) for line in figure.axes[0].get_lines()}
    assert len(styles) == 6
    assert len(figure.legends) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        f"leg {i}" for i in range(1, 7)
    ]
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert all(axes.get_window_extent().x1 < legend.x0 for axes in figure.axes)


def test_a_leg_has_one_colour_in_every_picture():
    robot = load("kim-ryu-2002")
    motion = swing(robot)
    drawn = [one.color for one in leg_parts(SceneLayout.of(robot)) if one.name == "link"]
    curves = plots.leg_curves(motion, robot.inverse_kinematics(motion)).axes[0].get_lines()
    assert drawn == [line.get_color() for line in curves]


@pytest.mark.parametrize("name", WITH_MASSES)
def test_joint_curves_are_the_passive_angles(name):
    robot = load(name)
    motion = swing(robot)
    legs = robot.inverse_kinematics(motion)
    figure = plots.joint_curves(robot, motion, legs)
    places = (0, 1) if robot.kind == "UPS" else (1, 2)
    for axes, place in zip(figure.axes, places, strict=True):
        assert axes.get_ylabel().endswith("[rad]")
        np.testing.assert_array_equal(axes.get_lines()[3].get_ydata(), legs.joints[:, 3, place])


def test_curves_that_lie_on_each_other_take_turns():
    t = np.linspace(0.0, 1.0, 50)
    values = np.stack([t, t + 1e-4, 1 - t, t, 2 * t], axis=-1)
    figure = plots.over_time(t, values, list("abcde"), "q [m]", "")
    dashes = [line._unscaled_dash_pattern for line in figure.axes[0].get_lines()]
    assert [dashes[i] for i in (0, 1, 3)] == [taking_turns(k, 3) for k in range(3)]
    assert dashes[2][1] is None  # solid
    shown = np.zeros(60)
    for k in range(3):
        offset, (on, off) = taking_turns(k, 3)
        shown += (np.arange(60) + offset) % (on + off) < on
    np.testing.assert_array_equal(shown, 1.0)  # everywhere one of them, and only one


def test_limits_are_named_in_the_legend():
    robot = load("kim-ryu-2002").edited({"legs.limits.force": 80.0})
    motion = swing(robot)
    drawn = plots.force_curves(motion, robot.inverse_dynamics(motion), limits=robot.limits)
    assert [one.get_text() for one in drawn.legends[0].get_texts()][-1] == "limit"


@pytest.mark.second_tier
def test_films_show_every_instant(tmp_path):
    robot = load("kim-ryu-2002")
    motion = swing(robot, 5)
    short = motion[:2].replace(time=[0.0, 0.2])
    animate(robot, short, tmp_path / "swing.gif")
    with Image.open(tmp_path / "swing.gif") as found:
        assert found.n_frames == 2  # those that differ
        lasts = sum(found.seek(k) or found.info["duration"] for k in range(2))
    assert lasts == pytest.approx(200, abs=20)
    with refusal(InputError, "samples", "times"):
        animate(robot, robot.home, tmp_path / "a.gif")
    with refusal(FileError, "gif", "webp"):
        animate(robot, motion, tmp_path / "a.avi")


def test_curves_without_time_and_wrong_shapes():
    robot = load("kim-ryu-2002")
    motion = swing(robot)
    untimed = motion.replace(time=None)
    assert untimed.time is None
    legs = robot.inverse_kinematics(motion)
    assert plots.leg_curves(untimed, legs).axes[-1].get_xlabel() == "sample"
    with refusal(InputError, "curves", "shape"):
        plots.leg_curves(robot.home, robot.inverse_kinematics(robot.home))
    with refusal(InputError, "(21, 6)", "(20, 6)"):
        plots.leg_curves(motion[:20], legs)
    with refusal(InputError, 3):
        plots.over_time([0, 1], [[1, 2], [3, 4]], ["a", "b", "c"], "force [N]", "Forces")


def test_over_time():
    figure = plots.over_time([0, 1], [[1, 2], [3, 4]], ["a", "b"], "force [N]", "Forces")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "time [s]"
    assert axes.get_ylabel() == "force [N]"
    assert figure.get_suptitle() == "Forces"
    np.testing.assert_array_equal(axes.get_lines()[1].get_ydata(), [2, 4])


SIGNATURES = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


@pytest.mark.parametrize("kind", SIGNATURES)
def test_save_writes_whole_files(tmp_path, kind):
    path = tmp_path / f"curves{kind.upper()}"
    plots.save(plots.over_time([0, 1], [[1], [2]], ["a"], "force [N]", "Forces"), path)
    data = path.read_bytes()
    assert data.startswith(SIGNATURES[kind])
    if kind == ".png":
        assert data.endswith(b"IEND\xaeB`\x82")
        assert matplotlib.image.imread(path).shape[1] == 1400
    assert list(tmp_path.iterdir()) == [path]


def test_failed_save_leaves_nothing_behind(tmp_path):
    figure = plots.over_time([0, 1], [[1], [2]], ["a"], "force [N]", "Forces")
    with refusal(FileError, "png", "svg"):
        plots.save(figure, tmp_path / "curves.bmp")
    with refusal(FileError, "exist"):
        plots.save(figure, tmp_path / "nowhere" / "curves.png")
    figure.axes[0].set_title("$\\nonsense{$")
    old = tmp_path / "curves.png"
    old.write_bytes(b"old")
    with pytest.raises(ValueError, match="nonsense"):
        plots.save(figure, old)
    assert old.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [old]
    (tmp_path / "folder.png").mkdir()
    figure.axes[0].set_title("")
    with refusal(FileError, "directory"):
        plots.save(figure, tmp_path / "folder.png")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["curves.png", "folder.png"]


def test_no_global_state():
    before = dict(matplotlib.rcParams)
    plots.draw(load("kim-ryu-2002"))
    assert dict(matplotlib.rcParams) == before
    code = "import sys, gough.show.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_one_sample_is_seen():
    robot = load("kim-ryu-2002")
    one = Motion([robot.home.position], time=[0.0])
    needed = robot.inverse_dynamics(one)
    lines = plots.force_curves(one, needed).axes[0].get_lines()
    assert [line.get_marker() for line in lines] == ["o"] * 6
    several = swing(robot)
    lines = plots.force_curves(several, robot.inverse_dynamics(several)).axes[0].get_lines()
    assert [line.get_marker() for line in lines] == [""] * 6


def test_a_simulation_shows_itself_without_knowing_how():
    robot = load("kim-ryu-2002")
    run = gough.simulate(robot, LegPD(1e5, 1e3), robot.home, 0.01, friction=False)
    panels = run.plot().axes
    assert [axes.get_ylabel().split("\n")[0] for axes in panels] == [
        "position", "rotation", "actuator", "power [W]", "energy [J]",
    ]  # fmt: skip
    forces = [line.get_ydata() for line in panels[2].get_lines() if "leg" in line.get_label()]
    np.testing.assert_array_equal(forces, run.forces.T)
    code = "import sys, gough.simulation; sys.exit('gough.show' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
