"""`gough schema`."""

from __future__ import annotations

from gough.cli.terminal import print_json


def command() -> None:
    """JSON Schema of robot files, for editors.

    Example: gough schema > robot.schema.json
    """
    from gough.description.schema import json_schema

    print_json(json_schema())
