"""Every paper's script runs, its key numbers hold, and the page needs nothing but itself.

The documentation is built here, too: it shows the papers as they have just been reproduced.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import gough
from cases.common import impossible_bodies
from cases.errors import refusal
from gough.data.paper_motions import kim_ryu_circle
from gough.errors import FileError, InputError
from gough.formulations import newton_euler
from gough.legs.ups.khalil_frames import geometric_parameters
from gough.show import reproduction
from gough.show.reproduction import (
    COLORS,
    FURTHER,
    NAMES,
    Claim,
    Reproduction,
    load_paper,
    number,
)

pytestmark = pytest.mark.second_tier
ROOT = Path(__file__).parents[1]
EQUAL = (0.49, 0.41, 0.32)
"""Times, s, in which inertia asks for as much as weight: Sinatra's motions along x, along z, about z."""


class Everything:
    """All papers reproduced and written once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.found = reproduction.run("all", folder / "new" / "pages", self.said.append)
        self.page = (folder / "new" / "pages" / "all.html").read_text("utf-8")
        self.pictures = sorted((folder / "new" / "pages" / "figures").iterdir())


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Everything:
    return Everything(tmp_path_factory.mktemp("papers"))


@pytest.fixture(scope="module")
def kim() -> Any:
    return load_paper("kim-ryu-2002")


@pytest.fixture(scope="module")
def sinatra() -> Any:
    return load_paper("sinatra-xi-staicu-2009")


@pytest.fixture(scope="module")
def khalil() -> Any:
    return load_paper("khalil-guegan-2004")


@pytest.fixture(scope="module")
def peers() -> Any:
    return load_paper("peers")


@pytest.fixture(scope="module")
def hexaslide() -> gough.Robot:
    return gough.load("kim-ryu-2002")


def test_all_papers_are_there(everything: Everything) -> None:
    assert [one.name for one in everything.found] == [*NAMES, *FURTHER]
    for one in everything.found:
        assert len(one.claims) >= (10 if one.name in NAMES else 4)
        assert len(one.figures) >= (4 if one.name in NAMES else 2)
        assert one.source
        assert one.notes
        assert all(item.claim and item.paper and item.ours for item in one.claims)
        assert all(item.verdict in COLORS for item in one.claims)
    assert "figures" in everything.said


NUMBERED = {
    "kim-ryu-2002": (34, 0, 11),
    "sinatra-xi-staicu-2009": (24, 0, 8),
    "khalil-guegan-2004": (75, 4, 5),
    "long-khalil-martinet-2014": (49, 4, 7),
}
"""How many equations, tables and figures each paper numbers."""


@pytest.mark.parametrize("name", NAMES)
def test_every_item_of_a_paper_is_listed(name: str) -> None:
    """Each equation, table and figure has a line, and what a line names is there."""
    items = import_module(f"{load_paper(name).__name__}.items").ITEMS
    equations, tables, figures = NUMBERED[name]
    listed: list[int] = []
    for item in items:
        found = re.fullmatch(r"Eqs?\. (\d+)(?:–(\d+))?", item.number)
        if found is not None:
            listed += range(int(found[1]), int(found[2] or found[1]) + 1)
    assert sorted(listed) == list(range(1, equations + 1))
    roman = ("I", "II", "III", "IV") if name.startswith("khalil") else ("1", "2", "3", "4")
    numbers = [item.number for item in items]
    assert sorted(one for one in numbers if one.startswith("Table")) == sorted(
        f"Table {one}" for one in roman[:tables]
    )
    assert sum(one.startswith("Fig.") for one in numbers) == figures
    code = "".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("test_*.py"))
    errata = (ROOT / "docs" / "errata.md").read_text("utf-8")
    for item in items:
        for test in re.findall(r"\btest_\w+", item.found):
            assert f"def {test}(" in code or (ROOT / "tests" / f"{test}.py").is_file(), test
        for entry in re.findall(r"\b[KRSL]\d+\b", item.found):
            assert f"\n| {entry} |" in errata, entry


def test_items_name_what_is_on_the_page(everything: Everything) -> None:
    for one in everything.found:
        assert one.items
        for item in one.items:
            for figure in re.findall(r"“([\w-]+)”", item.found):
                assert figure in {each.name for each in one.figures} | {"jacobian"}, figure
            for table in re.findall(r"(Table \w+|Appendix \w|Section \w+) below", item.found):
                assert any(each.caption.startswith(table) for each in one.tables), table


def test_page_is_self_contained(everything: Everything) -> None:
    page = everything.page
    figures = [item for one in everything.found for item in one.figures]
    sources = re.findall(r'src="([^"]*)"', page)
    assert len(sources) == len(figures)
    assert all(source.startswith("data:image/svg+xml;base64,PD94") for source in sources)
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', page))
    assert "http" not in re.sub(r'src="[^"]*"', "", page)
    assert not re.search(r"<(link|iframe)|<script[^>]* src|@import|url\(", page)
    rows = [len(one.claims) + 1 for one in everything.found]
    rows += [len(one.studies) + 1 for one in everything.found if one.studies]
    rows += [len(one.items) + 1 for one in everything.found]
    rows += [len(table.rows) + 1 for one in everything.found for table in one.tables]
    assert page.count("<tr>") == sum(rows)


def test_figures_beside_the_page(everything: Everything) -> None:
    names = {f"{one.name}-{item.name}.png" for one in everything.found for item in one.figures}
    assert {path.name for path in everything.pictures} == names
    for path in everything.pictures:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG")
        assert len(data) > 20_000
    assert not list(everything.folder.rglob(".*"))


def test_claims_in_the_terminal(everything: Everything) -> None:
    stream = io.StringIO()
    for one in everything.found:
        reproduction.print_claims(one, Console(file=stream, width=120))
    text = stream.getvalue()
    assert text.count("paper wrong") > 5
    assert "claim" in text


def test_text_is_taken_literally(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    odd = Claim("a < b [bold]", "A & B", '"ours"', "agrees")

    def reproduce(progress: reproduction.Progress) -> Reproduction:
        progress("working")
        return Reproduction("kim-ryu-2002", "<title>", "source", [odd], [], ["note"])

    monkeypatch.setattr(reproduction, "load_paper", lambda _: SimpleNamespace(reproduce=reproduce))
    found = reproduction.run("kim-ryu-2002", tmp_path)
    page = (tmp_path / "kim-ryu-2002.html").read_text("utf-8")
    assert "a &lt; b [bold]" in page
    assert "&lt;title&gt;" in page
    stream = io.StringIO()
    reproduction.print_claims(found[0], Console(file=stream, width=120))
    assert "[bold]" in stream.getvalue()


def test_unknown_names() -> None:
    with refusal(InputError, "nearest", "kim-ryu-2002"):
        reproduction.run("kim-ryu")


def test_missing_scripts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "site" / "gough"
    package.mkdir(parents=True)
    monkeypatch.setattr(reproduction.resources, "files", lambda _: package)
    with refusal(FileError, "kim_ryu_2002"):
        reproduction.run("kim-ryu-2002")
    paper = package / "papers" / "seven_2007"
    paper.mkdir(parents=True)
    (paper / "__init__.py").write_text("from .seven import reproduce\n")
    (paper / "seven.py").write_text("reproduce = 7\n")
    assert load_paper("seven-2007").reproduce == 7


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("")
    with refusal(FileError, "file"):
        reproduction.write([], place, "all")


def test_numbers_for_people() -> None:
    assert number(2.4e-14) == "2·10⁻¹⁴"
    assert number(-0.449, ".2f") == "−0.45"
    assert number(12.0, ".1e") == "1.2·10¹"


def test_kim_equations_and_reference(kim: Any, hexaslide: gough.Robot) -> None:
    found = kim.accuracy(hexaslide, kim_ryu_circle(40), "kim-ryu-2002/circle-40rpm")
    assert found.program.startswith("Pinocchio ")
    assert 1e-6 < found.error < 1e-5
    assert found.slender < 1e-11
    forces = newton_euler.inverse_dynamics(hexaslide, found.motion, friction=False).forces
    np.testing.assert_allclose(found.forces, forces, rtol=0, atol=1e-11)


@pytest.mark.parametrize("program", ["pinocchio", "casadi", "calculix"])
def test_stored_results(peers: Any, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other programs' results are there without them, with version and script, and are gough's."""
    monkeypatch.setattr(peers.results, "installed", lambda _: False)
    for case, kept in peers.read(program).items():
        found = peers.results.beside.__wrapped__(program, case)
        assert found.anew is None
        assert re.fullmatch(rf"{peers.PROGRAMS[program].name} \d[\d.]+", found.label)
        assert (ROOT / found.script).is_file()
        assert "not computed anew here" in found.origin("N")
        np.testing.assert_array_equal(found.values, kept["values"])
        if program != "calculix":
            motion, robot = peers.motion(case), peers.motions.robot(case)
            forces = robot.inverse_dynamics(motion, friction=False).forces
            largest = np.abs(forces).max()
            np.testing.assert_allclose(found.values, forces, rtol=0, atol=1e-12 * largest)
    assert set(peers.read(program)) == set(peers.PROGRAMS[program].cases)


