"""The page about a result: what ran, curves over time, peaks of every actuator, limits, energy audit.

A result is the dataset that `gough simulate`, `gough forces` or `gough kinematics` writes as NetCDF.
It is known by what it holds, not by its name, and may come from anywhere: variables of another shape
or kind are refused, numbers that are not finite are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.base.arrays import Array
from gough.base.tables import read_bytes
from gough.data.datasets import JOINT_LOADS, LABELS
from gough.data.motion_files import read_dataset
from gough.errors import FileError
from gough.legs.units import LINEAR, ROTARY
from gough.model.contributions import Contributions
from gough.show.page import Cell, Marked, Page
from gough.show.pictures.curves import curves, draw_limits
from gough.show.pictures.simulation import ENERGIES, energy_curves

if TYPE_CHECKING:
    import xarray

KINDS = {
    "simulation": ("position_error", "energy_residual", "force"),
    "forces": ("force", "power"),
    "kinematics": ("q", "q_rate", "q_acceleration"),
}
"""Variables that tell a result, by what it is."""
ACTUATORS = {
    "q": ("coordinate", "$q$"),
    "q_rate": ("speed", r"$\dot q$"),
    "q_acceleration": ("acceleration", r"$\ddot q$"),
    "force": ("force", r"$\Gamma$"),
    "power": ("power", "power"),
}
"""Quantities of an actuator: name, and how a picture writes it."""
CAUSES = {f"force_{part.name}": part.name.replace("_", " ") for part in fields(Contributions)}
FARTHEST = 1e30
"""Numbers beyond this are no result and would break a picture."""
MOST_MODES = 10
"""Modes whose coordinates are drawn."""
MOST_ROWS = 100
"""Simulations of a batch that are listed."""


def read_result(path: str | os.PathLike[str]) -> xarray.Dataset:
    """A result from a NetCDF file."""
    return read_dataset(read_bytes(Path(path)))


def kind_of_result(dataset: xarray.Dataset) -> str:
    """simulation, forces or kinematics, by what the dataset holds."""
    for kind, names in KINDS.items():
        if all(name in dataset.data_vars for name in names):
            return kind
    if "position" in dataset.data_vars and "force" not in dataset.data_vars:
        raise FileError("a motion, no result: gough report ROBOT --motion shows what it asks for")
    held = ", ".join(sorted(str(name)[:30] for name in dataset.data_vars)[:5]) or "nothing"
    raise FileError(f"no result of gough simulate, forces or kinematics: it holds {held}")


class Units:
    """Units of `ACTUATORS`, one per actuator: what the result says, or else metre and newton."""

    def __init__(self, dataset: xarray.Dataset, count: int) -> None:
        said = {}
        for name in ("q", "force"):
            text = str(dataset[name].attrs.get("units", "")) if name in dataset else ""
            parts = text.split(", ")
            said[name] = parts if len(parts) == count else parts[:1] * count
        turns = [{ROTARY.q, ROTARY.force} & {*pair} for pair in zip(*said.values(), strict=True)]
        self._each = [ROTARY if one else LINEAR for one in turns]

    def of(self, name: str) -> list[str]:
        """Of each actuator."""
        forms = {"q": "[q]", "q_rate": "[q]/s", "q_acceleration": "[q]/s²", "power": "W"}
        return [one.of(forms.get(name, "[force]")) for one in self._each]

    def label(self, name: str) -> str:
        """The unit that all have, or all that there are."""
        return " or ".join(dict.fromkeys(self.of(name)))

    def apart(self, name: str, values: Array) -> list[tuple[Array, str]]:
        """Values (n, actuators) unit by unit, NaN where an actuator has another."""
        own = np.array(self.of(name))
        return [(np.where(own == unit, values, np.nan), unit) for unit in dict.fromkeys(own)]


def result_page(dataset: xarray.Dataset, name: str = "") -> Page:
    """A page about a result; `name` is that of its file."""
    kind = kind_of_result(dataset)
    title = _said(dataset, "title") or {"simulation": "Simulation"}.get(kind, kind.capitalize())
    page = Page(title[:1].upper() + title[1:], name)
    _batch(page, dataset, kind)
    return page


def _batch(page: Page, dataset: xarray.Dataset, kind: str) -> None:
    """One result, or a table of many and the one that follows worst."""
    batch = [dim for dim in dataset.sizes if str(dim).startswith("simulation")]
    page.facts(_facts(dataset, kind))
    if not batch:
        add_result(page, dataset)
        return
    flat = dataset.stack(flat=batch) if len(batch) > 1 else dataset.rename({batch[0]: "flat"})
    apart = np.linalg.norm(_values(flat["position_error"], ("flat", "time", "axis")), axis=-1)
    turned = np.linalg.norm(_values(flat["rotation_error"], ("flat", "time", "axis")), axis=-1)
    forces = np.abs(_values(flat["force"], ("flat", "time", "actuator")))
    worst = [_largest(one.reshape(len(one), -1)) for one in (apart, turned, forces)]
    rows: list[list[Cell]] = [
        [str(i), *(_number(float(column[i])) for column in worst)] for i in range(len(apart))
    ]
    chosen = int(np.argmax(np.where(np.isfinite(worst[0]), worst[0], -1.0)))
    page.heading("All simulations")
    more = f" The first {MOST_ROWS} of {len(rows)}." if len(rows) > MOST_ROWS else ""
    page.table(
        [
            "simulation",
            "position error [m]",
            "rotation error [rad]",
            f"force [{Units(dataset, forces.shape[-1]).label('force')}]",
        ],
        rows[:MOST_ROWS],
        f"Largest over time.{more} Below: simulation {chosen}, which errs most.",
    )
    add_result(page, flat.isel(flat=chosen))


def _facts(dataset: xarray.Dataset, kind: str) -> list[tuple[str, str | Marked]]:
    what = {
        "simulation": "closed-loop simulation",
        "forces": "actuator forces for a motion",
        "kinematics": "legs along a motion",
    }[kind]
    facts: list[tuple[str, str | Marked]] = [("what", what)]
    facts += [
        (label, said)
        for label, key in (("made by", "source"), ("command", "history"))
        if (said := _said(dataset, key))
    ]
    time = _time(dataset)
    samples = int(np.prod([n for dim, n in dataset.sizes.items() if dim not in LABELS]))
    span = "" if time is None or not len(time) else f", {time[-1] - time[0]:.6g} s"
    facts.append(("samples", f"{samples}{span}"))
    facts.append(("actuators", str(dataset.sizes.get("actuator", 0))))
    stops = _said(dataset, "stops")
    if stops:
        facts.append(("ended early", Marked(stops, "bad")))
    return facts


def add_result(page: Page, dataset: xarray.Dataset) -> None:
    """Sections on all that a result holds: one state or a run of samples, no batch."""
    dims = [str(dim) for dim in dataset.sizes if dim not in LABELS]
    count = int(dataset.sizes.get("actuator", 0))
    run = dims[0] if len(dims) == 1 else "sample"
    flat = dataset.stack(sample=dims) if len(dims) > 1 else dataset
    flat = flat if dims else flat.expand_dims(run)
    if "actuator" not in dataset.sizes:
        raise FileError(f"no dimension actuator, but {', '.join(map(str, dataset.sizes))[:100]}")
    if flat.sizes[run] == 0 or count == 0:
        raise FileError("the result holds no samples")
    time = _time(dataset) if dims == ["time"] else None
    data = {
        str(name): _values(flat[name], (run, *_own_dims(flat[name], run))) for name in _used(flat)
    }
    units = Units(dataset, count)
    _limits(page, dataset)
    _peaks(page, data, units, time)
    x, xlabel = (np.arange(flat.sizes[run]), "sample") if time is None else (time, "time [s]")
    if len(dims) == 1 and len(x) > 1:
        said = dataset["force"].attrs.get("limit") if "force" in dataset else None
        limit = np.broadcast_to(np.inf if said is None else np.asarray(said, dtype=float), count)
        _pictures(page, data, units, x, xlabel, limit)
    _reactions(page, data)
    if "energy_residual" in data:
        _energy(page, data)


def _used(flat: xarray.Dataset) -> Iterator[str]:
    """Names of what a page shows of a result."""
    single = {"position_error", "rotation_error", "saturated", *ENERGIES}
    single |= {"kinetic_energy", "potential_energy", "elastic"}
    for name in map(str, flat.data_vars):
        if name in {*single, *ACTUATORS, *JOINT_LOADS, *CAUSES}:
            yield name


def _own_dims(variable: xarray.DataArray, run: str) -> tuple[str, ...]:
    """What a variable should extend over beside the samples."""
    name = str(variable.name)
    if name in ("position_error", "rotation_error"):
        return ("axis",)
    if name in JOINT_LOADS:
        return ("leg", "leg_joint", "axis") if name.startswith("joint_") else ("leg", "axis")
    if name == "elastic":
        return ("mode",)
    if name in ENERGIES or name.endswith("_energy"):
        return ()
    return ("actuator",)


def _values(variable: xarray.DataArray, dims: tuple[str, ...]) -> Array:
    """The numbers of a variable over just these dimensions; NaN where they are no result."""
    if {*variable.dims} != {*dims} or variable.dtype.kind not in "fiub":
        has, needs = (f"({', '.join(map(str, one))})" for one in (variable.dims, dims))
        raise FileError(
            f"{variable.name} holds {variable.dtype} over {has}, needs numbers over {needs}"
        )
    values = variable.transpose(*dims).values.astype(np.float64)
    return np.where(np.abs(values) < FARTHEST, values, np.nan)


def _time(dataset: xarray.Dataset) -> Array | None:
    if "time" not in dataset.sizes or "time" not in dataset.coords:
        return None
    time = _values(dataset["time"], ("time",))
    if not np.all(np.isfinite(time)) or np.any(np.diff(time) < 0):
        raise FileError("time is not finite, or goes back")
    return time


def _said(dataset: xarray.Dataset, key: str) -> str:
    """An attribute as text."""
    return str(dataset.attrs.get(key, "")).strip()[:2000]


def _limits(page: Page, dataset: xarray.Dataset) -> None:
    said = _said(dataset, "limits")
    if not said:
        return
    page.heading("Limits of the robot file")
    lines = said.split("\n")
    page.facts([("", Marked(line, "bad" if line.startswith("leg ") else "good")) for line in lines])


def _peaks(page: Page, data: dict[str, Array], units: Units, time: Array | None) -> None:
    """Range or peak, when, and root mean square of every actuator's quantities."""
    page.heading("Actuators")
    for group in (("q", "q_rate", "q_acceleration"), ("force", "power")):
        shown = [one for one in group if one in data]
        if not shown:
            continue
        mixed = len({*units.of(group[0])}) > 1
        header = ["actuator", *(["unit"] if mixed else [])]
        columns: list[Sequence[str]] = [[str(i + 1) for i in range(data[shown[0]].shape[1])]]
        columns += [units.of(group[0])] if mixed else []
        for name in shown:
            header += _peak_header(name, units.label(name), time is not None)
            columns += _peak_columns(name, data[name], time)
        if "saturated" in data and group[0] == "force":
            header.append("at its limit [% of samples]")
            columns.append([f"{100 * one:.1f}" for one in np.mean(data["saturated"] > 0, axis=0)])
        rows: list[list[Cell]] = [list(row) for row in zip(*columns, strict=True)]
        page.table(header, rows, RMS if group[0] == "force" else "")


