"""Every example runs as it stands, in an empty folder, and asserts its number."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import matplotlib
import pytest

pytestmark = pytest.mark.second_tier
EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree), "says first what it shows"
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree)), "asserts a number"
    monkeypatch.chdir(tmp_path)
    before = matplotlib.get_backend()
    matplotlib.use("Agg")
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        matplotlib.use(before)
    assert capsys.readouterr().out.strip(), "prints its result"


def test_numbers_are_unique() -> None:
    numbers = [path.stem.partition("_")[0] for path in EXAMPLES]
    assert len(numbers) == len(set(numbers))
