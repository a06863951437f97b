"""`gough demo`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from gough.cli.arguments import output_folder
from gough.cli.terminal import err, say

PAUSE = 3.0
"""Seconds between two lines of progress where there is no terminal."""


def command(
    output: Annotated[Path, output_folder("folder for the pages")] = (Path("demo")),
) -> None:
    """A page to show: papers reproduced, speed on this machine.

    And what to try next.

    Example: gough demo -o demo
    """
    from gough.show.demo import COMMANDS, make, typed

    start = time.perf_counter()
    last = -PAUSE
    with err.status("…") as status:

        def told(message: str) -> None:
            nonlocal last
            now = time.perf_counter() - start
            if err.is_terminal:
                status.update(f"{now:4.0f} s  {message}")
            elif now - last > PAUSE:
                err.print(f"{now:4.0f} s  {message}", markup=False, highlight=False)
                last = now

        lines = make(output, told)
    for line in lines:
        say(line)
    say(f"\nall papers, every claim: {output / 'all.html'}")
    say(f"first page:              {output / 'index.html'}")
    say("\nnext, try:")
    for line, what in COMMANDS:
        say(f"  {typed(line)}\n      {what}")
    say(f"\nmade in {time.perf_counter() - start:.0f} s")