RMS = "Peak: largest absolute value, with its sign; rms over time, or over samples without times."


def _peak_header(name: str, unit: str, timed: bool) -> list[str]:
    if name == "q":
        return [f"{what} [{unit}]" for what in ("shortest q", "longest q", "used")]
    what, _ = ACTUATORS[name]
    when = ["at [s]"] if timed else []
    return [f"peak {what} [{unit}]", *when, f"rms {what} [{unit}]"]


def _peak_columns(name: str, values: Array, time: Array | None) -> list[Sequence[str]]:
    if name == "q":
        low, high = -_largest(-values.T), _largest(values.T)
        return [[_number(one) for one in column] for column in (low, high, high - low)]
    peaks, places = [], []
    for curve in values.T:
        known = np.where(np.isfinite(curve), np.abs(curve), -1.0)
        at = int(np.argmax(known))
        peaks.append(_number(curve[at]))
        places.append("–" if time is None or known[at] < 0 else f"{time[at]:.4g}")
    rms = [_number(_rms(curve, time)) for curve in values.T]
    return [peaks, *([places] if time is not None else []), rms]


def _rms(curve: Array, time: Array | None) -> float:
    """√(∫ x² dt / T) by trapezoids, or √(mean x²) without times."""
    known = np.isfinite(curve)
    if not np.any(known):
        return float("nan")
    square = curve[known] ** 2
    if time is None or (span := float(np.ptp(time[known]))) == 0:
        return float(np.sqrt(np.mean(square)))
    return float(np.sqrt(np.trapezoid(square, time[known]) / span))


