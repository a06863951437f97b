"""`gough simulate`: a simulation file in, results and a picture out."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gough.cli.arguments import PICTURES, TABLES, file_to_write, output_file, picture_beside
from gough.cli.file_kinds import reading
from gough.cli.results import origin
from gough.cli.terminal import finishing, progress_bar, say, warn
from gough.errors import FileError, GoughError

if TYPE_CHECKING:
    from gough.base.arrays import Array
    from gough.simulation.result import Simulation


def command(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG.toml", help="robot, motion, controller in one file")
    ],
    output: Annotated[
        Path | None, output_file("result file, .nc or .csv; default: CONFIG.nc", TABLES)
    ] = None,
    plot: Annotated[
        Path | None, file_to_write("picture; default: beside the result, .png", kinds=PICTURES)
    ] = None,
) -> None:
    """Simulate a robot under control, as a file describes it.

    Ctrl-C ends it early: what was computed is written and marked as partial.

    Example: gough simulate circle.toml -o circle.nc
    """
    from gough.base.files import refuse_inputs
    from gough.show.plots import save
    from gough.simulation.config import read_config
    from gough.simulation.loop import simulate

    with warnings.catch_warnings(record=True) as caught, reading(config, "simulation file"):
        warnings.simplefilter("always")
        setup = read_config(config)
    target = config.with_suffix(".nc") if output is None else output
    picture = picture_beside(plot, target)
    for path in (target, picture):
        refuse_inputs(path, setup.robot.mesh_paths)
    if "seeds" in setup.options and target.suffix.lower() == ".csv":
        raise FileError(
            f"{target}: a .csv has one simulation, and {config} asks for several: use .nc"
        )
    for warning in caught:
        warn(str(warning.message))
    result: Simulation | None = None
    try:
        with progress_bar() as progress:
            task = progress.add_task("simulate", total=1.0)
            result = simulate(
                setup.robot,
                setup.controller,
                setup.reference,
                **setup.options,
                progress=lambda part: progress.update(task, completed=part),
            )
    except KeyboardInterrupt:
        if result is None:
            raise
    with finishing(target):
        result.dataset.attrs |= origin() | _limits(result)
        result.save(target)
    save(result.plot(), picture)
    for line in (str(result), _summary(result), str(target), str(picture)):
        say(line)
    if any(stop.reason == "interrupted" for stop in result.stops.values()):
        print("gough: interrupted; the results are partial", file=sys.stderr)
        raise typer.Exit(130)


def _limits(result: Simulation) -> dict[str, str]:
    """What a whole simulation exceeds of the robot file's strokes, speeds and angles."""
    from gough.model.described import DescribedModel
    from gough.model.limits import check

    plant = result.plants[0][1]
    if result.shape or result.partial or not isinstance(plant, DescribedModel):
        return {}
    try:
        found = check(plant, result.motion).violations
    except GoughError:
        return {}
    # the forces that acted, and where drives were at their limits, are in the result
    lines = [str(one) for one in found if one.limit != "force"]
    return {"limits": "\n".join(lines) or "strokes, speeds and angles within their limits"}


def _summary(result: Simulation) -> str:
    import numpy as np

    apart, turn = (_largest(np.linalg.norm(one, axis=-1), 4) for one in result.tracking_errors())
    largest, units = _largest(result.forces, 6), result.plants[0][1].units
    return f"largest error {apart} m, {turn} rad; largest force {largest} {units.force}"


def _largest(values: Array, digits: int) -> str:
    """Of the sizes that are known: a simulation may end before there are any."""
    import numpy as np

    known = np.abs(values[np.isfinite(values)])
    return f"{known.max():.{digits}g}" if known.size else "unknown"
