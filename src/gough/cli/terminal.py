"""What commands say: lines, warnings, JSON and progress on standard output and standard error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress

out = Console()
err = Console(stderr=True)


def plain(text: str) -> str:
    """Text without what would steer the terminal: names in files may hold anything."""
    return "".join(one if one.isprintable() or one == "\n" else "�" for one in text)


def say(text: str, console: Console = out) -> None:
    """A line as it is, on standard output if not told otherwise."""
    console.print(plain(text), markup=False, highlight=False, soft_wrap=True)


def say_written(path: Path, json: bool = False) -> None:
    """The name of a file that was written; on standard error where JSON has the other."""
    say(str(path), err if json else out)


def note(text: str) -> None:
    """A remark on standard error."""
    say(f"note: {text}", err)


def warn(text: str) -> None:
    """A warning on standard error."""
    line = plain(f"warning: {text}")
    err.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)


def print_json(data: Any) -> None:
    """Strict JSON on standard output: numbers that are not finite are null."""
    import json

    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(strict(data), indent=2, ensure_ascii=not unicode, allow_nan=False))


def strict(data: Any) -> Any:
    """Plain lists, dictionaries, texts and finite numbers."""
    if isinstance(data, dict):
        return {str(key): strict(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [strict(value) for value in data]
    if isinstance(data, bool | str | None):
        return data
    if hasattr(data, "tolist"):
        return strict(data.tolist())
    if isinstance(data, float):
        return data if abs(data) < float("inf") else None
    return data if isinstance(data, int) else str(data)


def progress_bar() -> Progress:
    """Words, a bar, per cent and time left on standard error; gone when all is done.

    Nothing is shown where nobody watches.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )
