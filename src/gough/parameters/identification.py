"""Identification: base parameters of a machine from its log, and how well they are known.

F Γ = F W X + F e (see `measurements`), columns of W made of unit length. With R the noise covariance
between actuators' equations, diagonal from the residuals of ordinary least squares (R = 1 there):

    ordinary, weighted    X = (Wᵀ R⁻¹ W)⁻¹ Wᵀ R⁻¹ Γ                                          (Z = W)
    instrumental          X = (Zᵀ R⁻¹ W)⁻¹ Zᵀ R⁻¹ Γ,  Z the regressor of a simulated, noise-free robot
    covariance            P S Pᵀ,  P = (Zᵀ R⁻¹ W)⁻¹,  S = Zᵀ R⁻¹ C R⁻¹ Z

C is the covariance of the noise as the residuals show it: filtered and decimated, so that each leg's
neighbours in time are correlated. Taking them as independent, or the residuals for the noise, would give
standard deviations that are too small. Gautier 1997; Janot, Vandanjon & Gautier 2014 (instruments).

Offsets o of force sensors, Γ = W X + o, fall out where each actuator's mean over time is taken from W
and from Γ. What a finer model explains is asked of the residuals: with columns for an offset of each
actuator, for friction that falls with speed (Stribeck) and for friction that grows with its square the
equations are solved again. Effects c with a covariance C count as there where cᵀ C⁻¹ c of all actuators
is above SURE² and one for each; parameters that they move by more than SHIFTED deviations are biased.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from scipy.signal import oaconvolve

from gough.base.arrays import Array
from gough.base.showing_results import Showing
from gough.data import signals
from gough.data.logs import Log
from gough.errors import InputError
from gough.model.model import Model
from gough.motion import Motion
from gough.parameters.base import BaseParameters, base_parameters, base_regressor
from gough.parameters.equal_legs import EqualLegs
from gough.parameters.equal_legs import equal_legs as equal
from gough.parameters.generalised import generalised_regressor
from gough.parameters.measurements import (
    BLOCK,
    MODAL_BLOCK,
    PARALLEL,
    Measurements,
    elastic_of,
    filtered_regressor,
    logged_motion,
    measure,
)
from gough.trajectories import Spline, Trajectory

Method = Literal["ordinary", "weighted", "instrumental"]

UNEXCITED = 1e-9
"""Singular value, relative to the largest, of a combination that the motion does not show."""
FAINT = 1e-6
"""Rms of a column, relative to the largest of its unit, that is rounding only."""
TOUCHED = 1e-6
"""Share of an unseen combination that makes a parameter unseen."""
MEMORY = 5.0
"""Reach of the residuals' autocovariance, in periods of the cut-off."""
PASSES = 6
"""Of making the noise agree with the residuals it leaves."""
SURE = 6.0
"""Deviations from which effects that the model lacks count as there."""
SHIFTED = 3.0
"""Deviations by which they may move a parameter that is called good or rough."""
LOUD = 3.0
"""Noise of an actuator, over the median of all, from which it is named."""
SLOW = 3.0
"""Power of residuals in the lower half of F's band, over that in the upper, that is no noise."""
STRIBECK = 0.2
"""Speed of the Stribeck effect that is asked for, over the rms speed of the actuators."""
GOOD, ROUGH = 0.05, 0.30
"""Relative standard deviations up to which a parameter counts as identified, as roughly so."""


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Showing):
    """Base parameters found from a log."""

    base: BaseParameters
    values: Array
    """X_base (rank,), SI units; the robot file's along combinations that the log does not show."""
    deviations: Array
    """Standard deviations (rank,); ∞ for parameters that the motion does not show."""
    information: Array
    """(rank, rank): the inverse of the covariance, singular where the log shows nothing."""
    method: Method
    condition: float
    """Condition number of the regressor, columns of unit length."""
    noise: Array
    """Rms residual (actuators,) of the filtered forces, N."""
    measured: Measurements
    equal: EqualLegs | None = None
    """If legs were declared equal: what their shared parameters mean for each."""
    offsets: Array | None = None
    """(actuators,) of force sensors, N, if they were asked for."""
    offset_deviations: Array | None = None
    unmodelled: tuple[str, ...] = ()
    """Sentences on what residuals show that the model lacks."""
    shifts: Array | None = None
    """(rank,) by how many deviations that moves each parameter."""

    @property
    def felt(self) -> tuple[BaseParameters, Array]:
        """Base parameters of all legs, and their values (rank,)."""
        if self.equal is None:
            return self.base, self.values
        return self.equal.whole, self.equal.spread @ self.values

    @property
    def relative(self) -> Array:
        """Standard deviations over |values|, (rank,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.deviations / np.abs(self.values))

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What is known of each: "good", "rough", "biased", "not identifiable" or "not excited"."""
        shifts = np.zeros(len(self.values)) if self.shifts is None else self.shifts
        return tuple(
            "not excited"
            if not np.isfinite(deviation)
            else "not identifiable"
            if part > ROUGH
            else "biased"
            if shift > SHIFTED
            else "good"
            if part <= GOOD
            else "rough"
            for deviation, part, shift in zip(self.deviations, self.relative, shifts, strict=True)
        )

    @property
    def residuals(self) -> Array:
        """(n, actuators): filtered forces less those of the parameters found, N."""
        return np.asarray(self.measured.forces - self.measured.regressor @ self.values)


