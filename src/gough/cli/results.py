"""What commands share that compute along a motion and write a result file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from gough.cli.terminal import finishing, progress_bar, warn

if TYPE_CHECKING:
    from pathlib import Path

    import xarray

    from gough.model.limits import Report
    from gough.motion import Motion

Result = TypeVar("Result")
PART = 20_000
"""Samples of a long motion between two steps of the progress bar."""


def in_parts(
    label: str, model: Callable[[Motion], Result], motion: Motion, part: int = PART
) -> list[Result]:
    """Results of a model over parts of a long motion, behind a progress bar."""
    if not motion.shape or len(motion) <= part:
        return [model(motion)]
    with progress_bar() as progress:
        starts = progress.track(range(0, len(motion), part), description=label)
        return [model(motion[start : start + part]) for start in starts]


def joined(parts: list[Result]) -> Result:
    """Parts of a result, whose fields are arrays or missing, put together along the motion."""
    import dataclasses

    import numpy as np

    if len(parts) == 1:
        return parts[0]
    fields: dict[str, Any] = {}
    for item in dataclasses.fields(parts[0]):  # type: ignore[arg-type]  # all models return such
        values = [getattr(part, item.name) for part in parts]
        fields[item.name] = None if values[0] is None else np.concatenate(values)
    return type(parts[0])(**fields)


def write_result(found: xarray.Dataset, checked: Report, output: Path) -> None:
    """Write a dataset that says where it comes from and which limits it exceeds."""
    from gough.data.datasets import write_dataset

    with finishing(output):
        write_dataset(found.assign_attrs(origin() | {"limits": str(checked)}), output)


def origin() -> dict[str, str]:
    """Where a result comes from: program and command."""
    import shlex

    from gough.base.version import VERSION

    return {"source": f"gough {VERSION}", "history": shlex.join(["gough", *sys.argv[1:]])}


def violations(checked: Report) -> dict[str, Any]:
    """Limits that are exceeded, for programs."""
    return {"ok": checked.ok, "violations": [one._asdict() for one in checked.violations]}


EXCEEDED = 3
"""Exit code of --strict where limits are exceeded."""


def warn_of_limits(checked: Report) -> None:
    """A line on standard error for each limit that is exceeded."""
    for violation in checked.violations:
        warn(str(violation))


def end_strictly(checked: Report, strict: bool) -> None:
    """Where limits are exceeded, end with a code of its own if --strict asks for it."""
    if strict and not checked.ok:
        raise typer.Exit(EXCEEDED)
