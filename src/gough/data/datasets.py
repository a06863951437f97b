"""Results as labelled datasets, and datasets as files: NetCDF, or CSV with names that carry units."""

from __future__ import annotations

import contextlib
import csv
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.base.arrays import Array
from gough.base.files import replacing
from gough.errors import FileError, InputError
from gough.motion import Motion

if TYPE_CHECKING:
    import pandas
    import xarray

    from gough.model.calls import ModelCalls
    from gough.model.contributions import Contributions
    from gough.model.model import Model
    from gough.results import Acceleration, Actuation, Energy, LegMotion, Reactions

KINDS = (".csv", ".nc")
JOINT_LOADS = (
    *("spherical", "universal", "universal_moment", "guide", "guide_moment"),
    *("sliding_force", "sliding_moment", "platform_moment", "joint_force", "joint_moment"),
)
"""Fields of `Reactions` that are vectors of joints."""
AXES = ("x", "y", "z")
LEG_QUANTITIES = {
    "q": ("q", "", "", "actuated coordinate"),
    "q_rate": ("qd", "", "/s", "actuated rate"),
    "q_acceleration": ("qdd", "", "/s2", "actuated acceleration"),
    "joint_coordinate": ("joints", "joint", "", "joint coordinate"),
    "joint_rate": ("joint_rates", "joint", "/s", "joint rate"),
    "joint_acceleration": ("joint_accelerations", "joint", "/s2", "joint acceleration"),
    "direction": (
        "direction",
        "axis",
        "1",
        "unit vector along the link, of a chain to its last joint",
    ),
    "link_angular_velocity": ("link_angular_velocity", "axis", "rad/s", "angular velocity of link"),
    "link_angular_acceleration": ("link_angular_acceleration", "axis", "rad/s2", "its derivative"),
}
"""Variables of a leg dataset: LegMotion's field, last dimension, unit (behind that of q, or of the
joint), meaning."""
ROWS = 10_000
"""Rows of a table that are turned into text at once."""
NUMBERED = ("actuator", "leg")
"""Dimensions whose number follows a variable's first word in CSV."""
LABELS = (*NUMBERED, "joint", "leg_joint", "axis", "platform_axis", "mode")
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


def actuator_attributes(robot: ModelCalls, unit: str, meaning: str) -> dict[str, str]:
    """What a dataset says about a variable of the actuators; `unit` as `LegUnits.of` takes it.

    Where actuators differ the units are a list: "N, N, N m".
    """
    return attributes(unit_list([one.units.of(unit) for one in robot.actuators]), meaning)


def unit_list(units: Sequence[str]) -> str:
    """The unit that all have, or a list: "N, N, N m"."""
    return units[0] if len({*units}) == 1 else ", ".join(units)


