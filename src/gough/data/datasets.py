"""Results as labelled datasets, and datasets as files: NetCDF, or CSV with names that carry units."""

from __future__ import annotations

import contextlib
import csv
import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.base.arrays import Array
from gough.base.files import replacing
from gough.errors import FileError, InputError
from gough.motion import Motion

if TYPE_CHECKING:
    import xarray

    from gough.model.contributions import Contributions
    from gough.model.model import Model
    from gough.results import Actuation, LegMotion, Reactions

KINDS = (".csv", ".nc")
AXES = ("x", "y", "z")
LEG_QUANTITIES = {
    "q": ("q", "", "", "actuated coordinate"),
    "q_rate": ("qd", "", "/s", "actuated rate"),
    "q_acceleration": ("qdd", "", "/s2", "actuated acceleration"),
    "joint_coordinate": ("joints", "joint", "", "joint coordinate"),
    "joint_rate": ("joint_rates", "joint", "/s", "joint rate"),
    "joint_acceleration": ("joint_accelerations", "joint", "/s2", "joint acceleration"),
    "direction": ("direction", "axis", "1", "unit vector from universal to spherical joint"),
    "link_angular_velocity": ("link_angular_velocity", "axis", "rad/s", "angular velocity of link"),
    "link_angular_acceleration": ("link_angular_acceleration", "axis", "rad/s2", "its derivative"),
}
"""Variables of a leg dataset: LegMotion's field, last dimension, unit (behind that of q, or of the
joint), meaning."""
LABELS = ("leg", "joint", "axis", "platform_axis", "mode")
"""Dimensions of a dataset that are not the batch's."""


