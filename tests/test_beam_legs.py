"""Legs that bend: against CalculiX, against formulas, and in the limits of thick and of slack legs."""

from __future__ import annotations

import tomllib
from typing import Any

import numpy as np
import pytest

import gough
from cases.errors import refusal
from gough.analysis.measured_stiffness import FrequencyTests, measured_stiffness
from gough.analysis.stiffness import stiffness
from gough.errors import FileError, InputError, ReachError, UnstableWarning
from gough.legs.bending import bending
from gough.simulation import LegPD, linear_model
from oracles.beam_legs import DENSITY, YOUNG, frequencies

pytestmark = pytest.mark.usefixtures("on_numpy")
TOP = np.array(
    [[0.2 * np.cos(a), 0.2 * np.sin(a), 0.0] for a in np.radians([5, 115, 125, 235, 245, 355])]
)
BASE = np.array(
    [[0.4 * np.cos(a), 0.4 * np.sin(a), 0.0] for a in np.radians([45, 75, 165, 195, 285, 315])]
)
HIGH = np.array([0.0, 0.0, 0.7])
LENGTH = float(np.linalg.norm(TOP[0] + HIGH - BASE[0]))
LUMPS = np.array(
    [[0.15, 0.02, 0.03, 3.0], [-0.1, 0.1, 0, 2.0], [-0.05, -0.14, 0.02, 2.5], [0, 0, 0.12, 1.5]]
)
RAISED = LUMPS + np.append(HIGH, 0)
LINK, TELESCOPE = [(0.015, LENGTH)], [(0.011, 0.5), (0.007, 0.45)]


def platform() -> dict[str, Any]:
    """The lumps as one body."""
    mass = LUMPS[:, 3].sum()
    center = LUMPS[:, 3] @ LUMPS[:, :3] / mass
    r = LUMPS[:, :3] - center
    outer = np.eye(3) * (r**2).sum(axis=1)[:, None, None] - r[:, :, None] * r[:, None]
    inertia = np.tensordot(LUMPS[:, 3], outer, 1)
    return {"mass": mass, "center_of_mass": center.tolist(), "inertia": inertia.tolist()}


def square(side: float, length: float, along: int, sign: int) -> tuple[dict, dict]:
    """Section and body of a square bar of steel along an axis of its frame."""
    mass, center, inertia = DENSITY * side**2 * length, np.zeros(3), np.zeros((3, 3))
    center[along] = sign * length / 2
    inertia[np.arange(3) != along, np.arange(3) != along] = mass * length**2 / 12
    beam = {"young": YOUNG, "area": side**2, "second_moment": side**4 / 12, "density": DENSITY}
    body = {"mass": mass, "center_of_mass": center.tolist(), "inertia": inertia.tolist()}
    return beam, body


def hexapod(kind: str, members: list[tuple[float, float]], **more: Any) -> gough.Robot:
    """A platform on legs of square bars, all joints of UPS, PUS and RUS legs in the same places."""
    if kind == "UPS":
        (tube, outer), (rod, inner) = (
            square(*one, *axis) for one, axis in zip(members, ((1, -1), (2, -1)), strict=True)
        )
        legs: dict[str, Any] = {"base": BASE.tolist(), "cylinder": outer, "rod": inner}
        tube["length"], rod["length"] = members[0][1], members[1][1]
        legs["beams"] = {"cylinder": tube, "rod": rod}
    else:
        beam, body = square(*members[0], 2, 1)
        legs = {"length": members[0][1], "link": body, "beams": {"link": beam}}
        if kind == "PUS":
            legs |= {
                "rail_origin": BASE.tolist(),
                "rail_direction": [0, 0, 1],
                "slider": {"mass": 2},
            }
        else:
            out = BASE / np.linalg.norm(BASE, axis=1, keepdims=True)
            axis = np.cross([0, 0, 1], out)
            legs |= {"motor": (BASE - 0.1 * out).tolist(), "motor_axis": axis.tolist()}
            legs |= {"crank_zero": out.tolist(), "crank_length": 0.1, "crank": {"mass": 0.5}}
            legs |= {"branch": "plus", "reference": out.tolist()}
    legs |= {"kind": kind, "platform": TOP.tolist(), "cross": {}} | more
    data = {"format": 1, "name": kind, "gravity": [0, 0, 0], "home": {"position": HIGH.tolist()}}
    return gough.Robot.from_dict(data | {"legs": legs, "platform": platform()})


