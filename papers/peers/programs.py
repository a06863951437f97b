"""The programs that gough is compared with: whether they are here, their version, what they find."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import NamedTuple

from gough.base.arrays import Array
from gough.formulations import lagrange

from . import motions, opened_legs, plate

SLOW = ("kim-ryu-2002/circle-120rpm", "kim-ryu-2002/acceleration")
"""Motions for which one route by Pinocchio is enough."""


class Program(NamedTuple):
    """A program and how it is asked."""

    name: str
    script: str
    """Where it is asked, in the repository."""
    cases: tuple[str, ...]
    here: Callable[[], bool]
    version: Callable[[], str]
    find: Callable[[str], Array]
    """Its result of a case."""


def _module(name: str) -> tuple[Callable[[], bool], Callable[[], str]]:
    def here() -> bool:
        return importlib.util.find_spec(name) is not None

    def version() -> str:
        return str(importlib.import_module(name).__version__)

    return here, version


def _energies(case: str) -> Array:
    return lagrange.inverse_dynamics(motions.robot(case), motions.motion(case)).forces


def _shells(case: str) -> Array:
    if case.endswith("coarse-meshes"):
        return plate.coarse()
    return plate.frequencies(motions.flexible(case))


PROGRAMS = {
    "pinocchio": Program(
        "Pinocchio",
        "papers/peers/opened_legs.py",
        tuple(motions.SAMPLES),
        *_module("pinocchio"),
        lambda case: opened_legs.forces(motions.robot(case), motions.motion(case)),
    ),
    "casadi": Program(
        "CasADi",
        "src/gough/formulations/lagrange.py",
        tuple(case for case in motions.SAMPLES if case not in SLOW),
        *_module("casadi"),
        _energies,
    ),
    "calculix": Program(
        "CalculiX",
        "papers/peers/plate.py",
        ("long-khalil-martinet-2014/table-2", "long-khalil-martinet-2014/coarse-meshes"),
        lambda: bool(plate.program()),
        plate.version,
        _shells,
    ),
}


def installed(name: str) -> bool:
    """Whether a program is here."""
    return PROGRAMS[name].here()
