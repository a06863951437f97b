"""What commands say: lines, warnings, JSON and progress on standard output and standard error."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.segment import Segment

if TYPE_CHECKING:
    from rich.progress import Progress


def plain(text: str) -> str:
    """Text without what would steer the terminal: names in files may hold anything."""
    return "".join(one if one.isprintable() or one == "\n" else "�" for one in text)


class PlainConsole(Console):
    """A terminal that only its own styles steer, whatever the texts hold that it is given."""

    def render(self, *given: Any, **options: Any) -> Iterator[Segment]:
        """Pieces of text with their styles."""
        for segment in super().render(*given, **options):
            yield segment if segment.control else segment._replace(text=plain(segment.text))


out = PlainConsole()
err = PlainConsole(stderr=True)


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


@contextmanager
def finishing(path: Path) -> Iterator[None]:
    """While results are written: the first Ctrl-C waits until they are, the second does not."""
    waiting: list[int] = []

    def later(number: int, frame: object) -> None:
        waiting.append(number)
        signal.signal(signal.SIGINT, before)
        say(f"writing {path} first; Ctrl-C again gives it up", err)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, later)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        say(f"interrupted: {path} is written", err)
        raise KeyboardInterrupt


def print_json(data: Any) -> None:
    """Strict JSON on standard output: numbers that are not finite are null."""
    import json

    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(strict(data), indent=2, ensure_ascii=not unicode, allow_nan=False)
    print(
        "".join(one if one.isprintable() or one == "\n" else f"\\u{ord(one):04x}" for one in text)
    )


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


PAUSE = 10.0
"""Seconds between two lines about progress, where no terminal shows a bar."""


def progress_bar() -> Progress:
    """Words, a bar, per cent and time left on standard error; gone when all is done.

    Where no terminal shows it, a line every `PAUSE` seconds.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    class Spoken(Progress):
        """A bar that says lines where it cannot be seen."""

        begun = last = monotonic()

        def update(self, task_id: Any, *arguments: Any, **changes: Any) -> None:
            super().update(task_id, *arguments, **changes)
            now, task = monotonic(), self._tasks[task_id]
            if self.disable and task.total and now - self.last >= PAUSE:
                self.last = now
                say(f"{task.description}: {task.percentage:.0f} %, {now - self.begun:.0f} s", err)

    return Spoken(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )
