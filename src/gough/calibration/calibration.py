"""Calibration: numbers of a robot's geometry from measured poses, with what they are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gough.base.arrays import Array
from gough.base.showing_results import Showing
from gough.calibration.closing import stand
from gough.calibration.frames import Frames, observe
from gough.calibration.geometry import Geometry, Unknown
from gough.calibration.measurements import Noise, PoseMeasurements
from gough.calibration.ranks import leg_ranks
from gough.calibration.residuals import Numbers, Problem, Residual
from gough.calibration.search import RANK, Prior, Search, Spectrum, influence_slopes
from gough.calibration.start import drawn_poses, refuse_lost, register
from gough.errors import InputError, SampleError
from gough.model.described import DescribedModel

NOMINAL = 1e-5
"""Noise of positions (m) where none is given: only its ratio to the others counts then."""
FINEST = 1e-12
"""Noise below which numbers are exact, m and rad."""
ROUNDS = 2
"""In which the noise of positions and rotations is found."""
ENOUGH = 0.5
"""Part of the poses that the robot as drawn must have for frames to be found by them."""
OUTLIER = 5.0
"""Residual, in standard deviations of most, from which a sample is named."""
SPOILT = 0.9
"""Leverage above which a residual says little of the noise."""
SMALLEST, LARGEST = 1e-15, 1e3
"""Standard deviations that can be given, m or rad."""
CERTAIN = 1e-6
"""Part of an unknown that may lie in what is not told, of one that counts as told."""


@dataclass(frozen=True, eq=False)
class PoseErrors:
    """What was seen less what the robot shows, of some samples."""

    seen: Array
    """(n, 7), as `PoseMeasurements.seen`; NaN what was not measured."""

    @property
    def position(self) -> float:
        """Rms over samples of the length of the position's error, m; NaN if none was measured."""
        return _rms(self.seen[:, :3])

    @property
    def rotation(self) -> float:
        """The same of the rotation's, rad."""
        return _rms(self.seen[:, 3:6])

    @property
    def distance(self) -> float:
        """Of distances, m."""
        return _rms(self.seen[:, 6:])

    @property
    def largest(self) -> float:
        """The longest position error, m, or error of a distance."""
        parts = np.sqrt(np.nansum(self.seen[:, [0, 1, 2, 6]] ** 2, axis=1))
        return float(parts.max(initial=0.0))


def _rms(errors: Array) -> float:
    if not np.any(np.isfinite(errors)):
        return float("nan")
    some = np.isfinite(errors).any(axis=1)
    return float(np.sqrt(np.mean(np.nansum(errors[some] ** 2, axis=1))))


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Showing):
    """What was found."""

    geometry: Geometry
    names: tuple[Unknown, ...]
    """All unknowns: of the geometry, of trackers, of targets."""
    free: Array
    """(unknowns,): those that were looked for."""
    numbers: Numbers
    """What they are."""
    problem: Problem
    spectrum: Spectrum
    """What the measurements tell of the free unknowns, by themselves."""
    covariance: Array
    """(free, free) of the free unknowns, in their units: of their part that is told, or by priors."""
    noise: Noise
    """Standard deviations as given, or as found from the residuals."""
    noise_found: bool
    """They were not given."""
    fit: float
    """Residuals over noise as given: 1 if the robot is what the model says, and the noise is right."""
    residuals: Array
    """(rows,) over their deviations."""
    samples: Array
    """(rows,) the sample of each."""
    weights: Array
    """(rows,), below 1 where robust weights took them for outliers."""
    outliers: tuple[int, ...]
    """Samples with residuals over OUTLIER deviations."""
    held_back: Array
    """Samples that were not used, of all that were given."""
    before: PoseErrors
    """Of samples held back (of all, if none were): the robot as drawn, frames fitted to it."""
    after: PoseErrors
    """The same with what was found."""
    per_leg: tuple[tuple[int, int], ...]
    """Of each leg how many of its unknowns whole poses there tell, were all frames known, and how many
    it has; turns below LITTLE degrees do not count (`leg_ranks`)."""

    @property
    def values(self) -> Array:
        """What was found of the geometry, (unknowns of the geometry,): changes from what was drawn."""
        return self.numbers.geometry

    @cached_property
    def deviations(self) -> Array:
        """(unknowns,) standard deviations; 0 of those that were not looked for."""
        found = np.zeros(len(self.names))
        found[self.free] = np.sqrt(np.diagonal(self.covariance))
        return found

    @cached_property
    def told(self) -> Array:
        """(unknowns,) which are told by themselves: nothing that is not told has a part of them."""
        found = np.zeros(len(self.names), dtype=bool)
        lost = self.spectrum.vectors[:, ~self.spectrum.told]
        found[self.free] = np.sum(lost**2, axis=1) < CERTAIN
        return found

    @cached_property
    def correlations(self) -> Array:
        """(free, free) of the free unknowns; NaN of those of no deviation."""
        size = np.sqrt(np.diagonal(self.covariance))
        with np.errstate(all="ignore"):
            return np.asarray(self.covariance / np.outer(size, size))

    @property
    def index(self) -> float:
        """Noise amplification index, s_min²/s_max of the combinations told (Nahvi & Hollerbach 1996).

        Of slopes per metre (angles times L) over one metre of noise, as that of `plan`.
        """
        return amplification_index(self.spectrum.values[self.spectrum.told]) * self.noise.position

    @property
    def offsets(self) -> Array:
        """What encoders read too much, (actuators,)."""
        return self.geometry.zeros(self.numbers.geometry)