@dataclass(frozen=True, eq=False)
class Validation:
    """Forces of a second log beside those of the parameters found."""

    time: Array
    measured: Array
    """(n, actuators), N, as in the log."""
    predicted: Array
    before: Array
    """(n, actuators): the robot file's forces, N, for comparison."""

    @property
    def error(self) -> Array:
        """Rms difference of each actuator (actuators,), N."""
        return np.asarray(np.sqrt(np.mean((self.measured - self.predicted) ** 2, axis=0)))

    @property
    def percent(self) -> Array:
        """The same, % of the actuator's rms force."""
        return np.asarray(100 * self.error / np.sqrt(np.mean(self.measured**2, axis=0)))

    @property
    def percent_before(self) -> Array:
        """Rms error of the robot file's forces, %."""
        error = np.sqrt(np.mean((self.measured - self.before) ** 2, axis=0))
        return np.asarray(100 * error / np.sqrt(np.mean(self.measured**2, axis=0)))


def identify(
    robot: Model,
    log: Log,
    *,
    method: Method = "weighted",
    friction: bool = True,
    cutoff: float | None = None,
    reference: Motion | Trajectory | None = None,
    base: BaseParameters | None = None,
    equal_legs: bool = False,
    offsets: bool = False,
) -> Identification:
    """Base parameters of a robot from a log, with standard deviations.

    `friction`: viscous and constant Coulomb friction are parameters too. `cutoff` (Hz) of the filters
    is by default five times the band of the motion. `method` "instrumental" needs the `reference`, the
    commanded motion over the log's times: a simulated robot under an ideal controller follows it
    exactly, so its regressor has no noise of the log in it. `base` saves time if it is known already.
    `equal_legs`: one set of parameters for all legs that have the same joints; the first of them stands
    for the others. `offsets`: a constant that each actuator's force sensor reads too much is an unknown
    too; of a flexible platform it is not.
    """
    if method not in get_args(Method):
        raise InputError(f"method is {method!r}, must be one of {', '.join(get_args(Method))}")
    if reference is not None and method != "instrumental":
        raise InputError(f"a reference is for the method instrumental, not for {method}")
    robot.need_rigid_drives("identification from a log")
    elastic_of(robot, log)  # refused at once where a flexible platform has none
    if base is None:
        base = base_parameters(robot, friction)
    measured = measure(robot, base, log, cutoff)
    instruments = None
    if method == "instrumental":
        if reference is None:
            raise InputError("instrumental variables need the commanded motion as reference")
        instruments = _instruments(robot, base, measured, reference)
    shared = equal(robot, base, measured.regressor) if equal_legs else None
    if shared is not None:
        base = shared.base
        measured = replace(measured, regressor=measured.regressor @ shared.spread)
        instruments = None if instruments is None else instruments @ shared.spread
    if not offsets:
        found = solve(base, measured, method, instruments)
    elif robot.modes:
        raise InputError(f"{robot.name}: offsets of force sensors are for rigid platforms")
    else:
        level = replace(
            measured,
            regressor=measured.regressor - measured.regressor.mean(axis=0),
            forces=measured.forces - measured.forces.mean(axis=0),
        )
        if instruments is not None:
            instruments = instruments - instruments.mean(axis=0)
        found = solve(base, level, method, instruments)
        mean = measured.regressor.mean(axis=0)
        spread = np.einsum(
            "ai,ij,aj->a", mean, np.linalg.pinv(found.information, hermitian=True), mean
        )
        each = found.noise**2 * measured.forces.shape[1] / measured.independent
        found = replace(
            found,
            offsets=measured.forces.mean(axis=0) - mean @ found.values,
            offset_deviations=np.sqrt(spread + each),
        )
    found = replace(found, equal=shared)
    return found if robot.modes else _questioned(robot, found)