@pytest.mark.filterwarnings("ignore:.*Swig.*:DeprecationWarning")
@pytest.mark.parametrize("program", ["pinocchio", "casadi"])
def test_results_anew(peers: Any, program: str) -> None:
    """Where a program is installed it finds again what is stored."""
    if not peers.installed(program):
        pytest.skip(f"{program} is not installed here")
    for case in ("sinatra-xi-staicu-2009/rotation", "long-khalil-martinet-2014/poses"):
        found = peers.beside(program, case)
        assert found.anew < 1e-12 * np.abs(found.values).max()


def test_kim_link_inertia(kim: Any, hexaslide: gough.Robot) -> None:
    shares = {20: (0.0338, 0.0275), 40: (0.1352, 0.1093), 60: (0.2034, 0.2166)}
    for rpm, (peak, mean) in shares.items():
        this = kim.link_inertia(hexaslide, rpm)
        assert this.peak_share == pytest.approx(peak, rel=2e-3)
        assert this.rms_share == pytest.approx(mean, rel=2e-3)
        expected = newton_euler.link_inertia_forces(hexaslide, kim_ryu_circle(rpm)(kim.TIME))
        np.testing.assert_allclose(this.links, expected, rtol=0, atol=1e-11)
        assert np.abs(this.printed - this.total).max() > 0.3 * np.abs(this.links).max()
    assert kim.links.growth_error(hexaslide) < 1e-11


