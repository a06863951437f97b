"""Drawings of the documentation, made by the build."""

from __future__ import annotations

from pathlib import Path


def write(folder: Path) -> None:
    """Draw what is missing or older than this file."""
    folder.mkdir(parents=True, exist_ok=True)
