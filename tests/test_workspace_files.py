"""`gough workspace` and its files."""

import io
import json
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rich.console import Console
from scipy.spatial.transform import Rotation

from cases.command import refused, run
from cases.errors import refusal
from cases.workspaces import robot_of
from gough.analysis.workspace import workspace
from gough.analysis.workspace_result import Workspace
from gough.errors import FileError, InputError
from gough.exchange.mesh_files import write_stl, write_vtk
from gough.show.pictures import workspace as workspace_pictures
from gough.show.sheets.workspace import print_workspace


def test_files_for_other_programs(tmp_path):
    found = workspace(robot_of("UPS", 1), tolerance=0.1)
    skin = found.surface(points=21)
    write_stl(skin, tmp_path / "a.stl")
    data = (tmp_path / "a.stl").read_bytes()
    count = int.from_bytes(data[80:84], "little")
    assert (count, len(data)) == (len(skin.faces), 84 + 50 * count)
    first = np.frombuffer(data[84:132], "<f4").reshape(4, 3)
    assert_allclose(first[1:], skin.vertices[skin.faces[0]], rtol=1e-6)
    assert_allclose(np.linalg.norm(first[0]), 1, rtol=1e-6)
    write_vtk(found, tmp_path / "a.vtk")
    data = (tmp_path / "a.vtk").read_bytes()
    count = len(found.centre)
    start = data.index(b"double\n") + 7
    corners = np.frombuffer(data[start : start + 8 * 24 * count], ">f8").reshape(count, 8, 3)
    assert_allclose(corners.mean(axis=1), found.centre)
    assert_allclose(np.ptp(corners, axis=1), 2 * found.half)
    start = data.index(b"lower double 1\nLOOKUP_TABLE default\n") + 36
    lower = np.frombuffer(data[start : start + 8 * count], ">f8")
    assert lower.sum() == pytest.approx(found.volume - found.error)
    none = workspace(robot_of("UPS", 1, stroke=[[0.1, 0.2]] * 6))
    for write, what in ((write_vtk, none), (write_stl, none.surface())):
        with refusal(InputError, "empty"):
            write(what, tmp_path / "b")
    with pytest.raises(FileError):
        write_vtk(found, tmp_path / "no" / "a.vtk")
    assert not list(tmp_path.glob(".*"))


def test_command_line(tmp_path, monkeypatch):
    robot_of("UPS", 1).save(tmp_path / "r.toml")
    file = str(tmp_path / "r.toml")
    monkeypatch.setattr(Workspace.surface, "__defaults__", (21,))  # quick
    monkeypatch.setattr(workspace_pictures, "POINTS", 41)
    monkeypatch.setattr(workspace_pictures, "SURFACE_POINTS", 15)
    for name in ("a.png", "a.stl", "a.vtk"):
        found = run("workspace", file, "--tolerance", "0.4", "-o", str(tmp_path / name))
        assert found.returncode == 0, found.stderr
        assert "proved" in found.stdout
        assert (tmp_path / name).stat().st_size > 1000
    words = ["--orientation", "5,0,0", "--leg-radius", "0.01"]
    found = run("workspace", file, "--tolerance", "0.2", "--json", *words)
    numbers = json.loads(found.stdout)
    assert numbers["tolerance_met"]
    assert "legs" in numbers["conditions"]
    turn = Rotation.from_rotvec([5, 0, 0], degrees=True)
    again = workspace(robot_of("UPS", 1), turn, tolerance=0.2, leg_radius=0.01)
    assert numbers["volume"] == again.volume
    for words in (
        ["--bounds", "-2,2,-2,2,0,2"],
        ["--point", "home"],
        ["--tilt", "5"],
        ["--tilt", "5", "--any"],
    ):
        found = run("workspace", file, "--tolerance", "0.7", "--json", *words)
        assert json.loads(found.stdout)["volume"] > 0
    picture = str(tmp_path / "b.png")
    words = ["--point", "home", "--slice", "rz=10", "-o", picture]
    found = run("workspace", file, "--tolerance", "0.4", *words)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--slice", "w=1"], "slice"),
        (["--slice", "z=much"], "slice"),
        (["-o", "a.txt"], "must end in"),
        (["--orientation", "1,2"], "orientation"),
        (["--stroke", "1,nan"], "stroke"),
        (["--any"], "--tilt"),
        (["--bounds", "0,1,0,1,0"], "--bounds"),
        (["--bounds", "0,1,0,1,2,1"], "bounds"),
        (["--bounds", "0,1,0,1,0,1", "--point", "home"], "--bounds"),
        (["--tilt", "5", "--point", "home"], "--tilt"),
        (["--tolerance", "7"], "tolerance"),
    ],
)
def test_command_line_refuses_nonsense(words, said):
    assert said in refused("workspace", "kim-ryu-2002", *words)


def test_an_interrupt_keeps_what_is_proved(monkeypatch):
    """Ctrl-C in the third round: the bounds of the second are printed."""
    from gough.analysis import octree

    calls = []
    judged = octree._judged

    def interrupted(*words):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return judged(*words)

    monkeypatch.setattr(octree, "_judged", interrupted)
    found = run("workspace", "kim-ryu-2002", "--tolerance", "0.001", "--json")
    assert found.returncode == 0
    numbers = json.loads(found.stdout)
    assert not numbers["tolerance_met"]
    assert 0 < numbers["volume"] - numbers["error"] < 0.3553 < numbers["volume"] + numbers["error"]
    assert "interrupted" in found.stderr


def test_what_is_proved_is_rounded_outward(monkeypatch):
    found = workspace(robot_of("UPS", 1), tolerance=0.4)
    title = workspace_pictures._title(found)
    volume, error = map(float, re.search(r"(\S+) ± (\S+) m³", title).groups())
    assert volume - error <= found.volume - found.error
    assert volume + error >= found.volume + found.error
    for shift in (0.44e-4, -0.44e-4):  # digits that are not shown
        monkeypatch.setattr(Workspace, "bounds", np.array([[-0.1, 0.1]] * 3) + shift)
        console = Console(file=io.StringIO(), width=120)
        print_workspace(found, console)
        low, high = re.search(r"surely within (\S+) to (\S+)", console.file.getvalue()).groups()
        assert float(low) <= -0.1 + shift
        assert float(high) >= 0.1 + shift