def solve(
    base: BaseParameters, measured: Measurements, method: Method, instruments: Array | None = None
) -> Identification:
    """Solve the equations of a log; `instruments` Z (n, actuators, rank) for method "instrumental"."""
    W, forces = measured.regressor, measured.forces
    prior = base.values
    sizes = np.sqrt(np.mean(W**2, axis=(0, 1)))
    units = np.array(base.base_units)
    largest = np.array([sizes[units == unit].max() for unit in units])
    shown = sizes > FAINT * largest
    scale = np.where(shown, 1 / np.where(shown, sizes, 1.0), 0.0)
    excess, independent = forces - W @ prior, measured.independent
    step, noise, _, _ = _estimate(W * scale, excess, np.ones(W.shape[1]), None, independent)
    weights = np.ones_like(noise)
    if method != "ordinary":
        weights = 1 / np.maximum(noise / (float(noise.max()) or 1.0), 1e-6)
    Z = None if instruments is None else instruments * scale
    step, noise, directions, values = _estimate(W * scale, excess, weights, Z, independent)
    lags = int(np.ceil(MEMORY * measured_rate(measured) / (PARALLEL * measured.cutoff)))
    covariance = _covariance(W * scale, excess - (W * scale) @ step, weights, Z, directions, lags)
    seen = directions @ directions.T
    unseen = (1 - np.diag(seen) > TOUCHED) | ~shown
    deviations = np.where(unseen, np.inf, scale * np.sqrt(np.diag(covariance)))
    back = directions / np.where(scale > 0, scale, 1.0)[:, np.newaxis]
    core = np.linalg.inv(directions.T @ covariance @ directions)
    return Identification(
        base=base,
        values=prior + scale * step,
        deviations=deviations,
        information=back @ core @ back.T,
        method=method,
        condition=float(values[0] / values[-1]) if not unseen.any() else float("inf"),
        noise=noise,
        measured=measured,
    )


def _questioned(robot: Model, found: Identification) -> Identification:
    """The same with what its residuals show that the model lacks."""
    noise, sentences = found.noise, []
    effects = _finer(robot, found)
    shifts = np.zeros(len(found.values))
    if effects:
        there = []
        _, step, covariance = _resolved(found, np.concatenate([*effects.values()], axis=2))
        count = len(noise)
        # what exact logs leave is rounding
        least = 1e-4 * float(np.sqrt(np.mean(found.measured.raw_forces**2)))
        for i, name in enumerate(effects):
            own = slice(i * count, (i + 1) * count)
            size = step[own] @ np.linalg.pinv(covariance[own, own], hermitian=True) @ step[own]
            if size > SURE**2 + count and np.abs(step[own]).max() > least:
                there.append(name)
                sentences.append(f"{name} ({np.sqrt(size):.0f} deviations)")
        if there:
            shifts = _resolved(found, np.concatenate([effects[one] for one in there], axis=2))[0]
    sentences += [
        f"noise of actuator {i + 1}, {noise[i] / np.median(noise):.1f} times that of the others"
        for i in np.flatnonzero(noise > LOUD * np.median(noise))
    ]
    slow = _slow(found)
    if slow > SLOW and not sentences:
        sentences.append(f"something slow ({slow:.1f} times the power that noise has)")
    return replace(found, unmodelled=tuple(sentences), shifts=shifts)


def _resolved(found: Identification, columns: Array) -> tuple[Array, Array, Array]:
    """Shifts of parameters in deviations, further columns' coefficients, and their covariance."""
    measured, noise = found.measured, found.noise
    W, count = measured.regressor, len(found.values)
    sizes = np.sqrt(np.mean(W**2, axis=(0, 1)))
    scale = np.where(np.isfinite(found.deviations), 1 / np.where(sizes > 0, sizes, 1.0), 0.0)
    wide = np.concatenate([W * scale, columns], axis=2)
    weights = 1 / np.maximum(noise / (float(noise.max()) or 1.0), 1e-6)
    step, _, directions, _ = _estimate(wide, found.residuals, weights, None, measured.independent)
    lags = int(np.ceil(MEMORY * measured_rate(measured) / (PARALLEL * measured.cutoff)))
    left = found.residuals - wide @ step
    covariance = _covariance(wide, left, weights, None, directions, lags)
    with np.errstate(divide="ignore", invalid="ignore"):
        shifts = np.nan_to_num(np.abs(step[:count] * scale) / found.deviations)
    return shifts, step[count:], covariance[count:, count:]