def amplification_index(values: Array) -> float:
    """O4 = s_min²/s_max of singular values: the larger, the less noise reaches the worst combination."""
    return float(values.min() ** 2 / values.max()) if values.size else 0.0


def calibrate(
    robot: DescribedModel,
    measured: PoseMeasurements,
    *,
    noise: Mapping[str, float] | None = None,
    known: Sequence[str] = (),
    fixed: Sequence[str] = (),
    priors: Mapping[str, float] | None = None,
    robust: bool = False,
    residual: Residual | None = None,
    hold_back: float = 0.2,
    validation: PoseMeasurements | None = None,
    frames: Frames | None = None,
    seed: int = 0,
) -> Calibration:
    """The geometry of a robot from measured poses, by weighted least squares.

    Args:
        robot: as drawn; legs of any kind, rigid platform, at least as many actuators as freedoms.
        measured: coordinates of the legs and what was seen; see `read_poses` for files.
        noise: standard deviations by name, out of "position" (m), "rotation" (rad), "distance" (m) and
            "q" (m or rad). Without it they are found from the residuals. What is left out of it is
            10 µm, for rotations divided by the length scale, and 0 for q.
        known: frames that are not unknown, "tracker" and "target", or single ones ("tracker[2]",
            "target[1][x]").
        fixed: geometry that is taken as drawn, by name or by how names begin ("legs.platform",
            "legs.base[1]").
        priors: standard deviations of the geometry about what is drawn, by name in the same way, or
            "legs" for all: m, and rad of directions.
        robust: outliers count less.
        residual: "inverse" or "forward"; by default inverse where legs and whole poses were measured.
        hold_back: part of the samples that is not used and judges the result; none with `validation`.
        validation: other measurements to judge the result by, of the same trackers and targets.
        frames: where trackers and targets are, if known, or near where they are.
        seed: of the choice of samples that are held back.

    Returns:
        What was found, its deviations, what cannot be told, and errors before and after.

    Example:
        >>> robot = gough.load("kim-ryu-2002")
        >>> from gough.calibration import Geometry, random_poses, simulate
        >>> built = 1e-4 * np.ones(Geometry(robot).count)
        >>> measured = simulate(robot, built, random_poses(robot, 20))
        >>> calibrate(robot, measured, known=["tracker", "target"]).spectrum.rank
        54

    """
    geometry = Geometry(robot)
    _check(geometry, measured, hold_back)
    kept, back = _parted(measured, 0.0 if validation is not None else hold_back, seed)
    used = measured.at(kept)
    related = measured.relative[back]
    judge = measured.at(np.unique(np.concatenate([back, related[related >= 0]])))
    judge = judge if validation is None else validation
    start = Frames.start(measured) if frames is None else frames
    free, sizes = free_unknowns(geometry, measured, start, known, fixed)
    free_frames = free[geometry.count :]
    given, estimated = _noise(noise, robot.length_scale)
    sure = robot.actuator_count <= 6 or given.q > 0
    chosen = residual or ("inverse" if sure and _invertible(geometry, used) else "forward")
    if chosen == "inverse" and not (used.full and robot.mobility == 6):
        raise InputError(
            "calibration: inverse residuals need whole poses in a tracker's frame, and a platform with "
            "six freedoms"
        )
    if chosen == "inverse" and not sure:
        raise InputError(
            f"calibration: inverse residuals of {robot.actuator_count} actuators need noise of q above "
            "0: that of a pose leaves combinations of them without any"
        )
    poses = drawn_poses(robot, used)
    good = np.flatnonzero(np.isfinite(poses.position).all(axis=1))
    if chosen == "forward" or len(good) < ENOUGH * len(used):
        refuse_lost(used, poses)
    placed = register(used.at(good), poses.at(good), start, free_frames, robot.length_scale)
    if len(good) < len(used):
        poses = placed.poses(used, poses.chains)
    problem = Problem(geometry, used, given, chosen)
    prior = _prior(geometry, priors or {}, ~free[: geometry.count])
    search = Search(problem, free, sizes, prior, robust)
    drawn = Numbers(np.zeros(geometry.count), placed, poses)
    found, weights = search.run(drawn)
    for _ in range(ROUNDS if estimated else 0):
        problem = replace(problem, noise=_scattered(search, found.numbers, robust))
        search = replace(search, problem=problem)
        found, weights = search.run(drawn, found.numbers)
    given = problem.noise
    rank = int(np.sum(search.spectrum(search.rows(found, None)[1]).told))
    leverage = _leverage(search, found.slopes) if robust else np.zeros(0)
    size, factor = _spread(found.residuals, weights, leverage, rank, robust)
    scale = size if estimated else 1.0
    spectrum, covariance = _worth(search, found.slopes, scale, factor)
    numbers = found.numbers
    return Calibration(
        geometry,
        (*geometry.unknowns, *(Unknown(name, unit, -1) for name, unit in start.names())),
        free,
        numbers,
        problem,
        spectrum,
        covariance,
        Noise(*(scale * one for one in given)),
        estimated,
        size,
        found.residuals,
        found.samples,
        weights,
        _outliers(found.residuals, found.samples),
        back,
        *_judged(problem, numbers, placed, judge if len(judge) else used),
        leg_ranks(geometry, numbers.poses, free[: geometry.count]),
    )


