"""`gough ops`."""

from __future__ import annotations

import warnings

from gough.cli.arguments import Json, RobotArgument, load
from gough.cli.terminal import out, print_json


def command(name: RobotArgument, json: Json = False) -> None:
    """Operations per state, beside Khalil & Guegan's Table IV.

    Of the inverse and the direct model.

    Example: gough ops long-khalil-martinet-2014
    """
    from gough.show.sheets.operations import operation_rows, print_operations

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # grouped parameters are no real bodies
        rows = operation_rows(load(name))
    if json:
        print_json({"counts": rows})
    else:
        print_operations(rows, out)
