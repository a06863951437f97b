"""The map of the code in CONTRIBUTING: every folder, in the order of the layers, and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields
from itertools import chain
from pathlib import Path
from runpy import run_path

import pytest

from gough.legs.leg import LegKind
from gough.mechanics.leg import MovingLeg

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gough"
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
GRAPH = run_path(str(ROOT / "docs" / "import_graph.py"))


def section(title: str) -> str:
    """A chapter of CONTRIBUTING."""
    found: str = re.split(r"^## ", TEXT.split(f"## {title}\n")[1], flags=re.MULTILINE)[0]
    return found


def named() -> list[str]:
    """Places in the map, in its order, relative to the package."""
    return re.findall(r"^\| `src/gough/([\w./]+)` \|", section("The map of the code"), re.MULTILINE)


def test_map_names_every_folder_and_no_other() -> None:
    modules = {path.relative_to(SOURCE) for path in SOURCE.rglob("*.py")}
    folders = {f"{path.parent}/" for path in modules if path.parent != Path()}
    files = {path.name for path in modules if path.parent == Path()}
    assert set(named()) == folders | files
    assert len(set(named())) == len(named())


def test_map_is_in_the_order_of_the_layers() -> None:
    levels = {part: i for i, layer in enumerate(GRAPH["layers"]()) for part in layer}
    faces = ("__init__", "__main__")
    parts = [re.split(r"[/.]", place)[0] for place in named()]
    order = [levels[part] for part in parts if part not in faces]
    assert order == sorted(order)
    assert set(levels) == set(parts) - set(faces)


@pytest.mark.second_tier
def test_imports_go_downward() -> None:
    """What the documentation draws; import-linter checks the same by its own means."""
    found = GRAPH["imports"]()
    assert GRAPH["upward"](found) == []
    assert found["model", "mechanics"] > 5
    assert found["formulations", "mechanics"] > 0
    assert ("engine", "mechanics") not in found
    parts = set(chain.from_iterable(GRAPH["layers"]()))
    assert set(chain.from_iterable(found)) == parts
    assert GRAPH["upward"](Counter({("base", "motion"): 1})) == [("base", "motion")]
    assert GRAPH["upward"](Counter({("sizing", "exchange"): 1})) == [("sizing", "exchange")]


def test_parts_of_a_kind_of_leg_are_listed() -> None:
    text = section("A new kind of leg")
    listed = set(re.findall(r"`(\w+)`", text))
    assert {one.name for one in fields(LegKind)} <= listed
    asked = {name for name in MovingLeg.__abstractmethods__} - {"rotation", "load_vectors"}
    assert asked <= listed


def test_kinds_of_legs_have_the_files_that_are_listed() -> None:
    rows = "".join(re.findall(r"^\|.*$", section("A new kind of leg"), re.MULTILINE))
    wanted = set(re.findall(r"`(\w+\.py)`[ ,|]", rows))
    kinds = [path.parent for path in (SOURCE / "legs").glob("*/__init__.py")]
    assert len(kinds) >= 2
    assert len(wanted) > 5
    for folder in kinds:
        assert wanted <= {path.name for path in folder.glob("*.py")}, folder
