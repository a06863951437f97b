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


for _what, _home, _name in (
    ("picture of a simulation", "gough.show.pictures.simulation", "overview"),
    ("page about drives", "gough.show.report.drives", "drives_page"),
    ("robot in a notebook", "gough.show.notebook", "robot_html"),
    ("motion in a notebook", "gough.show.notebook", "motion_html"),
    ("picture of a robot", "gough.show.pictures.robot", "draw"),
    ("picture of a motion", "gough.show.pictures.motion", "motion_curves"),
    ("picture of LegMotion", "gough.show.pictures.motion", "leg_picture"),
    ("picture of Actuation", "gough.show.pictures.motion", "force_picture"),
    ("picture of Contributions", "gough.show.pictures.motion", "contribution_picture"),
    ("picture of Acceleration", "gough.show.pictures.motion", "acceleration_picture"),
    ("picture of Energy", "gough.show.pictures.motion", "energy_picture"),
    ("picture of Reactions", "gough.show.pictures.motion", "reaction_picture"),
    ("picture of Workspace", "gough.show.pictures.workspace", "slices"),
    ("picture of Closest", "gough.show.pictures.closest", "distance_curves"),
    ("picture of Calibration", "gough.show.pictures.calibration", "error_figure"),
    ("picture of Identification", "gough.show.pictures.identification", "deviation_figure"),
    ("picture of Sizing", "gough.show.pictures.sizing", "torque_speed"),
    ("picture of Retimed", "gough.show.pictures.retiming", "retiming_curves"),
    ("picture of Cued", "gough.show.pictures.cueing", "cue_picture"),
    ("dataset of a motion", "gough.data.motion_files", "motion_dataset"),
    ("data frame of a motion", "gough.data.motion_files", "motion_frame"),
    ("dataset of LegMotion", "gough.data.datasets", "leg_dataset"),
    ("dataset of Actuation", "gough.data.datasets", "force_dataset"),
    ("dataset of Contributions", "gough.data.datasets", "contribution_dataset"),
    ("dataset of Acceleration", "gough.data.datasets", "acceleration_dataset"),
    ("dataset of Energy", "gough.data.datasets", "energy_dataset"),
    ("dataset of Reactions", "gough.data.datasets", "reaction_dataset"),
    ("data frame", "gough.data.datasets", "data_frame"),
):
    show_by(_what, _later(_home, _name))


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in ("errors", "planning", "trajectories"):
        return import_module(f"gough.{name}")
    raise AttributeError(f"module 'gough' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
