"""Memory of large results, lent: what nobody shows any more is lent again instead of made anew.

The operating system hands out new memory page by page and clears it, which takes longer than most
programs take to fill it. A call like the one before gets what that one's results had.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gough.base.arrays import Array

LARGE = 1 << 20
"""Bytes from which memory is lent: less comes from where Python keeps its own."""
MOST_IDLE = 1 << 28
"""Bytes kept at most while nobody shows them."""

_idle: dict[int, list[Array]] = {}
"""What was given back, by size."""


def empty(shape: tuple[int, ...]) -> Array:
    """Like `numpy.empty`; whoever asks writes all of it."""
    size = 8 * prod(shape)
    if size < LARGE:
        return np.empty(shape)
    kept = _idle.get(size)
    try:
        memory = kept.pop() if kept else np.empty(size // 8)
    except IndexError:  # another thread was faster
        memory = np.empty(size // 8)
    return np.asarray(_Loan(memory, shape))


class _Loan:
    """Lives as long as an array shows the memory; arrays made of others keep it too."""

    def __init__(self, memory: Array, shape: tuple[int, ...]) -> None:
        self.memory = memory
        self.__array_interface__: dict[str, Any] = memory.__array_interface__ | {"shape": shape}

    def __del__(self) -> None:
        size = self.memory.nbytes
        idle = sum(kept * len(each) for kept, each in list(_idle.items()))
        if idle + size <= MOST_IDLE:
            _idle.setdefault(size, []).append(self.memory)
