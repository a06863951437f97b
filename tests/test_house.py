"""The house: no file too long to read."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "papers", "tests", "examples", "benchmarks", "docs")
LONGEST = 500


def test_no_file_is_too_long():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    lines = {str(path.relative_to(ROOT)): path.read_text("utf-8").count("\n") for path in files}
    assert not {path: count for path, count in lines.items() if count > LONGEST}
