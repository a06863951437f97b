"""`gough excite` and `gough identify`: a machine's parameters from measurements."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from gough.cli.app import app
from gough.cli.terminal import (
    Json,
    RobotArgument,
    err,
    in_a_folder,
    load_rigid,
    out,
    print_json,
    progress_bar,
    say,
    warn,
)

if TYPE_CHECKING:
    from gough.parameters.identification import Identification, Validation

Friction = Annotated[
    bool, typer.Option(help="viscous and constant Coulomb friction are parameters too")
]
SHORT = {"not identifiable": "no", "not excited": "unseen"}


@app.command()
def excite(
    robot: RobotArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="motion file, .csv or .nc", callback=in_a_folder)
    ],
    period: Annotated[float, typer.Option(help="of the motion, s", min=0.01)] = 10.0,
    harmonics: Annotated[int, typer.Option(help="of the Fourier series", min=3, max=50)] = 8,
    iterations: Annotated[int, typer.Option(help="of the optimiser", min=0)] = 60,
    random: Annotated[int, typer.Option(help="random motions to start from", min=1)] = 1000,
    rate: Annotated[
        float, typer.Option(help="samples a second of the motion file", min=1.0)
    ] = 100.0,
    friction: Friction = True,
    seed: Annotated[int, typer.Option(help="of the random motions", min=0)] = 0,
    as_json: Json = False,
) -> None:
    """A motion that shows every parameter, within the robot's limits, from rest to rest.

    Ctrl-C keeps the best so far; the same command goes on from there.

    Example: gough excite long-khalil-martinet-2014 -o motion.csv
    """
    from rich.progress import Progress, TimeRemainingColumn

    from gough.data.motion_files import write_motion
    from gough.parameters.excitation import excite as find
    from gough.parameters.excitation import lines

    machine = load_rigid(robot)
    state = output.with_name(output.name + ".state")
    columns = (*Progress.get_default_columns()[:-1], TimeRemainingColumn())
    with progress_bar(*columns) as progress:
        task = progress.add_task("base parameters", total=None)

        def told(stage: str, done: int, total: int, best: float) -> None:
            shown = stage if best == float("inf") else f"{stage}, condition number {best:.4g}"
            progress.update(task, description=shown, completed=done, total=total)

        found = find(
            machine,
            period=period,
            harmonics=harmonics,
            iterations=iterations,
            random_motions=random,
            friction=friction,
            seed=seed,
            state=state,
            progress=told,
        )
    write_motion(found.trajectory.sample(max(2, round(rate * period) + 1)), output)
    if not found.interrupted:
        state.unlink(missing_ok=True)
    if as_json:
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


@app.command()
def identify(
    robot: RobotArgument,
    log: Annotated[
        Path,
        typer.Argument(metavar="LOG", help="time, q1 … or x, y, z, rx …, force1 …; .csv or .nc"),
    ],
    validation: Annotated[
        Path | None, typer.Option("--validate", metavar="LOG2", help="a second log to judge by")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="robot file with the result, .toml", callback=in_a_folder
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="page with tables and figures, .html", callback=in_a_folder)
    ] = None,
    method: Annotated[
        str, typer.Option(help="ordinary, weighted (by the noise of each leg) or instrumental")
    ] = "weighted",
    reference: Annotated[
        Path | None, typer.Option(help="commanded motion, for --method instrumental")
    ] = None,
    cutoff: Annotated[
        float | None, typer.Option(help="low-pass of the coordinates, Hz; default: 5 × their band")
    ] = None,
    friction: Friction = True,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="only bodies that matter can make (needs cvxpy)")
    ] = False,
    as_json: Json = False,
) -> None:
    """A machine's parameters from its log, each with its standard deviation.

    Example: gough identify my.toml log.csv --validate log2.csv -o identified.toml --report page.html
    """
    from gough.data.logs import read_log
    from gough.data.motion_files import read_motion
    from gough.parameters import identification as solver
    from gough.parameters.consistency import adopted
    from gough.show.report.identification import write_report

    machine = load_rigid(robot)
    with err.status("reading") as status:
        first = read_log(machine, log)
        second = None if validation is None else read_log(machine, validation)
        commanded = None if reference is None else read_motion(reference)
        status.update("identifying")
        found = solver.identify(
            machine,
            first,
            method=method,  # type: ignore[arg-type]  # checked there
            friction=friction,
            cutoff=cutoff,
            reference=commanded,
        )
        status.update("validating")
        judged = None if second is None else solver.validate(machine, found, second)
        if output is not None:
            status.update("writing")
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                adopted(machine, found, consistent=consistent).save(output)
            for one in caught:
                warn(str(one.message))
            if caught and not consistent:
                err.print("--consistent finds bodies that matter can make", style="yellow")
        if report is not None:
            write_report(machine, found, judged, report, (str(log), str(validation or "")))
    if as_json:
        print_json(_result(found, judged))
        return
    _print(found, judged)
    for path in (output, report):
        if path is not None:
            say(str(path))


def _result(found: Identification, judged: Validation | None) -> dict[str, Any]:
    """The result for programs; what is not finite is null."""
    from gough.parameters.base import unit_of

    def number(value: float) -> float | None:
        return float(value) if abs(value) < float("inf") else None

    table = zip(
        found.base.base_names,
        found.base.values,
        found.values,
        found.deviations,
        found.verdicts,
        strict=True,
    )
    result: dict[str, Any] = {
        "method": found.method,
        "condition_number": number(found.condition),
        "cutoff": found.measured.cutoff,
        "residual": found.noise.tolist(),
        "parameters": [
            {
                "name": name,
                "unit": unit_of(name),
                "file": float(before),
                "value": float(value),
                "deviation": number(deviation),
                "verdict": verdict,
            }
            for name, before, value, deviation, verdict in table
        ],
    }
    if judged is not None:
        result["validation"] = {
            "error": judged.error.tolist(),
            "percent": judged.percent.tolist(),
            "percent_before": judged.percent_before.tolist(),
        }
    return result


def _print(found: Identification, judged: Validation | None) -> None:
    from gough.parameters.base import unit_of

    headers = ("base parameter", "unit", "file", "found", "σ rel.", "known")
    table = Table(*headers, box=None, pad_edge=False, header_style="bold")
    for column in table.columns[2:5]:
        column.justify = "right"
    for column in table.columns:
        column.no_wrap = True
    rows = zip(
        found.base.base_names,
        found.base.values,
        found.values,
        found.relative,
        found.verdicts,
        strict=True,
    )
    for name, before, value, part, verdict in rows:
        shown = f"{100 * part:.1f} %" if part < 10 else "–"
        numbers = (f"{before:.4g}", f"{value:.4g}", shown)
        style = "" if verdict in ("good", "rough") else "bright_black"
        table.add_row(name, unit_of(name), *numbers, SHORT.get(verdict, verdict), style=style)
    out.print(table)
    verdicts = [*found.verdicts]
    counts = ", ".join(
        f"{verdicts.count(one)} {one}"
        for one in ("good", "rough", "not identifiable", "not excited")
        if one in verdicts
    )
    out.print(f"{len(verdicts)} base parameters: {counts}", highlight=False)
    if not {*SHORT}.isdisjoint(verdicts):
        out.print("no: not identifiable from this log; unseen: its motion does not excite it")
    if judged is not None:
        for leg, (error, percent) in enumerate(zip(judged.error, judged.percent, strict=True)):
            before = judged.percent_before[leg]
            out.print(
                f"validation, leg {leg + 1}: rms error {error:.4g} N, {percent:.2f} % "
                f"(robot file as it was: {before:.2f} %)",
                highlight=False,
            )
