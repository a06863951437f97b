"""A player: which instant of a motion is shown, as time goes by."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gough.base.arrays import Array

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")


@dataclass
class Player:
    """Plays the samples at rising times (n,), s; starts paused at the first."""

    times: Array
    speed: float = 1.0
    loop: bool = True
    playing: bool = False
    now: float = field(init=False)
    """The motion's time, s."""

    def __post_init__(self) -> None:
        self.now = self.start

    @property
    def start(self) -> float:
        """Time of the first sample, s."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Time of the last sample, s."""
        return float(self.times[-1])

    @property
    def duration(self) -> float:
        """s."""
        return self.end - self.start

    @property
    def sample(self) -> int:
        """Number of the sample nearest to now."""
        after = int(np.searchsorted(self.times, self.now))
        if after == 0:
            return 0
        if after == len(self.times):
            return after - 1
        nearer = self.now - self.times[after - 1] < self.times[after] - self.now
        return after - 1 if nearer else after

    def seek(self, time: float) -> None:
        """Show an instant; outside the motion its nearest end."""
        self.now = float(np.clip(time, self.start, self.end))

    def toggle(self) -> None:
        """Play or pause; at the end, play from the start."""
        self.playing = not self.playing and self.duration > 0
        if self.playing and self.now >= self.end:
            self.now = self.start

    def advance(self, seconds: float) -> bool:
        """Let real time pass; True if another instant is shown now."""
        if not self.playing:
            return False
        ahead = self.now + seconds * self.speed
        if ahead < self.end:
            self.now = ahead
        elif self.loop:
            self.now = self.start + (ahead - self.start) % self.duration
        else:
            self.now, self.playing = self.end, False
        return True
