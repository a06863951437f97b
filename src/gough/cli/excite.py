"""`gough excite`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.arguments import (
    TABLES,
    FrictionParameters,
    Json,
    RobotArgument,
    load_rigid,
    output_file,
)
from gough.cli.terminal import err, print_json, progress_bar, say
from gough.errors import InputError

MOST_ROWS = 10_000_000
"""Samples of the motion file."""


def command(
    name: RobotArgument,
    output: Annotated[Path, output_file("motion file, .csv or .nc", TABLES)],
    period: Annotated[float, typer.Option(help="of the motion, s", min=0.01)] = 10.0,
    harmonics: Annotated[int, typer.Option(help="of the Fourier series", min=3, max=50)] = 8,
    iterations: Annotated[int, typer.Option(help="of the optimiser", min=0)] = 60,
    random: Annotated[int, typer.Option(help="random motions to start from", min=1)] = 1000,
    rate: Annotated[
        float, typer.Option(help="samples per second of the motion file", min=1.0)
    ] = 100.0,
    friction: FrictionParameters = True,
    seed: Annotated[int, typer.Option(help="of the random motions", min=0)] = 0,
    seconds: Annotated[
        float, typer.Option(help="of search at most; the best so far is taken", min=1.0)
    ] = 45.0,
    json: Json = False,
) -> None:
    """A motion that shows every parameter, within the limits.

    It goes from rest to rest. Ctrl-C keeps the best so far; the same command goes on from there.

    Example: gough excite long-khalil-martinet-2014 -o motion.csv
    """
    from gough.data.motion_files import write_motion
    from gough.parameters.excitation import excite, lines

    samples = rate * period + 1
    if not samples <= MOST_ROWS:
        raise InputError(
            f"--rate {rate:g} and --period {period:g} make {samples:.3g} samples: at most {MOST_ROWS:g}"
        )
    robot = load_rigid(name)
    state = output.with_name(output.name + ".state")
    with progress_bar() as progress:
        task = progress.add_task("base parameters", total=None)

        def told(stage: str, done: int, total: int, best: float) -> None:
            shown = stage if best == float("inf") else f"{stage}, condition number {best:.4g}"
            progress.update(task, description=shown, completed=done, total=total)

        found = excite(
            robot,
            period=period,
            harmonics=harmonics,
            iterations=iterations,
            random_motions=random,
            friction=friction,
            seed=seed,
            state=state,
            seconds=seconds,
            progress=told,
        )
    write_motion(found.trajectory.sample(max(2, round(samples))), output)
    if not found.interrupted:
        state.unlink(missing_ok=True)
    if json:
        result = {
            "motion": str(output),
            "condition_number": found.condition,
            "best_random": found.random,
            "ratio": found.ratio,
            "iterations": found.iterations,
            "interrupted": found.interrupted,
            "assumed": found.bounds.assumed,
        }
        print_json(result)
    else:
        for line in (str(output), *lines(found)):
            say(line)
    if found.interrupted:
        err.print(f"interrupted after {found.iterations} iterations; the same command goes on")
        raise typer.Exit(130)
