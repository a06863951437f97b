"""Results of a study on disk: Zarr, labelled, written part by part; an interrupted study goes on.

    inputs  (point, input)      what was varied
    values  (point, quantity)   measures and results; NaN where a point fails
    failed  (point)             why, "" where it does not
    seal    (part)              a hash of each finished part, of its number and of the plan's digest, 0
                                before: what has been torn, or is of another study, is done again

A part is written whole and its seal last, each on the disk before the next. The group's attributes hold
the study file and the plan's digest; a folder that holds another study is refused, and so is one that
another process writes to.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from gough.base.arrays import Array
from gough.base.files import locked
from gough.errors import FileError
from gough.studies.evaluate import LONGEST_REASON, Outcome
from gough.studies.plan import LARGEST_PART, Plan
from gough.studies.sampling import MOST_NUMBERS, MOST_POINTS
from gough.studies.zarr_files import GROUP, ChunkedArray, read_json, write_json

FORMAT = 3
LOCK = "seal/.lock"
"""File that the process which writes to a folder holds."""


class Store:
    """The folder of one study."""

    def __init__(self, path: str | os.PathLike[str], plan: Plan) -> None:
        """Open the study's folder, or make it, with the points of a sweep."""
        self.path, self.plan, self._digest = Path(path), plan, plan.digest
        lengths = {"point": plan.points, "part": plan.parts}
        lengths |= {"input": len(plan.inputs), "quantity": len(plan.columns)}
        self._arrays = _arrays(self.path, lengths, plan.part)
        _refuse_links(self.path)
        if not self.path.exists() or self._half_made():
            self._create()
        self._compare()

    def _attributes(self) -> dict[str, Any]:
        plan = self.plan
        names, units = (*plan.recipe.variables, *plan.columns), (*plan.input_units, *plan.units)
        return {
            "gough_study": FORMAT,
            "digest": self._digest,
            "title": f"study {Path(plan.name).name} of {plan.recipe.name}",
            "study_file": plan.text,
            "inputs": [*plan.inputs],
            "quantities": [*plan.columns],
            "units": dict(zip(names, units, strict=True)),
        }

    def _labels(self) -> list[tuple[ChunkedArray, tuple[str, ...]]]:
        found = (("input", self.plan.inputs), ("quantity", self.plan.columns))
        return [(_label_array(self.path, name, labels), labels) for name, labels in found]

    def _metadata(self) -> dict[str, Any]:
        """All files of metadata, the group's attributes last: with them the folder is complete."""
        arrays = [*self._arrays.values(), *(array for array, _ in self._labels())]
        files = {
            f"{array.folder.name}/{name}": data
            for array in arrays
            for name, data in array.metadata().items()
        }
        return {**files, ".zgroup": GROUP, ".zattrs": self._attributes()}

    def _half_made(self) -> bool:
        """A folder that a process began to make and did not complete."""
        return (self.path / LOCK).exists() and not (self.path / ".zattrs").exists()

    def _create(self) -> None:
        if not self.path.parent.is_dir():
            raise FileError(f"{self.path}: folder {self.path.parent} does not exist")
        try:
            (self.path / "seal").mkdir(parents=True, exist_ok=True)
            with self._locked():
                for array, labels in self._labels():
                    array.folder.mkdir(exist_ok=True)
                    array.write(0, np.array(labels, dtype=array.kind))
                for array in self._arrays.values():
                    array.folder.mkdir(exist_ok=True)
                for name, data in self._metadata().items():
                    write_json(self.path / name, data)
        except OSError as error:
            raise FileError(f"{self.path}: {error.strerror or error}") from None

    def _compare(self) -> None:
        """Refuse a folder whose metadata are not exactly what this study writes."""
        found = _group(self.path)
        if found.get("digest") != self._digest:
            raise FileError(
                f"{self.path}: holds another study, or this one before its file, robot or motion "
                "changed, or of another version of gough; remove it, or choose another folder with -o"
            )
        for name, data in self._metadata().items():
            try:
                same = read_json(self.path / name) == data
            except FileError as error:
                raise FileError(f"{self.path}: damaged: {name}: {error}") from None
            if not same:
                raise FileError(f"{self.path}: damaged: {name} is not what this study writes")

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """While one process writes; a second one is refused. Points of a sweep are put in place."""
        with self._locked():
            if self.plan.search is None:
                # points drawn once belong to the plan; a torn chunk of them is drawn again
                for part in range(self.plan.parts):
                    self._arrays["inputs"].write(part, self.inputs(part))
            yield

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(locked(self.path / LOCK))
            except BlockingIOError:
                raise FileError(f"{self.path}: another process writes this study now") from None
            except OSError as error:
                raise FileError(f"{self.path}: {error.strerror or error}") from None
            yield

    @cached_property
    def finished(self) -> Array:
        """Which parts (parts,) are finished: sealed, and still what was sealed.

        Bits of them that no reader looks at, which something may have changed, are put right.
        """
        found = np.zeros(self.plan.parts, dtype=bool)
        for part in range(self.plan.parts):
            sealed = self._sealed(part)
            if sealed is not None:
                self._put(part, *sealed)
                found[part] = True
        return found

    def _sealed(self, part: int) -> tuple[Array, Outcome] | None:
        return _sealed(self._arrays, self._digest, part)

    def inputs(self, part: int) -> Array:
        """Points (n, inputs) of a finished part, or of any of a sweep."""
        return (
            self._drawn[self.plan.rows(part)] if self.plan.search is None else self._whole(part)[0]
        )

    def all_inputs(self) -> Array:
        """Points (points, inputs); NaN for those that a search has not asked for."""
        if self.plan.search is None:
            return self._drawn
        parts = [self._sealed(part) for part in range(self.plan.parts)]
        unknown = np.full((self.plan.part, len(self.plan.inputs)), np.nan)
        return np.concatenate([unknown if one is None else one[0] for one in parts])

    @cached_property
    def _drawn(self) -> Array:
        return self.plan.draw()

    def outcome(self, part: int) -> Outcome:
        """Of a finished part."""
        return self._whole(part)[1]

    def _whole(self, part: int) -> tuple[Array, Outcome]:
        found = self._sealed(part)
        if found is None:
            raise FileError(f"{self.path}: part {part} has been damaged; run the study again")
        return found

    def write(self, part: int, outcome: Outcome, inputs: Array | None = None) -> None:
        """A part, its seal last; `inputs` where a search has chosen its points."""
        self._put(part, self.inputs(part) if inputs is None else inputs, outcome)
        self.finished[part] = True

    def _put(self, part: int, inputs: Array, outcome: Outcome) -> None:
        seal = _seal(self._digest, part, inputs, outcome)
        chunks = {
            "inputs": inputs,
            "values": outcome.values,
            "failed": np.array(outcome.reasons, dtype=f"<U{LONGEST_REASON}"),
            "seal": np.array([seal], dtype="<u8"),
        }
        try:
            for name, values in chunks.items():
                self._arrays[name].write(part, values)
        except OSError as error:
            raise FileError(f"{self.path}: {error.strerror or error}") from None


