"""The house: one version everywhere."""

from pathlib import Path

import gough

ROOT = Path(__file__).parents[1]


def test_the_citation_and_the_changelog_are_of_this_version():
    version = gough.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"version = {{{version}}}" in (ROOT / "docs" / "errata.md").read_text("utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = changes.replace("## Unreleased\n", "")
    assert released.index(f"## {version}\n") == released.index("## ")