def labels(robot: ModelCalls, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Coordinates that number actuators and legs from 1, and name the axes of the world.

    Those along which no variable (dimensions, values, …) extends are left out: a table of the dataset
    would repeat its rows for each of them.
    """
    known = {
        "actuator": np.arange(1, robot.actuator_count + 1),
        "leg": np.arange(1, robot.leg_count + 1),
        "axis": list(AXES),
    }
    used = {dim for dims, *_ in variables.values() for dim in dims}
    return {name: values for name, values in known.items() if name in used}


def leg_dataset(robot: Model, motion: Motion, legs: LegMotion) -> xarray.Dataset:
    """What the legs do (`robot.inverse_kinematics(motion)`) as a labelled dataset.

    Dimensions: the batch's (`batch_coordinates`), `actuator` and `leg` from 1, `joint` (the names of
    the kind of leg, such as q1, q2, q3; left out where legs are of several kinds or chains), `axis` x,
    y, z of the world. Units along `joint` and `actuator` are a list where they differ: "rad, rad, m".
    """
    import xarray

    shape = (*motion.shape, robot.actuator_count)
    if legs.q.shape != shape:
        raise InputError(f"legs has q of shape {legs.q.shape}, the motion and robot need {shape}")
    dims, coordinates = batch_coordinates(motion)
    kinds = {group.kind.name: group.kind.words for group in robot.description.groups}
    words = next(iter(kinds.values()))
    named = len(kinds) == 1 and len(words.joints) > 0
    coordinates |= {"joint": list(words.joints)} if named else {}
    variables: dict[str, Any] = {}
    for name, (field, last, unit, meaning) in LEG_QUANTITIES.items():
        own = (*dims, "leg", last) if last else (*dims, "actuator")
        about = attributes(unit, meaning)
        if last == "joint":
            if not named:
                continue
            about = attributes(", ".join(f"{one}{unit}" for one in words.joint_units), meaning)
        elif not last:
            about = actuator_attributes(robot, f"[q]{unit}", meaning)
        variables[name] = (own, getattr(legs, field), about)
    coordinates |= labels(robot, variables)
    return xarray.Dataset(variables, coordinates, {"title": f"legs of {robot.name}"})


def force_dataset(
    robot: Model,
    motion: Motion,
    actuation: Actuation,
    contributions: Contributions | None = None,
    reactions: Reactions | None = None,
) -> xarray.Dataset:
    """What the actuators do, and if given where it comes from and what the joints bear.

    Dimensions: the batch's and `actuator` from 1, with reactions `leg` from 1, `leg_joint` of chains,
    `axis` x, y, z of the world. Of reactions what no leg has is left out.
    """
    import xarray

    dims, coordinates = batch_coordinates(motion)
    own = (*dims, "actuator")
    about: dict[str, Any] = dict(actuator_attributes(robot, "[force]", "actuator force"))
    if np.any(np.isfinite(robot.limits.force)):
        about["limit"] = robot.limits.force
    variables: dict[str, Any] = {
        "force": (own, actuation.forces, about),
        "power": (own, actuation.power, attributes("W", "actuator power")),
    }
    if contributions is not None:
        variables |= _contributions(robot, dims, contributions)
    if reactions is not None:
        variables |= _reactions(robot, dims, reactions)
        if "joint_force" in variables:
            coordinates["leg_joint"] = np.arange(1, reactions.joint_force.shape[-2] + 1)
    coordinates |= labels(robot, variables)
    return xarray.Dataset(variables, coordinates, {"title": f"forces of {robot.name}"})


def contribution_dataset(
    robot: Model, motion: Motion, contributions: Contributions
) -> xarray.Dataset:
    """Where the actuator forces come from (`robot.contributions(motion)`)."""
    import xarray

    dims, coordinates = batch_coordinates(motion)
    variables = _contributions(robot, dims, contributions)
    coordinates |= labels(robot, variables)
    return xarray.Dataset(variables, coordinates, {"title": f"contributions of {robot.name}"})


def reaction_dataset(robot: Model, motion: Motion, reactions: Reactions) -> xarray.Dataset:
    """What the joints bear (`robot.reactions(motion)`); dimensions as in `force_dataset`."""
    import xarray

    dims, coordinates = batch_coordinates(motion)
    variables = _reactions(robot, dims, reactions)
    if "joint_force" in variables:
        coordinates["leg_joint"] = np.arange(1, reactions.joint_force.shape[-2] + 1)
    coordinates |= labels(robot, variables)
    return xarray.Dataset(variables, coordinates, {"title": f"reactions of {robot.name}"})


def acceleration_dataset(robot: Model, motion: Motion, found: Acceleration) -> xarray.Dataset:
    """Accelerations of the platform (`robot.direct_dynamics(motion, forces)`)."""
    import xarray

    dims, coordinates = batch_coordinates(motion)
    own = (*dims, "axis")
    variables: dict[str, Any] = {
        "acceleration": (own, found.linear, attributes("m/s2", "acceleration")),
        "angular_acceleration": (own, found.angular, attributes("rad/s2", "angular acceleration")),
    }
    if robot.modes:
        about = attributes("", "modal accelerations")
        variables["elastic_acceleration"] = ((*dims, "mode"), found.elastic, about)
        coordinates["mode"] = np.arange(1, robot.modes + 1)
    coordinates |= labels(robot, variables)
    return xarray.Dataset(variables, coordinates, {"title": f"accelerations of {robot.name}"})


def energy_dataset(robot: Model, motion: Motion, found: Energy) -> xarray.Dataset:
    """Energies of the whole robot (`robot.energy(motion)`)."""
    import xarray

    dims, coordinates = batch_coordinates(motion)
    variables = {
        name: (dims, getattr(found, name), attributes("J", f"{name} energy"))
        for name in ("kinetic", "potential")
    }
    return xarray.Dataset(variables, coordinates, {"title": f"energy of {robot.name}"})


def data_frame(dataset: xarray.Dataset) -> pandas.DataFrame:
    """The columns that the dataset has as .csv, a row per sample, indexed by time if it has one."""
    import pandas

    frame = pandas.DataFrame(flat_columns(dataset))
    return frame.set_index("time [s]") if "time" in dataset.sizes else frame


def _contributions(
    robot: Model, dims: tuple[str, ...], contributions: Contributions
) -> dict[str, Any]:
    """Variables of the forces' causes; of a rigid platform without the elastic one."""
    found: dict[str, Any] = {}
    for part in fields(contributions):
        if part.name == "elastic" and not robot.modes:
            continue
        meaning = f"actuator force from {part.name.replace('_', ' ')}"
        about = actuator_attributes(robot, "[force]", meaning)
        found[f"force_{part.name}"] = (
            (*dims, "actuator"),
            getattr(contributions, part.name),
            about,
        )
    return found


