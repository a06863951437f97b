"""Signals of a log made fit for its dynamics: uniform time, low-pass, derivatives, decimation.

All filters are zero-phase (run forwards and backwards): a delay of some milliseconds between forces and
accelerations would count as inertia. Time is the first axis.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.signal import butter, sosfiltfilt
from scipy.signal.windows import kaiser

from gough.base.arrays import Array
from gough.errors import InputError

ORDER = 4
"""Of the Butterworth filter; forwards and backwards its gain is 1/(1 + (f/f_c)⁸)."""
UNEVEN = 1e-3
"""Part of a time step by which samples may be off an even grid without being resampled."""
ABOVE_FLOOR = 100.0
"""Power over the noise floor that counts as motion."""
LOBE = 20
"""Bins that a line of the spectrum and its neighbours take."""
ROOM = 5.0
"""Cut-off over the highest frequency of the motion: 3·10⁻⁶ is lost there."""
HIGHEST = 0.2
"""Largest cut-off, in sample rates."""
LOWEST = 1e-5
"""Smallest cut-off, in sample rates: rounding is 5·10⁻⁸ of a signal there, and 5·10⁻⁴ at 10⁻⁷."""
SETTLING = 4.0
"""What the filter spoils at either end, in periods of its cut-off."""


def uniform(time: Array, values: Array) -> tuple[Array, Array]:
    """Times and values (n, ...) on an even grid of the mean step.

    Cubic splines through the samples; what is even already comes back as it is.
    """
    grid = np.linspace(time[0], time[-1], len(time))
    step = float(grid[1] - grid[0])
    if np.abs(time - grid).max() <= UNEVEN * step:
        return grid, values
    return grid, np.asarray(make_interp_spline(time, values, k=3)(grid))


def motion_band(values: Array, rate: float) -> float:
    """Highest frequency (Hz) at which signals (n, k) stand out of their noise.

    The noise floor is the mean power of the upper half of the spectrum; the window's side lobes are
    140 dB down, below the floor of a 1 µm encoder on a metre of stroke.
    """
    window = kaiser(len(values), 18.0)[:, np.newaxis]
    trend = np.linspace(values[0], values[-1], len(values))
    power = np.abs(np.fft.rfft((values - trend) * window, axis=0)) ** 2
    frequency = np.fft.rfftfreq(len(values), 1 / rate)
    floor = power[len(power) // 2 :].mean(axis=0)
    moving = np.flatnonzero((power > ABOVE_FLOOR * floor).any(axis=1))
    # lines beyond an octave of silence are hum, or the rounding of a motion that repeats itself
    silence = np.flatnonzero(moving[1:] > 2 * moving[:-1] + LOBE)
    last = moving[silence[0]] if silence.size else moving[-1:].sum()
    return float(frequency[last])


def default_cutoff(values: Array, rate: float) -> float:
    """Cut-off (Hz) that leaves the motion in signals (n, k) alone: ROOM times its band."""
    lowest = max(4 * SETTLING / len(values), LOWEST) * rate
    return float(np.clip(ROOM * motion_band(values, rate), lowest, HIGHEST * rate))


def check_cutoff(cutoff: float, rate: float) -> None:
    """Refuse a cut-off (Hz) that no filter of signals of this sample rate (Hz) can have."""
    if not LOWEST * rate <= cutoff < rate / 2:
        raise InputError(
            f"cut-off {cutoff:g} Hz: must be in [{LOWEST * rate:g}, {rate / 2:g}) Hz, "
            f"{LOWEST:g} to half the rate"
        )


def low_pass(values: Array, rate: float, cutoff: float) -> Array:
    """Zero-phase Butterworth low-pass of signals (n, ...), gain ½ at the cut-off (Hz)."""
    filter_ = butter(ORDER, cutoff, fs=rate, output="sos")
    padding = min(len(values) - 1, int(3 * rate / cutoff))
    return cast(Array, sosfiltfilt(filter_, values, axis=0, padlen=padding))


def derivatives(values: Array, rate: float) -> tuple[Array, Array]:
    """First and second derivatives of (n, ...) by central differences of the fourth order.

    f' = (f₋₂ − 8 f₋₁ + 8 f₁ − f₂)/12h, f'' = (−f₋₂ + 16 f₋₁ − 30 f + 16 f₁ − f₂)/12h²; wrong by
    (ωh)⁴/30 and (ωh)⁴/90 of a wave. The outermost two samples repeat their neighbours'.
    """
    a, b, c, d, e = (values[i : len(values) - 4 + i] for i in range(5))
    first = (a - 8 * b + 8 * d - e) * (rate / 12)
    second = (-a + 16 * b - 30 * c + 16 * d - e) * (rate**2 / 12)
    ends = ((2, 2), *((0, 0),) * (values.ndim - 1))
    return np.pad(first, ends, "edge"), np.pad(second, ends, "edge")


def decimation(rate: float, cutoff: float) -> int:
    """Keep one of so many samples of what was filtered to the cut-off: 2.5 a period of it or more."""
    return max(1, int(rate / (2.5 * cutoff)))


def settled(count: int, rate: float, cutoff: float) -> slice:
    """The samples whose filtering does not feel the ends of the log."""
    margin = int(np.ceil(SETTLING * rate / cutoff))
    return slice(margin, max(count - margin, margin))
