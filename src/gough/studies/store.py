"""Results of a study on disk: Zarr, labelled, written part by part; an interrupted study goes on.

    inputs  (point, input)      what was varied
    values  (point, quantity)   measures and results; NaN where a point fails
    failed  (point)             why, "" where it does not
    seal    (part)              a hash of each finished part, 0 before: what has been torn is done again

A part is written whole and its seal last. The group's attributes hold the study file and the plan's
digest; a folder that holds another study is refused.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from gough.base.arrays import Array
from gough.errors import FileError, MissingDataError
from gough.studies.evaluate import LONGEST_REASON, Outcome
from gough.studies.plan import Plan

FORMAT = 1


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise MissingDataError("studies need zarr: pip install 'gough[studies]'") from None
    return zarr


class Store:
    """The folder of one study."""

    def __init__(self, path: str | os.PathLike[str], plan: Plan) -> None:
        """Open the study's folder, or make it, with the points of a sweep."""
        self.path, self.plan = Path(path), plan
        if not self.path.exists():
            self._create()
        try:
            self.group = _zarr().open_group(str(self.path), mode="r+", zarr_format=2)
            found = dict(self.group.attrs)
        except (OSError, ValueError, KeyError) as error:
            raise FileError(f"{path}: not the folder of a study: {str(error)[:80]}") from None
        if found.get("gough_study") != FORMAT:
            raise FileError(f"{path}: not the folder of a study")
        if found.get("digest") != plan.digest:
            raise FileError(
                f"{path}: holds another study, or this one before its file, robot or motion changed; "
                "remove it, or choose another folder with -o"
            )
        try:
            self._arrays = {
                name: self.group[name] for name in ("inputs", "values", "failed", "seal")
            }
        except KeyError as error:
            raise FileError(f"{path}: damaged: {error} is missing") from None
        self.finished = self._check()

    def _create(self) -> None:
        plan, parent = self.plan, self.path.parent
        if not parent.is_dir():
            raise FileError(f"{self.path}: folder {parent} does not exist")
        zarr = _zarr()
        temporary = Path(tempfile.mkdtemp(dir=parent, prefix=f".{self.path.name}-"))
        try:
            group = zarr.open_group(str(temporary), mode="w", zarr_format=2)
            group.attrs.update(
                {
                    "gough_study": FORMAT,
                    "digest": plan.digest,
                    "title": f"study {Path(plan.name).name} of {plan.recipe.name}",
                    "study_file": plan.text,
                    "units": dict(
                        zip(
                            (*plan.recipe.variables, *plan.columns),
                            (*plan.input_units, *plan.units),
                            strict=True,
                        )
                    ),
                }
            )
            arrays: dict[str, tuple[Any, tuple[str, ...], tuple[int, ...], Any]] = {
                "inputs": ("f8", ("point", "input"), (plan.part, len(plan.inputs)), np.nan),
                "values": ("f8", ("point", "quantity"), (plan.part, len(plan.columns)), np.nan),
                "failed": (f"U{LONGEST_REASON}", ("point",), (plan.part,), ""),
                "seal": ("u8", ("part",), (1,), 0),
            }
            lengths = {"point": plan.points, "part": plan.parts}
            lengths |= {"input": len(plan.inputs), "quantity": len(plan.columns)}
            for name, (kind, dims, chunks, fill) in arrays.items():
                made = group.create_array(
                    name,
                    shape=tuple(lengths[dim] for dim in dims),
                    chunks=chunks,
                    dtype=kind,
                    fill_value=fill,
                )
                made.attrs["_ARRAY_DIMENSIONS"] = list(dims)
            for name, labels in (("input", plan.inputs), ("quantity", plan.columns)):
                widest = max(map(len, labels), default=1)
                made = group.create_array(
                    name, shape=(len(labels),), chunks=(max(len(labels), 1),), dtype=f"U{widest}"
                )
                made.attrs["_ARRAY_DIMENSIONS"] = [name]
                made[:] = np.array(labels)
            if plan.search is None:
                group["inputs"][:] = plan.draw()
            temporary.chmod(0o777 & ~_umask())
            temporary.rename(self.path)
        except OSError as error:
            raise FileError(f"{self.path}: {error.strerror or error}") from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _check(self) -> Array:
        """Which parts (parts,) are finished: sealed, and still what was sealed."""
        seals = self._arrays["seal"][:]
        done = seals != 0
        if done.any():
            inputs, values, failed = (
                self._arrays[name][:] for name in ("inputs", "values", "failed")
            )
            for part in np.flatnonzero(done):
                rows = self.plan.rows(int(part))
                outcome = Outcome(values[rows], tuple(failed[rows].tolist()))
                done[part] = seals[part] == _seal(inputs[rows], outcome)
        if self.plan.search is None:
            # points drawn once belong to the plan; a torn chunk of them is drawn again
            drawn = self.plan.draw()
            if not np.array_equal(self._arrays["inputs"][:], drawn):
                self._arrays["inputs"][:] = drawn
        return np.asarray(done)

    def inputs(self, part: int) -> Array:
        """Points (n, inputs) of a part."""
        return np.asarray(self._arrays["inputs"][self.plan.rows(part)])

    def all_inputs(self) -> Array:
        """Points (points, inputs)."""
        return np.asarray(self._arrays["inputs"][:])

    def outcome(self, part: int) -> Outcome:
        """Of a finished part."""
        rows = self.plan.rows(part)
        found = self._arrays["failed"][rows].tolist()
        return Outcome(np.asarray(self._arrays["values"][rows]), tuple(found))

    def write(self, part: int, outcome: Outcome, inputs: Array | None = None) -> None:
        """A part, its seal last; `inputs` where a search has chosen its points."""
        rows = self.plan.rows(part)
        try:
            if inputs is not None:
                self._arrays["inputs"][rows] = inputs
            self._arrays["values"][rows] = outcome.values
            self._arrays["failed"][rows] = np.array(outcome.reasons, dtype=f"U{LONGEST_REASON}")
            seal = _seal(self.inputs(part) if inputs is None else inputs, outcome)
            self._arrays["seal"][part : part + 1] = np.array([seal], dtype=np.uint64)
        except OSError as error:
            raise FileError(f"{self.path}: {error.strerror or error}") from None
        self.finished[part] = True


