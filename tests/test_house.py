"""The house: no file too long to read, one version everywhere."""

from pathlib import Path

import gough

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "papers", "tests", "examples", "benchmarks", "docs")
LONGEST = 500


def test_no_file_is_too_long():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    lines = {str(path.relative_to(ROOT)): path.read_text("utf-8").count("\n") for path in files}
    assert not {path: count for path, count in lines.items() if count > LONGEST}


def test_the_citation_and_the_changelog_are_of_this_version():
    version = gough.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"version = {{{version}}}" in (ROOT / "docs" / "errata.md").read_text("utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert changes.index(f"## {version}\n") == changes.index("## ")
