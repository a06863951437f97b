"""What a file calls its columns, and in which units they are: the words of others made gough's.

A unit stands in the header (`x [mm]`, `x (mm)`, `x_mm`), in NetCDF in the attribute `units`, or is
given for all columns of its kind that do not say theirs (`Columns.of("mm,deg,ms")`). Columns with
other names are mapped (`Columns.of(names="L1=q1,L2=q2")`). What nobody says is SI; what nobody can
know, such as the speeds of a file whose lengths are in mm, is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gough.base.arrays import Array
from gough.base.files import small_text
from gough.base.tables import ColumnTable, split_heading
from gough.base.units import NONE, Unit, converted, unit
from gough.base.words import nearest, shown
from gough.description.mistakes import tables
from gough.errors import FileError, GoughError, InputError

if TYPE_CHECKING:
    import xarray

Say = Callable[[str], None]
"""Told what a reader did, a line each."""
ALIASES = {"t": "time"}
"""Short names that columns may have as well."""
MAP_FILE = ".toml"
MANY = 10
"""Samples from which steps of time may be milliseconds."""
MILLISECONDS = 0.1
"""Shortest such step, taken as seconds."""
FASTEST, SHARPEST = 10.0, 300.0
"""Speed, m/s, and its square over the room that is used, m/s², that no platform has."""


def silent(line: str) -> None:
    """Say nothing: what a reader does unless it is told whom to tell."""


@dataclass(frozen=True)
class Columns:
    """How a file's columns are to be read; by default in SI units, with gough's own names."""

    units: tuple[Unit, ...] = ()
    """Of columns that do not say theirs, one for each dimension."""
    names: Mapping[str, str] = field(default_factory=dict)
    """gough's name, perhaps with a unit as in a header, of a column of the file."""

    @classmethod
    def of(cls, units: str = "", names: str | os.PathLike[str] | Mapping[str, str] = "") -> Columns:
        """Units and names as a command line gives them.

        Args:
            units: of columns that do not say theirs, with commas between them: "mm,deg,ms".
            names: "L1=q1,L2=q2", the file's name first; or a TOML file with them under [columns], and
                perhaps `units = "mm,deg"`; or a mapping. gough's name may have a unit: "q1 [mm]".

        """
        if isinstance(names, str) and names and "=" not in names and not _is_file(names):
            raise InputError(
                f"columns {shown(names)}: needs L1=q1,L2=q2 (the file's name first) or a .toml file"
            )
        if isinstance(names, os.PathLike) or (isinstance(names, str) and _is_file(names)):
            units, names = _from_file(Path(names), units)
        if isinstance(names, str):
            names = _from_text(names)
        return cls(_distinct(units), dict(names))

    def applied(
        self, table: ColumnTable, known: Mapping[str, str], say: Say = silent
    ) -> ColumnTable:
        """The table with gough's names; numbers that are asked of it come in SI units.

        Args:
            table: as the file has it.
            known: names that the reader knows, with their SI units.
            say: told what was taken as what.

        """
        for name in self.names:
            if name not in table.units:
                near = nearest(name, table.units)
                raise FileError(f"no column {shown(name)} to be mapped; the nearest is {near!r}")
        found: dict[str, str | None] = {}
        scales: dict[str, Unit] = {}
        assumed: set[str] = set()
        written: dict[str, str] = {}
        for raw, given in table.units.items():
            name, own = self._meant(raw, given, known)
            if name in found:
                twice = shown(name)[1:-1]
                other = written.get(name, name)
                raise FileError(f"column {twice} is there twice: {shown(other)} and {shown(raw)}")
            found[name], written[name] = own, raw
            if name in known:
                scales[name] = self.scale(f"column {raw}", own, known[name])
                dimension = unit(known[name]).dimension
                if own is None and dimension not in [one.dimension for one in self.units]:
                    assumed.add(name)
        renamed = [one for one in found if written[one] != one and one in known]
        if renamed:
            say(f"columns {_few([written[one] for one in renamed])} taken as {_few(renamed)}")
        for line in _conversions({n: (u, known[n]) for n, u in scales.items()}):
            say(line)
        return table._replace(
            units=found, scales=scales, written=written, assumed=frozenset(assumed)
        )

    def scale(self, what: str, own: str | None, expected: str) -> Unit:
        """The unit of a column by its header (`own`), by what is given for all, or SI."""
        if own is not None or not self.units:
            return converted(what, own, expected)
        wanted = unit(expected)
        for one in self.units:
            if one.dimension == wanted.dimension:
                return one
        if wanted.dimension != NONE and any(_part(one, wanted) for one in self.units):
            given = ", ".join(one.text for one in self.units)
            raise FileError(
                f"{what} has no unit, and {given} does not tell it: add {expected}, or what it is in"
            )
        return wanted

    def renamed(self, dataset: xarray.Dataset, known: Iterable[str]) -> xarray.Dataset:
        """A dataset with gough's names; units that the map gives become those of the variables."""
        known = [*known]
        for raw, meant in self.names.items():
            name, own = split_heading(meant)
            if raw not in dataset.variables:
                near = nearest(raw, map(str, dataset.variables) if dataset.variables else [raw])
                raise FileError(f"no variable {shown(raw)} to be mapped; the nearest is {near!r}")
            if name not in known:
                raise FileError(
                    f"variable {shown(raw)} is mapped to {shown(name)}, which is unknown; the nearest "
                    f"known is {nearest(name, known)}"
                )
            if name in dataset.variables and name != raw:
                raise FileError(f"variable {name} is there as well as {shown(raw)}, mapped to it")
            dataset = dataset.rename({raw: name})
            if own is not None:
                dataset[name].attrs.setdefault("units", own)
        return dataset

    def in_si(self, variable: xarray.DataArray, expected: str, say: Say = silent) -> Array:
        """A variable's numbers in SI units; a list of units is one for each along the last axis."""
        what, own = f"variable {variable.name}", variable.attrs.get("units")
        found = np.array(variable.values, dtype=np.float64)
        wanted = expected.split(", ")
        given = [None] if own is None else [one.strip() for one in str(own).split(",")]
        count = max(len(wanted), len(given))
        if {len(wanted), len(given)} - {1, *found.shape[-1:]}:
            raise FileError(f"{what} has the unit {shown(str(own))}, needs {expected}")
        pairs = [
            (
                self.scale(what, given[i % len(given)], wanted[i % len(wanted)]),
                wanted[i % len(wanted)],
            )
            for i in range(count)
        ]
        if len({one for one, _ in pairs}) == 1:
            found = pairs[0][0].to_si(found)
        else:
            for i, (one, _) in enumerate(pairs):
                found[..., i] = one.to_si(found[..., i])
        for line in _conversions({str(variable.name): pair for pair in pairs}):
            say(line)
        return found

    def _meant(
        self, raw: str, given: str | None, known: Mapping[str, str]
    ) -> tuple[str, str | None]:
        """gough's name of a column and the unit that the file or the map gives it."""
        if raw in self.names:
            name, own = split_heading(self.names[raw])
            if name not in known:
                raise FileError(
                    f"column {shown(raw)} is mapped to {shown(name)}, which is unknown; the nearest "
                    f"known is {nearest(name, known)}"
                )
            if own is not None and given is not None and own != given:
                raise FileError(
                    f"column {raw} has the unit {shown(given)}, and is mapped as {shown(own)}"
                )
            return name, given if own is None else own
        name = ALIASES.get(raw, raw)
        if name in known:
            return name, given
        first, mark, last = raw.rpartition("_")
        name = ALIASES.get(first, first)
        if mark and given is None and name in known and _is_unit(last):
            return name, last
        return raw, given


