"""FMUs of catalogue robots beside `gough.simulate`: how far apart after each period of 1 s.

    python benchmarks/fmu.py [robot ...]

Actuator forces around those that hold home, constant for 10 ms each; simulate by DOP853 at 1e-12, FMUs
by co-simulation with uneven communication steps, tolerance 1e-12, and by model exchange with SciPy's
DOP853. FMPy runs them (`tests/cases/mockups.py`).
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import gough
from gough.simulation import simulate
from gough.simulation.controllers import GivenForces

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from cases.mockups import Mockup

ROBOTS = {
    "kim-ryu-2002": {"legs.friction.width": 1e-2},
    "sinatra-xi-staicu-2009": {},
    "pollen-reachy-mini-2025": {},
    "long-khalil-martinet-2014": {},
    "alikoc-delta-2023": {},
    "shyam-heliostat-2017": {},
    "shah-3rrr-2012": {},
    "ferrandiz-3ups-rpu-2021": {},
    "zoppi-exechon-2010": {},
}
PERIOD, STEPS = 0.01, 100


def apart(robot: gough.Robot, fmi: int, folder: Path) -> tuple[float, ...]:
    """Farthest apart in pose (m, and R) by co-simulation and model exchange; motion; seconds; time."""
    home = robot.static_deflection(robot.home) if robot.modes else robot.home
    rest = robot.inverse_dynamics(home, friction=False).forces
    size = 0.03 * max(float(np.abs(rest).max()), 1e-3)

    def forces(times: np.ndarray) -> np.ndarray:
        begun = np.floor(np.asarray(times)[..., np.newaxis] / PERIOD + 1e-6) * PERIOD
        return rest + size * np.sin(4 * np.pi * begun + np.arange(len(rest)))

    expected = simulate(
        robot, GivenForces(forces), robot.home, PERIOD * STEPS, start=home, period=PERIOD,
        integrator="DOP853", rtol=1e-12, atol=1e-13, record=PERIOD, stop_on=(),
    ).motion  # fmt: skip
    steps = len(expected.position) - 1  # fewer where the robot has no answer any more
    path = robot.export_fmu(folder / f"{robot.name}.fmu", fmi=fmi)
    rng, worst, spent = np.random.default_rng(0), [0.0, 0.0], 0.0
    with Mockup(path) as stepped, Mockup(path, "me") as exchanged:
        if fmi == 2:
            exchanged.fmu.enterContinuousTimeMode()
        for k in range(steps):
            for one in (stepped, exchanged):
                one.set(forces=forces(np.array(k * PERIOD)))
            begin = time.perf_counter()
            for cut in (*sorted(rng.uniform(0, PERIOD, k % 3)), PERIOD):
                stepped.step(k * PERIOD + cut)
            spent += time.perf_counter() - begin
            exchanged.integrate((k + 1) * PERIOD)
            there = expected[k + 1]
            for i, one in enumerate((stepped, exchanged)):
                off = np.abs(one.get("position") - there.position).max()
                turned = np.abs(one.get("rotation") - there.rotation.ravel()).max()
                worst[i] = max(worst[i], off, turned)
    moved = float(np.abs(expected.position - expected.position[0]).max())
    return worst[0], worst[1], moved, spent, steps * PERIOD


def main() -> None:
    """Run and print."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        for name in sys.argv[1:] or ROBOTS:
            robot = gough.load(name)
            changes = ROBOTS.get(name, {})
            robot = robot.edited(changes) if changes else robot
            for fmi in (2, 3):
                stepped, exchanged, moved, spent, end = apart(robot, fmi, Path(temporary))
                print(
                    f"{name}, FMI {fmi}.0: co-simulation {stepped:.1e}, model exchange "
                    f"{exchanged:.1e}; moves {moved:.1e} m; {end:.2f} s take {spent:.2f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