def _reactions(robot: Model, dims: tuple[str, ...], reactions: Reactions) -> dict[str, Any]:
    """Variables of what joints bear; `constraint` in force and moment, `unique` where not all are."""
    found: dict[str, Any] = {}
    for name in JOINT_LOADS:
        value = getattr(reactions, name)
        if np.isnan(value).all():
            continue
        own = ("leg", "leg_joint", "axis") if name.startswith("joint_") else ("leg", "axis")
        unit = "N m" if name.endswith("moment") else "N"
        about = attributes(unit, f"{name.replace('_', ' ')} reaction")
        found[name] = ((*dims, *own), value, about)
    if robot.description.mobility is not None:
        for name, unit, part in (("force", "N", slice(3)), ("moment", "N m", slice(3, 6))):
            about = attributes(
                unit, f"{name} that keeps the platform to its mobility, at its origin"
            )
            found[f"constraint_{name}"] = ((*dims, "axis"), reactions.constraint[..., part], about)
    if not np.all(reactions.unique):
        about = attributes("1", "1 where a leg's reactions are the only possible ones")
        found["unique"] = ((*dims, "leg"), reactions.unique.astype(np.int8), about)
    return found


def write_dataset(dataset: xarray.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a dataset as .nc, or as .csv with one row a sample, whole or not at all.

    CSV: one dimension may be the batch's, the others are those of `LABELS`. The actuator's or leg's
    number follows the variable's first word, the other labels its last: `q_rate` of actuator 1 in m/s is
    `q1_rate [m/s]`, `reaction` of leg 2 along x `reaction2_x [N]`.
    """
    if kind_of(path) == ".nc":
        with writing(path) as temporary:
            dataset.to_netcdf(temporary, engine="scipy")
    else:
        write_table(flat_columns(dataset), path)


def flat_columns(dataset: xarray.Dataset) -> dict[str, Array]:
    """The columns of a dataset as a table with one row per sample, units in their names."""
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
    return columns


def _flat_name(name: str, one: xarray.DataArray, chosen: Mapping[Any, int]) -> str:
    """CSV column of what is left of a variable when every label is chosen."""
    unit = str(one.attrs.get("units", ""))
    for dim in ("joint", "actuator"):
        if dim in chosen and ", " in unit:
            unit = unit.split(", ")[chosen[dim]]
    for dim in NUMBERED:
        if dim in chosen:
            first, *rest = name.split("_", 1)
            name = "_".join([f"{first}{one[dim].item()}", *rest])
    others = [str(one[dim].item()) for dim in chosen if dim not in NUMBERED]
    return heading("_".join([name, *others]), "" if unit == "1" else unit)


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
        for start in range(0, max(map(len, columns.values()), default=0), ROWS):
            some = (column[start : start + ROWS].tolist() for column in columns.values())
            writer.writerows(zip(*some, strict=True))


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
