"""A motion as a flexible robot makes it, for tools that are given the motion of its frame alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gough.model.batch import OnError
from gough.model.calls import ModelCalls
from gough.model.deflection import static_deflection
from gough.model.described import DescribedModel
from gough.model.elastic_motion import ElasticMotion, elastic_motion
from gough.motion import Motion

AT_REST = "static deflection"
RATES = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")


def deflected(
    robot: ModelCalls,
    motion: Motion,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> Motion:
    """The motion with elastic coordinates: its own; at rest the static deflection; else over time.

    Motions of rigid robots come back as they are. So do moving samples without time and motions of many
    robots: dynamics refuses them and says what to do.
    """
    if not robot.modes or not isinstance(motion, Motion) or motion.modes:
        return motion
    steady = wrench is None or np.ndim(wrench) == 1
    if steady and not any(np.any(getattr(motion, name)) for name in RATES):
        return static_deflection(robot, motion, wrench, on_error=on_error)
    if motion.time is None or not motion.shape or not isinstance(robot, DescribedModel):
        return motion
    return elastic_motion(robot, motion, wrench=wrench, friction=friction, on_error=on_error)


def how_deflected(given: Motion, motion: Any) -> str:
    """How `deflected` found the elastic coordinates, in one line; empty where it had not to."""
    if motion is given or given.modes == motion.modes:
        return ""
    return str(motion) if isinstance(motion, ElasticMotion) else AT_REST