def _pictures(
    page: Page, data: dict[str, Array], units: Units, x: Array, xlabel: str, limit: Array
) -> None:
    """Curves; `limit` (actuators,) of the forces, infinite where there is none."""
    labels = [f"actuator {i + 1}" for i in range(len(limit))]
    page.heading("Over time" if xlabel.startswith("time") else "Over the samples")
    if "position_error" in data and "rotation_error" in data:
        panels = [
            _scaled(data["position_error"], "position error [{}m]"),
            _scaled(data["rotation_error"], "rotation error [{}rad]"),
        ]
        figure = curves(x, xlabel, panels, list("xyz"))
        page.figure(figure, "Reference less platform: position, and rotation vector, world axes.")
    for names, caption in (
        (("force", "power"), "Actuator forces and powers."),
        (("q", "q_rate", "q_acceleration"), "Actuated coordinates."),
    ):
        panels = [
            (values, f"{ACTUATORS[name][1]} [{unit}]")
            for name in names
            if name in data
            for values, unit in units.apart(name, data[name])
        ]
        if panels:
            figure = curves(x, xlabel, panels, labels)
            if names[0] == "force" and "force" in data:
                draw_limits(figure, [one for one, _ in units.apart("force", data["force"])], limit)
            page.figure(figure, caption)
    if "elastic" in data:
        shown = data["elastic"][:, :MOST_MODES]
        modes = [f"mode {i + 1}" for i in range(shown.shape[1])]
        figure = curves(x, xlabel, [(shown, "modal coordinate")], modes)
        page.figure(figure, "Modal coordinates of the platform, the first ten at most.")
    causes = _causes(data)
    if causes:
        panels = [
            (values, CAUSES[name].replace(" ", "\n") + f" [{unit}]")
            for name, value in causes.items()
            for values, unit in units.apart("force", value)
        ]
        page.figure(curves(x, xlabel, panels, labels), "Where the actuator forces come from.")
        largest = [(name, _largest(np.abs(value).T)) for name, value in causes.items()]
        rows: list[list[Cell]] = [
            [CAUSES[name], *(_number(one) for one in column)] for name, column in largest
        ]
        page.table([f"largest share [{units.label('force')}]", *labels], rows)
    if "energy_residual" in data:
        audit = energy_curves(x, xlabel, {**data, "stored": _stored(data)})
        page.figure(audit, "Energy audit: works, energy stored and lost.")