def free_unknowns(
    geometry: Geometry,
    measured: PoseMeasurements,
    frames: Frames,
    known: Sequence[str],
    fixed: Sequence[str],
) -> tuple[Array, Array]:
    """Which of all unknowns are free, and what one metre is in each: geometry, trackers, targets."""
    taken = geometry.chosen(fixed, "fixed")
    free = np.concatenate([~taken, frames.free(measured) & ~_known(frames, known)])
    if not np.any(free):
        raise InputError("calibration: no number is left to find")
    per_length = 1 / geometry.robot.length_scale
    frame_sizes = np.tile([1.0] * 3 + [per_length] * 3, sum(frames.counts))
    return free, np.concatenate([geometry.sizes, frame_sizes])


def _check(geometry: Geometry, measured: PoseMeasurements, hold_back: float) -> None:
    count = geometry.robot.actuator_count
    if measured.q.shape[1] != count:
        raise InputError(
            f"measurements have {measured.q.shape[1]} legs' coordinates, {geometry.robot.name} has "
            f"{count} actuators"
        )
    if not 0 <= hold_back < 1:
        raise InputError(f"hold_back is {hold_back:g}, needs 0 or more, below 1")


def _parted(measured: PoseMeasurements, share: float, seed: int) -> tuple[Array, Array]:
    """Samples that are used, and samples that are held back.

    Poses at which others are measured are used; one that was seen several times (three balls, say) is
    held back as a whole, else it would judge what it was fitted to.
    """
    _, first, pose = np.unique(measured.q, axis=0, return_index=True, return_inverse=True)
    pose = first[pose.reshape(-1)]
    loose = np.setdiff1d(pose, pose[measured.relative[measured.relative >= 0]])
    count = int(share * len(loose))
    chosen = np.random.default_rng(seed).permutation(loose)[:count]
    back = np.flatnonzero(np.isin(pose, chosen))
    return np.setdiff1d(np.arange(len(measured)), back), back


