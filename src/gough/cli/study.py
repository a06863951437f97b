"""`gough study`: a study file in, a folder of results and a picture out."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from gough.cli.arguments import PICTURES, file_to_write, picture_beside
from gough.cli.file_kinds import reading
from gough.cli.help import apart
from gough.cli.terminal import err, out, progress_bar, say, say_written
from gough.errors import FileError


def command(
    file: Annotated[
        Path, typer.Argument(metavar="STUDY.toml", help="what is varied, and what is measured")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="folder of the results (Zarr); default: STUDY.zarr"),
    ] = None,
    plot: Annotated[
        Path | None, file_to_write("picture; default: beside the results, .png", kinds=PICTURES)
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="processes here; default: one", min=1)] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="run on the workers of this Dask scheduler, tcp://host:port")
    ] = None,
    csv: Annotated[
        Path | None, file_to_write("also every point as a row of a .csv", kinds=(".csv",))
    ] = None,
) -> None:
    """Sweep, sample or optimise numbers of a robot file.

    Grids, random and Latin-hypercube sweeps, tolerances, and searches for the best designs; the file is
    checked before anything runs. The same command again computes only what is missing.

    Example: gough study radius.toml -o radius.zarr
    """
    from gough.data.datasets import heading, write_table
    from gough.show.sheets.studies import print_study
    from gough.studies.plan import read_plan
    from gough.studies.run import run
    from gough.studies.store import read_study

    with reading(file, "study file"):
        plan = read_plan(file)
    target = file.with_suffix(".zarr") if output is None else output
    if not target.name:
        raise FileError("--output is empty; needs the name of a folder")
    picture = picture_beside(plot, target)
    for other in (picture, csv):
        if other is not None:
            apart(target, other, both_written=True)
    with progress_bar() as bar:
        task = bar.add_task("study", total=plan.points)

        def told(done: int, total: int, failed: int) -> None:
            shown = f"{done} of {total} points" + (f", {failed} failed" if failed else "")
            bar.update(task, description=shown, completed=done)

        try:
            run(plan, target, jobs=jobs, scheduler=scheduler, progress=told)
        except KeyboardInterrupt:
            bar.stop()
            say(f"interrupted: what was computed is in {target}; the same command goes on", err)
            sys.stdout.flush()
            os._exit(130)  # in an ordinary end the store's own threads complain at length
    dataset = read_study(target)
    print_study(plan, dataset, out, err)
    say_written(target)
    if csv is not None:
        columns = {
            heading(str(name), str(one.attrs.get("units", "")).removeprefix("1")): one.values
            for name, one in dataset.data_vars.items()
        }
        write_table(columns, csv)
        say_written(csv)
    if (dataset["failed"].values == "").any():
        from gough.show.pictures.studies import front, overview
        from gough.show.plots import save

        save((front if plan.search is not None else overview)(plan, dataset), picture)
        say_written(picture)
