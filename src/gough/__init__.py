"""gough: geometry, kinematics and dynamics of parallel robots.

    import gough
    robot = gough.load("kim-ryu-2002")
    legs = robot.inverse_kinematics(gough.Motion([0, 0, 0.8]))

Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gough.base.showing import show_by
from gough.base.version import VERSION

if TYPE_CHECKING:
    from gough import errors, planning, trajectories
    from gough.description.catalogue import catalogue
    from gough.motion import Motion
    from gough.robot import Robot, load
    from gough.simulation import simulate
    from gough.variants import Variants

__version__ = VERSION
__all__ = [
    "Motion",
    "Robot",
    "Variants",
    "catalogue",
    "errors",
    "load",
    "planning",
    "simulate",
    "trajectories",
]

_HOMES = {
    "catalogue": "gough.description.catalogue",
    "Motion": "gough.motion",
    "Robot": "gough.robot",
    "Variants": "gough.variants",
    "load": "gough.robot",
    "simulate": "gough.simulation",
}


def _later(home: str, name: str) -> Callable[..., Any]:
    """A function that is imported when it is called."""
    return lambda *arguments: getattr(import_module(home), name)(*arguments)


show_by("picture of a simulation", _later("gough.show.pictures.simulation", "overview"))
show_by("page about drives", _later("gough.show.report.drives", "drives_page"))


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in ("errors", "planning", "trajectories"):
        return import_module(f"gough.{name}")
    raise AttributeError(f"module 'gough' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