def _finer(robot: Model, found: Identification) -> dict[str, Array]:
    """Columns (n, actuators, actuators) of effects that the model lacks, by name, filtered."""
    measured = found.measured
    qd = robot.inverse_kinematics(measured.motion).qd
    each = np.eye(qd.shape[1])
    effects: dict[str, Array] = {}
    if found.offsets is None:
        effects["offsets of force sensors"] = np.tile(each, (len(measured.time), 1, 1))
    if not found.base.friction:
        return effects
    speed = np.sqrt(np.mean(qd**2, axis=0))
    speed = np.where(speed > 0, speed, 1.0)
    shapes = {
        "friction that falls with speed": np.sign(qd) * np.exp(-np.abs(qd) / (STRIBECK * speed)),
        "friction with the square of speed": qd * np.abs(qd) / speed**2,
    }
    step = signals.decimation(measured.rate, measured.cutoff)
    for name, values in shapes.items():
        filtered = signals.low_pass(values, measured.rate, PARALLEL * measured.cutoff)
        filtered = filtered[::step][measured.kept]
        if found.offsets is not None:
            filtered = filtered - filtered.mean(axis=0)
        effects[name] = filtered[:, :, np.newaxis] * each
    return effects


def _slow(found: Identification) -> float:
    """Power of residuals below a quarter of F's cut-off over that from there to a half."""
    measured = found.measured
    rate = measured_rate(measured)
    power = np.sum(np.abs(np.fft.rfft(found.residuals / found.noise, axis=0)) ** 2, axis=1)
    frequency = np.fft.rfftfreq(len(measured.time), 1 / rate)
    edge = PARALLEL * measured.cutoff
    low = power[frequency < edge / 4]
    high = power[(frequency >= edge / 4) & (frequency < edge / 2)]
    if len(low) < 4 or len(high) < 4 or not high.any():
        return 1.0
    return float(low.mean() / high.mean())


def measured_rate(measured: Measurements) -> float:
    """Equations a second, of one actuator."""
    return (len(measured.time) - 1) / float(measured.time[-1] - measured.time[0])


def validate(
    robot: Model, found: Identification, log: Log, written: Model | None = None
) -> Validation:
    """Return forces of another log beside those that are predicted for its motion.

    Args:
        robot: as it was before; its forces are for comparison.
        found: what was identified from the first log.
        log: the second one.
        written: the robot whose forces are judged, as `consistency.adopted` makes it. Without it they
            are those of the base parameters, which no robot file may have exactly.

    """
    motion, forces, _, _ = logged_motion(robot, log, found.measured.cutoff)
    assert motion.time is not None
    before = robot.inverse_dynamics(motion).forces
    if written is not None:
        return Validation(motion.time, forces, written.inverse_dynamics(motion).forces, before)
    base, values = found.felt
    block = MODAL_BLOCK if robot.modes else BLOCK
    predicted = np.concatenate(
        [_forces(robot, base, motion[i : i + block], values) for i in range(0, len(motion), block)]
    )
    return Validation(motion.time, forces, predicted, before)


def _forces(robot: Model, base: BaseParameters, motion: Motion, values: Array) -> Array:
    """Γ (n, actuators) of base parameters; of a flexible platform Γ = (Jᵀ)⁺ (Y X + y0)."""
    felt = base_regressor(robot, base, motion) @ values
    if not robot.modes:
        return felt
    felt = felt + generalised_regressor(robot, motion, base.friction).known
    across = np.linalg.pinv(np.swapaxes(robot.jacobian(motion), -1, -2))
    return np.asarray(np.einsum("nai,ni->na", across, felt))


def _instruments(
    robot: Model, base: BaseParameters, measured: Measurements, reference: Motion | Trajectory
) -> Array:
    """F W along the commanded motion at the log's times."""
    if isinstance(reference, Motion):
        if reference.time is None or len(reference.shape) != 1:
            raise InputError("the reference must be a motion of shape (n,) with time")
        reference = Spline(reference.time, reference)
    assert measured.motion.time is not None
    commanded = reference(measured.motion.time)
    whole = filtered_regressor(robot, base, commanded, measured.rate, measured.cutoff)
    return whole[measured.kept]


