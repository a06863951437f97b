"""A search for an exciting motion on disk: the same search goes on from it and ends with the same bits.

Of an optimiser only the answers are kept that it was given, in their order: asked again from the same
start, it gets them without computing and comes to where it was.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gough.base.array_files import read_arrays
from gough.base.arrays import Array
from gough.base.files import replacing
from gough.errors import FileError

GROWN = 1.05
"""Times as many answers as are on disk from which they are written again: not all of them each time."""
SCALES = (1e-60, 1e60)
"""Between which scales of columns are."""


class Answers:
    """Answers in the order of their questions, those from the disk first."""

    def __init__(self, old: Array | None = None) -> None:
        self._old = np.empty((0, 0)) if old is None else old
        self._asked = 0
        self._new: list[Array] = []
        self._kept = len(self._old)

    def once(self, points: int, compute: Callable[[], Array]) -> Array:
        """(points, numbers): the next answers, computed if they are not known."""
        known = self._old[self._asked : self._asked + points]
        if len(known) == points:
            self._asked += points
            return known
        self._old = self._old[: self._asked]
        answer = compute()
        self._new.append(answer)
        return answer

    def whole(self) -> Array:
        """All of them."""
        parts = [self._old, *self._new] if len(self._old) else self._new
        return np.concatenate(parts) if parts else self._old

    def due(self) -> bool:
        """Whether there are enough new ones to be written; they count as written then."""
        count = len(self._old) + sum(map(len, self._new))
        due = count > GROWN * self._kept
        self._kept = count if due else self._kept
        return due


class Start(NamedTuple):
    """Where the optimiser begins: the best of the random motions."""

    best: Array
    """(free,)."""
    scale: Array
    """(rank,) of the columns."""
    condition: float


def save(path: str | os.PathLike[str], key: str, start: Start, answers: Answers) -> None:
    """Write a search, whole or not at all."""
    buffer = io.BytesIO()
    np.savez(
        buffer,
        key=np.array(key),
        best=start.best,
        scale=start.scale,
        condition=start.condition,
        answers=answers.whole(),
    )
    with replacing(path, own=True) as temporary:
        temporary.write_bytes(buffer.getvalue())


def restored(
    path: Path, key: str, shapes: tuple[tuple[int, ...], ...], numbers: int, reach: float
) -> tuple[Start, Answers] | None:
    """A saved search of the same key, None if there is none.

    `shapes` of its start's arrays, `numbers` of an answer, `reach` of the start at most.
    """
    if not path.exists():
        return None
    try:
        saved = read_arrays(path, "fU")
        same = str(saved["key"]) == key
        parts = [saved[name] for name in ("best", "scale", "condition", "answers")]
    except (FileError, KeyError) as error:
        raise FileError(f"{path}: not a saved search ({error}); remove it") from None
    if not same:
        raise FileError(
            f"{path}: the search of another robot, version or other settings; remove it"
        )
    best, scale, condition, answers = parts
    known = [one.shape for one in parts[:3]] == [*shapes, ()] and answers.ndim == 2
    known = known and answers.shape[1] in ((numbers,) if len(answers) else (0, numbers))
    if (
        not known
        or any(one.dtype.kind != "f" or np.isnan(one).any() for one in parts)
        or not np.linalg.norm(best) <= reach
        or not ((scale > SCALES[0]) & (scale < SCALES[1])).all()
    ):
        raise damaged(path)
    return Start(best, scale, float(condition)), Answers(answers)


def damaged(path: str | os.PathLike[str]) -> FileError:
    """What is said of a search whose numbers cannot be."""
    return FileError(f"{path}: a damaged search; remove it")
