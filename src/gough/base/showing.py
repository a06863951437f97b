"""Pictures and pages that results show of themselves, made by a layer above them.

A result names what it shows (`shown("picture of a simulation", run, 0)`); the package's namespace,
which lies above all layers, says who makes it (`show_by`). So results stay plain data and import
nothing that draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_makers: dict[str, Callable[..., Any]] = {}


def show_by(what: str, maker: Callable[..., Any]) -> None:
    """Let a function make what results show under a name."""
    _makers[what] = maker


def shown(what: str, *arguments: Any) -> Any:
    """What the function of that name makes of the arguments."""
    return _makers[what](*arguments)
