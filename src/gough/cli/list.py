"""`gough list`: the catalogue, read as plain TOML, so that it is there at once."""

from __future__ import annotations

from typing import Any

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

    files = {name: tomllib.loads(catalogue_text(name)) for name in catalogue()}
    if json:
        print_json({"robots": [_facts(file) for file in files.values()], "motions": [*MOTIONS]})
        return
    table = Table("robot", "legs", "source", box=None, pad_edge=False, header_style="bold")
    for name, file in files.items():
        table.add_row(name, _architecture(file), file["source"])
    out.print(table)
    out.print("\n[bold]motions[/bold]")
    for name in MOTIONS:
        out.print(f"  {name}")


def _facts(file: dict[str, Any]) -> dict[str, Any]:
    """What a script wants to know of a robot."""
    groups = _groups(file)
    return {
        "name": file["name"],
        "kind": " + ".join(group["kind"] for group in groups),
        "legs": sum(map(_count, groups)),
        "source": file["source"],
    }


def _architecture(file: dict[str, Any]) -> str:
    """Such as 3 UPS + 1 RPU, or 3 RUS, translation."""
    legs = " + ".join(f"{_count(group)} {_joints(group)}" for group in _groups(file))
    mobility = file.get("platform", {}).get("mobility")
    return f"{legs}, {mobility}" if mobility else legs


def _groups(file: dict[str, Any]) -> list[dict[str, Any]]:
    """The groups of legs: `[[legs]]`, or the one of `[legs]`."""
    legs = file["legs"]
    return legs if isinstance(legs, list) else [legs]


def _joints(group: dict[str, Any]) -> str:
    """The joints of a leg from base to platform: UPS, PUS, RUS, or a chain's, by their initials."""
    if "joints" not in group:
        return str(group["kind"])
    return "".join(joint["type"][0].upper() for joint in group["joints"])


def _count(group: dict[str, Any]) -> int:
    """How many legs a group has: as many as its values with one a leg."""
    if "platform" in group:
        return len(group["platform"])
    points = [joint[key] for joint in group["joints"] for key in ("point", "axis") if key in joint]
    places = [group[key] for key in ("position", "rotation_vector") if key in group]
    return max((len(one) for one in points + places if isinstance(one[0], list)), default=1)
