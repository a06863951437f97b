"""Points in, measures out: the part of a study that runs here or on a worker, with the same bits."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.words import nearest, shown
from gough.engine.run.threads import at_most
from gough.errors import FileError, GoughError, InputError, SampleError
from gough.model.model import Model
from gough.motion import FIELDS, Motion
from gough.sizing.drive import Drive
from gough.studies.formula import Formula, parse
from gough.studies.measures import MEASURES, Case
from gough.studies.targets import TargetNumbers, parse_setting, parse_target
from gough.variants import Variants

LONGEST_REASON = 160
"""Characters of the reason kept of a point that fails."""
DRIVE = ("lead", "efficiency", "back_efficiency", "rotor_inertia")


class Recipe(NamedTuple):
    """All that a point's numbers depend on; plain data that can be sent."""

    robot: str
    """Text of the robot file."""
    name: str
    folder: str
    motions: tuple[Motion, ...]
    variables: tuple[str, ...]
    settings: tuple[tuple[str, Any], ...]
    """Places in the robot file, and formulas."""
    errors: tuple[str, ...]
    """Places with errors: a column of the inputs behind the variables for each number there."""
    measures: tuple[str, ...]
    results: tuple[tuple[str, str], ...]
    """Names and formulas over variables and measures."""
    drive: tuple[tuple[str, Any], ...]
    friction: bool
    wrench: tuple[float, ...] | None

    def digest(self) -> str:
        """Changes with everything in it but the folder, where files that the robot file names are."""
        found = hashlib.sha256(repr(self._replace(motions=(), folder="")).encode())
        for motion in self.motions:
            for name in (*FIELDS, "time"):
                value = getattr(motion, name)
                if value is not None:
                    found.update(f"{name}{value.shape}".encode())
                    found.update(np.ascontiguousarray(value, dtype=np.float64).tobytes())
        return found.hexdigest()


class Outcome(NamedTuple):
    """Numbers of some points."""

    values: Array
    """(n, columns); NaN for points that fail."""
    reasons: tuple[str, ...]
    """Why a point fails, "" if it does not."""