def _estimate(
    W: Array, forces: Array, weights: Array, Z: Array | None, independent: float
) -> tuple[Array, Array, Array, Array]:
    """Solution, rms residual of each actuator, combinations seen (rank, seen), singular values."""
    count = W.shape[-1]
    rows = (W * weights[:, np.newaxis]).reshape(-1, count)
    right = (forces * weights).ravel()
    _, values, turned = np.linalg.svd(np.linalg.qr(rows, mode="r"))
    directions = turned[values > UNEXCITED * values[0]].T
    left = rows if Z is None else (Z * weights[:, np.newaxis]).reshape(-1, count)
    left = left @ directions
    if Z is None:
        solution = directions @ np.linalg.lstsq(left, right, rcond=None)[0]
    else:
        sizes = np.linalg.svd(np.linalg.qr(left, mode="r"), compute_uv=False)
        shown = int(np.sum(sizes > UNEXCITED * sizes[0]))
        if shown < len(sizes):
            raise InputError(
                f"the reference shows {shown} of {len(sizes)} combinations of parameters that the log "
                "does: it must be the motion that was commanded when the log was made"
            )
        solution = directions @ np.linalg.solve(left.T @ rows @ directions, left.T @ right)
    residual = forces - W @ solution
    freedom = 1 - directions.shape[1] / independent
    noise = np.sqrt(np.mean(residual**2, axis=0) / freedom)
    return solution, noise, directions, values


def _covariance(
    W: Array, residual: Array, weights: Array, Z: Array | None, directions: Array, lags: int
) -> Array:
    """P S Pᵀ of the module's text, in the combinations seen."""
    seen = W * weights[:, np.newaxis] @ directions
    left = seen if Z is None else Z * weights[:, np.newaxis] @ directions
    kernels = _noise(seen, residual * weights, min(lags, len(W) // 4))
    middle = sum(left[:, i].T @ _correlated(left[:, i], one) for i, one in enumerate(kernels))
    inverse = np.linalg.inv(np.einsum("nli,nlj->ij", left, seen))
    return np.asarray(directions @ (inverse @ middle @ inverse.T) @ directions.T)


def _noise(seen: Array, residual: Array, lags: int) -> Array:
    """Autocovariance (actuators, lags + 1) of each one's noise from residuals (n, actuators), tapered.

    The fit takes noise away where the regressor moves, most at low frequencies: residuals are (1 − H) e
    with H = U Uᵀ, U an orthonormal basis of the columns, so their covariance is C − H C − C H + H C H.
    What that lacks, averaged along each lag, is given back to them until C agrees with itself. Parzen's
    window keeps C positive.
    """
    count = residual.shape[1]
    x = np.arange(lags + 1) / (lags + 1)
    taper = np.where(x < 0.5, 1 - 6 * x**2 + 6 * x**3, 2 * (1 - x) ** 3)
    rows = seen.reshape(-1, seen.shape[-1])
    U = np.linalg.qr(rows)[0].reshape(seen.shape)
    left = np.array([_lagged(one, one, lags) for one in residual.T[..., np.newaxis]])
    auto = left
    for _ in range(PASSES):
        turned = np.stack([_correlated(U[:, i], auto[i] * taper) for i in range(count)], axis=1)
        core = np.einsum("nli,nlj->ij", U, turned)
        lost = 2 * turned - U @ core
        auto = left + np.array([_lagged(U[:, i], lost[:, i], lags) for i in range(count)])
    return np.asarray(auto * taper)


def _lagged(a: Array, b: Array, lags: int) -> Array:
    """Σ_t a(t)·b(t + k)/n for lags k = 0 … of (n, columns), a and b taking turns."""
    count = len(a)
    both = [
        np.vdot(a[: count - k], b[k:]) + np.vdot(b[: count - k], a[k:]) for k in range(lags + 1)
    ]
    return np.array(both) / (2 * count)


def _correlated(columns: Array, auto: Array) -> Array:
    """C X of columns X (n, k): C the Toeplitz matrix of an autocovariance."""
    kernel = np.concatenate([auto[:0:-1], auto])[:, np.newaxis]
    return np.asarray(oaconvolve(columns, kernel, mode="same", axes=0))
