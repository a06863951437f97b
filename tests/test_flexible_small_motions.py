"""Small motions of flexible robots: loads that turn, points that are pushed and seen, micrometres."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import gough
from calculix_files import BrickPlate
from gough.description.modal.plate import Material, plate_body
from gough.errors import InputError
from gough.model.vibration import stiffness_matrix
from gough.simulation import StableInversion, linear_model, simulate
from gough.trajectories import RestToRest

pytestmark = pytest.mark.usefixtures("on_numpy")
STEEL = Material(0.02, 7850.0, 2.1e11, 0.3)
CORNERS = np.array([[-0.5, -0.4], [0.5, -0.4], [0.5, 0.4], [-0.5, 0.4]])
TIPS = np.array([[0.5, -0.4], [0.5, 0.4], [-0.5, 0.4], [-0.5, -0.4], [0.5, 0], [-0.5, 0]])
TIPS = np.column_stack([TIPS, np.full(6, -0.01)])
GROUND = np.array([[0.2, -0.9], [1.1, 0.1], [-1.0, 0.3], [-0.3, -0.9], [0.9, 0.4], [-0.2, 0.8]])
GROUND = np.column_stack([GROUND, np.full(6, -0.8)])
SPRING = 5e6
PLATE = {
    "outline": CORNERS.tolist(),
    "thickness": 0.02,
    "density": 7850.0,
    "young": 2.1e11,
    "modes": 12,
    "damping_ratio": 0.01,
}


def robot_of(gravity=(0, 0, 0), rotation=(0, 0, 0), tool=(0, 0, 0), **platform):
    legs = {"kind": "UPS", "base": GROUND.tolist(), "platform": TIPS.tolist()}
    legs |= {"cross": {}, "cylinder": {}, "rod": {}}
    home = {"position": [0, 0, 0], "rotation_vector": list(rotation)}
    file = {"format": 1, "name": "plate", "gravity": list(gravity), "home": home, "legs": legs}
    return gough.Robot.from_dict(
        file | {"tool": list(tool), "platform": platform or {"plate": PLATE}}
    )


@pytest.fixture(scope="module")
def hammered(tmp_path_factory):
    """CalculiX: how far the middle of the plate on six springs moves under 1 N along z there."""
    folder = tmp_path_factory.mktemp("calculix")
    plate = BrickPlate((1.0, 0.8), (6, 4), STEEL)
    moved = plate.on_springs(folder, TIPS, GROUND, SPRING, [0, 0, 0], [0, 0, 1e3])
    return moved / 1e3


def own_model(points_out, point_in):
    """M, K, outputs (6 rows a point) and input of a free plate on springs, in plain NumPy."""
    body = plate_body(CORNERS, STEEL, np.vstack([TIPS, points_out, [point_in]]), 12)
    modes = body.modes
    M = np.zeros((6 + modes, 6 + modes))
    M[:3, :3], M[3:6, 3:6] = body.mass * np.eye(3), body.inertia
    M[6:, 6:] = np.eye(modes)
    K = np.zeros_like(M)
    K[6:, 6:] = body.stiffness

    def rows(k):
        r, S = body.tip_positions[k], np.zeros((3, 6 + modes))
        S[:, :3], S[:, 6:] = np.eye(3), body.tip_shapes[k]
        S[:, 3:6] = [[0, r[2], -r[1]], [-r[2], 0, r[0]], [r[1], -r[0], 0]]
        return S

    for k in range(6):
        along = TIPS[k] - GROUND[k]
        b = along / np.linalg.norm(along) @ rows(k)
        K += SPRING * np.outer(b, b)
    outputs = [rows(6 + i) for i in range(len(points_out))]
    return M, K, np.diagonal(body.stiffness), outputs, rows(6 + len(points_out))


def test_the_middle_moves_as_under_a_hammer(hammered):
    model = linear_model(robot_of(), stiffness=SPRING)
    seen = model.frequency_response([0.0])[0][:3, 2].real
    assert_allclose(seen, hammered, atol=0.05 * np.linalg.norm(hammered))  # 12 modes, thin plate
    frame = model.frequency_response([0.0], output_point="frame")[0][:3, 2].real
    assert abs(frame[2]) < 0.8 * abs(hammered[2])  # a mean of the plate


def test_named_points_move_as_in_a_model_of_its_own():
    corner, tool = TIPS[1], np.array([0.0, 0.0, 0.15])
    M, K, squares, (at_corner, at_middle), pushed = own_model([corner, [0.0, 0, 0]], TIPS[2])
    # a tool bolted to the middle goes along with the slopes there, which small differences tell
    step = 1e-5
    around = [[step, 0, 0], [-step, 0, 0], [0, step, 0], [0, -step, 0]]
    near = own_model(around, TIPS[2])[3]
    slopes = [(near[0] - near[1])[2] / (2 * step), (near[2] - near[3])[2] / (2 * step)]
    at_tool = at_middle.copy()
    at_tool[0] -= tool[2] * slopes[0]
    at_tool[1] -= tool[2] * slopes[1]
    robot = robot_of(tool=tool)
    model = linear_model(robot, stiffness=SPRING)
    hertz = np.array([0.0, 20.0, 70.0])
    damping = np.zeros_like(M)
    damping[6:, 6:] = np.diag(2 * 0.01 * np.sqrt(squares))
    for name, rows in (("tip 2", at_corner), ("origin", at_middle), ("tool", at_tool)):
        found = model.frequency_response(hertz, input_point="tip 3", output_point=name)
        for k, f in enumerate(hertz):
            w = 2 * np.pi * f
            truth = rows @ np.linalg.solve(K - w * w * M + 1j * w * damping, pushed.T)
            size = np.abs(truth).max()
            assert_allclose(found[k][:3, :3], truth, atol=1e-6 * size)
            assert np.abs(truth).max() > 1e-9
    acceleration = model.frequency_response(hertz, output="acceleration", output_point="tool")
    moved = model.frequency_response(hertz, output_point="tool")
    turned = -((2 * np.pi * hertz) ** 2)[:, None, None] * moved
    assert_allclose(acceleration, turned, atol=1e-9 * np.abs(turned).max())


def test_rigid_platforms_have_points_too():
    robot = robot_of(mass=50.0, inertia=np.diag([4.0, 5.0, 9.0]).tolist(), tool=(0.1, 0, 0.2))
    model = linear_model(robot, stiffness=SPRING)
    origin, tool = (model.frequency_response([0.0], output_point=p)[0] for p in ("origin", "tool"))
    arm = np.array([[0, 0.2, 0], [-0.2, 0, 0.1], [0, -0.1, 0]])  # θ × t = arm θ
    assert_allclose(tool[:3], origin[:3] + arm @ origin[3:], atol=1e-18)
    follow = model.transmissibility([0.0], output_point="tool")[0]
    assert_allclose(follow[:3, 3:].real, arm, atol=1e-9)
    for wrong in ("middle", "tip 7", "tip 0", "node 3", "tip", 3):
        with pytest.raises(InputError, match=r"point is|no tip"):
            model.frequency_response([0.0], output_point=wrong)


def test_a_dead_load_turns_against_the_modes():
    """∂φ/∂θ of a wrench (f, m): φ = Φᵀ Rᵀ f + Φ_rᵀ Rᵀ m, and δ(Rᵀ f) = Rᵀ (f × δθ)."""
    robot = robot_of(gravity=(0, 0, -9.81), rotation=(0.1, -0.05, 0.2))
    wrench = np.array([2000.0, -500.0, -8000.0, 300.0, -200.0, 100.0])
    rest = robot.static_deflection(robot.home, wrench)
    forces = robot.inverse_dynamics(rest, wrench, friction=False).forces
    loaded, bare = (stiffness_matrix(robot, rest, forces, w) for w in (wrench, np.zeros(6)))
    body, R = robot.modal, rest.rotation

    def crossed(a):
        return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])

    slope = body.origin_shapes.T @ R.T @ crossed(wrench[:3])
    slope = slope + body.origin_rotations.T @ R.T @ crossed(wrench[3:])
    truth = np.zeros_like(bare)
    truth[6:, 3:6] = -slope
    assert np.abs(slope).max() > 100
    assert_allclose(loaded - bare, truth, atol=1e-6 * np.abs(slope).max())
    A = robot.linearize(rest, forces, wrench, friction=False).A
    size = len(A) // 2
    squares = np.sort(np.linalg.eigvals(-A[size:, :size]).real)
    hertz = np.sign(squares) * np.sqrt(np.abs(squares)) / (2 * np.pi)
    found = robot.natural_frequencies(robot.home, "free", wrench).frequencies
    assert_allclose(found, hertz, atol=1e-6 * hertz.max())


HEAVY = {"gravity": (0, 0, -9.81)}


@pytest.mark.parametrize("output", ["frame", "terminal", "legs"])
def test_standing_still_is_the_static_deflection(output):
    robot = robot_of(**HEAVY)
    rest = robot.static_deflection(robot.home)
    pose = robot.terminal_motion(rest) if output == "terminal" else robot.home
    if output == "legs":
        pose = rest
    held = gough.Motion(
        np.tile(pose.position, (11, 1)),
        np.tile(pose.rotation, (11, 1, 1)),
        elastic=np.tile(rest.elastic, (11, 1)) if output == "legs" else None,
        time=np.linspace(0, 0.4, 11),
    )
    motion = robot.elastic_motion(held, output)
    size = np.abs(rest.elastic).max()
    assert_allclose(motion.elastic, np.tile(rest.elastic, (11, 1)), atol=1e-9 * size)
    assert_allclose(motion.elastic_velocity, 0, atol=1e-8 * size)


@pytest.mark.parametrize("stroke", [1e-4, 1e-6])
def test_micrometres_excite_the_modes_as_uncoupled_oscillators(stroke):
    """Legs without mass push with Γ = J_p⁻ᵀ (m (v̇ − g), 0); each mode answers for itself."""
    robot = robot_of(**HEAVY)
    course = RestToRest(gough.Motion(np.array([[0, 0, 0], [stroke, 0, stroke]])), 0.1)
    path = course.sample(41)
    motion = robot.elastic_motion(path)
    M, _, squares, _, _ = own_model(TIPS[:1], TIPS[0])
    body = plate_body(CORNERS, STEEL, TIPS, 12)
    along = TIPS - GROUND
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    J_p = np.concatenate([along, np.cross(TIPS, along)], axis=1)
    J_e = np.einsum("lc,lck->lk", along, body.tip_shapes)

    def pushed(t):
        s = np.clip(t / 0.1, 0, 1)
        v = stroke * np.array([1.0, 0, 1.0]) * (60 * s - 180 * s**2 + 120 * s**3) / 0.1**2
        return J_e.T @ np.linalg.solve(J_p.T, np.concatenate([M[0, 0] * v, np.zeros(3)]))

    def rate(t, x):
        q, v = x[:12], x[12:]
        return np.concatenate([v, pushed(t) - 0.02 * np.sqrt(squares) * v - squares * q])

    truth = solve_ivp(rate, (0, 0.1), np.zeros(24), "DOP853", path.time, rtol=1e-9, atol=1e-20)
    signs = np.sign(np.sum(body.tip_shapes * robot.modal.tip_shapes, axis=(0, 1)))
    moved = (motion.elastic - motion.elastic[0]) * signs
    assert_allclose(moved.T, truth.y[:12], atol=0.02 * np.abs(truth.y[:12]).max())
    assert np.abs(truth.y[:12]).max() > 1e-8 * stroke


def test_stable_inversion_holds_a_pose():
    robot = robot_of(**HEAVY)
    law = StableInversion(frequency=30.0, ratio=0.7, output="frame")
    found = simulate(robot, law, robot.home, 0.02, step=2e-4, friction=False)
    moved = found.motion.elastic - robot.static_deflection(robot.home).elastic
    assert np.abs(moved).max() < 1e-6 * np.abs(found.motion.elastic).max()
