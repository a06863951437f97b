"""What `gough study` prints: how its quantities spread, or the designs that none beats; failures."""

from __future__ import annotations

from collections import Counter

import numpy as np
import xarray
from rich.console import Console
from rich.table import Table

from gough.base.arrays import Array
from gough.show.sheets.bare_table import bare_table
from gough.studies.optimise import NOT_ASKED, pareto
from gough.studies.plan import Plan, Search

SHOWN = 12
"""Designs of a front that are printed."""


def print_study(plan: Plan, dataset: xarray.Dataset, console: Console, err: Console) -> None:
    """The table of a study; why points fail goes to `err`."""
    reasons = Counter(dataset["failed"].values.tolist())
    good = dataset["failed"].values == ""
    if plan.search is not None:
        best = pareto(plan, dataset)
        more = ", some:" if len(best) > SHOWN else ":"
        console.print(f"{len(best)} designs that none beats{more}")
        table = _front(plan, plan.search, dataset, best)
    else:
        table = _spread(plan, dataset, good)
    console.print(table, highlight=False)
    failed = sum(count for reason, count in reasons.items() if reason not in ("", NOT_ASKED))
    if failed:
        del reasons[""], reasons[NOT_ASKED]
        for reason, count in reasons.most_common(3):
            err.print(
                f"failed: {count} × {reason}", style="yellow", highlight=False, soft_wrap=True
            )
    console.print(f"{int(good.sum())} points, {failed} failed", highlight=False)


def _front(plan: Plan, search: Search, dataset: xarray.Dataset, best: Array) -> Table:
    """Inputs and objectives of some designs of the front, evenly along it."""
    some = best[np.unique(np.linspace(0, len(best) - 1, SHOWN).astype(int))] if len(best) else best
    wanted = (name for one in search.objectives for name in sorted(one.names))
    names = [*plan.inputs, *dict.fromkeys(name for name in wanted if name in plan.columns)]
    table = bare_table()
    for name in ("point", *names):
        table.add_column(name, justify="right")
    for point in some:
        table.add_row(str(point), *(f"{dataset[name].values[point]:.4g}" for name in names))
    return table


def _spread(plan: Plan, dataset: xarray.Dataset, good: Array) -> Table:
    """Least, median and largest of every quantity over the points that did not fail."""
    table = bare_table("quantity", "unit")
    for name in ("least", "median", "largest"):
        table.add_column(name, justify="right")
    for name, unit in zip(plan.columns, plan.units, strict=True):
        values = dataset[name].values[good]
        numbers = np.quantile(values, (0, 0.5, 1)) if len(values) else [np.nan] * 3
        table.add_row(name, unit.removeprefix("1"), *(f"{one:.5g}" for one in numbers))
    return table