class Evaluator:
    """Computes measures and results of points; refuses a recipe that cannot be understood."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.robot = Model.from_text(recipe.robot, recipe.name, recipe.folder)
        for name in recipe.measures:
            if name not in MEASURES:
                near = nearest(name, MEASURES)
                raise InputError(f"no measure {shown(name)}; the nearest known is {near}")
            if MEASURES[name].needs in ("masses", "drive") and self.robot.description.missing:
                lacking = ", ".join(self.robot.description.missing)
                raise InputError(f"{name} needs the masses of {lacking}, which {recipe.name} lacks")
            if MEASURES[name].needs == "drive" and not recipe.drive:
                raise InputError(
                    f"{name} needs a [drive] with the screw's lead or the gear's ratio"
                )
        known = [name for name in recipe.variables if name.isidentifier()]
        self.settings = [
            parse_setting(parse_target(text), value, known) for text, value in recipe.settings
        ]
        own = [name for name in recipe.variables if not name.isidentifier()]
        self.direct = [(parse_target(name), recipe.variables.index(name)) for name in own]
        self.errors = [parse_target(text) for text in recipe.errors]
        places = [one.target for one in self.settings] + [one for one, _ in self.direct]
        self.numbers = TargetNumbers(self.robot, [*places, *self.errors])
        for setting in self.settings:
            self.numbers.check(setting.target, setting.formulas.shape)
        for target, _ in self.direct:
            self.numbers.check(target, ())
        self.error_shapes = [self.numbers.shape(target) for target in self.errors]
        self.drive = {name: _formula(f"drive.{name}", value, known) for name, value in recipe.drive}
        if self.drive:
            Drive(**dict.fromkeys(self.drive, 1.0)).need_suitable(self.robot.units)
        self.results: dict[str, Formula] = {}
        for name, text in recipe.results:
            seen = (*known, *recipe.measures, *self.results)
            self.results[name] = _formula(name, text, seen)
        self.columns = (*recipe.measures, *self.results)

    @property
    def used(self) -> set[str]:
        """Variables that any formula reads, or that are places themselves."""
        formulas = [f for one in self.settings for f in one.formulas.ravel()]
        formulas += [*self.drive.values(), *self.results.values()]
        names = {name for formula in formulas for name in formula.names}
        return names | {name for name in self.recipe.variables if not name.isidentifier()}

    @property
    def together(self) -> bool:
        """Whether one kernel computes all points, or each has its robot file made."""
        return self.numbers.fast and all(
            MEASURES[name].needs != "alone" for name in self.recipe.measures
        )

    @property
    def width(self) -> int:
        """Columns of the inputs."""
        return len(self.recipe.variables) + sum(int(np.prod(one)) for one in self.error_shapes)

    def __call__(self, inputs: Array) -> Outcome:
        """Of points (n, width); trouble that nobody foresaw costs the points that cause it only."""
        try:
            return self._outcome(inputs)
        except Exception as error:
            if len(inputs) == 1:
                reason = str(error) if isinstance(error, GoughError) else repr(error)
                return Outcome(
                    np.full((1, len(self.columns)), np.nan),
                    (" ".join(reason.split())[:LONGEST_REASON],),
                )
            alone = [self(inputs[i : i + 1]) for i in range(len(inputs))]
            return Outcome(
                np.concatenate([one.values for one in alone]),
                tuple(one.reasons[0] for one in alone),
            )

    def _outcome(self, inputs: Array) -> Outcome:
        count = len(inputs)
        reasons = [""] * count
        values = np.full((count, len(self.columns)), np.nan)
        variables = self._variables(inputs)
        changes = self._changes(inputs, variables)
        for path, numbers in changes.items():
            bad = ~np.isfinite(numbers).reshape(count, -1).all(axis=1)
            for point in np.flatnonzero(bad):
                reasons[point] = reasons[point] or f"{_shown(path)} is not a finite number"
        if self.together:
            self._together(changes, variables, values, reasons)
        else:
            for one in range(count):
                if not reasons[one]:
                    self._alone(changes, variables, one, values, reasons)
        for i, (name, formula) in enumerate(self.results.items(), len(self.recipe.measures)):
            known = variables | {column: values[:, k] for k, column in enumerate(self.columns[:i])}
            values[:, i] = formula(known)
            for point in np.flatnonzero(~np.isfinite(values[:, i])):
                reasons[point] = reasons[point] or f"{name} is {values[point, i]:g}"
        values[[bool(reason) for reason in reasons]] = np.nan
        return Outcome(values, tuple(reason[:LONGEST_REASON] for reason in reasons))

    def robot_of(self, inputs: Array) -> Model:
        """The robot of one point (width,)."""
        rows = inputs[np.newaxis]
        return self.numbers.robots(self._changes(rows, self._variables(rows)), 0)

    def _variables(self, inputs: Array) -> dict[str, Array]:
        return {name: inputs[:, i] for i, name in enumerate(self.recipe.variables)}

    def _changes(
        self, inputs: Array, variables: Mapping[str, Array]
    ) -> dict[tuple[str | int, ...], Array]:
        count = len(inputs)
        given = [(one.target, one.values(variables, count)) for one in self.settings]
        given += [(target, inputs[:, column]) for target, column in self.direct]
        errors, start = [], len(self.recipe.variables)
        for target, shape in zip(self.errors, self.error_shapes, strict=True):
            stop = start + int(np.prod(shape))
            errors.append((target, inputs[:, start:stop].reshape(count, *shape)))
            start = stop
        return self.numbers.changes(count, given, errors)

    def _drive(self, variables: Mapping[str, Array], points: Array) -> Drive | None:
        if not self.drive:
            return None
        some = {name: value[points] for name, value in variables.items()}
        numbers = {
            name: np.broadcast_to(formula(some), len(points))[:, np.newaxis, np.newaxis]
            for name, formula in self.drive.items()
        }
        return Drive(**numbers)

    def _case(self, robots: Any, drive: Drive | None) -> Case:
        wrench = None if self.recipe.wrench is None else np.array(self.recipe.wrench)
        return Case(robots, self.recipe.motions, self.recipe.friction, wrench, drive)

    def _together(
        self,
        changes: Mapping[tuple[str | int, ...], Array],
        variables: Mapping[str, Array],
        values: Array,
        reasons: list[str],
    ) -> None:
        """All points at once, in place."""
        for path, numbers in changes.items():
            if path[-1] in ("mass", "M"):
                lowest = numbers.reshape(len(numbers), -1).min(axis=1)
                for point in np.flatnonzero(lowest < 0):
                    reasons[point] = (
                        reasons[point] or f"{_shown(path)} is {lowest[point]:g}, below 0"
                    )

        def made(points: Array) -> tuple[Variants, Drive | None]:
            some = {".".join(map(str, path)): value[points] for path, value in changes.items()}
            if not some:
                some = {
                    "gravity": np.broadcast_to(self.robot.description.gravity, (len(points), 3))
                }
            return Variants.of(self.robot, some), self._drive(variables, points)

        good = _sound(np.flatnonzero([not reason for reason in reasons]), made, reasons)
        if good.size:
            robots, drive = made(good)
            case = self._case(robots, drive)
            self._measure(case, good, values, reasons)

    def _alone(
        self,
        changes: Mapping[tuple[str | int, ...], Array],
        variables: Mapping[str, Array],
        point: int,
        values: Array,
        reasons: list[str],
    ) -> None:
        """One point, in place."""
        place = np.array([point])
        try:
            case = self._case(self.numbers.robots(changes, point), self._drive(variables, place))
            self._measure(case, place, values, reasons)
        except GoughError as error:
            reasons[point] = str(error)

    def _measure(self, case: Case, points: Array, values: Array, reasons: list[str]) -> None:
        for i, name in enumerate(self.recipe.measures):
            values[points, i] = MEASURES[name].of(case)
        found = values[points][:, : len(self.recipe.measures)]
        failed = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if failed.size:
            known = _why(case, failed)
            for row in failed:
                column = int(np.argmin(np.isfinite(found[row])))
                name, value = self.recipe.measures[column], found[row, column]
                reasons[points[row]] = known.get(int(row), f"{name} is {value:g}")


def _formula(name: str, text: Any, known: Sequence[str]) -> Any:
    try:
        return parse(text, known)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _sound(points: Array, made: Any, reasons: list[str]) -> Array:
    """Points of which robots can be made; halves what cannot until the culprits are found."""
    if not points.size:
        return points
    try:
        made(points)
        return points
    except (InputError, FileError) as error:
        if len(points) == 1:
            reasons[points[0]] = str(error)
            return points[:0]
    half = len(points) // 2
    return np.concatenate(
        [_sound(points[:half], made, reasons), _sound(points[half:], made, reasons)]
    )


def _why(case: Case, failed: Array) -> dict[int, str]:
    """Reasons of failed rows, from the models themselves; the first trouble of each."""
    found: dict[int, str] = {}
    for number, motion in enumerate(case.motions):
        where = f"motion {number + 1}, " if len(case.motions) > 1 else ""
        for model, inputs in (("inverse_kinematics", {}), ("inverse_dynamics", case.dynamics)):
            while rest := [int(row) for row in failed if int(row) not in found]:
                robots = case.robots[rest] if isinstance(case.robots, Variants) else case.robots
                try:
                    Case(robots, case.motions).ask(model, motion, "raise", **inputs)
                    break
                except SampleError as error:
                    for failure in error.failures:
                        row = rest[failure.sample[0]]
                        leg = "" if failure.leg is None else f"leg {failure.leg}: "
                        text = f"{where}sample {failure.sample[1]}: {leg}{failure.reason}"
                        found.setdefault(row, text)
                except GoughError as error:
                    return found | dict.fromkeys(rest, str(error))
    return found


def _shown(path: Sequence[str | int]) -> str:
    return "".join(
        f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in path
    ).removeprefix(".")


@lru_cache(maxsize=4)
def _evaluator(digest: str, carried: _Carried) -> Evaluator:
    return Evaluator(carried.recipe)


class _Carried:
    """A recipe that the cache takes for any other of the same digest."""

    def __init__(self, digest: str, recipe: Recipe) -> None:
        self.digest, self.recipe = digest, recipe

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Carried) and other.digest == self.digest


def compute(digest: str, recipe: Recipe, inputs: Array, threads: int | None = None) -> Outcome:
    """Outcome of some points, here or on a worker; the recipe is understood once a process."""
    with warnings.catch_warnings(action="ignore"):
        evaluator = _evaluator(digest, _Carried(digest, recipe))
        if threads is None:
            return evaluator(inputs)
        with at_most(threads):
            return evaluator(inputs)
