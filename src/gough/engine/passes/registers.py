"""Which values are in registers, and when: a plan of loads and stores around a program's operations.

Belady's rule: where a register is needed, the value goes that is needed last. A compiler's allocation of
thousands of operations in one block takes many more instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import NamedTuple

SOON = 3
"""Operations within which a value from memory is needed again to be worth a register."""
NEVER = 1 << 60


class Work(NamedTuple):
    """Something to do with values, by their numbers."""

    results: tuple[int, ...]
    arguments: tuple[int, ...]
    emit: Callable[[], None]
    """Writes it down; its arguments are at hand then."""
    direct: Container[int] = ()
    """Arguments that can be read straight from memory, one of them at a time."""
    spare: int = 0
    """Registers it needs besides."""


class Memory(NamedTuple):
    """What happens to values outside of registers."""

    load: Callable[[int], None]
    """Bring a value to hand."""
    keep: Callable[[int, int], None]
    """Put a value into a slot of the frame."""
    ready: Container[int]
    """Values that are in memory from the beginning, or as soon as they are computed."""


def carry_out(work: Sequence[Work], memory: Memory, registers: int) -> int:
    """Emit the work with all loads and stores it needs; returns the slots used."""
    return _Registers(work, memory, registers).run()


class _Registers:
    def __init__(self, work: Sequence[Work], memory: Memory, registers: int) -> None:
        self.work, self.memory, self.registers = work, memory, registers
        self.now = 0
        self.uses: dict[int, list[int]] = {}
        """Later uses of each value, the next one last."""
        for place in range(len(work) - 1, -1, -1):
            for value in set(work[place].arguments):
                self.uses.setdefault(value, []).append(place)
        self.held: set[int] = set()
        self.slots: dict[int, int] = {}
        self.free: list[int] = []
        self.used = 0

    def run(self) -> int:
        for place, one in enumerate(self.work):
            self.now = place
            self._gather(one)
            for value in set(one.arguments):
                self.uses[value].pop()
            if not one.spare:  # a result may take the place of an argument
                self.held.difference_update(v for v in one.arguments if not self.uses[v])
            self._make_room(one.spare + len(one.results), one.arguments)
            one.emit()
            self._forget(one.arguments)
            self.held.update(one.results)
            self._forget(one.results)
        return self.used

    def next_use(self, value: int) -> int:
        """When a value is needed, the present operation included."""
        uses = self.uses.get(value)
        return uses[-1] if uses else NEVER

    def _after(self, value: int) -> int:
        """When an argument of the present operation is needed again."""
        uses = self.uses[value]
        return uses[-2] if len(uses) > 1 else NEVER

    def _gather(self, one: Work) -> None:
        """Arguments into registers, but for one that may stay in memory."""
        missing = [value for value in dict.fromkeys(one.arguments) if value not in self.held]
        while missing:
            direct = [value for value in missing if value in one.direct]
            if len(missing) == len(direct) == 1 and not self._worth(missing[0], one.arguments):
                self.memory.load(missing[0])
                return
            value = min(
                [value for value in missing if value not in direct] or missing, key=self._after
            )
            self._make_room(1, one.arguments)
            self.memory.load(value)
            self.held.add(value)
            missing.remove(value)

    def _worth(self, value: int, arguments: Sequence[int]) -> bool:
        """Whether a value is better loaded into a register than read from memory each time."""
        again = self._after(value)
        if again == NEVER or len(self.held) < self.registers:
            return again != NEVER
        others = (self.next_use(other) for other in self.held if other not in arguments)
        return again < max(others, default=0) and again - self.now < SOON

    def _make_room(self, count: int, locked: Sequence[int]) -> None:
        while len(self.held) + count > self.registers:
            candidates = [value for value in self.held if value not in locked]
            if not candidates:
                return  # more than there are registers: left to the compiler
            # what is in memory already goes first where it is much the same
            last = max(candidates, key=lambda v: (self.next_use(v) + 2 * self._stored(v), v))
            if not self._stored(last):
                slot = self.free.pop() if self.free else self.used
                self.used = max(self.used, slot + 1)
                self.slots[last] = slot
                self.memory.keep(last, slot)
            self.held.remove(last)

    def _stored(self, value: int) -> bool:
        return value in self.slots or value in self.memory.ready

    def _forget(self, values: Iterable[int]) -> None:
        """Give back what the values that are not needed any more take."""
        for value in values:
            if not self.uses.get(value):
                self.held.discard(value)
                if value in self.slots:
                    self.free.append(self.slots.pop(value))
