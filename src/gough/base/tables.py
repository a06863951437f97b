"""CSV tables as files bring them: a header that names columns and units, numbers below it.

Messages name the line, counted as an editor does, and the column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.files import content
from gough.base.units import Unit
from gough.base.words import shown
from gough.errors import FileError

LARGEST = 200_000_000
"""Largest file that is read, bytes."""
MOST_COLUMNS = 10_000
DIGIT_ROWS = 2000
"""Rows of a table whose digits are counted."""
FEWEST_CELLS = 10
"""Different cells of a column over which its digits are more than chance."""
MULTIPLE = 1e-10
"""Part of the largest number that multiples of a step are off by their rounding."""
ROUGH = 0.1
"""Part of the third differences that are not zero in numbers of coarse steps, at least."""
HEADING = re.compile(r"([^\[\]()]*)(?:\[([^\[\]]*)\]|\(([^()]*)\))?")
NUMBER = re.compile(r"[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|nan|inf(inity)?)", re.ASCII | re.I)

Where = Callable[[int], str]
"""Place of a sample in its file, in words."""


class ColumnTable(NamedTuple):
    """The text of a table, its header read."""

    units: dict[str, str | None]
    """By column, in their order; None where the header gives none."""
    rows: list[str]
    places: list[int]
    """Line of each row."""
    scales: Mapping[str, Unit] = MappingProxyType({})
    """Units by column, where they are known; numbers come in SI units."""
    written: Mapping[str, str] = MappingProxyType({})
    """What the header calls a column, where it is known under another name."""
    assumed: frozenset[str] = frozenset()
    """Columns whose unit nobody says: SI is assumed."""

    def where(self, row: int) -> str:
        """Line of a row, in words."""
        return f"line {self.places[row]}"

    def numbers(self, names: Sequence[str]) -> Array:
        """(rows, names) of finite numbers, SI units; the other columns may hold anything."""
        if not self.rows:
            raise FileError("no samples below the header")
        columns = [*self.units]
        chosen = [columns.index(name) for name in names]
        for row, line in enumerate(self.rows):
            if (cells := line.count(",") + 1) != len(columns):
                raise FileError(f"{self.where(row)} has {cells} cells, the header {len(columns)}")
        try:
            table = np.loadtxt(self.rows, delimiter=",", comments=None, ndmin=2, usecols=chosen)
        except ValueError:
            for row, line in enumerate(self.rows):
                cells_of_row = line.split(",")
                for name, column in zip(names, chosen, strict=True):
                    cell = cells_of_row[column].strip()
                    if not NUMBER.fullmatch(cell):
                        place = f"{self.where(row)}, column {self.written.get(name, name)}"
                        raise FileError(f"{place}: {shown(cell)} is not a number") from None
            raise FileError("not a table of numbers") from None
        bad = np.argwhere(~np.isfinite(table))
        if bad.size:
            row, column = (int(i) for i in bad[0])
            place = f"{self.where(row)}, column {self.written.get(names[column], names[column])}"
            raise FileError(f"{place}: {table[row, column]} is not finite")
        for column, name in enumerate(names):
            if name in self.scales and not self.scales[name].is_si:
                table[:, column] = self.scales[name].to_si(table[:, column])
        return table

    def last_digits(self, names: Sequence[str]) -> Array:
        """Return the size of the last decimal of columns (k,), SI units.

        It is that of cells of the largest number's power of ten, or within a factor of ten of it if
        these are few, of some rows of a long table; 0 of a column that does not change.
        """
        return np.array([self._of_column(name, _last_digit) for name in names])

    def resolutions(self, names: Sequence[str]) -> Array:
        """Return the step of which the numbers of columns (k,) are multiples, SI units.

        It is the last decimal, or coarser: of numbers in steps of 0.05 or of an encoder, whatever digits
        they are written with, and of single precision. 0 of a column that does not change.
        """
        return np.array([self._of_column(name, _resolution) for name in names])

    def _of_column(self, name: str, digit: Callable[[list[str], Array], float]) -> float:
        """Return what the cells of a column, some of a long table, tell of their digits, SI units."""
        place = [*self.units].index(name)
        rows = self.rows[:: -(-len(self.rows) // DIGIT_ROWS)]
        cells = [row.split(",")[place].strip().lower() for row in rows]
        values = np.array(cells, dtype=np.float64)
        if np.ptp(values) == 0:
            return 0.0
        size = digit(cells, values)
        return float(self.scales[name].to_si(size)) if name in self.scales else size


def _last_digit(cells: list[str], values: Array) -> float:
    """Return the last decimal of the large ones of some cells."""
    size = np.abs(values)
    power = 10.0 ** np.floor(np.log10(size.max()))
    for least, fewest in ((power, FEWEST_CELLS), (size.max() / 10, 0)):
        large = {cell for cell, one in zip(cells, size, strict=True) if one >= least}
        if len(large) > fewest:
            break
    return float(10.0 ** -max(map(_decimals, large)))


def _resolution(cells: list[str], values: Array) -> float:
    """Return the largest number of which the differences of cells are multiples."""
    digit, largest = _last_digit(cells, values), float(np.abs(values).max())
    different = np.unique(values)
    if len(different) <= FEWEST_CELLS:
        return digit
    if np.all(values.astype(np.float32) == values):
        digit = max(digit, float(np.spacing(np.float32(largest))))
    slack = max(digit / 10, MULTIPLE * largest)
    common = 0.0
    for step in sorted(np.diff(different).tolist()):  # Euclid's algorithm
        while step > slack:
            common, step = step, abs(common - step * round(common / step))
    # ramps and parabolas are multiples, too, and smooth but at their ends
    rough = np.mean(np.abs(np.diff(values, 3)) > common / 2) > ROUGH
    return common if rough and common > 15 * slack else digit


def _decimals(cell: str) -> int:
    """Return how many decimals a number is written with; negative of whole tens."""
    mantissa, _, exponent = cell.partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


def read_bytes(path: Path) -> bytes:
    """A file's content, if it is a regular one and not too large."""
    data = content(path, "table or dataset", LARGEST / 1e6)
    if not data:
        raise FileError("the file is empty")
    return data


