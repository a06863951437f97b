"""Signals of a log made fit for its dynamics: uniform time, low-pass, derivatives, decimation.

All filters are zero-phase (run forwards and backwards): a delay of some milliseconds between forces and
accelerations would count as inertia. Time is the first axis.

Where rates are wanted up to both ends of a record, they are those of a least-squares spline: it has no
outside to guess, takes uneven times as they are, and says how uncertain its derivatives are.
"""

from __future__ import annotations

from math import factorial
from typing import NamedTuple, cast

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline, make_lsq_spline
from scipy.signal import butter, sosfiltfilt
from scipy.signal.windows import kaiser
from scipy.special import beta

from gough.base.arrays import Array
from gough.errors import InputError

ORDER = 4
"""Of the Butterworth filter; forwards and backwards its gain is 1/(1 + (f/f_c)⁸)."""
UNEVEN = 1e-3
"""Part of a time step by which samples may be off an even grid without being resampled."""
ABOVE_FLOOR = 100.0
"""Power over the noise floor that counts as motion."""
HUM = 5.0
"""Amplitude, in counts of the encoder, of a line that may be hum or rounding."""
LOBES = 1e-6
"""Side lobes of the window, in the largest line, with room."""
LOBE = 20
"""Bins that a line of the spectrum and its neighbours take."""
ROOM = 5.0
"""Cut-off over the highest frequency of the motion: 3·10⁻⁶ is lost there."""
HIGHEST = 0.2
"""Largest cut-off, in sample rates."""
LOWEST = 1e-5
"""Smallest cut-off, in sample rates: rounding is 5·10⁻⁸ of a signal there, and 5·10⁻⁴ at 10⁻⁷."""
DEGREE = 7
"""Of least-squares splines: their second derivatives lose 2·10⁻⁶ of a wave at a fifth of the cut-off."""
END = 4
"""Knots that the first and the last stretch of such a spline are long."""
FAR = 12
"""Knots from an end at which neither spline nor filter feels the end."""
MOST_GAINS = 2000
"""Samples at which uncertainties are computed; between them they are interpolated."""
LOST = 1e-3
"""Part of a second derivative that the degree of a short record's polynomial may lose."""
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


class _Spectrum(NamedTuple):
    """Lines of signals (n, k): frequencies (Hz), amplitudes (lines, k), and those above the noise."""

    frequency: Array
    amplitude: Array
    stands_out: Array


