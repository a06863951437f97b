"""What can go wrong, each with the culprit and the limit in its message.

Every exception of gough is a `GoughError`, which is a `ValueError`: whoever catches that gets all.
Model calls that meet bad samples list them as `failures`, one `Failure` a sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class GoughError(ValueError):
    """Base of all errors that gough raises on purpose."""


class InputError(GoughError):
    """An argument has the wrong shape, type or range."""


class OneRobotError(InputError, AttributeError):
    """A call that is there for one robot, not for many at once."""


class NoMotionError(InputError, AttributeError):
    """A trajectory, a function of time, where a motion is wanted."""


class FileError(GoughError):
    """A file is missing, unreadable, too large, or does not say what it must."""


class MissingDataError(GoughError):
    """The robot file does not say what this call needs (a mass, a home pose, a limit)."""


@dataclass(frozen=True)
class Failure:
    """One sample for which a model has no answer."""

    sample: tuple[int, ...]
    """Index into the batch axes; () for a single state."""
    leg: int | None
    """Leg number, counted from 1 as in the papers; None where no single leg is to blame."""
    reason: str
    """What is wrong, with the value and its limit."""

    def __str__(self) -> str:
        parts = []
        if self.sample:
            parts.append(f"sample {', '.join(map(str, self.sample))}")
        if self.leg is not None:
            parts.append(f"leg {self.leg}")
        return f"{', '.join(parts)}: {self.reason}" if parts else self.reason


class SampleError(GoughError):
    """Some samples of a batch have no answer; `failures` holds one entry for each."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self.failures = tuple(failures)
        more = f" (and {len(failures) - 1} more samples)" if len(failures) > 1 else ""
        super().__init__(f"{failures[0]}{more}")

    def __reduce__(self) -> tuple[type[SampleError], tuple[tuple[Failure, ...]]]:
        return type(self), (self.failures,)


class NotFiniteError(SampleError):
    """NaN or infinity in the input."""


class ReachError(SampleError):
    """A pose that a leg cannot reach."""


class ConstraintError(ReachError):
    """A pose, twist or acceleration that legs or mobility do not allow the platform."""


class SingularError(SampleError):
    """A leg or the robot is at, or too near, a singular configuration."""


class ConvergenceError(SampleError):
    """An iteration did not meet its tolerance."""


class LimitError(GoughError):
    """A motion that the limits of drives or platform do not allow, however it is timed."""


class ImpossibleBodyWarning(UserWarning):
    """Inertial parameters that no real mass distribution can have."""


class UnitsWarning(UserWarning):
    """Numbers that look as if they were in another unit than is said."""


class ArchitectureWarning(UserWarning):
    """A geometry that is singular in every pose: no actuator forces hold its platform."""


class ModalBodyWarning(UserWarning):
    """A flexible body that can be computed with, but is not what one usually has."""


class UnstableWarning(UserWarning):
    """A robot that cannot stand in a pose, or whose elastic zero dynamics are unstable there."""


class ToleranceWarning(UserWarning):
    """A result that is less exact than was asked for; it says how exact it is."""


class ForeignFileWarning(UserWarning):
    """What a file of another program has and a robot file does not, or what was taken for it."""


class FreedomWarning(UserWarning):
    """A platform is held at home otherwise than nearby, or nearly so."""
