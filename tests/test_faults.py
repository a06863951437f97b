"""Faults while commands write: what was there is there, or what is new is whole."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys

import pytest

import gough
from cases import command
from fuzz import faults
from gough.base import files
from gough.base.c_folder import write_folder
from gough.exchange.urdf import export_urdf

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="copies processes")
QUICK = (
    "new hexapod",
    "kinematics kim-ryu-2002 motion.csv",
    "convert hexapod.xml",
    "export urdf kim-ryu-2002",
    "export washout kim-ryu-2002",
)
"""One of each way to write; `make fuzz` has all commands."""


@pytest.mark.second_tier_from(3)
@pytest.mark.parametrize("words", QUICK)
def test_faults_leave_what_was_or_what_is_new(words, monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    assert faults.check(words) == []


def test_faults_find_a_writer_that_writes_in_place(monkeypatch):
    @contextlib.contextmanager
    def careless(path, own=False):
        handle = os.open(path, os.O_CREAT | os.O_TRUNC)
        os.close(handle)
        files.to_disk(path)
        yield path

    monkeypatch.setattr("gough.base.files.replacing", careless)
    assert any("neither old nor whole" in one for one in faults.check("new hexapod"))


def test_urdf_and_loops_of_two_exports_are_refused(tmp_path):
    kim = gough.load("kim-ryu-2002")
    export_urdf(kim, tmp_path / "kim.urdf")
    sound = gough.load(tmp_path / "kim.urdf")
    other = tmp_path / "other"
    other.mkdir()
    export_urdf(kim.edited({"legs.rotor_mass": 7.0}), other / "kim.urdf")
    shutil.copy(other / "kim.yaml", tmp_path)
    said = command.refused("show", "kim.urdf", cwd=tmp_path)
    assert "kim.yaml: of another export than kim.urdf" in said
    shutil.copy(other / "kim.urdf", tmp_path)
    assert gough.load(tmp_path / "kim.urdf").leg_count == sound.leg_count


def test_a_killed_first_export_to_urdf_leaves_no_tree_without_its_loops(tmp_path):
    code = "import os, pathlib, gough\n"
    code += "true = pathlib.Path.replace\n"
    code += "def once(*given):\n true(*given); os.kill(os.getpid(), 9)\n"
    code += "pathlib.Path.replace = once\n"
    code += "gough.load('kim-ryu-2002').export_urdf('kim.urdf')"
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert [one.name for one in tmp_path.iterdir() if one.name[0] != "."] == ["kim.yaml"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_c_files_of_two_exports_do_not_compile_together(tmp_path):
    def written(number):
        contents = {
            "a.h": "/* ours */\n",
            "a.c": f'/* ours */\n#include "a.h"\nint a = {number};\n',
        }
        write_folder(tmp_path / "c", contents, "ours")

    def compiled():
        words = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-c", "a.c"]
        return subprocess.run(
            words, cwd=tmp_path / "c", capture_output=True, text=True, check=False
        )

    written(1)
    assert compiled().returncode == 0
    old = (tmp_path / "c" / "a.h").read_bytes()
    written(2)
    assert compiled().returncode == 0
    (tmp_path / "c" / "a.h").write_bytes(old)
    assert "a.h and a.c are of two exports" in compiled().stderr


def test_folders_that_a_killed_export_left_are_removed_by_the_next(tmp_path):
    code = "import os, pathlib\nfrom gough.base.files import new_folder\n"
    code += "with new_folder('c') as one:\n (one / 'a').write_text('x'); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".c-")
    write_folder(tmp_path / "c", {"a.h": "x"}, "x")
    assert [one.name for one in tmp_path.iterdir()] == ["c"]