@pytest.fixture(scope="module")
def link_by_calculix(tmp_path_factory) -> np.ndarray:
    return frequencies(tmp_path_factory.mktemp("link"), BASE, TOP + HIGH, LINK, RAISED, 24)


@pytest.mark.parametrize("kind", ["PUS", "RUS"])
def test_calculix_finds_the_frequencies_of_links(kind: str, link_by_calculix: np.ndarray) -> None:
    """24 modes: legs in their first and second shapes, and the platform on top of them."""
    robot = hexapod(kind, LINK)
    found = robot.natural_frequencies(robot.home)
    assert np.abs(found.frequencies[:24] / link_by_calculix - 1).max() < 0.003
    assert (found.bending[:24] > 0.5).sum() > 20
    rigid = robot.stiff.natural_frequencies(robot.home, 1e9)
    assert np.abs(rigid.frequencies[0] / link_by_calculix[0] - 1) > 1


def test_calculix_finds_the_frequencies_of_telescopes(tmp_path) -> None:
    """A rod that touches its cylinder in two points; 15 modes."""
    wanted = frequencies(tmp_path, BASE, TOP + HIGH, TELESCOPE, RAISED, 15, elements=4)
    robot = hexapod("UPS", TELESCOPE)
    found = robot.natural_frequencies(robot.home).frequencies
    assert np.abs(found[:15] / wanted - 1).max() < 0.003


def test_calculix_finds_what_a_load_does(tmp_path) -> None:
    """Legs pressed with a fifth of what buckles them; modes in which the platform rests."""
    wanted = frequencies(tmp_path, BASE, TOP + HIGH, LINK, RAISED, 12, load=-2e4)
    robot = hexapod("PUS", LINK)
    free = robot.natural_frequencies(robot.home).frequencies[11]
    found = robot.natural_frequencies(robot.home, wrench=[0, 0, -2e4, 0, 0, 0]).frequencies[11]
    assert found < 0.9 * free
    assert np.isclose(found, wanted[11], rtol=0.001)


def test_bending_of_an_even_link_is_a_row_of_sines() -> None:
    """φ_k = √(2/μl) sin(kπs/l): ω, what its ends' motion excites, and Euler's load."""
    beams = hexapod("PUS", LINK).description.groups[0].beams
    assert beams is not None
    member, k = beams.members[0], np.arange(1, 4)
    EI, mu = member.bending[0], member.line_mass[0]
    found = bending(beams, np.array([0]), np.array([LENGTH]))
    waves = k * np.pi / LENGTH
    assert np.allclose(found.squares[0], waves**4 * EI / mu, rtol=1e-3)
    size = np.sqrt(2 * mu * LENGTH) / (k * np.pi)
    assert np.allclose(np.abs(found.near[0]), size, rtol=1e-4)
    assert np.allclose(found.far[0], -((-1.0) ** k) * found.near[0], rtol=1e-9)
    assert np.allclose(np.diagonal(found.slopes[0]), waves**2 / mu, rtol=1e-4)
    assert np.isclose(
        found.squares[0, 0] / found.slopes[0, 0, 0], np.pi**2 * EI / LENGTH**2, rtol=1e-4
    )


def test_a_telescope_of_equal_bars_is_one_bar_at_both_ends_of_its_stroke() -> None:
    """Drawn out, two points near each other carry the slope over; pushed in, all is there twice."""
    robot = hexapod("UPS", [(0.015, 0.75), (0.015, 0.75)])
    beams = robot.description.groups[0].beams
    assert beams is not None
    lengths = np.array([0.77, 0.9, 1.1, 1.3, 1.47])
    first = bending(beams, np.zeros(5, dtype=int), lengths).squares[:, 0]
    assert np.all(np.diff(first) < 0)
    member = beams.members[0]
    bar = (np.pi / lengths) ** 4 * member.bending[0] / member.line_mass[0]
    assert np.allclose(first[[0, -1]], bar[[0, -1]], rtol=0.05)


def test_thick_legs_leave_the_platform_on_its_drives() -> None:
    """The more E, the nearer the frequencies to those of drives alone: by 1/E."""
    soft = hexapod("UPS", TELESCOPE, drive={"stiffness": 1e5})
    bare = soft.edited({"legs.beams": {}})
    wanted = bare.natural_frequencies(bare.home).frequencies
    off = []
    for young in (1e12, 1e11):
        keys = {f"legs.beams.{one}.young": young for one in ("cylinder", "rod")}
        found = soft.edited(keys).natural_frequencies(soft.home).frequencies[:6]
        off.append(np.abs(found / wanted - 1).max())
    assert off[0] < 0.05
    assert off[0] < 0.2 * off[1]
    along = soft.edited({"legs.beams.modes": 0}).natural_frequencies(soft.home)
    assert along.frequencies.shape == (12,)
    assert np.array_equal(along.bending, np.zeros(12))


@pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning")  # the plate is thick
def test_groups_of_legs_actuators_and_platforms_of_any_kind() -> None:
    """Two groups are as one; stiff drives as locked ones; a thick plate as a rigid one; a Delta."""
    robot = hexapod("PUS", LINK)
    locked = robot.natural_frequencies(robot.home).frequencies
    held = robot.natural_frequencies(robot.home, 1e12).frequencies
    assert np.allclose(held[:24], locked[:24], rtol=1e-3)
    data = tomllib.loads(robot.text)
    places = ("platform", "rail_origin")
    halves = [
        data["legs"] | {key: data["legs"][key][half] for key in places}
        for half in (slice(3), slice(3, 6))
    ]
    groups = gough.Robot.from_dict(data | {"legs": halves})
    assert np.allclose(groups.natural_frequencies(groups.home).frequencies, locked, rtol=1e-12)
    halves[1]["beams"] = {}
    half = gough.Robot.from_dict(data | {"legs": halves})
    assert half.natural_frequencies(half.home).frequencies.shape == (21,)
    plate = {"radius": 0.26, "sides": 6, "thickness": 0.2, "density": 270.0, "young": 1e12}
    plate |= {"poisson": 0.3, "modes": 6}
    flexible = gough.Robot.from_dict(data | {"platform": {"plate": plate}})
    found, rigid = (one.natural_frequencies(one.home) for one in (flexible, flexible.rigid))
    assert np.allclose(found.frequencies[:15], rigid.frequencies[:15], rtol=1e-4)
    tube = {"young": 7e10, "outer_diameter": 0.02, "inner_diameter": 0.016}
    delta = gough.load("alikoc-delta-2023").edited({"legs.beams": {"link": tube}})
    rings = delta.natural_frequencies(delta.home)
    assert rings.frequencies.shape == (3 + 3 * 7 - 3,)
    assert np.allclose(rings.frequencies[:6], 27.13, rtol=0.01)  # of a rod pinned at both ends


def test_stiffness_has_legs_in_series() -> None:
    """1/k = 1/k_drive + 1/k_leg: k_leg = E A/l of the rod, or of the link as its slider feels it."""
    soft = hexapod("UPS", TELESCOPE, drive={"stiffness": 1e7})
    rod = YOUNG * TELESCOPE[1][0] ** 2 / TELESCOPE[1][1]
    assert np.allclose(stiffness(soft, soft.home).along, 1 / (1e-7 + 1 / rod))
    rail = hexapod("PUS", LINK)
    steep = (HIGH[2] + TOP[0, 2]) / LENGTH
    link = YOUNG * LINK[0][0] ** 2 / LENGTH
    assert np.allclose(stiffness(rail, rail.home).along, link * steep**2)
    assert np.isinf(rail.stiff.leg_stiffness).all()
    # the static part of what the frequencies are made of
    found = stiffness(rail, rail.home, preload=False)
    K = rail.jacobian(rail.home).T @ (link * steep**2 * rail.jacobian(rail.home))
    assert np.allclose(found.matrix, K)


def test_a_leg_pressed_too_hard_buckles() -> None:
    """Beyond Euler's π² E I/l² the pose does not hold itself, and a warning says so."""
    robot = hexapod("PUS", LINK)
    most = np.pi**2 * YOUNG * LINK[0][0] ** 4 / 12 / LENGTH**2
    press = 6 * most * (HIGH[2] / LENGTH)
    kept = robot.natural_frequencies(robot.home, wrench=[0, 0, -0.98 * press, 0, 0, 0])
    assert kept.frequencies[0] > 0
    with pytest.warns(UnstableWarning):
        robot.natural_frequencies(robot.home, wrench=[0, 0, -1.02 * press, 0, 0, 0])