def test_kim_friction(kim: Any, hexaslide: gough.Robot) -> None:
    slow, fast = (kim.explicit_friction(hexaslide, rpm) for rpm in (20, 120))
    assert slow.couples == pytest.approx(0.052, abs=0.01)
    assert slow.driving == 0
    assert fast.driving > 0.2
    assert fast.couples > slow.couples
    assert slow.spin == pytest.approx(0.150, abs=0.001)
    assert slow.spin / slow.largest == pytest.approx(0.0024, abs=5e-5)
    assert slow.couple == pytest.approx(0.015, abs=0.001)
    assert slow.inertia < 2e-6
    found = newton_euler.friction_forces(hexaslide, kim_ryu_circle(20)(kim.TIME))
    largest = [np.abs(one).max() for one in (found.slider, found.universal, found.spherical)]
    np.testing.assert_allclose(largest, [8.16, 1.52, 4.03], rtol=0.01)


def test_orthoglide() -> None:
    """Chablat & Wenger 2003: the design rule gives the length, and its limits are met in corners."""
    paper = load_paper("chablat-wenger-2003")
    robot = gough.load(paper.ROBOT)
    factors = paper.amplification(robot, paper.cube(robot, 5))
    np.testing.assert_allclose([factors.min(), factors.max()], [0.5, 2], rtol=1e-12)
    np.testing.assert_allclose(paper.amplification(robot, np.zeros((1, 3))), 1, rtol=1e-14)
    found = paper.reproduce(reproduction.quiet)
    assert [item.verdict for item in found.claims] == ["agrees"] * 4
    assert "310.583 mm" in found.claims[1].ours
    assert "256.99 mm" in found.claims[3].ours


