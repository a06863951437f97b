"""Numbers that a robot's own make: a quotient of two of a file's can be what neither is."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import LARGEST
from gough.engine.tree import named_leaves
from gough.errors import InputError
from gough.mechanics.mechanism import Mechanism


def sound(mechanism: Mechanism, name: str) -> Mechanism:
    """The mechanism, unless one of its numbers is not finite or over what kernels take.

    Such a number is multiplied by rates that may be 0, and then gives NaN that no other check sees.
    """
    for field, values in named_leaves(mechanism):
        if values.dtype.kind == "f" and not np.all(np.abs(values) < LARGEST):
            raise InputError(
                f"{name}: its numbers make {field} infinite, or over {LARGEST:g}: is one of them "
                "nearly 0, or too large?"
            )
    return mechanism