def _known(frames: Frames, names: Sequence[str]) -> Array:
    """Which unknowns of frames are known, by how names begin."""
    own = [name for name, _ in frames.names()]
    found = np.zeros(len(own), dtype=bool)
    for name in names:
        meant = np.array([one == name or one.startswith(f"{name}[") for one in own], dtype=bool)
        if not np.any(meant):
            raise InputError(f"known: {name!r} is no tracker or target of these measurements")
        found |= meant
    return found


def _noise(given: Mapping[str, float] | None, scale: float) -> tuple[Noise, bool]:
    """Deviations, and whether only their ratios count."""
    usual = {"position": NOMINAL, "rotation": NOMINAL / scale, "distance": NOMINAL, "q": 0.0}
    for name, value in (given or {}).items():
        if name not in usual:
            raise InputError(f"noise: {name!r} is none of {', '.join(usual)}")
        if not (name == "q" and value == 0):
            _need_deviation("noise", name, value)
    return Noise(**{**usual, **(given or {})}), not given


def _scattered(search: Search, numbers: Numbers, robust: bool) -> Noise:
    """Noise of positions, rotations and distances by how they scatter; what was not seen as it was.

    Of n numbers of a kind, to which the unknowns have been fitted with leverage Σ h, the deviation is
    that of √(Σ r²/(n − Σ h)): what the fit took is put back where it took it.
    """
    problem = replace(search.problem, residual="forward")
    noise = problem.noise
    try:
        found = problem.weighed(numbers)
    except SampleError:  # a pose that is not reached: the kinds stay in the ratio they had
        return noise
    leverage = _leverage(search, found.slopes)
    sizes = {}
    for name, columns in (("position", (0, 1, 2)), ("rotation", (3, 4, 5)), ("distance", (6,))):
        own = np.isin(found.columns, columns)
        if np.any(own):
            residuals, spare = found.residuals[own], float(np.sum(1 - leverage[own]))
            spread = float(np.linalg.norm(residuals)) / np.sqrt(max(spare, 1.0))
            if robust:
                spread = _median_spread(residuals, leverage[own])
            sizes[name] = max(getattr(noise, name) * spread, FINEST)
    return noise._replace(**sizes)


def _leverage(search: Search, slopes: Array) -> Array:
    """(rows,) shares of its own noise that the fit takes from each residual."""
    left, values, _ = np.linalg.svd((slopes * search.sizes)[:, search.free], full_matrices=False)
    return np.asarray(np.sum(left[:, values > RANK * values.max()] ** 2, axis=1))


def _median_spread(residuals: Array, leverage: Array) -> float:
    """Standard deviation of most of the noise: 1.4826 median |r|/√(1 − h).

    Residuals of high leverage h say little of it, and are left out.
    """
    own = leverage <= max(SPOILT, float(np.median(leverage)))
    sizes = np.abs(residuals[own]) / np.sqrt(np.maximum(1 - leverage[own], 1e-6))
    return 1.4826 * float(np.median(sizes))


