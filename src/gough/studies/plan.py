"""Study files: what is varied, over which motions, what is measured; all checked before anything runs.

    robot = "kim-ryu-2002"                          # a catalogue name, or a file beside this one
    motions = ["kim-ryu-2002/circle-40rpm"]         # papers' motions or motion files
    measures = ["peak_force", "stroke", "condition"]
    [sampling]
    kind = "latin hypercube"                        # grid, random
    points = 1000
    seed = 1
    [variables]
    m = { from = 8.0, to = 14.0 }
    "legs.length" = { from = 0.85, to = 1.0 }       # a place of the robot file itself
    [set]
    "platform.mass" = "m"                           # places of the robot file by formulas
    [tolerances]
    "legs.platform" = { normal = 1e-4 }             # errors of every number there
    [results]
    cost = "peak_force * stroke"

Nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import Field, model_validator

from gough.base.arrays import Array
from gough.base.files import small_text
from gough.base.keys import Table
from gough.base.sources import package_digest
from gough.base.version import VERSION
from gough.base.words import shown
from gough.data.paper_motions import motion_named
from gough.description.catalogue import catalogue
from gough.description.mistakes import parsed
from gough.errors import FileError, GoughError, InputError
from gough.model.model import Model
from gough.motion import Motion
from gough.sizing.demand import check_timed
from gough.studies.evaluate import Evaluator, Recipe
from gough.studies.formula import Constraint, Formula, parse, parse_constraint
from gough.studies.measures import MEASURES
from gough.studies.sampling import MOST_NUMBERS, MOST_POINTS, Kind, Variable, count, draw

ROWS = 20_000
"""States computed together, unless the file says how many points a part has."""
LARGEST_PART = 100_000
"""Points computed together."""
MOST_MOTIONS = 100
MOST_SAMPLES = 1_000_000
"""Of all motions together."""
MOST_NAMES = 1000
"""Of variables, places and results each."""
MOST_GOALS = 100
"""Of things to minimise, to maximise and to hold each."""


class SamplingTable(Table):
    """How the points of a sweep are chosen."""

    kind: Kind = "grid"
    points: int | None = Field(None, ge=1)
    seed: int = Field(0, ge=0, lt=2**63)
    part: int | None = Field(None, description="points computed together", ge=1, le=LARGEST_PART)


class ToleranceTable(Table):
    """Errors of every number at a place, each on its own."""

    normal: float | None = Field(None, description="standard deviation", gt=0, allow_inf_nan=False)
    uniform: float | None = Field(None, description="largest error", gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.normal is None) == (self.uniform is None):
            raise ValueError("needs normal or uniform")
        return self

    @property
    def variable(self) -> Variable:
        """Its distribution."""
        if self.normal is not None:
            return Variable(normal=self.normal)
        assert self.uniform is not None
        return Variable(low=-self.uniform, high=self.uniform)


class OptimiseTable(Table):
    """Objectives and constraints, formulas over measures, results and variables; NSGA-II searches."""

    minimise: tuple[str, ...] = Field((), max_length=MOST_GOALS)
    maximise: tuple[str, ...] = Field((), max_length=MOST_GOALS)
    subject_to: tuple[str, ...] = Field((), max_length=MOST_GOALS)
    population: int = Field(40, ge=4, le=10_000)
    generations: int = Field(40, ge=1, le=100_000)
    seed: int = Field(0, ge=0, lt=2**31)

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.minimise + self.maximise:
            raise ValueError("needs something to minimise or maximise")
        return self


class DriveTable(Table):
    """Screw or gear, and motor; numbers or formulas."""

    lead: float | str | None = None
    ratio: float | str | None = None
    efficiency: float | str = 1.0
    back_efficiency: float | str | None = None
    rotor_inertia: float | str | None = None


class StudyFile(Table):
    """A whole study."""

    robot: str
    motions: tuple[str, ...] = Field(min_length=1, max_length=MOST_MOTIONS)
    samples: int = Field(61, description="of a paper's motion", ge=2, le=MOST_SAMPLES)
    measures: tuple[str, ...] | None = Field(None, description=", ".join(MEASURES))
    friction: bool = True
    wrench: tuple[float, float, float, float, float, float] | None = None
    sampling: SamplingTable | None = None
    variables: dict[str, Variable] = Field({}, max_length=MOST_NAMES)
    set: dict[str, Any] = Field({}, max_length=MOST_NAMES)
    tolerances: dict[str, ToleranceTable] = Field({}, max_length=MOST_NAMES)
    drive: DriveTable | None = None
    results: dict[str, str] = Field({}, max_length=MOST_NAMES)
    optimise: OptimiseTable | None = None

    @model_validator(mode="after")
    def _kind(self) -> Self:
        if (self.sampling is None) == (self.optimise is None):
            raise ValueError("needs one of [sampling] and [optimise]")
        if not self.variables and not self.tolerances:
            raise ValueError("nothing varies: needs [variables] or [tolerances]")
        return self


@dataclass(frozen=True)
class Search:
    """What an optimiser does."""

    objectives: tuple[Formula, ...]
    signs: tuple[float, ...]
    """1 to minimise, −1 to maximise."""
    constraints: tuple[Constraint, ...]
    low: Array
    high: Array
    population: int
    generations: int
    seed: int


@dataclass(frozen=True)
class Plan:
    """A study that is ready to run."""

    name: str
    text: str
    """Of the study file."""
    recipe: Recipe
    evaluator: Evaluator
    inputs: tuple[str, ...]
    """Names of the columns of the points."""
    input_units: tuple[str, ...]
    """Of the variables, "" where the study file gives none."""
    points: int
    part: int
    """Points computed together: the same for every run of the study."""
    sampling: tuple[Kind, tuple[Variable, ...], int | None, int] | None
    search: Search | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Measures and results."""
        return self.evaluator.columns

    @property
    def units(self) -> tuple[str, ...]:
        """Of the columns; "" of results."""
        units = self.evaluator.robot.units
        return tuple(
            units.of(MEASURES[one].unit) if one in MEASURES else "" for one in self.columns
        )

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return -(-self.points // self.part)

    def rows(self, part: int) -> slice:
        """Points of a part."""
        return slice(part * self.part, min((part + 1) * self.part, self.points))

    def draw(self) -> Array:
        """All points (points, inputs) of a sweep."""
        assert self.sampling is not None
        return draw(*self.sampling)

    @property
    def digest(self) -> str:
        """Changes with all that the results depend on, gough's own text included."""
        whole = (VERSION, package_digest().hex(), self.recipe.digest(), self.part, self.points)
        how = (self.sampling, None if self.search is None else _plain(self.search))
        return hashlib.sha256(repr((whole, how)).encode()).hexdigest()

    def robot(self, inputs: Array) -> Model:
        """The robot of one point (inputs,)."""
        return self.evaluator.robot_of(np.asarray(inputs, dtype=np.float64))


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """A study from its file; paths in it are relative to the file's folder."""
    place = Path(path)
    text = small_text(path, "study file", 1)
    return make_plan(text, place.parent, str(path))


def make_plan(text: str, folder: str | os.PathLike[str] = ".", name: str = "study") -> Plan:
    """A study from the text of its file."""
    study = parsed(text, name, "study file", StudyFile)
    try:
        return _plan(study, Path(folder), name, text)
    except GoughError as error:
        raise FileError(f"{name}: {error}") from None


def _plan(study: StudyFile, folder: Path, name: str, text: str) -> Plan:
    with warnings.catch_warnings(action="ignore"):
        robot = Model.load(study.robot if study.robot in catalogue() else folder / study.robot)
    motions = _motions(study, folder, robot)
    measures = _measures(study, robot)
    names = tuple(study.variables)
    clash = [one for one in (*names, *study.results) if one in MEASURES or one == "pi"]
    clash += [one for one in study.results if one in names]
    if clash:
        raise InputError(f"the name {shown(clash[0])} is taken; give it another")
    for one in study.results:
        if not one.isidentifier():
            raise InputError(f"results: {shown(one)} is no name (letters, digits, _)")
    drive = {} if study.drive is None else study.drive.model_dump(exclude_none=True)
    recipe = Recipe(
        robot.text,
        robot.name,
        str(robot.folder.absolute()),
        motions,
        names,
        tuple(study.set.items()),
        tuple(study.tolerances),
        measures,
        tuple(study.results.items()),
        tuple(drive.items()),
        study.friction,
        study.wrench,
    )
    with warnings.catch_warnings(action="ignore"):
        evaluator = Evaluator(recipe)
    rows = sum(len(motion) for motion in motions)
    inputs = [*names]
    for one, shape in zip(recipe.errors, evaluator.error_shapes, strict=True):
        inputs += [
            "error of " + one + "".join(f"[{i + 1}]" for i in place) for place in np.ndindex(shape)
        ]
    units = tuple(one.unit for one in study.variables.values())
    used = evaluator.used
    if study.optimise is None:
        assert study.sampling is not None
        _all_used(names, used)
        errors = [
            table.variable
            for table, shape in zip(study.tolerances.values(), evaluator.error_shapes, strict=True)
            for _ in np.ndindex(shape)
        ]
        how = study.sampling
        if errors and how.kind == "grid":
            raise InputError("tolerances need sampling of kind random or latin hypercube")
        varied = (*study.variables.values(), *errors)
        points = _few_enough(count(how.kind, varied, how.points), len(varied), evaluator)
        sampling = (how.kind, varied, how.points, how.seed)
        part = how.part or max(1, min(ROWS // rows, points, 10_000))
        return Plan(
            name, text, recipe, evaluator, tuple(inputs), units, points, part, sampling, None
        )
    search = _search(study, evaluator, used)
    part = max(1, min(ROWS // rows, search.population))
    while search.population % part:  # generations start with a part of their own
        part -= 1
    points = search.population * search.generations
    if points > MOST_POINTS:
        raise InputError(f"search: {points} points of all generations; at most {MOST_POINTS}")
    _few_enough(points, len(inputs), evaluator)
    return Plan(name, text, recipe, evaluator, tuple(inputs), units, points, part, None, search)


def _motions(study: StudyFile, folder: Path, robot: Model) -> tuple[Motion, ...]:
    found: list[Motion] = []
    for name in study.motions:
        motion = motion_named(name, study.samples, folder, robot)
        check_timed(name, motion)
        found.append(motion)
        samples = sum(map(len, found))
        if samples > MOST_SAMPLES:
            raise InputError(f"motions: {samples} samples up to {name}; at most {MOST_SAMPLES}")
    return tuple(found)


def _few_enough(points: int, inputs: int, evaluator: Evaluator) -> int:
    """So many points, whose numbers can be read again."""
    numbers = inputs + len(evaluator.columns)
    if points * numbers > MOST_NUMBERS:
        raise InputError(
            f"{points} points of {inputs} inputs and {numbers - inputs} measures and results; "
            f"a study has at most {MOST_NUMBERS} numbers"
        )
    return points


def _search(study: StudyFile, evaluator: Evaluator, used: set[str]) -> Search:
    table = study.optimise
    assert table is not None
    if study.tolerances:
        raise InputError("optimise: tolerances belong to [sampling]")
    ends = []
    for name, variable in study.variables.items():
        if variable.low is None or variable.log:
            raise InputError(f"optimise: variable {name} needs from and to")
        ends.append((variable.low, variable.high))
    known = (*(name for name in study.variables if name.isidentifier()), *evaluator.columns)
    objectives = [parse(text, known) for text in (*table.minimise, *table.maximise)]
    constraints = [parse_constraint(text, known) for text in table.subject_to]
    names = {name for one in (*objectives, *(c.excess for c in constraints)) for name in one.names}
    _all_used(tuple(study.variables), used | names)
    signs = (1.0,) * len(table.minimise) + (-1.0,) * len(table.maximise)
    low, high = np.array(ends, dtype=np.float64).T
    return Search(
        tuple(objectives),
        signs,
        tuple(constraints),
        low,
        high,
        table.population,
        table.generations,
        table.seed,
    )


def _all_used(names: tuple[str, ...], used: set[str]) -> None:
    for name in names:
        if name not in used:
            raise InputError(f"variable {shown(name)} is used in no formula")


def _measures(study: StudyFile, robot: Model) -> tuple[str, ...]:
    if study.measures is None:
        have = {"": True, "masses": not robot.description.missing, "drive": study.drive is not None}
        have["drive"] &= have["masses"]
        have["alone"] = False  # too slow to be measured unasked
        return tuple(name for name, one in MEASURES.items() if have[one.needs])
    if len(set(study.measures)) < len(study.measures):
        raise InputError("measures: one is named twice")
    if not study.measures and not study.results:
        raise InputError("measures: none; what should the study find?")
    return study.measures


def _plain(search: Search) -> tuple[Any, ...]:
    objectives = [one.text for one in search.objectives]
    constraints = [one.text for one in search.constraints]
    ends = (search.low.tolist(), search.high.tolist())
    counts = (search.population, search.generations, search.seed)
    return objectives, search.signs, constraints, ends, counts