def read_table(data: bytes) -> ColumnTable:
    """The table in a file's bytes: header and rows, blank lines left out."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"not a text file (byte {error.start} is not UTF-8)") from None
    if not text.strip():
        raise FileError("the file is empty")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    header, *rows = (i for i, line in enumerate(lines) if line.strip())
    units = _headings(lines[header])
    return ColumnTable(units, [lines[i] for i in rows], [i + 1 for i in rows])


def _headings(header: str) -> dict[str, str | None]:
    """Columns of a header line and their units."""
    cells = [cell.strip().strip('"').strip() for cell in header.split(",")]
    if len(cells) == 1 and re.search("[;\t]", header):
        raise FileError("columns must be separated by commas")
    if len(cells) > MOST_COLUMNS:
        raise FileError(f"the header names {len(cells)} columns; limit {MOST_COLUMNS}")
    if NUMBER.fullmatch(cells[0]):
        raise FileError(f"the first line must name the columns, and begins with {shown(cells[0])}")
    units: dict[str, str | None] = {}
    for cell in cells:
        name, unit = split_heading(cell)
        if name in units:
            raise FileError(f"column {shown(name)[1:-1]} is there twice")
        units[name] = unit
    return units


def split_heading(cell: str) -> tuple[str, str | None]:
    """Name and unit of a heading: "x [mm]" or "x (mm)"; the unit is None if it has none."""
    found = HEADING.fullmatch(cell)
    if found is None:
        return cell, None
    return found[1].rstrip(), found[2] if found[3] is None else found[3]