def _invertible(geometry: Geometry, measured: PoseMeasurements) -> bool:
    return measured.full and not measured.commanded and geometry.robot.mobility == 6


def _need_deviation(what: str, name: str, value: float) -> None:
    """Refuse what no standard deviation can be."""
    if not SMALLEST <= value <= LARGEST:
        wanted = f"{SMALLEST:g} to {LARGEST:g}"
        raise InputError(f"{what}: {name} is {value!r}, needs a positive number, {wanted}")


def _prior(geometry: Geometry, priors: Mapping[str, float], taken: Array) -> Prior:
    deviations = np.full(geometry.count, np.inf)
    for name, value in priors.items():
        _need_deviation("priors", name, value)
        own = geometry.chosen([name], "priors")
        if np.all(taken[own]):
            raise InputError(f"priors: {name} is fixed: it takes no prior")
        deviations[own] = value
    which = np.flatnonzero(np.isfinite(deviations) & ~taken)
    return Prior(which, deviations[which])


def _spread(
    residuals: Array, weights: Array, leverage: Array, unknowns: int, robust: bool
) -> tuple[float, float]:
    """Deviation of the residuals, and how much wider robust weights make what is found.

    Of n residuals r of p unknowns, ψ = w r, the factor on the deviations of least squares is
    K √(Σ ψ²/(n − p))/(σ m), K = 1 + p/n var(ψ′)/m², m the mean of ψ′ (Huber 1981, Eq. 7.6.8).
    """
    spare = max(len(residuals) - unknowns, 1)
    if not robust:
        return max(float(np.sqrt(residuals @ residuals / spare)), FINEST), 1.0
    size = max(_median_spread(residuals, leverage), FINEST)
    felt, slopes = weights * residuals, influence_slopes(residuals)
    mean = max(float(np.mean(slopes)), 1e-6)
    wider = 1 + unknowns / len(residuals) * float(np.var(slopes)) / mean**2
    return size, max(wider * float(np.sqrt(felt @ felt / spare)) / (size * mean), 1e-6)


def _worth(search: Search, slopes: Array, scale: float, factor: float) -> tuple[Spectrum, Array]:
    """What is told, and the covariance of the free unknowns with noise of `scale` deviations.

    Without priors (KᵀK)⁻¹ in the combinations told; with them the inverse of all information.
    """
    own = (slopes * search.sizes)[:, search.free] / scale
    spectrum = search.spectrum(own)
    size = search.sizes[search.free]
    if len(search.prior.which):
        information = own.T @ own / factor**2
        rows = np.searchsorted(np.flatnonzero(search.free), search.prior.which)
        information[rows, rows] += (search.sizes[search.prior.which] / search.prior.deviations) ** 2
        values, vectors = np.linalg.eigh(information)
        kept = values > RANK**2 * values.max()
    else:
        values, vectors = (spectrum.values / factor) ** 2, spectrum.vectors
        kept = spectrum.told
    covariance = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return spectrum, covariance * np.outer(size, size)


def _outliers(residuals: Array, samples: Array) -> tuple[int, ...]:
    limit = OUTLIER * max(1.4826 * float(np.median(np.abs(residuals))), 1e-300)
    return tuple(int(i) for i in np.unique(samples[np.abs(residuals) > limit]))


def _judged(
    problem: Problem,
    numbers: Numbers,
    placed: Frames,
    judge: PoseMeasurements,
) -> tuple[PoseErrors, PoseErrors]:
    """Errors of the robot as drawn, its frames fitted, and with what was found."""
    geometry = problem.geometry
    poses = drawn_poses(geometry.robot, judge)
    near = poses
    if judge.full:
        near = numbers.frames.poses(judge, poses.chains)
    q = judge.q - geometry.zeros(numbers.geometry)
    there = stand(geometry, numbers.geometry, q, near, "nan")
    return (
        PoseErrors(observe(judge, placed, poses)[0]),
        PoseErrors(observe(judge, numbers.frames, there)[0]),
    )
