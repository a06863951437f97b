"""Timing on a machine that others use too: contenders take turns, the best time of each counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

TURN = 2e-3
"""Least seconds of one timed turn; short calls are repeated within it."""


class Contender(NamedTuple):
    """Something to be timed."""

    call: Callable[[], object]
    states: int = 1
    """How many states a call computes."""


def race(contenders: Mapping[str, Contender], seconds: float) -> dict[str, float]:
    """The best time of each contender, seconds a state.

    Turn after turn goes round all of them for so many seconds, three rounds at least: what the
    machine does meanwhile hits all alike.
    """
    repeats = {name: _repeats(one.call) for name, one in contenders.items()}
    best = dict.fromkeys(contenders, float("inf"))
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < 3 or time.perf_counter() < end:
        for name, one in contenders.items():
            count, call = repeats[name], one.call
            start = time.perf_counter()
            for _ in range(count):
                call()
            elapsed = time.perf_counter() - start
            best[name] = min(best[name], elapsed / (count * one.states))
        rounds += 1
    return best


def _repeats(call: Callable[[], object]) -> int:
    """Calls that fill a turn."""
    call()
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        elapsed = time.perf_counter() - start
        if elapsed >= TURN:
            return max(1, round(count * TURN / elapsed))
        count *= 4
