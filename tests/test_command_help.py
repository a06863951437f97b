"""The command line before it computes: help, groups, completion, what it imports, what it is given."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from ast import literal_eval
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import typer

import gough
from cases.command import run
from cases.errors import refusal
from gough.cli import app as cli
from gough.cli import arguments
from gough.cli.help import first_line


def commands():
    """Every command, sub-commands as two words."""
    found = []
    for names in cli.GROUPS.values():
        for name in names:
            command = import_module(f"gough.cli.{name}").command
            inner = command.registered_commands if isinstance(command, typer.Typer) else []
            found += [[name, one.callback.__name__] for one in inner] or [[name]]
    return found


@pytest.fixture
def gough_here(tmp_path, monkeypatch):
    """The command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments):
        found = run(*arguments, cwd=tmp_path)
        return found.returncode, found.stdout, found.stderr

    return call


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_help_teaches(command, gough_here):
    code, text, trouble = gough_here(*command, "--help")
    assert (code, trouble) == (0, "")
    assert f"Example: gough {' '.join(command)}" in text
    assert "<bool>" not in text
    assert all(len(line) <= 80 for line in text.splitlines())
    options = [word for line in text.splitlines() for word in line.split() if word.startswith("--")]
    if "--output" in options:
        assert "-o" in text.split()
    if "--json" in options:  # what machines read comes last
        assert options[options.index("--json") + 1 :] == ["--help"]


def test_help_of_everything(gough_here):
    code, text, _ = gough_here("--help")
    assert code == 0
    assert "gough show kim-ryu-2002" in text.replace("\n", " ")
    for command in commands():
        assert f" {command[0]} " in text
    assert gough_here() == (code, text, "")
    assert gough_here("--version") == (0, f"gough {gough.__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("gough show k", ["kim-ryu-2002"]),
        ("gough forces kim-ryu-2002 kim-ryu-2002/circle-2", ["kim-ryu-2002/circle-20rpm"]),
        ("gough report d", ["dietmaier-1998"]),
        ("gough sing", ["singularities"]),
    ],
)
def test_the_shell_completes_names(words, expected, gough_here, monkeypatch):
    monkeypatch.setenv("_GOUGH_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    code, text, _ = gough_here()
    assert code == 0
    assert text.split() == expected


HEAVY = ("numpy", "scipy", "pydantic", "matplotlib", "llvmlite", "xarray", "gough.cli.forces")


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [(["--help"], ()), (["--version"], ()), (["list"], ("pydantic",))],  # typer's own, for options
    ids=lambda one: " ".join(one),
)
def test_what_is_asked_first_imports_nothing_heavy(arguments, allowed):
    code = f"""
import sys
from gough.__main__ import main
sys.argv[1:] = {arguments}
try:
    main()
finally:
    print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert set(literal_eval(result.stderr)) <= {*allowed}


SHARED = ("__init__", "app", "arguments", "file_kinds", "help", "results", "terminal")
"""Files of the command line that are no commands."""


def test_every_file_is_one_command():
    files = {path.stem for path in Path(cli.__file__).parent.glob("*.py")}
    grouped = [name for names in cli.GROUPS.values() for name in names]
    assert len(grouped) == len({*grouped})
    assert files == {*grouped, *SHARED}
    for name in SHARED:
        assert not hasattr(import_module(f"gough.cli.{name}"), "command")


def test_help_has_a_line_for_each_command_at_80_columns(gough_here):
    text = gough_here("--help")[1]
    shown = [line.strip("│ ") for line in text.splitlines()]
    places = []
    for group, names in cli.GROUPS.items():
        places.append(next(i for i, line in enumerate(shown) if f" {group} " in line))
        for name, words in names.items():
            found = cli.written(name)
            said = found.info.help if isinstance(found, typer.Typer) else found.__doc__
            assert words == first_line(said)
            assert words.endswith(".")
            places.append(shown.index(f"{name:<13}  {words}"))
    assert places == sorted(places)
    assert all(len(line) <= 80 for line in text.splitlines())


def test_the_list_says_what_the_robots_are(gough_here):
    for one in json.loads(gough_here("list", "--json")[1])["robots"]:
        with warnings.catch_warnings(action="ignore"):
            robot = gough.load(one["name"])
        assert one == {
            "name": robot.name,
            "kind": robot.kind,
            "legs": robot.leg_count,
            "source": robot.file.source,
        }


@pytest.mark.parametrize(
    ("text", "counts", "expected"),
    [
        ("1,2,3", (3,), [1, 2, 3]),
        (" 1e-3, -.5 ", (1, 2), [1e-3, -0.5]),
        ("1 2", (2,), [1, 2]),
        ("1,2", (1, 3), "--x has 2 numbers, needs 1 or 3"),
        ("", (1,), "--x is '', needs numbers with commas between them"),
        ("1,x", (2,), "--x is '1,x', needs numbers with commas between them"),
        ("1,nan", (2,), "--x is '1,nan', needs finite numbers"),
    ],
)
def test_lists_of_numbers(text, counts, expected):
    if isinstance(expected, list):
        assert arguments.numbers("--x", text, *counts) == expected
    else:
        with pytest.raises(gough.errors.InputError, match=f"^{re.escape(expected)}$"):
            arguments.numbers("--x", text, *counts)


def test_planes_and_named_numbers():
    assert arguments.plane("--slice", "z = 0.8") == ("z", 0.8)
    assert arguments.plane("--slice", "rz=180", degrees=True) == ("z", np.pi)
    assert arguments.named_numbers("--e", "a=1, b=2e-5", ("a", "b")) == {"a": 1, "b": 2e-5}
    for text in ("w=1", "z", "z=", "rz=1", "z=1,y=2"):
        with refusal(gough.errors.InputError, "--slice"):
            arguments.plane("--slice", text)


def test_importing_gough_imports_nothing_heavy(tmp_path):
    code = (
        "import sys, gough; print([m for m in ('numpy', 'scipy', 'pydantic') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