def read_study(path: str | os.PathLike[str]) -> xarray.Dataset:
    """A study's results: one variable an input and quantity along `point`, and `failed`; with units."""
    try:
        group = _zarr().open_group(str(path), mode="r", zarr_format=2)
        if group.attrs.get("gough_study") != FORMAT:
            raise FileError(f"{path}: not the folder of a study")
        units = dict(group.attrs["units"])
        found: dict[str, Any] = {}
        for table, labels in (("inputs", "input"), ("values", "quantity")):
            numbers = group[table][:]
            for i, name in enumerate(group[labels][:].tolist()):
                attributes = {"units": units[name]} if units.get(name) else {}
                found[name] = (("point",), numbers[:, i], attributes)
        found["failed"] = (("point",), group["failed"][:])
        seals = group["seal"][:]
        title = str(group.attrs["title"])
    except (OSError, KeyError) as error:
        raise FileError(f"{path}: not the folder of a study: {str(error)[:80]}") from None
    dataset = xarray.Dataset(found, {"point": np.arange(len(found["failed"][1]))})
    dataset.attrs = {"title": title, "finished": float(np.mean(seals != 0))}
    return dataset


def _seal(inputs: Array, outcome: Outcome) -> int:
    """A hash of a part, never 0."""
    found = hashlib.blake2b(digest_size=8)
    for one in (inputs, outcome.values):
        found.update(np.ascontiguousarray(one, dtype="<f8").tobytes())
    found.update("\n".join(outcome.reasons).encode())
    return int.from_bytes(found.digest(), "little") | 1


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