def test_batches_of_poses() -> None:
    """Shapes (), (2, 1) and (0,); a rod out of its cylinder is an error that names the leg."""
    robot = hexapod("UPS", TELESCOPE)
    one = robot.natural_frequencies(robot.home)
    assert one.frequencies.shape == one.bending.shape == (42 - 6 + 6,)
    poses = gough.Motion(np.array([[HIGH], [HIGH + np.array([0, 0, 0.05])]]))
    many = robot.natural_frequencies(poses)
    assert many.frequencies.shape == (2, 1, 42)
    assert np.allclose(many.frequencies[0, 0], one.frequencies, rtol=1e-9)
    assert np.all(many.frequencies[1, 0, :12] < one.frequencies[:12])
    assert robot.natural_frequencies(poses[:0]).frequencies.shape == (0, 1, 42)
    high = gough.Motion(np.array([HIGH, HIGH + np.array([0, 0, 0.3])]))
    with refusal(ReachError, "leg 1"):
        robot.natural_frequencies(high)
    partly = robot.natural_frequencies(high, on_error="nan").frequencies
    assert np.isnan(partly[1]).all()
    assert np.isfinite(partly[0]).all()


def test_what_knows_rigid_legs_only_says_so() -> None:
    """Simulation and what is made for it; forces along a motion are those of rigid legs."""
    robot = hexapod("PUS", LINK)
    tests = FrequencyTests(robot.home.reshape(1), np.ones((1, 2)))
    for ask in (
        lambda: gough.simulate(robot, LegPD(1e4), robot.home, 0.01),
        lambda: gough.simulate(
            robot.variants({"platform.mass": [1.0]}), LegPD(1e4), robot.home, 0.01
        ),
        lambda: linear_model(robot),
        lambda: measured_stiffness(robot, frequencies=tests),
    ):
        with refusal(InputError, "robot.stiff"):
            ask()
    moving = gough.Motion(HIGH, velocity=[0.1, 0.0, 0.2], acceleration=[1.0, 2.0, 3.0])
    forces = [one.inverse_dynamics(moving).forces for one in (robot, robot.stiff)]
    assert np.array_equal(*forces)


@pytest.mark.parametrize(
    ("beams", "words"),
    [
        ({"link": {"young": 1e11}}, ("outer_diameter",)),
        (
            {"link": {"young": 1e11, "outer_diameter": 0.02, "area": 1e-4}},
            ("outer_diameter",),
        ),
        ({"link": {"young": -1.0, "outer_diameter": 0.02}}, ("young", "positive")),
        ({"link": {"young": 1e11, "outer_diameter": 0.02, "inner_diameter": 0.02}}, ("below",)),
        ({"link": {"young": 1e11, "outer_diameter": 0.1, "density": 7850.0}}, ("leave", "room")),
        ({"crank": {"young": 1e11, "outer_diameter": 0.1}}, ("legs.beams.crank",)),
        ({"modes": 50}, ("modes",)),
    ],
)
def test_beams_that_cannot_be_meant_are_refused(beams: dict[str, Any], words: str) -> None:
    """Each by its key."""
    with refusal(FileError, *words):
        hexapod("PUS", LINK, beams=beams)


def test_beams_that_other_legs_cannot_have_are_refused() -> None:
    """A telescope's one member, chains, and bodies without mass along them."""
    rod = {"young": 1e11, "outer_diameter": 0.02, "length": 0.45}
    with refusal(FileError, "cylinder", "rod"):
        hexapod("UPS", TELESCOPE, beams={"rod": rod})
    with refusal(FileError, "chains", "beams"):
        gough.load("shah-3rrr-2012").edited({"legs.0.beams": {"modes": 1}})
    light = {"link": {"mass": 1.0}, "beams": {"link": {"young": 1e11, "outer_diameter": 0.02}}}
    with refusal(FileError, "mass", "beam"):
        hexapod("PUS", LINK, **light)


def test_a_body_without_density_is_spread_as_evenly_as_it_allows() -> None:
    """M/l of an even rod; what fittings have beyond that does not bend."""
    beam, body = square(*LINK[0], 2, 1)
    del beam["density"]
    even = hexapod("PUS", LINK, beams={"link": beam}).description.groups[0].beams
    assert even is not None
    assert np.allclose(even.members[0].line_mass, DENSITY * LINK[0][0] ** 2, rtol=1e-9)
    fitted = body | {"mass": body["mass"] + 1.0}
    fitted["center_of_mass"] = (
        np.array(body["center_of_mass"]) * body["mass"] / fitted["mass"]
    ).tolist()
    off = body["center_of_mass"][2] - fitted["center_of_mass"][2]
    extra = body["mass"] * off**2 + fitted["center_of_mass"][2] ** 2
    fitted["inertia"] = (np.array(body["inertia"]) + np.diag([extra, extra, 0])).tolist()
    with_fitting = (
        hexapod("PUS", LINK, link=fitted, beams={"link": beam}).description.groups[0].beams
    )
    assert with_fitting is not None
    assert np.allclose(with_fitting.members[0].line_mass, even.members[0].line_mass, rtol=1e-6)
