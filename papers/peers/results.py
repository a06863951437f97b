"""Stored results of other programs, and how far those that are computed anew are from them."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.files import replacing
from gough.errors import ImpossibleBodyWarning
from gough.show.reproduction import number

from .programs import PROGRAMS, installed

FOLDER = Path(__file__).parent / "stored"
DIGITS = 14
"""Significant ones that are stored."""


class Beside(NamedTuple):
    """What another program finds."""

    label: str
    """The program and its version."""
    values: Array
    """As they are stored."""
    anew: float | None
    """Largest difference of what it finds here and now; None where it was not asked."""
    script: str

    def origin(self, unit: str) -> str:
        """Where the values come from, for a reader."""
        said = f"{self.label}, stored, made by {self.script}"
        if self.anew is None:
            return f"{said}; not computed anew here"
        return f"{said}; computed anew here, the same within {number(self.anew)} {unit}"


def read(name: str) -> dict[str, dict[str, Array | str]]:
    """Stored results of a program, by case: version, script and values."""
    text = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return {
        case: {"version": text["version"], "script": text["script"], "values": np.array(values)}
        for case, values in text["cases"].items()
    }


@cache
def beside(name: str, case: str, again: bool = True) -> Beside:
    """What a program finds of a case: stored, and computed anew where it is installed."""
    kept, program = read(name)[case], PROGRAMS[name]
    values = np.asarray(kept["values"], dtype=np.float64)
    anew = None
    if again and installed(name):
        anew = float(np.abs(program.find(case) - values).max())
    return Beside(f"{program.name} {kept['version']}", values, anew, str(kept["script"]))


def store() -> None:
    """Compute all results anew, with the programs that are installed, and store them."""
    for name, program in PROGRAMS.items():
        if not program.here():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImpossibleBodyWarning)
            cases = {case: _lines(program.find(case)) for case in program.cases}
        head = {"program": program.name, "version": program.version(), "script": program.script}
        lines = [f' "{key}": {json.dumps(value)}' for key, value in head.items()]
        found = ",\n".join(f'  "{case}": {values}' for case, values in cases.items())
        lines.append(f' "cases": {{\n{found}\n }}')
        FOLDER.mkdir(exist_ok=True)
        with replacing(FOLDER / f"{name}.json") as temporary:
            temporary.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _lines(values: Array) -> str:
    """Values as JSON, a row on a line."""
    text = [float(f"{one:.{DIGITS}g}") for one in values.ravel()]
    rows = ",\n   ".join(json.dumps(row) for row in np.reshape(text, values.shape).tolist())
    return f"[\n   {rows}\n  ]"