def batch_coordinates(motion: Motion) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Dimensions and coordinates of a motion's batch, for datasets of what is computed from it.

    The dimension is `time` if the motion is timed and of shape (n,), else `sample_0`, …; other
    timed motions have their times as a coordinate along those.
    """
    dims = tuple(f"sample_{i}" for i in range(len(motion.shape)))
    if motion.time is None:
        return dims, {}
    dims = ("time",) if len(dims) == 1 else dims
    return dims, {"time": (dims, motion.time, attributes("s", "time"))}


def leg_dataset(robot: Model, motion: Motion, legs: LegMotion) -> xarray.Dataset:
    """What the legs do (`robot.inverse_kinematics(motion)`) as a labelled dataset.

    Dimensions: the batch's (`batch_coordinates`), `leg` 1 to n, `joint` (the names of the kind of leg,
    such as q1, q2, q3), `axis` x, y, z of the world. Units along `joint` are a list: "rad, rad, m".
    """
    import xarray

    shape = (*motion.shape, robot.leg_count)
    if legs.q.shape != shape:
        raise InputError(f"legs has q of shape {legs.q.shape}, the motion and robot need {shape}")
    dims, coordinates = batch_coordinates(motion)
    words, units = robot.leg_kind.words, robot.leg_kind.units
    coordinates |= {"leg": np.arange(1, robot.leg_count + 1)}
    coordinates |= {"joint": list(words.joints), "axis": list(AXES)}
    variables = {}
    for name, (field, last, unit, meaning) in LEG_QUANTITIES.items():
        if last == "joint":
            unit = ", ".join(f"{joint}{unit}" for joint in words.joint_units)
        elif not last:
            unit = units.q + unit
        own = (*dims, "leg", last) if last else (*dims, "leg")
        variables[name] = (own, getattr(legs, field), attributes(unit, meaning))
    return xarray.Dataset(variables, coordinates, {"title": f"legs of {robot.name}"})


def force_dataset(
    robot: Model,
    motion: Motion,
    actuation: Actuation,
    contributions: Contributions | None = None,
    reactions: Reactions | None = None,
) -> xarray.Dataset:
    """What the actuators do, and if given where it comes from and what the joints bear.

    Dimensions: the batch's, `leg` 1 to n, `axis` x, y, z of the world.
    """
    import xarray

    dims, coordinates = batch_coordinates(motion)
    coordinates |= {"leg": np.arange(1, robot.leg_count + 1), "axis": list(AXES)}
    legs, vectors = (*dims, "leg"), (*dims, "leg", "axis")
    force = robot.leg_kind.units.force
    variables: dict[str, Any] = {
        "force": (legs, actuation.forces, attributes(force, "actuator force")),
        "power": (legs, actuation.power, attributes("W", "actuator power")),
    }
    if contributions is not None:
        for part in fields(contributions):
            if part.name == "elastic" and not robot.modes:
                continue
            meaning = f"actuator force from {part.name.replace('_', ' ')}"
            value = getattr(contributions, part.name)
            variables[f"force_{part.name}"] = (legs, value, attributes(force, meaning))
    if reactions is not None:
        for part in fields(reactions):
            value = getattr(reactions, part.name)
            if value is None or part.name == "residual":
                continue
            unit = "N m" if part.name.endswith("moment") else "N"
            meaning = f"{part.name.replace('_', ' ')} reaction"
            variables[part.name] = (vectors, value, attributes(unit, meaning))
    return xarray.Dataset(variables, coordinates, {"title": f"forces of {robot.name}"})


def write_dataset(dataset: xarray.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a dataset as .nc, or as .csv with one row a sample, whole or not at all.

    CSV: one dimension may be the batch's, the others are `leg`, `joint`, `axis`, `platform_axis` or
    `mode`. The leg's number follows the variable's first word, the other labels its last:
    `q_rate` of leg 1 in m/s is `q1_rate [m/s]`, `reaction` of leg 2 along x `reaction2_x [N]`.
    """
    if kind_of(path) == ".nc":
        with writing(path) as temporary:
            dataset.to_netcdf(temporary, engine="scipy")
        return
    batch = [str(dim) for dim in dataset.sizes if dim not in LABELS]
    if len(batch) > 1:
        raise InputError(f"dataset: CSV holds one batch dimension, not {', '.join(batch)}; use .nc")
    for dim in dataset.sizes:
        if dim in LABELS and dim not in dataset.coords:
            raise InputError(f"dataset: CSV columns need the labels of {dim}, a coordinate")
    rows = dataset.sizes[batch[0]] if batch else 1
    columns: dict[str, Array] = {}
    others = (name for name in dataset.coords if name not in dataset.sizes)
    for name in (*batch, *others, *dataset.data_vars):
        variable = dataset[name]
        labelled = [dim for dim in variable.dims if dim in LABELS]
        for place in itertools.product(*(range(variable.sizes[dim]) for dim in labelled)):
            chosen = dict(zip(labelled, place, strict=True))
            one = variable.isel(chosen)
            columns[_flat_name(str(name), one, chosen)] = np.broadcast_to(one.values, (rows,))
    write_table(columns, path)


def _flat_name(name: str, one: xarray.DataArray, chosen: Mapping[Any, int]) -> str:
    """CSV column of what is left of a variable when every label is chosen."""
    unit = str(one.attrs.get("units", ""))
    if "joint" in chosen and ", " in unit:
        unit = unit.split(", ")[chosen["joint"]]
    if "leg" in chosen:
        first, *rest = name.split("_", 1)
        name = "_".join([f"{first}{one['leg'].item()}", *rest])
    labels = [str(one[dim].item()) for dim in chosen if dim != "leg"]
    return heading("_".join([name, *labels]), "" if unit == "1" else unit)


def heading(name: str, unit: str) -> str:
    """CSV column of a name with its unit."""
    return f"{name} [{unit}]" if unit else name


def attributes(unit: str, meaning: str) -> dict[str, str]:
    """What a dataset says about a variable."""
    return {"units": unit, "long_name": meaning} if unit else {"long_name": meaning}


def write_table(columns: Mapping[str, Array], path: str | os.PathLike[str]) -> None:
    """CSV of equally long columns; every number with the digits that bring it back exactly."""
    with writing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """As `gough.base.files.replacing`, with a full disk and the like as `FileError`."""
    try:
        with replacing(path) as temporary:
            yield temporary
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None


def kind_of(path: str | os.PathLike[str]) -> str:
    """The kind of file by its suffix, .csv or .nc."""
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise FileError(f"{path}: the name must end in {' or '.join(KINDS)}")
    return kind
