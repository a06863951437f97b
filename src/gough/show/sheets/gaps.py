"""What is wrong with a robot, what its file leaves out, and which of its values are defaults."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gough.base.arrays import Array
from gough.base.keys import Table
from gough.legs.bodies import PARTED_PARAMETERS, BodyTable, impossible
from gough.legs.completion import completable
from gough.mechanics.body import Body
from gough.model.places import alike
from gough.robot import Robot
from gough.show.sheets.holding import too_few


def wrong(robot: Robot) -> list[str]:
    """What no robot can work with: too few actuators, bodies that no mass distribution can have."""
    found = [text] if (text := too_few(robot)) else []
    for one in alike(robot):
        named = one.legs.named_bodies().items()
        said = {
            f"{one.where}.{one.kind.words.body_key.format(name=name, place=place)}": body
            for place, (name, body) in enumerate(named)
        }
        if any(_impossible(body) for body in said.values()):
            real = completable(one.kind.parameters, one.legs)
            found += [f"[{key}]{why}" for key in said if (why := _impossible(said[key], real))]
    why = _impossible(robot.description.platform)
    return [*found, f"[platform]{why}"] if why else found


def _impossible(body: Body, excused: Array | None = None) -> str:
    return impossible(
        body.mass[:, 0],
        body.first_moment[..., 0].T,
        np.moveaxis(body.inertia[..., 0], -1, 0),
        excused=excused,
    )


def missing(robot: Robot) -> list[str]:
    """Tables that the file leaves out, and what cannot be known without them."""
    lacks = ", ".join(f"[{name}]" for name in robot.description.missing)
    return [f"{lacks}: no forces and no dynamics without"] if lacks else []


def defaults(robot: Robot) -> list[str]:
    """Keys that the file leaves out and that have a default, with its value where that is short."""
    file = robot.file
    found = [] if "gravity" in file.model_fields_set else ["gravity"]
    for where, group in file.leg_groups.items():
        found += _unset(group, where, robot.description.missing)
    if file.platform is not None:
        found += _body(file.platform, "platform")
        if file.platform.plate is not None:
            found += _unset(file.platform.plate, "platform.plate", ())
    return found


def _unset(table: Table, where: str, missing: tuple[str, ...]) -> Iterator[str]:
    """Of a table and its bodies; tables that are left out altogether are named themselves."""
    for key in type(table).model_fields:
        place, value = f"{where}.{key}", getattr(table, key)
        if key in table.model_fields_set:
            for body in value if isinstance(value, list) else ():
                if isinstance(body, BodyTable):
                    yield from _body(body, place)
        elif isinstance(value, Table):
            yield f"no {place}"
        elif place not in missing and not (value is None and key in EITHER):
            if isinstance(value, str | bool):
                yield f"{place} = {value}".lower()
            else:
                yield f"{place} = {value:g}" if isinstance(value, int | float) else place


EITHER = ("radius", "sides", "outline")
"""Keys of a plate, of which some take the place of others."""


def _body(body: BodyTable, where: str) -> Iterator[str]:
    """What is missing beside a mass counts as 0; a body without any value is massless on purpose."""
    given = body.model_fields_set & {*PARTED_PARAMETERS}
    if given and not body.solids:
        yield from (f"{where}.{key} = 0" for key in PARTED_PARAMETERS if key not in given)