def check_time_unit(table: ColumnTable, time: Array, places: Array | None = None) -> None:
    """Refuse times (n,) without a unit that look like milliseconds taken as seconds.

    Args:
        table: what the times are from.
        time: as they are read, s.
        places: (n, k) m, what moves meanwhile; left out, long steps alone are refused.

    Raises:
        FileError: says that the unit is missing.

    """
    steps = np.diff(time)
    if "time" not in table.assumed or len(time) < MANY or not np.all(steps > 0):
        return
    step, said = float(np.median(steps)), ""
    if step < MILLISECONDS:
        return
    if places is not None:
        ways = np.linalg.norm(np.diff(places, axis=0), axis=-1)
        speed, room = float((ways / steps).max()), float(np.ptp(places, axis=0).max())
        fastest = FASTEST if step >= 4 * MILLISECONDS else 0.3 * FASTEST
        if speed == 0 or 1e3 * speed > fastest or (1e3 * speed) ** 2 > SHARPEST * room:
            return
        said = f", in which it moves at {speed:.2g} m/s at most"
    column = table.written.get("time", "time")
    raise FileError(
        f"{table.where(1)}, column {column}: steps of {step:g} s{said}; is time in milliseconds? "
        "Name its unit: time [ms] or time [s] in the header, or ms or s in --units"
    )


