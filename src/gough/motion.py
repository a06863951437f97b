"""Motion: where the platform is and how it moves, for one state or a batch of any shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.base.arrays import LARGEST, Array, given_numbers, refuse_turns
from gough.base.pose_spline import PoseSpline
from gough.base.showing import shown
from gough.errors import InputError

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure

ORTHOGONALITY = 1e-9
"""Largest ‖RᵀR − I‖ (Frobenius) of what counts as a rotation matrix."""

VECTOR_FIELDS = (
    "position",
    "velocity",
    "angular_velocity",
    "acceleration",
    "angular_acceleration",
)
ELASTIC_FIELDS = ("elastic", "elastic_velocity", "elastic_acceleration")
FIELDS = ("position", "rotation", *VECTOR_FIELDS[1:], *ELASTIC_FIELDS)
OTHER_RANKS = {"rotation": 2, "time": 0}
"""Axes of one sample, of fields that are no vectors."""
NOTHING = np.zeros(3)


class Motion:
    """Pose, twist and acceleration of the platform frame; leading axes are the batch.

    x_world = position + rotation · x_platform. The twist is the velocity of the platform frame's
    origin (m/s) and the angular velocity (rad/s), both in world axes; the accelerations are their
    time derivatives. `elastic` (..., N) holds the modal coordinates of a flexible platform.
    Fields broadcast against each other; what is left out is zero. Values may be NaN (a sample
    without an answer): the models refuse such samples. All arrays are read-only views.

    Args:
        position: (..., 3) of the platform frame's origin, m, world.
        rotation: (..., 3, 3) or a scipy Rotation; left out: none. Or one of the next three in its place.
        velocity: (..., 3) of that origin, m/s.
        angular_velocity: (..., 3), rad/s, world axes.
        acceleration: (..., 3), m/s².
        angular_acceleration: (..., 3), rad/s².
        rotvec: (..., 3) axis times angle, rad.
        quaternion: (..., 4) as w, x, y, z, as in motion files; of any length but 0.
        euler: axes and angles (..., 3) in rad, as SciPy's `Rotation.from_euler` takes them: "xyz"
            about the world's axes, "XYZ" about the platform's own.
        elastic: (..., N) modal coordinates; `elastic_velocity` and `elastic_acceleration` their rates.
        elastic_velocity: (..., N).
        elastic_acceleration: (..., N).
        time: (...), s.

    Example:
        >>> gough.Motion([0, 0, 0.8], euler=("z", 0.1)).rotation.round(3)
        array([[ 0.995, -0.1  ,  0.   ],
               [ 0.1  ,  0.995,  0.   ],
               [ 0.   ,  0.   ,  1.   ]])

    """

    __slots__ = ("__weakref__", "_joints", "_shape", "time", *FIELDS)

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    acceleration: Array
    angular_acceleration: Array
    elastic: Array
    elastic_velocity: Array
    elastic_acceleration: Array
    time: Array | None
    _joints: tuple[bytes, Array] | None
    """Joint coordinates (..., K) of chain legs where they are known, and the digest of their legs
    (`gough.model.asking.Askable.chains_of`): robots with other legs look past them."""

    def __init__(
        self,
        position: ArrayLike,
        rotation: ArrayLike | Rotation | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        angular_acceleration: ArrayLike | None = None,
        *,
        rotvec: ArrayLike | None = None,
        quaternion: ArrayLike | None = None,
        euler: Any = None,
        elastic: ArrayLike | None = None,
        elastic_velocity: ArrayLike | None = None,
        elastic_acceleration: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> None:
        rotation = _one_rotation(rotation, rotvec, quaternion, euler)
        given = {
            "position": position,
            "velocity": velocity,
            "angular_velocity": angular_velocity,
            "acceleration": acceleration,
            "angular_acceleration": angular_acceleration,
        }
        fields = {
            name: NOTHING if value is None else _field(name, value, (3,))
            for name, value in given.items()
        }
        fields["rotation"] = _field("rotation", rotation, (3, 3))
        _check_rotation(fields["rotation"])
        fields |= _elastic_fields(elastic, elastic_velocity, elastic_acceleration)
        if time is not None:
            fields["time"] = _field("time", time, ())
        self._set(fields)

    def _set(self, fields: dict[str, Array]) -> None:
        batch = {name: value.shape[: value.ndim - _rank(name)] for name, value in fields.items()}
        shape = batch["position"]
        if any(one != shape for one in batch.values()):
            try:
                shape = np.broadcast_shapes(*batch.values())
            except ValueError:
                shapes = ", ".join(f"{name} {one}" for name, one in batch.items() if one)
                raise InputError(
                    f"motion: the batch axes do not fit each other: {shapes}"
                ) from None
        self._shape = shape
        self.time = None
        self._joints = None
        for name, value in fields.items():
            if batch[name] == shape:
                here = value.view()
                here.flags.writeable = False
            else:
                core = value.shape[len(batch[name]) :]
                here = np.broadcast_to(value, shape + core)
            setattr(self, name, here)

    @classmethod
    def _of(cls, fields: dict[str, Array]) -> Self:
        """A motion from fields known to be good."""
        motion = cls.__new__(cls)
        motion._set(fields)
        return motion

    def _with_joints(self, digest: bytes, joints: Array) -> Self:
        """Keep joint coordinates that broadcast to the batch, if finite, and return the motion."""
        wide = (*self.shape, joints.shape[-1])
        if np.broadcast_shapes(wide, joints.shape) == wide and np.isfinite(joints).all():
            self._joints = digest, np.broadcast_to(joints, wide)
        return self

    @classmethod
    def resting(cls, position: Array, rotation: Array, elastic: Array | None = None) -> Self:
        """Poses at rest that are known to be good, or NaN: rotations (..., 3, 3) are not checked."""
        still = dict.fromkeys(("velocity", "angular_velocity"), np.zeros(3))
        still |= dict.fromkeys(("acceleration", "angular_acceleration"), np.zeros(3))
        bent = _elastic_fields(elastic, None, None)
        return cls._of({"position": position, "rotation": rotation, **still, **bent})

    def _fields(self) -> dict[str, Array]:
        fields = {name: getattr(self, name) for name in FIELDS}
        if self.time is not None:
            fields["time"] = self.time
        return fields

    @classmethod
    def from_samples(
        cls, time: ArrayLike, position: ArrayLike, rotation: ArrayLike | Rotation | None = None
    ) -> Motion:
        """Motion through sampled poses: (n,) times, (n, 3) positions, (n, 3, 3) rotations.

        Twist and acceleration are those of the spline through the samples
        (`gough.trajectories.Spline`), so they need at least two samples at increasing times.
        """
        times = _field("time", time, ())
        poses = cls(position, rotation, time=times)
        fields = {"time": times, "position": poses.position, "rotation": poses.rotation}
        for name, values in fields.items():
            if not np.all(np.abs(values) < LARGEST):
                raise InputError(f"{name} must be finite, and below {LARGEST:g}, to have rates")
        if len(poses.shape) != 1 or len(poses) < 2 or not np.all(np.diff(times) > 0):
            raise InputError(
                f"samples of batch shape {poses.shape}: rates need (n,) of them, two at least, at "
                "times that increase"
            )
        exact = Rotation.from_matrix(poses.rotation).as_matrix()
        since = times - times[0]
        return cls(*PoseSpline(since, poses.position, exact)(since), time=times)

    @classmethod
    def stack(cls, motions: Sequence[Motion], axis: int = 0) -> Self:
        """Join motions of one shape along a new batch axis."""
        return cls._join(np.stack, motions, axis, new_axis=True)

    @classmethod
    def concatenate(cls, motions: Sequence[Motion], axis: int = 0) -> Self:
        """Join motions along an existing batch axis."""
        return cls._join(np.concatenate, motions, axis, new_axis=False)

    @classmethod
    def _join(cls, join: Any, motions: Sequence[Motion], axis: int, new_axis: bool) -> Self:
        if not motions:
            raise InputError("motion: no motions to join")
        timed = [motion.time is not None for motion in motions]
        if any(timed) != all(timed):
            raise InputError("motion: some of the motions to join have time and some have not")
        dimensions = len(motions[0].shape) + new_axis
        if not -dimensions <= axis < dimensions:
            raise InputError(f"motion: axis {axis} of {dimensions} batch axes")
        try:
            joined = cls._of(
                {
                    name: join([motion._fields()[name] for motion in motions], axis % dimensions)
                    for name in motions[0]._fields()
                }
            )
        except ValueError as error:
            raise InputError(f"motion: cannot join: {error}") from None
        known = [motion._joints for motion in motions if motion._joints is not None]
        if len(known) == len(motions) and len({digest for digest, _ in known}) == 1:
            joints = join([one for _, one in known], axis % dimensions)
            joined._with_joints(known[0][0], joints)
        return joined

    @property
    def shape(self) -> tuple[int, ...]:
        """Batch shape."""
        return self._shape

    @property
    def modes(self) -> int:
        """Number of elastic coordinates."""
        return int(self.elastic.shape[-1])

    def __getitem__(self, index: Any) -> Self:
        """Index the batch axes, as NumPy would."""
        keys = index if isinstance(index, tuple) else (index,)
        try:
            np.broadcast_to(0.0, self.shape)[keys]
        except IndexError as error:
            raise IndexError(f"motion of batch shape {self.shape}: {error}") from None
        ellipsis = any(key is Ellipsis for key in keys)

        def pick(name: str, value: Array) -> Array:
            rest = (slice(None),) * _rank(name) if ellipsis else (Ellipsis,)
            return np.asarray(value[(*keys, *rest)])

        found = self._of({name: pick(name, value) for name, value in self._fields().items()})
        if self._joints is not None:
            found._with_joints(self._joints[0], pick("joints", self._joints[1]))
        return found

    def reshape(self, *shape: int) -> Self:
        """The same samples in another batch shape."""
        try:
            batch = np.broadcast_to(0.0, self.shape).reshape(shape).shape
        except ValueError:
            raise InputError(f"motion: batch {self.shape} does not reshape to {shape}") from None
        found = self._of(
            {
                name: value.reshape(batch + value.shape[value.ndim - _rank(name) :])
                for name, value in self._fields().items()
            }
        )
        if self._joints is not None:
            digest, joints = self._joints
            found._with_joints(digest, joints.reshape(*batch, joints.shape[-1]))
        return found

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single state has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def replace(self, **fields: Any) -> Motion:
        """A copy with some fields changed."""
        unknown = set(fields) - set(FIELDS) - {"time"}
        if unknown:
            raise InputError(f"motion has no field {sorted(unknown)[0]!r}")
        kept = self._fields()
        if not self.modes:  # arrays of no modes would contradict the modes that come
            kept = {name: value for name, value in kept.items() if name not in ELASTIC_FIELDS}
        changed = Motion(**{**kept, **fields})
        if self._joints is not None and not {"position", "rotation", "elastic"} & set(fields):
            changed._with_joints(*self._joints)
        return changed

    @property
    def duration(self) -> float:
        """From its earliest to its latest time, s; 0 without time."""
        return float(np.ptp(self.time)) if self.time is not None and self.time.size else 0.0

    def __repr__(self) -> str:
        parts = [f"shape={self.shape}"]
        parts += [f"{self.modes} modes"] if self.modes else []
        parts += [] if self.time is None else [f"{self.duration:.4g} s"]
        return f"Motion({', '.join(parts)}{self._ranges()})"

    def _ranges(self) -> str:
        """Where it goes: ranges of x, y, z, and how far it turns from level."""
        if not self.position.size or np.isnan(self.position).any():
            return ""
        flat = self.position.reshape(-1, 3)
        ends = zip("xyz", flat.min(axis=0), flat.max(axis=0), strict=True)
        words = [
            f"{name} {low:.4g}" + (f"…{high:.4g}" if high > low else "") for name, low, high in ends
        ]
        cosine = (np.trace(self.rotation, axis1=-2, axis2=-1) - 1) / 2
        turned = np.rad2deg(np.arccos(np.clip(cosine, -1, 1))).max()
        return f", {', '.join(words)} m" + (
            f", turned up to {turned:.3g}°" if turned > 1e-6 else ""
        )

    def _repr_html_(self) -> str:
        """For notebooks: least and largest of every quantity."""
        return str(shown("motion in a notebook", self))

    def plot(self) -> Figure:
        """Position and rotation vector over time, or over samples.

        Returns:
            A matplotlib figure of its own: m and degrees.

        Example:
            >>> figure = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(101).plot()

        """
        figure: Figure = shown("picture of a motion", self)
        return figure

    def to_dataset(self) -> xarray.Dataset:
        """All fields, labelled, with units: dimensions of the batch, `axis` x, y, z.

        Returns:
            A dataset of xarray's; `time` is its dimension if the motion is timed and of shape (n,).

        Example:
            >>> gough.Motion([[0, 0, 0.8], [0, 0, 0.9]], time=[0.0, 1.0]).to_dataset()["position"].dims
            ('time', 'axis')

        """
        found: xarray.Dataset = shown("dataset of a motion", self)
        return found

    def to_dataframe(self) -> pandas.DataFrame:
        """A row per sample, with the columns of a motion file, units in their names.

        Returns:
            A data frame of pandas', indexed by time if the motion is timed; batch shape (n,) or ().

        Example:
            >>> frame = gough.Motion([[0, 0, 0.8], [0, 0, 0.9]], time=[0.0, 1.0]).to_dataframe()
            >>> frame.index.name, list(frame.columns[:3])
            ('time [s]', ['x [m]', 'y [m]', 'z [m]'])

        """
        found: pandas.DataFrame = shown("data frame of a motion", self)
        return found


def not_a_motion(thing: object) -> InputError:
    """What is told where a motion is wanted and something else is given."""
    hint = ": call .sample(n) for a motion" if hasattr(thing, "sample") else ""
    return InputError(f"needs a gough.Motion, has {type(thing).__name__}{hint}")


def need_motion(thing: object) -> None:
    """Refuse what is no motion."""
    if not isinstance(thing, Motion):
        raise not_a_motion(thing)


def _rank(name: str) -> int:
    return OTHER_RANKS.get(name, 1)


def _field(name: str, value: ArrayLike, core: tuple[int, ...]) -> Array:
    array = np.array(given_numbers(f"motion: {name}", value))
    if array.shape[array.ndim - len(core) :] != core or array.ndim < len(core):
        wanted = ", ".join(["...", *map(str, core)])
        raise InputError(f"motion: {name} has shape {array.shape}, needs ({wanted})")
    array.flags.writeable = False
    return array


def _one_rotation(
    rotation: ArrayLike | Rotation | None,
    rotvec: ArrayLike | None,
    quaternion: ArrayLike | None,
    euler: Any,
) -> ArrayLike:
    """Rotation matrices (..., 3, 3) from the one form that is given; none is the identity."""
    forms = {"rotation": rotation, "rotvec": rotvec, "quaternion": quaternion, "euler": euler}
    given = [name for name, value in forms.items() if value is not None]
    if len(given) > 1:
        raise InputError(f"motion: has {given[0]} and {given[1]}: one of them")
    if isinstance(rotation, Rotation):
        return rotation.as_matrix()
    if rotvec is not None:
        vectors = _field("rotvec", rotvec, (3,))
        refuse_turns("motion: rotvec", vectors)
        return _matrices(vectors, Rotation.from_rotvec)
    if quaternion is not None:
        return _of_quaternions(_field("quaternion", quaternion, (4,)))
    if euler is not None:
        if not isinstance(euler, tuple) or len(euler) != 2 or not isinstance(euler[0], str):
            raise InputError('motion: euler needs axes and angles, such as ("xyz", [0.1, 0, 0])')
        axes, count = euler[0], len(euler[0])
        angles = _field("euler", euler[1], (count,) if count > 1 else ())
        angles = angles if count > 1 else angles[..., np.newaxis]
        refuse_turns("motion: euler", angles)
        try:
            return _matrices(angles, lambda flat: Rotation.from_euler(axes, flat))
        except ValueError as error:
            raise InputError(f"motion: euler: {error}"[:200]) from None
    return np.eye(3) if rotation is None else rotation


def _of_quaternions(quaternions: Array) -> Array:
    """Return the matrices (..., 3, 3) of quaternions (..., 4), w first, of any length but 0.

    NaN, a sample without an answer, stays NaN.
    """
    largest = np.abs(quaternions).max(axis=-1, keepdims=True, initial=0.0)
    for wrong, what in ((largest == 0, "zero"), (np.isinf(largest), "infinite")):
        if np.any(wrong):
            sample = tuple(int(i) for i in np.argwhere(wrong[..., 0])[0])
            place = f" of sample {', '.join(map(str, sample))}" if sample else ""
            raise InputError(f"motion: the quaternion{place} is {what}: it needs a direction")
    known = np.isfinite(largest)
    # squares of very short and very long ones are no numbers any more
    unit = np.where(known, quaternions / largest, [1.0, 0.0, 0.0, 0.0])
    matrices = _matrices(unit[..., [1, 2, 3, 0]], Rotation.from_quat)
    return np.where(known[..., np.newaxis], matrices, np.nan)


def _matrices(values: Array, rotations: Callable[[Array], Rotation]) -> Array:
    """Matrices (..., 3, 3) of rotations made from rows (n, k) of values (..., k)."""
    flat = values.reshape(-1, values.shape[-1])
    return np.asarray(rotations(flat.copy()).as_matrix()).reshape(*values.shape[:-1], 3, 3)


def _elastic_fields(*values: ArrayLike | None) -> dict[str, Array]:
    arrays = {
        name: _field(name, value, ())
        for name, value in zip(ELASTIC_FIELDS, values, strict=True)
        if value is not None
    }
    for name, array in arrays.items():
        if array.ndim == 0:
            raise InputError(f"motion: {name} has shape (), needs (..., modes)")
    lengths = {array.shape[-1] for array in arrays.values()}
    if len(lengths) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(f"motion: elastic fields differ in their number of modes: {shapes}")
    modes = lengths.pop() if lengths else 0
    return {name: arrays.get(name, np.zeros(modes)) for name in ELASTIC_FIELDS}


def _check_rotation(rotation: Array) -> None:
    """Refuse what is no rotation: ‖RᵀR − I‖ > 1e-9 or det R < 0. NaN is left to the models."""
    rows = rotation.tolist() if rotation.ndim == 2 else np.moveaxis(rotation, (-2, -1), (0, 1))
    (a, b, c), (d, e, f), (g, h, i) = rows
    with np.errstate(all="ignore"):
        lengths = (a * a + d * d + g * g - 1, b * b + e * e + h * h - 1, c * c + f * f + i * i - 1)
        across = (a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i)
        error = np.sqrt(sum(x * x for x in lengths) + 2 * sum(x * x for x in across))
        volume = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
        if ((error <= ORTHOGONALITY) & (volume >= 0)).all():
            return
    bad, mirrored = error > ORTHOGONALITY, volume < 0
    if not np.isfinite(error).all():
        bad = bad | np.isinf(rotation).any(axis=(-2, -1))
    if np.any(bad):
        sample = tuple(int(i) for i in np.argwhere(bad)[0])
        where = f"rotation of sample {sample}" if sample else "rotation"
        raise InputError(
            f"motion: {where} is not orthogonal: ‖RᵀR − I‖ = {error[sample]:.3g}, "
            f"limit {ORTHOGONALITY:g}"
        )
    if np.any(mirrored):
        sample = tuple(int(i) for i in np.argwhere(mirrored)[0])
        where = f"rotation of sample {sample}" if sample else "rotation"
        raise InputError(f"motion: {where} is a reflection (det R = −1)")
