"""Kinds of legs, shapes of batches, robots of the catalogue, and how properties are tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st

from gough.legs.keys import LegTable
from gough.legs.register import KINDS

settings.register_profile("gough", deadline=None)  # the first example may have to make a kernel
settings.load_profile("gough")

LEG_KINDS = tuple(name for name, kind in KINDS.items() if issubclass(kind.keys, LegTable))
"""Kinds of legs with equations of their own, given by points on base and platform; not chains."""
CLOSED = tuple(name for name, kind in KINDS.items() if kind.parameters.tip is not None)
"""Those whose base parameters are known in closed form."""
KIM, SINATRA, LONG, DIETMAIER = (
    "kim-ryu-2002",
    "sinatra-xi-staicu-2009",
    "long-khalil-martinet-2014",
    "dietmaier-1998",
)
HEXAGLIDE = "plaza-hexaglide-2019"
WITH_MASSES = (KIM, SINATRA, LONG)
"""Robots of the catalogue whose dynamics are known."""
HEXAPODS = (DIETMAIER, KIM, LONG, HEXAGLIDE, SINATRA)
"""Those of the catalogue with six freedoms and about a metre of size."""
SHAPES = [(), (1,), (3, 1, 2), (0,)]
"""Batches: one state, one, many axes, none."""

each_kind = pytest.mark.parametrize("kind", LEG_KINDS)
each_shape = pytest.mark.parametrize("shape", SHAPES)
six_or_eight = pytest.mark.parametrize("legs", [6, 8])
impossible_bodies = pytest.mark.filterwarnings("ignore::gough.errors.ImpossibleBodyWarning")
"""For robots whose masses, as their paper prints them, no body can have."""
few_states = pytest.mark.usefixtures("on_numpy")
"""For tests that ask many robots for a few states each: NumPy answers before a kernel is made."""

seeds = st.integers(0, 2**32)
kinds = st.sampled_from(LEG_KINDS)
repeatable = settings(derandomize=True)
"""A property tried on the same examples every time."""
repeatable_seeds = settings(repeatable, phases=[Phase.generate])
"""The same, where seeds make the examples: a smaller seed says nothing, so none is looked for."""

GUIDE, SLIDING = {"guide", "guide_moment"}, {"sliding_force", "sliding_moment"}
ABSENT = {"UPS": GUIDE, "PUS": SLIDING, "RUS": GUIDE | SLIDING}
"""Reactions of joints that a kind of leg does not have: NaN."""
OF_CHAINS = {"platform_moment", "joint_force", "joint_moment"}


def numbers_of(robot: Any, name: str, found: Any) -> dict[str, Any]:
    """Every array of numbers that a model answers with, by name, but for joints that are not there."""
    if isinstance(found, np.ndarray):
        return {name: found}
    absent = ABSENT[robot.leg_kind.name] | OF_CHAINS | {"unique"}
    return {key: value for key, value in vars(found).items() if key not in absent}