def check_angle_units(
    table: ColumnTable, columns: Columns, angles: Mapping[str, Array], say: Say
) -> None:
    """Refuse angles without a unit where units are given that do not tell it."""
    unknown = [name for name in angles if name in table.assumed and np.any(angles[name])]
    if not unknown:
        return
    if columns.units:
        given = ", ".join(one.text for one in columns.units)
        column = table.written.get(unknown[0], unknown[0])
        raise FileError(
            f"column {column} has no unit, and {given} does not tell it: add rad or deg to the units or "
            "to the header"
        )
    if not all(one.is_si for one in table.scales.values()):
        say(f"{_few(unknown)} without a unit taken in rad")


AS_THEY_ARE = Columns()
"""gough's names, units as the file says them, else SI."""


def _is_unit(text: str) -> bool:
    try:
        unit(text)
    except InputError:
        return False
    return True


def _is_file(names: str) -> bool:
    return names.lower().endswith(MAP_FILE)


def _part(one: Unit, whole: Unit) -> bool:
    """Whether a unit's dimension is part of another's, such that the other may follow it."""
    return not one.is_si and any(
        a and b for a, b in zip(one.dimension, whole.dimension, strict=True)
    )


def _distinct(text: str) -> tuple[Unit, ...]:
    """Units with commas between them, each of another dimension."""
    if not isinstance(text, str):
        raise InputError(f"units: needs a text such as 'mm,deg,ms', not {text!r}"[:120])
    found: list[Unit] = []
    for part in (one for one in text.split(",") if one.strip()):
        one = unit(part)
        for other in found:
            if other.dimension == one.dimension:
                raise InputError(f"units: {other.text} and {one.text} measure the same")
        found.append(one)
    return tuple(found)


def _from_text(text: str) -> dict[str, str]:
    names: dict[str, str] = {}
    for part in (one for one in text.split(",") if one.strip()):
        raw, equals, name = (one.strip() for one in part.partition("="))
        if not (equals and raw and name):
            raise InputError(f"columns: {shown(part)} needs the file's name = gough's name: L1=q1")
        if raw in names:
            raise InputError(f"columns: {shown(raw)} is mapped twice")
        names[raw] = name
    return names


def _from_file(path: Path, units: str) -> tuple[str, Mapping[str, str]]:
    """Units and names in a TOML file; units that are given otherwise go before."""
    data = tables(small_text(path, "file of columns", 1), str(path), "file of columns")
    for key in data:
        if key not in ("columns", "units"):
            near = nearest(key, ("columns", "units"))
            raise FileError(f"{path}: unknown key {shown(key)}; the nearest known key is {near}")
    names, own = data.get("columns", {}), data.get("units", "")
    texts = isinstance(names, dict) and all(isinstance(one, str) for one in names.values())
    if not texts or not isinstance(own, str):
        raise FileError(f'{path}: needs units = "mm,deg" and [columns] with L1 = "q1" and the like')
    try:
        _distinct(own)
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None
    return units or own, names


def _conversions(scales: Mapping[str, tuple[Unit, str]]) -> Iterable[str]:
    """What was converted, a line for each unit: "x, y, z from mm to m"."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, (one, expected) in scales.items():
        if not one.is_si:
            groups.setdefault((one.text, expected), []).append(name)
    for (text, expected), names in groups.items():
        yield f"{_few(names)} from {text} to {expected}"


def _few(names: list[str]) -> str:
    """Names with commas between them, of many the first and the last."""
    return ", ".join(names) if len(names) <= 4 else f"{names[0]} … {names[-1]}"
