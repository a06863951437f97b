"""Parameters of chains: what their joints carry, and the drives and friction of these joints.

Bodies and joints are numbered from 1 in the order of the file. No closed form of base parameters holds
for all chains: `gough.parameters.base` finds by numbers which parameters are felt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gough.base.arrays import Array
from gough.legs.chain.equations import Chain
from gough.legs.chain.keys import ChainTable
from gough.legs.chain.pin import Pin
from gough.legs.chain.posture import PRISMATIC
from gough.legs.parameters import LegParameters
from gough.legs.units import LINEAR, ROTARY


class ChainParameters(LegParameters[Chain | Pin]):
    """The parameters of chains, found by numbers."""

    kind: ClassVar[str] = "chain"

    def rotors(self, legs: Chain | Pin) -> Mapping[str, str]:
        """Drive inertias of actuated joints: "joint1 rotor_inertia", kg m², or kg of a slide."""
        return {
            f"joint{i + 1} rotor_inertia": "kg" if legs.joints[one] == PRISMATIC else "kg m²"
            for i, one in legs.single.items()
            if legs.actuated[one]
        }

    def key(self, name: str) -> str:
        """Of "body1" it is "joints.0.body", of "joint1 viscous" it is "joints.0.viscous"."""
        where, _, what = name.partition(" ")
        number = int(where.removeprefix("joint").removeprefix("body"))
        return f"joints.{number - 1}.{what or 'body'}"

    def friction_keys(self, table: Any, name: str, values: Array) -> Mapping[str, Array]:
        """One."""
        return {self.key(name): values}

    def width_keys(self, table: ChainTable) -> tuple[str, ...]:
        """One per joint with Coulomb friction."""
        rubbing = (i for i, joint in enumerate(table.joints) if np.any(joint.coulomb))
        return tuple(f"joints.{i}.width" for i in rubbing)

    def friction_units(self, legs: Chain | Pin) -> Mapping[str, str]:
        """Of "joint1 viscous" and "joint1 coulomb"."""
        found = {}
        for i, one in legs.single.items():
            units = LINEAR if legs.joints[one] == PRISMATIC else ROTARY
            found[f"joint{i + 1} viscous"] = f"{units.force} s/{units.q}"
            found[f"joint{i + 1} coulomb"] = units.force
        return found