def test_sinatra_geometry(sinatra: Any) -> None:
    size = sinatra.geometry()
    assert size.l1 == pytest.approx(0.347537, abs=1e-6)
    assert np.degrees(size.beta0) == pytest.approx(59.680, abs=1e-3)
    assert np.degrees(size.beta) == pytest.approx(30.474, abs=1e-3)
    assert size.h == pytest.approx(0.606379, abs=1e-6)
    assert sinatra.loop_error(printed=False) < 1e-12
    assert sinatra.loop_error(printed=True) == pytest.approx(0.46, abs=0.005)
    assert sinatra.configuration.catalogue_error(gough.load("sinatra-xi-staicu-2009")) < 1e-12
    point, missed = sinatra.configuration.meeting_point()
    np.testing.assert_allclose(point, [0, 0, 0.351], atol=5e-4)
    assert missed < 1e-15
    most, center = sinatra.configuration.leg_limits()
    assert (round(most, 4), round(center, 2)) == (0.0498, 0.73)


def test_sinatra_motions(sinatra: Any) -> None:
    robot = gough.load("sinatra-xi-staicu-2009")
    runs = {name: sinatra.run(robot, name) for name in ("vertical", "horizontal", "rotation")}
    assert max(one.formulations for one in runs.values()) < 1e-11
    assert max(one.energy for one in runs.values()) < 1e-7
    equal = [runs[name].equal for name in ("horizontal", "vertical", "rotation")]
    np.testing.assert_allclose(equal, EQUAL, atol=0.01)
    assert max(one.inertia for one in runs.values()) < 0.03
    near, legs = sinatra.configuration.nearest_joints(robot, runs["horizontal"].motion)
    assert (round(1e3 * near), legs) == (58, "B and E")
    force = runs["vertical"].actuation.forces
    assert np.ptp(force, axis=1).max() < 1e-11
    assert np.all(np.diff(np.abs(force[:, 0])) > 0)
    np.testing.assert_allclose(np.abs(force[[0, -1], 0]), [8.0166, 15.0895], rtol=1e-4)
    along = runs["horizontal"].actuation.forces
    np.testing.assert_allclose(along[:, :3], along[:, :2:-1], rtol=0, atol=1e-11)
    turn = runs["rotation"].actuation
    assert np.all(turn.power[1:-1, 1::2] > 0)
    assert np.all(turn.power[1:-1, ::2] < 0)
    growth = np.diff(np.abs(turn.forces), axis=0)
    assert np.all(growth[:, 1::2] > 0)
    assert np.all(growth[:, ::2] < 0)
    moved = [
        np.ptp(runs[name].motion.position, axis=0).max() for name in ("vertical", "horizontal")
    ]
    np.testing.assert_allclose(moved, [0.3, 0.2], rtol=1e-12)


@impossible_bodies
@pytest.mark.parametrize("which", ["Long's", "general"])
def test_khalil_closed_forms(khalil: Any, which: str) -> None:
    robot = gough.load(khalil.ROBOT).rigid
    if which == "general":
        robot = gough.Robot.from_dict(khalil.general_robot())
    found = khalil.compare(robot, khalil.random_states(robot, 4))
    for name in ("jacobian", "inertia", "bias", "forces", "equivalent force", "energy", "identity"):
        assert found[name] < 1e-11, name
    assert found["asymmetry"] < 1e-14
    assert found["least eigenvalue"] > 1
    assert found["printed inertia"] > 0.1
    assert found["printed asymmetry"] > 0.1
    assert found["printed least eigenvalue"] < -1
    if which == "general":
        assert found["printed bias"] > 0.05


