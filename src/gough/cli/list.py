"""`gough list`: the catalogue, read as plain TOML, so that it is there at once."""

from __future__ import annotations

from gough.cli.arguments import Json
from gough.cli.terminal import out, print_json


def command(json: Json = False) -> None:
    """Robots and motions that come with gough.

    Example: gough list
    """
    import tomllib

    from rich.table import Table

    from gough.data.motion_names import MOTIONS
    from gough.description.catalogue import catalogue, catalogue_text

    robots = []
    for name in catalogue():
        file = tomllib.loads(catalogue_text(name))
        legs = file["legs"]
        counted = {"kind": legs["kind"], "legs": len(legs["platform"])}
        robots.append({"name": name, **counted, "source": file["source"]})
    if json:
        print_json({"robots": robots, "motions": list(MOTIONS)})
        return
    table = Table("robot", "legs", "source", box=None, pad_edge=False, header_style="bold")
    for one in robots:
        table.add_row(one["name"], f"{one['legs']} {one['kind']}", one["source"])
    out.print(table)
    out.print("\n[bold]motions[/bold]")
    for name in MOTIONS:
        out.print(f"  {name}")
