"""The robots that come with gough: their names, and the texts of their files."""

from __future__ import annotations

from importlib import resources


def catalogue() -> list[str]:
    """Names of the robots that come with gough."""
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in resources.files(__name__).iterdir()
        if entry.name.endswith(".toml")
    )


def catalogue_text(name: str) -> str:
    """Text of a robot file of the catalogue."""
    return (resources.files(__name__) / f"{name}.toml").read_text("utf-8")
