"""A study of 10⁵ points through a killed worker and a killed scheduler, beside one process.

`python -m benchmarks.studies` prints what docs/studies.md reports.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from dask_cluster import Cluster
from gough.studies.plan import Plan, make_plan
from gough.studies.run import LostWorkersError, run
from gough.studies.store import Store

STUDY = """
robot = "kim-ryu-2002"
motions = ["kim-ryu-2002/circle-40rpm"]
samples = 21
friction = false
measures = ["peak_force", "rms_force", "peak_power", "energy", "stroke", "condition"]
[sampling]
kind = "latin hypercube"
points = {points}
seed = 1
[variables]
m = {{ from = 8.0, to = 14.0 }}
l = {{ from = 0.3, to = 1.0 }}
[set]
"platform.mass" = "m"
"legs.length" = "l"
[tolerances]
"legs.platform" = {{ normal = 1e-4 }}
"""


def bits(store: Store) -> tuple[bytes, ...]:
    """Everything that a store says."""
    return tuple(store.group[name][:].tobytes() for name in ("inputs", "values", "failed", "seal"))


def interrupted(plan: Plan, folder: Path) -> tuple[Store, float, int]:
    """Through both kills and a resumption; also points a second undisturbed, and parts kept."""
    rates: list[tuple[float, int]] = []
    killed: list[str] = []

    def told(done: int, total: int, failed: int) -> None:
        rates.append((time.perf_counter(), done))
        if done >= 0.25 * total and not killed:
            cluster.workers[0].kill()
            killed.append("worker")
            print(f"  worker killed at {done} points", flush=True)
        if done >= 0.5 * total and len(killed) == 1:
            cluster.scheduler.kill()
            killed.append("scheduler")
            print(f"  scheduler killed at {done} points", flush=True)

    with Cluster(folder) as cluster:
        try:
            run(plan, folder / "dask.zarr", scheduler=cluster.address, progress=told)
        except LostWorkersError as error:
            print(f"  {error}", flush=True)
    quarter = [one for one in rates if 0.02 * plan.points < one[1] < 0.25 * plan.points]
    speed = (quarter[-1][1] - quarter[0][1]) / (quarter[-1][0] - quarter[0][0])
    kept = int(Store(folder / "dask.zarr", plan).finished.sum())
    with Cluster(folder) as cluster:
        store = run(plan, folder / "dask.zarr", scheduler=cluster.address)
    return store, speed, kept


def main() -> None:
    """Run it all."""
    points = int(os.environ.get("POINTS", "100000"))
    plan = make_plan(STUDY.format(points=points))
    print(f"{plan.points} points in {plan.parts} parts, {plan.columns}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store, speed, kept = interrupted(plan, folder)
        print(f"  resumed from {kept} of {plan.parts} parts, finished {store.finished.all()}")
        print(f"three workers: {speed:.0f} points/s", flush=True)
        os.environ["GOUGH_THREADS"] = "1"
        begin = time.perf_counter()
        one = run(plan, folder / "one.zarr")
        alone = plan.points / (time.perf_counter() - begin)
        print(f"one process, one thread: {alone:.0f} points/s; ratio {speed / alone:.2f}")
        failed = int(np.sum(one.group["failed"][:] != ""))
        print(f"failed points: {failed}; equal bit for bit: {bits(store) == bits(one)}")


if __name__ == "__main__":
    main()
