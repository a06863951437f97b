"""`python -m benchmarks.identification`: whether standard deviations of identification are honest.

A robot with viscous and constant Coulomb friction follows an optimised exciting motion; its log (1 kHz,
encoders of 1 µm, 1 % force noise) is simulated with many seeds. Each time all base parameters are
identified, with a robot file whose numbers are up to 10 % wrong, and compared with the truth: of those
whose relative standard deviation is under 5 %, how many lie within 3 standard deviations?
"""

from __future__ import annotations

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress, TimeRemainingColumn

import gough
from gough.data.logs import simulated_log
from gough.parameters.base import BaseParameters, base_parameters
from gough.parameters.consistency import changes
from gough.parameters.excitation import Excitation, excite
from gough.parameters.identification import Method, identify, validate
from gough.parameters.regressor import standard_parameters

FRICTION = {
    "long-khalil-martinet-2014": {
        "slider_viscous": 200.0,
        "slider_coulomb": 40.0,
        "universal_viscous": 5.0,
        "spherical_viscous": 5.0,
    },
    "sinatra-xi-staicu-2009": {
        "slider_viscous": 2.0,
        "screw_torque": 0.001,
        "screw_lead": 0.01,
        "universal_viscous": 0.05,
        "spherical_viscous": 0.05,
    },
}
RATE = 1000.0
ROBOT, TRAJECTORY, BASE = "robot", "trajectory", "base"
_given: dict[str, object] = {}


class Outcome(NamedTuple):
    """One seed."""

    errors: np.ndarray
    """(rank,): estimate less truth, in standard deviations."""
    relative: np.ndarray
    """(rank,): relative standard deviations."""
    validation: np.ndarray
    """(legs,): rms force error on another motion, %."""


def study_robot(name: str) -> gough.Robot:
    """A catalogue robot with friction that is linear in its coefficients."""
    return gough.load(name).rigid.edited(
        {f"legs.friction.{key}": value for key, value in FRICTION[name].items()}
    )


def one_seed(task: tuple[int, Method, float]) -> Outcome:
    """Simulate a log, identify from it, validate on another, half as wide and quicker."""
    seed, method, duration = task
    robot, trajectory, base = _given[ROBOT], _given[TRAJECTORY], _given[BASE]
    assert isinstance(robot, gough.Robot)
    assert isinstance(base, BaseParameters)
    assert isinstance(trajectory, gough.trajectories.Fourier)
    rng = np.random.default_rng(seed)
    begin = rng.uniform(0.0, trajectory.period)
    motion = trajectory(begin + np.arange(int(RATE * duration) + 1) / RATE)
    log = simulated_log(robot, motion, rng=rng)
    wrong = base.standard * rng.uniform(0.9, 1.1, len(base.names))
    file = robot.edited(changes(robot, base.names, wrong))
    guess = replace(base, standard=standard_parameters(file, True))
    found = identify(file, log, method=method, base=guess, reference=trajectory)
    other = gough.trajectories.Fourier(
        trajectory.center, 0.5 * trajectory.cosine, -0.5 * trajectory.sine, 0.8 * trajectory.period
    )
    second = simulated_log(robot, other(np.arange(int(4 * RATE)) / RATE), rng=rng)
    with np.errstate(invalid="ignore"):
        errors = (found.values - base.values) / found.deviations
    return Outcome(errors, found.relative, validate(file, found, second).percent)


def study(name: str, seeds: int, method: Method, duration: float, iterations: int) -> list[Outcome]:
    """All seeds of one robot, two at a time."""
    robot = study_robot(name)
    base = base_parameters(robot, True)
    console = Console(stderr=True)
    columns = (*Progress.get_default_columns()[:-1], TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("exciting motion")

        def told(stage: str, done: int, total: int, best: float) -> None:
            progress.update(task, description=stage, completed=done, total=total)

        excited: Excitation = excite(
            robot, iterations=iterations, random_motions=200, base=base, progress=told
        )
        print(f"{name}: exciting motion, condition number {excited.condition:.4g}")
        _given.update({ROBOT: robot, TRAJECTORY: excited.trajectory, BASE: base})
        progress.update(task, description="identifying", completed=0, total=seeds)
        found = []
        with ProcessPoolExecutor(2) as pool:
            for one in pool.map(one_seed, [(i, method, duration) for i in range(seeds)]):
                found.append(one)
                progress.advance(task)
    return found


def report(name: str, method: str, found: list[Outcome], seconds: float) -> None:
    """The figures that count."""
    errors = np.stack([one.errors for one in found])
    relative = np.stack([one.relative for one in found])
    good = relative < 0.05
    inside = np.abs(errors) < 3
    worst = np.array([one.validation.max() for one in found])
    print(
        f"{name}, {method}, {len(found)} seeds, {seconds:.0f} s: "
        f"{good.mean(axis=0).sum():.1f} of {errors.shape[1]} parameters under 5 %; of these "
        f"{100 * inside[good].mean():.2f} % within 3 sigma (rms error "
        f"{np.sqrt(np.mean(errors[good] ** 2)):.3f} sigma); of all parameters "
        f"{100 * inside.mean():.2f} % (rms {np.sqrt(np.mean(errors**2)):.3f}); validation: "
        f"worst leg {np.mean(worst):.2f} % rms on average, {worst.max():.2f} % at worst"
    )


def main() -> None:
    """Run the study and print its figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.identification", description=__doc__
    )
    parser.add_argument("--robot", choices=[*FRICTION], action="append", help="default: both")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--duration", type=float, default=15.0, help="of a log, s (default 15)")
    parser.add_argument("--iterations", type=int, default=60, help="of the exciting motion")
    parser.add_argument(
        "--method", choices=["ordinary", "weighted", "instrumental"], default="weighted"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # one robot's parameters are no real body's
    for name in options.robot or FRICTION:
        begin = time.perf_counter()
        found = study(name, options.seeds, options.method, options.duration, options.iterations)
        report(name, options.method, found, time.perf_counter() - begin)


if __name__ == "__main__":
    main()