def _spectrum(values: Array, rate: float) -> _Spectrum:
    """Return the amplitudes of signals (n, k) by frequency.

    The noise floor is the mean power of the upper half of the spectrum; the window's side lobes are
    140 dB down, below the floor of a 1 µm encoder on a metre of stroke.
    """
    window = kaiser(len(values), 18.0)[:, np.newaxis]
    trend = np.linspace(values[0], values[-1], len(values))
    size = np.abs(np.fft.rfft((values - trend) * window, axis=0))
    floor = (size[len(size) // 2 :] ** 2).mean(axis=0)
    frequency = np.fft.rfftfreq(len(values), 1 / rate)
    return _Spectrum(frequency, 2 * size / window.sum(), size**2 > ABOVE_FLOOR * floor)


def motion_band(values: Array, rate: float) -> float:
    """Return the highest frequency (Hz) at which signals (n, k) stand out of their noise.

    Beyond an octave of silence a line must also be higher than rounding makes it (`HUM` counts): the
    motion may repeat itself, and its rounding with it.
    """
    spectrum = _spectrum(values, rate)
    moving = np.flatnonzero(spectrum.stands_out.any(axis=1))
    silence = np.flatnonzero(moving[1:] > 2 * moving[:-1] + LOBE)
    last = moving[silence[0]] if silence.size else moving[-1:].sum()
    least = np.maximum(HUM * counts(values), LOBES * spectrum.amplitude.max(axis=0))
    high = spectrum.stands_out & (spectrum.amplitude > least)
    lines = np.flatnonzero(high.any(axis=1))
    return float(spectrum.frequency[max(last, lines[-1:].sum())])


class LeftOut(NamedTuple):
    """The line of a signal with the largest acceleration that a filter takes away."""

    signal: int
    frequency: float
    """Hz."""
    amplitude: float
    acceleration: float
    """Amplitude times (2π f)²."""


def left_out(values: Array, rate: float, cutoff: float) -> LeftOut | None:
    """Return what of signals (n, k) lies beyond a cut-off (Hz) and is no noise; None if nothing does."""
    spectrum = _spectrum(values, rate)
    lines = spectrum.stands_out & (spectrum.frequency > cutoff)[:, np.newaxis]
    lines &= spectrum.amplitude > np.maximum(counts(values), LOBES * spectrum.amplitude.max(axis=0))
    if not lines.any():
        return None
    faster = (2 * np.pi * spectrum.frequency[:, np.newaxis]) ** 2
    size = np.where(lines, spectrum.amplitude * faster, 0.0)
    line, signal = np.unravel_index(int(np.argmax(size)), size.shape)
    amplitude = float(spectrum.amplitude[line, signal])
    return LeftOut(
        int(signal), float(spectrum.frequency[line]), amplitude, float(size[line, signal])
    )


def counts(values: Array) -> Array:
    """Return the size of a count of each signal (n, k): its shortest step, 0 of one that rests."""
    steps = np.abs(np.diff(values, axis=0))
    rounding = 1e-12 * np.abs(values).max(axis=0)
    shortest = np.where(steps > rounding, steps, np.inf).min(axis=0, initial=np.inf)
    return np.asarray(np.where(np.isfinite(shortest), shortest, 0.0))


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


class Rates(NamedTuple):
    """Derivatives of filtered signals at the samples, (n, k) each, and how uncertain they are."""

    first: Array
    second: Array
    noise: Array
    """(k,): standard deviation of the samples about the filtered ones; 0 where there is none."""
    gains: Array
    """(2, n): standard deviations of the derivatives of signals with noise 1, 1/s and 1/s²."""


def rates(time: Array, values: Array, cutoff: float) -> Rates:
    """Return the derivatives of signals that are filtered up to both ends.

    Inside it is the zero-phase filter of the cut-off. It has to guess what is outside of the record;
    near the ends, and in short records, derivatives are those of a least-squares spline instead.

    Args:
        time: (n,), s, rising; n of 3 or more.
        values: (n, k).
        cutoff: Hz.

    """
    knots = int(np.ceil(2 * cutoff * float(time[-1] - time[0])))
    if knots <= 3 * FAR:
        return _spline_rates(time, values, cutoff)
    grid, even = uniform(time, values)
    rate = (len(time) - 1) / float(grid[-1] - grid[0])
    smooth = low_pass(even, rate, min(cutoff, 0.45 * rate))
    first, second = derivatives(smooth, rate)
    noise = (even - smooth).std(axis=0)
    if not np.array_equal(grid, time):
        first, second = (
            np.stack([np.interp(time, grid, column) for column in one.T], axis=1)
            for one in (first, second)
        )
    # of the filter: ∫ ω²ᵈ/(1 + (f/f_c)⁸)² df, by Euler's beta function, times 2/rate
    powers = np.array([[1.0], [2.0]])
    share = beta((2 * powers + 1) / 8, 2 - (2 * powers + 1) / 8) / 8
    middle = (2 * np.pi * cutoff) ** powers * np.sqrt(2 * cutoff / rate * share)
    gains = np.repeat(middle, len(time), axis=1)
    reach = 2 * FAR / (2 * cutoff)
    for side in (time <= time[0] + reach, time >= time[-1] - reach):
        rows = np.flatnonzero(side)
        own = _spline_rates(time[rows], values[rows], cutoff)
        edge = time[0] if rows[0] == 0 else time[-1]
        inner = np.abs(time[rows] - edge) > reach / 2
        first[rows[~inner]], second[rows[~inner]] = own.first[~inner], own.second[~inner]
        gains[:, rows[~inner]] = own.gains[:, ~inner]
    return Rates(first, second, noise, gains)


def _spline_rates(time: Array, values: Array, cutoff: float) -> Rates:
    """Return the derivatives of the least-squares spline of degree 7 with two knots a period.

    It lets pass what the zero-phase filter of the same cut-off does (2e-6 is lost at a fifth of it). Its
    first and last stretches are `END` knots long: longer ones have less noise. Records shorter than two
    such stretches have a polynomial, of the degree that their band asks for.
    """
    span = float(time[-1] - time[0])
    intervals = int(np.ceil(2 * cutoff * span))
    if intervals < 2 * END:
        degree, inner = _degree(np.pi * cutoff / ROOM * span, len(time)), np.empty(0)
    else:
        # as many samples in each, so that uneven records have samples everywhere
        degree = min(DEGREE, len(time) - 1)
        inner = np.linspace(0, len(time) - 1, intervals + 1)[END : intervals + 1 - END]
        inner = np.interp(inner, np.arange(len(time)), time)
        inner = inner[: max(0, len(time) - degree - 1)]
    knots = np.concatenate([[time[0]] * (degree + 1), inner, [time[-1]] * (degree + 1)])
    spline = make_lsq_spline(time, values, knots, degree)
    freedom = len(time) - len(spline.c)
    residual = values - spline(time)
    noise = np.sqrt((residual**2).sum(axis=0) / freedom) if freedom else np.zeros(values.shape[1])
    # from the covariance (Bᵀ B)⁻¹ of the coefficients, at so many samples
    shown = np.unique(np.linspace(0, len(time) - 1, MOST_GAINS).round().astype(int))
    base = BSpline.design_matrix(time, knots, degree)
    covariance = np.linalg.pinv((base.T @ base).toarray())
    basis = BSpline(knots, np.eye(len(spline.c)), degree)
    rows = np.stack([basis(time[shown], order) for order in (1, 2)])
    gains = np.sqrt(np.maximum(np.einsum("dni,ij,dnj->dn", rows, covariance, rows), 0.0))
    every = np.stack([np.interp(time, time[shown], one) for one in gains])
    return Rates(spline(time, 1), spline(time, 2), noise, every)


def _degree(turn: float, count: int) -> int:
    """Return the degree of a polynomial for so many samples.

    A wave of the band's highest frequency turns by 2 `turn` along the record (rad); what its second
    derivative loses is the rest of its power series.
    """
    degree = 3
    while degree < DEGREE and turn ** (degree - 1) / factorial(degree - 1) > LOST:
        degree += 1
    return min(degree, count - 1)
