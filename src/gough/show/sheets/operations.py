"""What `gough ops` shows: operations a state of the models, beside Khalil & Guegan's Table IV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from gough.model.operation_count import PAPER, count, paper_robot
from gough.show.sheets.bare_table import bare_table

if TYPE_CHECKING:
    from gough.robot import Robot

MODELS = (
    ("inverse", "qr", "inverse, QR"),
    ("inverse", "lu", "inverse, LU"),
    ("direct", "ldl", "direct, LDLᵀ"),
)
HEADINGS = {
    "kinematics": "kinematics",
    "dynamics": "dynamics",
    "solve": "solve",
    "additions": "+ −",
    "multiplications": "×",
    "divisions": "÷",
    "square_roots": "√",
    "total": "total",
    "paper": "paper",
}


def operation_rows(robot: Robot) -> list[dict[str, Any]]:
    """Counts of the paper's two robots and of the robot, a row for each model and solver."""
    robots = [(f"UPS, {n} parameters", paper_robot(n), n) for n in (52, 88)]
    if not robot.description.missing:
        robots.append((robot.name, robot, 0))
    rows = []
    for name, one, parameters in robots:
        for model, solver, _ in MODELS:
            if solver == "lu" and (one.leg_count != 6 or one.modes):
                continue
            found = count(one, model, solver)
            rows.append(
                {
                    "robot": name,
                    "model": model,
                    "solver": solver,
                    "kinematics": found.kinematics,
                    "dynamics": found.dynamics,
                    "solve": found.solve,
                    "additions": found.kinds["add"] + found.kinds["sub"],
                    "multiplications": found.kinds["mul"],
                    "divisions": found.kinds["div"],
                    "square_roots": found.kinds["sqrt"],
                    "total": found.total,
                    "paper": PAPER.get((model, parameters)),
                }
            )
    return rows


def print_operations(rows: list[dict[str, Any]], console: Console) -> None:
    """A table for each robot: all of it fits a narrow terminal."""
    shown = {(model, solver): label for model, solver, label in MODELS}
    for name in dict.fromkeys(row["robot"] for row in rows):
        table = bare_table("model", numbers=[*HEADINGS.values()], gap=1)
        table.columns[0].no_wrap = True
        for row in (row for row in rows if row["robot"] == name):
            counts = ("" if row[key] is None else str(row[key]) for key in HEADINGS)
            table.add_row(shown[row["model"], row["solver"]], *counts)
        console.print(f"[bold]{escape(name)}[/bold]")
        console.print(table)
        console.print()
    console.print(
        "LU without pivoting is counted as in the paper; it is not accurate everywhere, so gough "
        "solves by QR.",
        highlight=False,
    )
