"""Styles and scripts that pages carry with them; they are gough's own, and nothing is fetched."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def web_part(name: str) -> tuple[str, str]:
    """Style and script of a part of pages: "hover" or "turnable"."""
    folder = resources.files("gough.show")
    style, script = (folder.joinpath(f"{name}.{kind}").read_text("utf-8") for kind in ("css", "js"))
    return style, script
