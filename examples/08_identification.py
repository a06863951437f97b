"""Masses of a machine from its own log.

The log is simulated: 100 Hz, encoders of 1 µm, 1 % force noise. The robot file has the platform 20 %
too heavy.
"""

import numpy as np

import gough
from gough.data.logs import simulated_log
from gough.parameters.identification import identify, validate

truth = gough.load("sinatra-xi-staicu-2009")
believed = truth.edited({"platform.mass": 1.2 * truth.file.platform.mass})

# A motion that moves in all six directions; `gough excite` finds a better one.
rng = np.random.default_rng(3)
size = np.array([0.015] * 3 + [0.06] * 3)[:, np.newaxis]  # m, rad
wobble = gough.trajectories.Fourier(
    truth.home, size * rng.normal(size=(6, 4)), size * rng.normal(size=(6, 4)), period=2.0
)
log, second = (
    simulated_log(truth, wobble(start + np.arange(201) / 100), rng=rng) for start in (0.0, 0.7)
)

found = identify(believed, log, friction=False)
check = validate(believed, found, second)
before = np.sqrt(np.mean((check.measured - check.before) ** 2, axis=0)) / check.error
print(f"{len(found.values)} base parameters, {found.verdicts.count('good')} known to 5 % or better")
print(f"force error on a second log {check.percent.max():.2f} %, of which 1 % is its noise")
print(f"the file's forces are {before.min():.1f} times as wrong, or more")
assert check.percent.max() < 2
assert before.min() > 3
