"""What cueing claims, measured.

`python -m benchmarks.cueing [errors|tuned|others|limits [washouts optimised]]`.

- errors: sensation errors of the classical and the optimised cue, and seconds of record per second.
- tuned: the same with the best of 90 washouts for each manoeuvre.
- others: the same on three records on which nothing was chosen: noise from 0.05 to 0.6 Hz.
- limits: random scalings from 0.1 to 30; every motion is compared with all limits at its samples,
  and at eight times as many instants between them.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
from scipy.signal import butter, sosfiltfilt

import gough
from gough.cueing import Predictive, Vehicle, Washout, cue, flight_turn, lane_change
from gough.cueing.limiting import limited, limits_of, worst_excess

SIMULATOR = Path(__file__).parents[1] / "examples" / "simulator.toml"


def errors(robot, vehicles, best=False):
    """Both cues of each vehicle."""
    for name, vehicle in vehicles.items():
        washout = Washout()
        if best:
            washout = min(washouts(), key=lambda one: cue(robot, vehicle, one).error)
        classical, optimised = cue(robot, vehicle, washout), cue(robot, vehicle)
        print(f"{name}: {washout}\n  classical {classical}\n  optimised {optimised}")
        print(f"  {optimised.error / classical.error:.3f} of its error", flush=True)


def washouts():
    """Settings to choose from."""
    return [
        Washout(*one)
        for one in itertools.product(
            (0.03, 0.06, 0.1, 0.2, 0.4), (0.02, 0.05, 0.15), (0.1, 0.2, 0.5), (3.0, 6.0)
        )
    ]


def noise(seed):
    """20 s of accelerations up to 2, 2 and 0.7 m/s² and rates up to 0.08, 0.08 and 0.15 rad/s."""
    t = np.arange(0.0, 20.0, 0.02)
    band = butter(2, [0.05, 0.6], btype="band", fs=50, output="sos")
    drawn = np.random.default_rng(seed).normal(size=(len(t) + 1000, 6))
    shaken = sosfiltfilt(band, drawn, axis=0)[500:-500]
    shaken *= np.minimum(1, np.minimum(t, t[-1] - t) / 2)[:, np.newaxis] / np.abs(shaken).max(
        axis=0
    )
    return Vehicle.of(t, shaken[:, :3] * [2.0, 2.0, 0.7], shaken[:, 3:] * [0.08, 0.08, 0.15])


def limits(robot, washouts, optimised):
    """Random scalings of both manoeuvres, so many by each cue; told after every ten."""
    allowed = limits_of(robot)
    manoeuvres = {"lane change": lane_change(step=0.05), "flight turn": flight_turn(step=0.1)}
    for how, count in (
        (Washout(), washouts),
        (Predictive(preview=4.0, kept=2.0, knot=0.2), optimised),
    ):
        rng = np.random.default_rng(0)
        left, between, gains = 0, -np.inf, []
        for i, scale in enumerate(10 ** rng.uniform(-1, 1.5, count)):
            for vehicle in manoeuvres.values():
                wish = how.cue(robot, vehicle.scaled(scale), allowed)  # as `cue` does
                motion, gain, _ = limited(robot, wish, allowed)
                left += not robot.check(motion).ok
                fine = wish.finer(8).motion(robot, gain)
                between = max(between, worst_excess(robot, fine, allowed)[0])
                gains.append(gain)
            if i % 10 == 9 or i == count - 1:
                print(
                    f"{type(how).__name__}, {' and '.join(manoeuvres)}, {i + 1} scalings each: {left} "
                    f"leave a limit; between samples at most {between:+.2e} of it; gains from "
                    f"{min(gains):.3g} to {max(gains):.3g}",
                    flush=True,
                )


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "errors"
    simulator = gough.load(SIMULATOR)
    if what == "limits":
        counts = [int(one) for one in sys.argv[2:]] or [500, 500]
        limits(simulator, *counts)
    elif what == "others":
        errors(simulator, {f"noise {seed}": noise(seed) for seed in (100, 101, 102)}, best=True)
    else:
        chosen = {"lane change": lane_change(), "flight turn": flight_turn()}
        errors(simulator, chosen, best=what == "tuned")
