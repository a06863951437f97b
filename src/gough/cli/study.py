"""`gough study`: a study file in, a folder of results and a picture out."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gough.cli.terminal import err, in_a_folder, out, progress_bar, say
from gough.errors import FileError

if TYPE_CHECKING:
    import xarray

    from gough.studies.plan import Plan


def study(
    file: Annotated[
        Path, typer.Argument(metavar="STUDY.toml", help="what is varied, and what is measured")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="folder of the results (Zarr); default: STUDY.zarr"),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="picture; default: beside the results, .png", callback=in_a_folder),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="processes here; default: one", min=1)] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="run on the workers of this Dask scheduler, tcp://host:port")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="also every point as a row of a .csv")] = None,
) -> None:
    """Sweep, sample or optimise numbers of a robot file; goes on where it was interrupted.

    Grids, random and Latin-hypercube sweeps, tolerances, and searches for the best designs; the file is
    checked before anything runs. The same command again computes only what is missing.

    Example: gough study radius.toml -o radius.zarr
    """
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    from gough.show.pictures.studies import front, overview
    from gough.show.plots import KINDS, save
    from gough.studies.plan import read_plan
    from gough.studies.run import run
    from gough.studies.store import read_study

    for name, kinds in ((csv, (".csv",)), (plot, KINDS)):
        if name is not None and name.suffix.lower() not in kinds:
            raise FileError(f"{name}: the name must end in {', '.join(kinds)}")
    plan = read_plan(file)
    target = file.with_suffix(".zarr") if output is None else output
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with progress_bar(*columns, TimeRemainingColumn()) as bar:
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
    _summary(plan, dataset)
    say(str(target))
    if csv is not None:
        from gough.data.datasets import heading, write_table

        names = {
            heading(str(name), str(one.attrs.get("units", "")).removeprefix("1")): one.values
            for name, one in dataset.data_vars.items()
        }
        write_table(names, csv)
        say(str(csv))
    if (dataset["failed"].values == "").any():
        picture = plot or target.with_suffix(".png")
        save((front if plan.search is not None else overview)(plan, dataset), picture)
        say(str(picture))


def _summary(plan: Plan, dataset: xarray.Dataset) -> None:
    """How the quantities spread, or the front; and why points fail."""
    from collections import Counter

    import numpy as np
    from rich.table import Table

    from gough.studies.optimise import NOT_ASKED, pareto

    reasons = Counter(dataset["failed"].values.tolist())
    good = dataset["failed"].values == ""
    table = Table(box=None, pad_edge=False, header_style="bold")
    if plan.search is not None:
        best = pareto(plan, dataset)
        shown = (
            best[np.unique(np.linspace(0, len(best) - 1, 12).astype(int))] if len(best) else best
        )
        names = [*plan.inputs, *dict.fromkeys(
            name for one in plan.search.objectives for name in sorted(one.names)
            if name in plan.columns
        )]  # fmt: skip
        for name in ("point", *names):
            table.add_column(name, justify="right")
        for point in shown:
            table.add_row(str(point), *(f"{dataset[name].values[point]:.4g}" for name in names))
        out.print(f"{len(best)} designs that none beats" + (", some:" if len(best) > 12 else ":"))
    else:
        for name in ("quantity", "unit", "least", "median", "largest"):
            table.add_column(name, justify="left" if name in ("quantity", "unit") else "right")
        for name, unit in zip(plan.columns, plan.units, strict=True):
            values = dataset[name].values[good]
            numbers = np.quantile(values, (0, 0.5, 1)) if len(values) else [np.nan] * 3
            table.add_row(name, unit.removeprefix("1"), *(f"{one:.5g}" for one in numbers))
    out.print(table, highlight=False)
    failed = sum(count for reason, count in reasons.items() if reason not in ("", NOT_ASKED))
    if failed:
        del reasons[""], reasons[NOT_ASKED]
        for reason, count in reasons.most_common(3):
            err.print(
                f"failed: {count} × {reason}", style="yellow", highlight=False, soft_wrap=True
            )
    out.print(f"{int(good.sum())} points, {failed} failed", highlight=False)
