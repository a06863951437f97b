"""Multi-objective search with NSGA-II (Deb et al. 2002, from pymoo); goes on after an interruption.

The search is seeded and asks for a generation at a time. A resumed search is run again from the start:
generations that the store holds are told from there, so it asks for the very same points and computes
only what is missing. Points that fail break a constraint and never enter the front.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray

from gough.base.arrays import Array
from gough.errors import FileError, MissingDataError
from gough.studies.evaluate import Outcome
from gough.studies.plan import Plan, Search
from gough.studies.store import Store
from gough.studies.workers import Job, Progress, Workers

NOT_ASKED = "not asked for"
"""Reason of points that a generation has less than its population: copies are not computed again."""
PENALTY = 1e30
"""Objective of a point that fails; its constraint keeps it out."""


def optimise(plan: Plan, store: Store, pool: Workers, progress: Progress) -> None:
    """Run all generations, or what is left of them, into the store."""
    try:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.evaluator import Evaluator
        from pymoo.core.problem import Problem
        from pymoo.problems.static import StaticProblem
    except ImportError:
        raise MissingDataError("optimising needs pymoo: pip install 'gough[studies]'") from None
    search = plan.search
    assert search is not None
    problem = Problem(
        n_var=len(search.low),
        n_obj=len(search.objectives),
        n_ieq_constr=len(search.constraints) + 1,
        xl=search.low,
        xu=search.high,
    )
    algorithm = NSGA2(pop_size=search.population)
    algorithm.setup(
        problem, termination=("n_gen", search.generations), seed=search.seed, verbose=False
    )
    failed = 0
    for generation in range(search.generations):
        asked = algorithm.ask() if algorithm.has_next() else None
        points = np.empty((0, len(search.low))) if asked is None else np.atleast_2d(asked.get("X"))
        outcome = _generation(plan, store, pool, generation, np.asarray(points, dtype=np.float64))
        failed += sum(bool(one) and one != NOT_ASKED for one in outcome.reasons)
        progress((generation + 1) * search.population, plan.points, failed)
        if asked is not None and len(points):
            some = Outcome(outcome.values[: len(points)], outcome.reasons[: len(points)])
            goals, excess = judged(plan, search, points, some)
            Evaluator().eval(StaticProblem(problem, F=goals, G=excess), asked)
            algorithm.tell(infills=asked)


def _generation(plan: Plan, store: Store, pool: Workers, generation: int, points: Array) -> Outcome:
    """Outcome of a generation's points (n, inputs) and of the empty places behind them."""
    assert plan.search is not None
    size = plan.search.population
    first = generation * size // plan.part
    parts = range(first, first + size // plan.part)
    whole = np.full((size, points.shape[1]), np.nan)
    whole[: len(points)] = points
    jobs = []
    found: dict[int, Outcome] = {}
    for part in parts:
        own = whole[(part - first) * plan.part : (part - first + 1) * plan.part]
        if store.finished[part]:
            if not np.array_equal(store.inputs(part), own, equal_nan=True):
                raise FileError(
                    f"{store.path}: generation {generation + 1} has other points than the search asks "
                    "for: written by another version of pymoo or NumPy; choose another folder with -o"
                )
            found[part] = store.outcome(part)
            continue
        asked = int(np.isfinite(own).all(axis=1).sum())
        if asked:
            jobs.append(Job(part, own[:asked]))
        else:
            found[part] = _padded(Outcome(np.empty((0, len(plan.columns))), ()), plan.part)
            store.write(part, found[part], own)
    for job, outcome in pool(jobs):
        found[job.part] = _padded(outcome, plan.part)
        own = whole[(job.part - first) * plan.part : (job.part - first + 1) * plan.part]
        store.write(job.part, found[job.part], own)
    return Outcome(
        np.concatenate([found[part].values for part in parts]),
        tuple(reason for part in parts for reason in found[part].reasons),
    )


def _padded(outcome: Outcome, size: int) -> Outcome:
    missing = size - len(outcome.reasons)
    empty = np.full((missing, outcome.values.shape[1]), np.nan)
    return Outcome(
        np.concatenate([outcome.values, empty]), outcome.reasons + (NOT_ASKED,) * missing
    )


def judged(plan: Plan, search: Search, points: Array, outcome: Outcome) -> tuple[Array, Array]:
    """Objectives to minimise (n, goals); constraints (n, constraints + 1), at most 0 if they hold."""
    names: dict[str, Any] = {name: points[:, i] for i, name in enumerate(plan.inputs)}
    names |= {name: outcome.values[:, i] for i, name in enumerate(plan.columns)}
    count = len(points)
    goals = [
        sign * np.broadcast_to(one(names), count)
        for one, sign in zip(search.objectives, search.signs, strict=True)
    ]
    excess = [np.broadcast_to(one.excess(names), count) for one in search.constraints]
    both = np.stack([*goals, *excess], axis=1)
    bad = np.array([bool(reason) for reason in outcome.reasons]) | ~np.isfinite(both).all(axis=1)
    both[bad] = PENALTY
    return both[:, : len(goals)], np.column_stack([both[:, len(goals) :], np.where(bad, 1.0, 0.0)])


def pareto(plan: Plan, dataset: xarray.Dataset) -> Array:
    """Numbers of the points (k,) that hold all constraints and that no other such point beats.

    A point beats another if it is no worse in every objective and better in one. Sorted by the first
    objective.
    """
    search = plan.search
    assert search is not None
    reasons = tuple(dataset["failed"].values.tolist())
    points = np.stack([dataset[name].values for name in plan.inputs], axis=1)
    values = np.stack([dataset[name].values for name in plan.columns], axis=1)
    goals, excess = judged(plan, search, points, Outcome(values, reasons))
    allowed = np.flatnonzero((excess <= 0).all(axis=1) & np.isfinite(points).all(axis=1))
    order = allowed[np.lexsort(goals[allowed].T[::-1])]
    front: list[int] = []
    for point in order:  # whoever beats a point comes before it
        kept = goals[front]
        if not front or not (kept <= goals[point]).all(axis=1).any():
            front.append(int(point))
    return np.array(front, dtype=np.intp)