def read_study(path: str | os.PathLike[str]) -> xarray.Dataset:
    """A study's results: one variable an input and quantity along `point`, and `failed`; with units."""
    place = Path(path)
    _refuse_links(place)
    group = _group(place)
    try:
        names = [[str(one) for one in group[key]] for key in ("inputs", "quantities")]
        units, title = dict(group["units"]), str(group["title"])
        points, columns = read_json(place / "inputs" / ".zarray")["shape"]
        part = int(read_json(place / "failed" / ".zarray")["chunks"][0])
        lengths = {"point": int(points), "part": -(-int(points) // part)}
        lengths |= {"input": len(names[0]), "quantity": len(names[1])}
        arrays = _arrays(place, lengths, part)
        for array in arrays.values():
            for name, data in array.metadata().items():
                if read_json(array.folder / name) != data:
                    raise FileError(f"damaged: {array.folder.name}/{name}")
        if not 1 <= points <= MOST_POINTS or not 1 <= part <= LARGEST_PART:
            raise FileError(
                f"{points} points in parts of {part}; at most {MOST_POINTS} in parts of {LARGEST_PART}"
            )
        if points * sum(map(len, names)) > MOST_NUMBERS or columns != len(names[0]):
            raise FileError(f"{points} points; a study has at most {MOST_NUMBERS} numbers")
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise FileError(f"{path}: not the folder of a study: {str(error)[:80]}") from None
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    inputs, values, failed, finished = _read(place, arrays, str(group.get("digest")))
    found: dict[str, Any] = {}
    for labels, numbers in zip(names, (inputs, values), strict=True):
        for i, name in enumerate(labels):
            attributes = {"units": units[name]} if units.get(name) else {}
            found[name] = (("point",), numbers[:, i], attributes)
    found["failed"] = (("point",), np.array(failed))
    dataset = xarray.Dataset(found, {"point": np.arange(len(failed))})
    dataset.attrs = {"title": title, "finished": finished}
    return dataset


def _read(
    place: Path, arrays: dict[str, ChunkedArray], digest: str
) -> tuple[Array, Array, list[str], float]:
    """Inputs, values, reasons, and which part of the parts is finished."""
    inputs, values = (np.full(arrays[name].shape, np.nan) for name in ("inputs", "values"))
    failed = [""] * len(inputs)
    size, parts = arrays["inputs"].part, arrays["seal"].shape[0]
    finished = 0
    for part in sorted(arrays["seal"].begun() | arrays["inputs"].begun()):
        rows = slice(part * size, min((part + 1) * size, len(inputs)))
        if _seal_of(arrays, part):
            sealed = _sealed(arrays, digest, part)
            if sealed is None:
                raise FileError(
                    f"{place}: part {part} has been damaged; run the study again, which does it again"
                )
            inputs[rows], values[rows] = sealed[0], sealed[1].values
            failed[rows] = sealed[1].reasons
            finished += 1
        elif (known := arrays["inputs"].read(part)) is not None:
            inputs[rows] = known
    return inputs, values, failed, finished / parts


def _refuse_links(path: Path) -> None:
    """Refuse a folder whose parts lie elsewhere: what is read and written there is not its own."""
    with contextlib.suppress(OSError), os.scandir(path) as entries:  # no folder: said elsewhere
        for entry in entries:
            if entry.is_symlink():
                raise FileError(f"{path}: damaged: {entry.name} is a link")


def _group(path: Path) -> dict[str, Any]:
    """Attributes of a study's folder."""
    try:
        found = read_json(path / ".zattrs")
    except FileError as error:
        raise FileError(f"{path}: not the folder of a study: {error}") from None
    if not isinstance(found, dict) or "gough_study" not in found:
        raise FileError(f"{path}: not the folder of a study")
    if found["gough_study"] != FORMAT:
        raise FileError(
            f"{path}: holds a study of another version of gough; remove it or choose another"
        )
    return found


def _arrays(path: Path, lengths: dict[str, int], part: int) -> dict[str, ChunkedArray]:
    kinds = {
        "inputs": ("<f8", ("point", "input"), part),
        "values": ("<f8", ("point", "quantity"), part),
        "failed": (f"<U{LONGEST_REASON}", ("point",), part),
        "seal": ("<u8", ("part",), 1),
    }
    return {
        name: ChunkedArray(path / name, dims, tuple(lengths[dim] for dim in dims), chunk, kind)
        for name, (kind, dims, chunk) in kinds.items()
    }


def _label_array(path: Path, name: str, labels: tuple[str, ...]) -> ChunkedArray:
    widest, count = max(map(len, labels), default=1), len(labels)
    return ChunkedArray(path / name, (name,), (count,), max(count, 1), f"<U{max(widest, 1)}")


def _seal_of(arrays: dict[str, ChunkedArray], part: int) -> int:
    found = arrays["seal"].read(part)
    return 0 if found is None else int(found[0])


def _sealed(
    arrays: dict[str, ChunkedArray], digest: str, part: int
) -> tuple[Array, Outcome] | None:
    """Points and outcome of a part; None where it is not finished, or no longer what was sealed."""
    seal = _seal_of(arrays, part)
    if not seal:
        return None
    inputs, values, failed = (arrays[name].read(part) for name in ("inputs", "values", "failed"))
    if inputs is None or values is None or failed is None:
        return None
    outcome = Outcome(values, tuple(failed.tolist()))
    return (inputs, outcome) if seal == _seal(digest, part, inputs, outcome) else None


def _seal(digest: str, part: int, inputs: Array, outcome: Outcome) -> int:
    """A hash of a part of a study, never 0."""
    found = hashlib.blake2b(f"{digest} {part} ".encode("utf-8", "surrogatepass"), digest_size=8)
    for one in (inputs, outcome.values):
        found.update(np.ascontiguousarray(one, dtype="<f8").tobytes())
    found.update("\n".join(outcome.reasons).encode("utf-8", "surrogatepass"))
    return int.from_bytes(found.digest(), "little") | 1