@impossible_bodies
def test_khalil_signs_and_masses(khalil: Any) -> None:
    corrected, printed = khalil.release(gough.load(khalil.ROBOT).rigid)
    assert corrected == pytest.approx(-3.419, abs=1e-3)
    assert printed == -corrected
    data = khalil.general_robot()
    robot = gough.Robot.from_dict(data)
    states = khalil.random_states(robot, 4)
    forces = robot.inverse_dynamics(states).forces
    for printed, lowest, highest in ((False, 0.0, 1e-11), (True, 0.05, 1.0)):
        moved = khalil.regrouped(data, printed).inverse_dynamics(states).forces
        assert lowest <= reproduction.relative_error(moved, forces) < highest


@impossible_bodies
def test_khalil_tables(khalil: Any) -> None:
    """Tables I, III and IV; operations by stage: test_operations."""
    robot = gough.load(khalil.ROBOT).rigid
    legs: Any = robot.description.legs
    found = geometric_parameters(legs)
    assert found is not None
    gamma, b, d = found.T
    wanted = [0, 0, 26.565, 53.130, 105.255, 138.814]
    np.testing.assert_allclose(np.degrees(gamma), wanted, atol=1e-3)
    assert np.all(b == 0)
    base = legs.base[..., 0].T
    np.testing.assert_allclose(d, np.linalg.norm(base - base[0], axis=1), atol=1e-12)
    counts = khalil.tables.parameter_counts(khalil.general_robot())
    assert list(counts.values()) == [190, 88, 76, 64, 52, 40, 34]
    relations = [
        row[1] for row in khalil.tables.table_ii(gough.Robot.from_dict(khalil.general_robot())).rows
    ]
    assert relations[3] == "XX_2 − YY_2 + XX_3 − ZZ_3"
    for _, kinematics, dynamics, total in khalil.tables.TABLE_IV[:3]:
        assert sum(kinematics) + sum(dynamics) == total
    right, printed = (
        khalil.tables.moved_mass(0.7, 0.3, 0.5),
        khalil.tables.printed_74(0.7, 0.3, 0.5),
    )
    wrong = np.flatnonzero(np.abs(printed[:, 2] - right) > 1e-9)
    assert wrong.tolist() == [1, 2, 7]


@impossible_bodies
def test_khalil_solves(khalil: Any) -> None:
    robot = gough.load(khalil.ROBOT).rigid
    for angle, lowest, highest in ((0.0, 1e-2, np.inf), (0.1, 0.0, 1e-12)):
        poses = khalil.turned_poses(robot, np.full(500, angle))
        lost, kept = khalil.solve_losses(robot, poses)
        assert lowest <= np.median(lost) <= highest
        assert kept.max() < 1e-12


@impossible_bodies
@pytest.mark.parametrize("name", NAMES)
def test_effects_of_misprints(name: str) -> None:
    """docs/errata.md says in newtons what the papers' scripts compute."""
    found = import_module(f"{load_paper(name).__name__}.misprints").effects()
    chapters = re.split(r"(?m)^## ", (ROOT / "docs" / "errata.md").read_text("utf-8"))
    family = name.partition("-")[0].capitalize()
    (chapter,) = (one for one in chapters if one.startswith(family))
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in chapter.splitlines()
        if re.match(r"\| [A-Z]\d", line)
    ]
    assert [row[0][1:] for row in rows] == [str(i + 1) for i in range(len(rows))]
    said = {row[1]: row[-2] for row in reversed(rows)}
    for where, newtons in found.items():
        assert float(said[where].split(" N")[0]) == pytest.approx(newtons, rel=0.015), where


def test_the_documentation_is_built_without_a_warning(everything: Everything) -> None:
    pages = run_path(str(ROOT / "docs" / "paper_pages.py"))
    pages["keep"](ROOT / "docs" / "generated", everything.found, pages["fingerprint"]())
    sphinx = [
        sys.executable,
        *["-m", "sphinx", "-W", "--keep-going", "-q", "docs", "docs/_build/html"],
    ]
    built = subprocess.run(sphinx, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