def _causes(data: dict[str, Array]) -> dict[str, Array]:
    """Shares of the forces that can be seen beside the largest."""
    found = {name: data[name] for name in CAUSES if name in data}
    sizes = {name: float(np.nanmax(np.abs(value), initial=0.0)) for name, value in found.items()}
    visible = 1e-9 * max(sizes.values(), default=0.0)
    return {name: value for name, value in found.items() if sizes[name] > visible}


def _reactions(page: Page, data: dict[str, Array]) -> None:
    found = [name for name in JOINT_LOADS if name in data]
    if not found:
        return
    page.heading("Joint reactions")
    largest = {name: _largest(np.moveaxis(_sizes(data[name]), 0, -1)) for name in found}
    columns: list[Sequence[str]] = [[str(i + 1) for i in range(len(largest[found[0]]))]]
    columns += [[_number(one) for one in largest[name]] for name in found]
    header = ["leg"] + [
        f"{name.replace('_', ' ')} [{'N m' if name.endswith('moment') else 'N'}]" for name in found
    ]
    rows: list[list[Cell]] = [list(row) for row in zip(*columns, strict=True)]
    page.table(header, rows, "Largest magnitudes: forces and moments for sizing bearings.")


def _sizes(vectors: Array) -> Array:
    """Magnitudes (n, legs) of vectors (n, legs, 3), of (n, legs, joints, 3) the largest."""
    found = np.linalg.norm(vectors, axis=-1)
    return found if found.ndim == 2 else _largest(found)


def _stored(data: dict[str, Array]) -> Array:
    """Energy stored since the first sample, J."""
    known = [data[name] for name in ("kinetic_energy", "potential_energy") if name in data]
    stored: Any = sum(known, np.zeros_like(data["energy_residual"]))
    return np.asarray(stored - stored[0])


def _energy(page: Page, data: dict[str, Array]) -> None:
    page.heading("Energy audit")
    parts = {**data, "stored": _stored(data)}
    words = {
        "actuator_work": "work of the actuators",
        "wrench_work": "work of the external wrench",
        "stored": "energy stored, kinetic and potential",
        "loss": "lost to friction and damping",
        "energy_residual": "unexplained",
    }
    rows: list[list[Cell]] = []
    for name, label in words.items():
        if name in parts:
            known = parts[name][np.isfinite(parts[name])]
            last = _number(float(known[-1])) if len(known) else "–"
            rows.append([label, last, _number(float(_largest(np.abs(parts[name]))))])
    page.table(
        ["since the start", "at the end [J]", "largest [J]"],
        rows,
        "What goes in is stored or lost; the rest is the integrator's error.",
    )


def _scaled(values: Array, label: str) -> tuple[Array, str]:
    """Values in the unit prefix that keeps numbers readable."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    for factor, prefix in ((1.0, ""), (1e3, "m"), (1e6, "µ"), (1e9, "n")):
        if largest * factor >= 0.5 or largest == 0.0:
            return factor * values, label.format(prefix)
    return 1e12 * values, label.format("p")


def _largest(values: Array) -> Array:
    """Largest along the last axis, NaN left out; NaN where there is nothing else."""
    known = np.isfinite(values)
    found = np.max(np.where(known, values, -np.inf), axis=-1, initial=-np.inf)
    return np.asarray(np.where(np.any(known, axis=-1), found, np.nan))


def _number(value: float) -> str:
    return f"{value + 0.0:.4g}" if np.isfinite(value) else "–"
