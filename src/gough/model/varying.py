"""Values by keys of a robot's file for many robots at once, and bodies that they change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, given_numbers
from gough.errors import InputError
from gough.legs.bodies import (
    PARTED_PARAMETERS,
    STANDARD_PARAMETERS,
    about_origin,
    from_standard,
    steiner,
    warn_impossible,
)
from gough.mechanics.body import Body

CORES = {"center_of_mass": (3,), "inertia": (3, 3)}
BODY_KEYS: dict[str, tuple[int, ...]] = {
    key: CORES.get(key, ()) for key in (*PARTED_PARAMETERS, *STANDARD_PARAMETERS)
}
"""Numbers of a body that may vary, and the shape of one body's value."""


class Varying:
    """What was given by key, (variants, and one variant's own axes), for variants of a batch shape."""

    def __init__(
        self,
        name: str,
        cores: Mapping[str, tuple[int, ...]],
        changes: Mapping[str, ArrayLike],
        home: tuple[Array, Array] | None,
    ) -> None:
        """`cores` are the shapes of one variant's values by all keys that there are."""
        self.name = name
        self.home = home
        """Position (3,) and rotation (3, 3) of the platform at home, which all variants share."""
        self.given: dict[str, Array] = {}
        shapes = {}
        if not isinstance(changes, Mapping):
            raise InputError(f"variants needs values by key, not {changes!r}"[:120])
        for key, value in changes.items():
            if key not in cores:
                near = get_close_matches(str(key), cores, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise InputError(f"variants: {key!r} is no number of {name} to vary{hint}")
            self.given[key] = _numbers(key, value, cores[key])
            shapes[key] = self.given[key].shape[: self.given[key].ndim - len(cores[key])]
        try:
            self.shape = np.broadcast_shapes(*shapes.values())
        except ValueError:
            found = ", ".join(f"{key} {shape}" for key, shape in shapes.items())
            raise InputError(f"variants: the batch axes do not fit: {found}") from None
        self.variants = math.prod(self.shape)
        for key, core in cores.items():
            if key in self.given:
                whole = np.broadcast_to(self.given[key], self.shape + core)
                self.given[key] = whole.reshape(self.variants, *core)

    def under(self, where: str) -> bool:
        """Whether any key below one varies."""
        return any(key.startswith(f"{where}.") for key in self.given)

    def _warn_impossible(self, where: str, mass: Array, moment: Array, inertia: Array) -> None:
        """Warn of what no mass distribution can have, variants (n, legs, ...) one after the other."""
        mass, moment, inertia = (
            np.broadcast_to(part, (self.variants, *part.shape[1:]))
            for part in (mass, moment, inertia)
        )
        worst = [part.reshape(-1, *part.shape[2:]) for part in (mass, moment, inertia)]
        warn_impossible(worst[0], worst[1], worst[2], f"{self.name}: variants: {where}", "robot")

    def changed_body(self, where: str, body: Body) -> Body:
        """A body with some of its parameters changed: (legs or 1, variants) and more axes in front."""
        parted = [key for key in PARTED_PARAMETERS if f"{where}.{key}" in self.given]
        ten = [key for key in STANDARD_PARAMETERS if f"{where}.{key}" in self.given]
        if not parted and not ten:
            return body
        if parted and ten:
            raise InputError(f"variants: {where} mixes {parted[0]} with {ten[0]}")
        one = where == "platform"

        def given(key: str, otherwise: Array) -> Array:
            value = self.given.get(f"{where}.{key}")
            if value is None:
                return otherwise
            return value[:, np.newaxis] if one else value

        # (variants or 1, legs, ...)
        mass = body.mass.T
        moment, inertia = (np.moveaxis(part, (-1, -2), (0, 1)) for part in body[1:])
        if ten:
            upper = [inertia[..., i, j] for i, j in zip(*np.triu_indices(3), strict=True)]
            old = [*upper, *np.moveaxis(moment, -1, 0), mass]
            values = [given(*both) for both in zip(STANDARD_PARAMETERS, old, strict=True)]
            mass, moment, inertia = from_standard(*np.broadcast_arrays(*values))
        else:
            weight = mass[..., np.newaxis]
            center = np.divide(moment, weight, out=np.zeros_like(moment), where=weight != 0)
            central = inertia - weight[..., np.newaxis] * steiner(center)
            new = given("inertia", central)
            if np.abs(new - np.swapaxes(new, -1, -2)).max(initial=0.0) > 1e-9 * np.abs(new).max(
                initial=0.0
            ):
                raise InputError(f"variants: {where}.inertia is not symmetric")
            mass, moment, inertia = about_origin(
                given("mass", mass), given("center_of_mass", center), new
            )
        count = self.variants
        self._warn_impossible(where, mass, moment, inertia)
        return Body(
            *(
                np.broadcast_to(np.moveaxis(part, (0, 1), (-1, -2)), (*old.shape[:-1], count))
                for part, old in zip((mass, moment, inertia), body, strict=True)
            )
        )


def _numbers(key: str, value: ArrayLike, core: tuple[int, ...]) -> Array:
    array = given_numbers(f"variants: {key}", value)
    found = array.shape[array.ndim - len(core) :]
    alike = key.startswith("legs.") and found == (1, *core[1:])
    if array.ndim < len(core) or (found != core and not alike):
        wanted = ", ".join(["...", *map(str, core)])
        raise InputError(f"variants: {key} has shape {array.shape}, needs ({wanted})")
    if not np.isfinite(array).all():
        raise InputError(f"variants: {key} is not finite")
    return array
