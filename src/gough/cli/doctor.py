"""`gough doctor`."""

from __future__ import annotations

import typer

from gough.cli.arguments import Json
from gough.cli.terminal import out, print_json


def command(json: Json = False) -> None:
    """What gough runs on here; checks itself.

    Engine, processor, threads, kernel cache, extras.

    Example: gough doctor
    """
    from gough.show.installation import print_report, report

    if json:
        found = report()
        ok = all(one.ok for one in found)
        print_json({"ok": ok, "findings": [one._asdict() for one in found]})
    else:
        ok = print_report(out)
    if not ok:
        raise typer.Exit(1)
