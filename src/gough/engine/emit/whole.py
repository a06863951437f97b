"""A group of states through all sections of a program: straight code and loops over modes in turn.

One of the straight sections may be repeated (`emit.repeat`).

Loops keep their numbers in vectors on the stack: inputs of each mode, values that later loops read, and
sums. A straight value that a loop needs is read before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gough.engine.emit.group import GroupPlan
from gough.engine.emit.repeat import Repeat
from gough.engine.graph import COUPLED, MODE, SUM, TABLE

READ = (MODE, TABLE)
"""What a loop reads, and does not compute."""


class Whole(Repeat):
    """One group of states from inputs to outputs."""

    def __init__(self, plan: GroupPlan) -> None:
        super().__init__(plan)
        self.stack: list[str] = []
        """Lines that make room on the stack."""
        self.mode_inputs: dict[str, str] = {}
        self.per_mode: dict[int, str] = {}
        """Values of loops that later ones read."""
        edges = self.sections()
        self.varying = {p for start, stop in edges[1::2] for p in range(start, stop)}
        if self.handed:
            self.room(len(self.handed), "%handed")
        self._transpose_modes()
        repeated = plan.fused.repeated
        for k, (start, stop) in enumerate(edges):
            if k % 2 and start < stop:
                self._loop(start, stop)
            elif repeated is not None and k == repeated.section:
                self.repeat(start, stop)
            elif k % 2 == 0:
                self.straight(self.operations(start, stop), k == 0, k == len(edges) - 1)
        self._spread()

    def body(self) -> str:
        """All lines."""
        return "\n".join([*self.stack, super().body()])

    def room(self, count: int, name: str = "") -> str:
        """Vectors on the stack."""
        self.counter += 1
        name = name or f"%s{self.counter}"
        self.stack.append(f"  {name} = alloca {self.vector}, i64 {count}, align {self.size}")
        return name

    def _transpose_modes(self) -> None:
        """Put the modes' inputs into vectors, W states side by side."""
        used = sorted({step.leaf for step in self.steps if step.operation == MODE})
        pointers = {name: self.of_input(name) for name in used}
        if not used:
            return
        loop = self.begin_loop()
        for name in used:
            self.mode_inputs[name] = self.room(self.program.modes)
            self.store(self.gather(pointers[name], loop.mode), self.mode_inputs[name], loop.mode)
        self.end_loop(loop)

    def _loop(self, start: int, stop: int) -> None:
        """Steps of a section that run once a mode, and what they leave behind."""
        uses = [(a, p) for p, step in enumerate(self.steps) for a in step.arguments]
        summed = {a for a, p in uses if self.steps[p].operation == SUM}
        read = {a for a, p in uses if self.steps[p].operation != SUM}
        later = {a for a, p in uses if p >= stop and self.steps[p].operation != SUM}
        delivered = self._deliver_in(range(start, stop))
        for place in range(start, stop):
            if place in summed:
                self.totals[place] = self.room(1)
                self.store(self.splat(0.0), self.totals[place], 0)
            if place in later and self.steps[place].operation not in READ:
                self.per_mode[place] = self.room(self.program.modes)
        needed = {a for p in range(start, stop) for a in self.steps[p].arguments}
        shared = {a: self.from_memory(a) for a in sorted(needed - self.varying)}
        loop = self.begin_loop()
        here = shared | self._couplings(start, stop, loop.mode, shared)

        def value(place: int) -> str:
            """A value as it is for this mode."""
            if place not in here:
                here[place] = self._of_mode(place, loop.mode)
            return here[place]

        for place in range(start, stop):
            operation, arguments, leaf = self.steps[place]
            given = () if operation == COUPLED else tuple(value(a) for a in arguments)
            alone = operation == "mul" and place not in read and place not in delivered
            if place in self.totals:
                so_far = self.load(self.totals[place], 0)
                if alone:
                    total = self.intrinsic("fmuladd", [*given, so_far])
            if operation not in (*READ, COUPLED) and not alone:
                here[place] = self.operation(operation, given, leaf)
            if place in self.totals:
                if not alone:
                    total = self.arithmetic("fadd", so_far, value(place))
                self.store(total, self.totals[place], 0)
            if place in self.per_mode:
                self.store(here[place], self.per_mode[place], loop.mode)
        for place, outputs in delivered.items():
            for number, j in outputs:
                at = self.new(f"add i64 {loop.mode}, {j * self.program.modes}")
                self.scatter(value(place), self.of_output(number), at)
        self.end_loop(loop)

    def _deliver_in(self, places: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
        """Of values with modes the outputs they go to, and the row; pointers to these are there."""
        found: dict[int, list[tuple[int, int]]] = {}
        outputs = zip(self.program.outputs.values(), self.plan.fused.outputs.values(), strict=True)
        for number, (output, held) in enumerate(outputs):
            for j, place in enumerate(held if output.varying else ()):
                if place in places:
                    self.of_output(number)
                    found.setdefault(place, []).append((number, j))
        return found

    def _spread(self) -> None:
        """Values that are the same for all modes, to outputs that have modes."""
        straight = [place for place in range(len(self.steps)) if place not in self.varying]
        delivered = self._deliver_in(straight)
        if not delivered:
            return
        values = {place: self.from_memory(place) for place in delivered}
        loop = self.begin_loop()
        for place, outputs in delivered.items():
            for number, j in outputs:
                at = self.new(f"add i64 {loop.mode}, {j * self.program.modes}")
                self.scatter(values[place], self.of_output(number), at)
        self.end_loop(loop)

    def _couplings(
        self, start: int, stop: int, mode: str, shared: dict[int, str]
    ) -> dict[int, str]:
        """All Σ_j C_kj x_j of a section in one inner loop over j."""
        modes = self.program.modes
        places = [p for p in range(start, stop) if self.steps[p].operation == COUPLED]
        if not places:
            return {}
        row = self.new(f"mul i64 {mode}, {modes}")
        loop = self.begin_loop(len(places))
        column = self.new(f"add i64 {row}, {loop.mode}")
        loaded = dict(shared)
        sums = []
        for place, so_far in zip(places, loop.carried, strict=True):
            _, (argument,), leaf = self.steps[place]
            if argument not in loaded:
                loaded[argument] = self._of_mode(argument, loop.mode)
            first = len(self.program.tables) * modes + leaf * modes * modes
            number = self.of_table(self.new(f"add i64 {column}, {first}"))
            sums.append(self.intrinsic("fmuladd", [number, loaded[argument], so_far]))
        self.end_loop(loop, sums)
        return dict(zip(places, sums, strict=True))

    def _of_mode(self, place: int, mode: str) -> str:
        """An input, a parameter or a value of an earlier loop, of one mode."""
        operation, _, leaf = self.steps[place]
        if operation == MODE:
            return self.load(self.mode_inputs[leaf], mode)
        if operation == TABLE:
            return self.of_table(self.new(f"add i64 {mode}, {leaf * self.program.modes}"))
        return self.load(self.per_mode[place], mode)

    def begin_loop(self, sums: int = 0) -> ModeLoop:
        """Open a loop over the modes that carries some sums."""
        self.counter += 1
        label, index = f"modes{self.counter}", f"%k{self.counter}"
        before = self.block
        carried = [f"{index}_{i}" for i in range(sums)]
        self.lines += [f"  br label %{label}", f"{label}:"]
        self.block = label
        return ModeLoop(label, index, before, carried, len(self.lines))

    def end_loop(self, loop: ModeLoop, sums: Sequence[str] = ()) -> None:
        """Close it; `sums` are the carried ones at the end of a round."""
        label, index, here = loop.label, loop.mode, self.block
        head = [f"  {index} = phi i64 [0, %{loop.before}], [{index}_next, %{here}]"]
        zero = self.splat(0.0)
        head += [
            f"  {old} = phi {self.vector} [{zero}, %{loop.before}], [{new}, %{here}]"
            for old, new in zip(loop.carried, sums, strict=True)
        ]
        self.lines[loop.place : loop.place] = head
        self.lines += [
            f"  {index}_next = add i64 {index}, 1",
            f"  {index}_more = icmp slt i64 {index}_next, {self.program.modes}",
            f"  br i1 {index}_more, label %{label}, label %{label}_done",
            f"{label}_done:",
        ]
        self.block = f"{label}_done"


class ModeLoop(NamedTuple):
    """An open loop over the modes."""

    label: str
    mode: str
    """The mode it is at."""
    before: str
    """The block it was entered from."""
    carried: list[str]
    """The sums so far."""
    place: int
    """Where its first line goes."""
