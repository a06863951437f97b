"""`gough reproduce`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from gough.cli.arguments import output_folder
from gough.cli.terminal import err, out, say


def command(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="kim-ryu-2002, sinatra-xi-staicu-2009, khalil-guegan-2004, "
            "long-khalil-martinet-2014 or all",
        ),
    ],
    output: Annotated[Path, output_folder("folder for page and figures")] = (Path("reproduction")),
) -> None:
    """Redo a paper's tables and figures; says what agrees.

    And what does not, and where the paper is wrong.

    Example: gough reproduce kim-ryu-2002 -o kim
    """
    from gough.show.reproduction import print_claims, run

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the claims say what is odd about a paper's robot
        with err.status("…") as status:
            found = run(paper, output, lambda message: status.update(message))
    for one in found:
        print_claims(one, out)
    say(f"\npage: {output / (paper + '.html')}")
    say(f"figures: {output / 'figures'}")
