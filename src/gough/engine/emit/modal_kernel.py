"""Kernels of programs with sums over the modes of a flexible platform.

The kernel takes W states at a time. Lanes past the end of the batch repeat the last state and write it
again, so a result never depends on the length of the batch. Operations may be contracted into fused
ones; NaN stays NaN. The stack is aligned to a vector: what leaves the registers never straddles two
lines of the cache.

Loops over the modes keep their numbers in vectors on the stack: inputs of each mode, values that later
loops read, and sums. Tables and matrices follow the hoisted numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from gough.engine.emit.lines import Lines
from gough.engine.graph import CONSTANT, COUPLED, INPUT, MODE, SUM, TABLE
from gough.engine.program import HOISTED, Program

FLAGS = "reassoc nsz arcp contract"


class ModalKernel(Lines):
    """One function; see `gough.engine.emit.llvm.kernel_text`."""

    def __init__(self, program: Program, name: str, width: int) -> None:
        super().__init__(width, FLAGS)
        self.program, self.name = program, name
        self.slots: list[str] = []
        self.block = "loop"
        self.mode_inputs: dict[str, str] = {}
        self.kept: dict[int, str] = {}
        """Slots of values that later loops read."""
        self.totals: dict[int, str] = {}
        """Slots of sums."""

    def text(self) -> str:
        """The function."""
        self._rows()
        self.fields = self._field_pointers()
        self._transpose_modes()
        values = self._body()
        self._store(values)
        slots, body = "\n".join(self.slots), "\n".join(self.lines)
        declarations = "\n".join(sorted(self.declarations))
        return f"""{declarations}
define void @{self.name}(i64 %rows, ptr noalias %inputs, ptr noalias %strides, \
ptr noalias %hoisted, ptr noalias %outputs) alignstack({max(8 * self.width, 16)}) {{
entry:
{slots}
  %last = sub i64 %rows, 1
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %{self.block}]
{body}
  %next = add i64 %i, {self.width}
  %more = icmp slt i64 %next, %rows
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""

    def _rows(self) -> None:
        self.rows = []
        for lane in range(self.width):
            row = self.new(f"add i64 %i, {lane}")
            self.rows.append(self.new(f"call i64 @llvm.smin.i64(i64 {row}, i64 %last)"))
        self.declarations.add("declare i64 @llvm.smin.i64(i64, i64)")

    def _field_pointers(self) -> dict[str, list[str]]:
        used = {s.leaf[0] for s in self.program.body if s.operation == INPUT} - {HOISTED}
        used |= {s.leaf for s in self.program.body if s.operation == MODE}
        pointers: dict[str, list[str]] = {}
        for k, field in enumerate(self.program.fields):
            if field not in used:
                continue
            base, stride = self.word("%inputs", k, "ptr"), self.word("%strides", k)
            pointers[field] = [
                self.at(base, self.new(f"mul i64 {row}, {stride}")) for row in self.rows
            ]
        return pointers

    def _body(self) -> list[str]:
        values: list[str] = []
        steps = self.program.body
        edges = (*(self.program.sections or (0,)), len(steps))
        for section, (start, stop) in enumerate(pairwise(edges)):
            if section % 2:
                self._loop(start, stop, values)
                values += [""] * (stop - start)
            else:
                for step in steps[start:stop]:
                    values.append(self._step(step, [values[a] for a in step.arguments]))
        return values

    def _loop(self, start: int, stop: int, values: list[str]) -> None:
        """Steps of a section that run once a mode, and what they leave behind."""
        steps = self.program.body
        summed = {step.arguments[0] for step in steps if step.operation == SUM}
        read_later = {a for step in steps[stop:] if step.operation != SUM for a in step.arguments}
        for place in range(start, stop):
            if place in summed:
                self.totals[place] = self.slot(1)
                self.store(self.splat(0.0), self.totals[place], "0")
            if place in read_later and steps[place].operation not in (MODE, TABLE):
                self.kept[place] = self.slot(self.program.modes)
        rows = {
            k: self._output_rows(k)
            for k, output in enumerate(self.program.outputs.values())
            if output.varying and any(start <= place < stop for place in output.places)
        }
        loop = self.begin_loop()
        here = self._couplings(start, stop, loop.mode, values)

        def value(place: int) -> str:
            """A value as it is for this mode: of this loop, of one before, or the same for all."""
            if place not in here:
                step = steps[place]
                if step.operation in (MODE, TABLE):
                    here[place] = self._of_mode(step, loop.mode)
                elif place in self.kept:
                    here[place] = self.load(self.kept[place], loop.mode)
                else:
                    return values[place]
            return here[place]

        for place in range(start, stop):
            step = steps[place]
            if step.operation not in (MODE, TABLE, COUPLED):
                here[place] = self._step(step, [value(a) for a in step.arguments])
            if place in self.kept:
                self.store(here[place], self.kept[place], loop.mode)
            if place in self.totals:
                so_far = self.load(self.totals[place], "0")
                total = self.new(f"fadd {FLAGS} {self.vector} {so_far}, {value(place)}")
                self.store(total, self.totals[place], "0")
        for k, starts in rows.items():
            for j, place in enumerate(list(self.program.outputs.values())[k].places):
                if start <= place < stop:
                    at = self.new(f"add i64 {loop.mode}, {j * self.program.modes}")
                    self.scatter(value(place), starts, at)
        self.end_loop(loop)

    def _couplings(self, start: int, stop: int, index: str, values: list[str]) -> dict[int, str]:
        """All Σ_j C_kj x_j of a section in one inner loop over j."""
        steps, modes = self.program.body, self.program.modes
        places = [p for p in range(start, stop) if steps[p].operation == COUPLED]
        if not places:
            return {}
        first = max(len(self.program.hoisted), 1) + len(self.program.tables) * modes
        row = self.new(f"mul i64 {index}, {modes}")
        loop = self.begin_loop(len(places))
        column = self.new(f"add i64 {row}, {loop.mode}")
        loaded: dict[int, str] = {}
        sums = []
        for place, so_far in zip(places, loop.carried, strict=True):
            (argument,) = steps[place].arguments
            if argument not in loaded:
                step = steps[argument]
                loaded[argument] = (
                    self._of_mode(step, loop.mode)
                    if step.operation in (MODE, TABLE)
                    else values[argument] or self.load(self.kept[argument], loop.mode)
                )
            at = self.new(f"add i64 {column}, {first + steps[place].leaf * modes * modes}")
            product = self.new(
                f"fmul {FLAGS} {self.vector} {self.broadcast(at)}, {loaded[argument]}"
            )
            sums.append(self.new(f"fadd {FLAGS} {self.vector} {so_far}, {product}"))
        self.end_loop(loop, sums)
        return dict(zip(places, sums, strict=True))

    def _of_mode(self, step: Any, index: str) -> str:
        """An input or a parameter of one mode."""
        if step.operation == MODE:
            return self.load(self.mode_inputs[step.leaf], index)
        first = max(len(self.program.hoisted), 1) + step.leaf * self.program.modes
        return self.broadcast(self.new(f"add i64 {index}, {first}"))

    def _transpose_modes(self) -> None:
        """Put the modes' inputs into vectors, W states side by side."""
        used = {step.leaf for step in self.program.body if step.operation == MODE}
        if not used:
            return
        loop = self.begin_loop()
        for name in sorted(used):
            slot = self.mode_inputs[name] = self.slot(self.program.modes)
            self.store(self.gather(self.fields[name], loop.mode), slot, loop.mode)
        self.end_loop(loop)

    def slot(self, count: int) -> str:
        """Vectors on the stack."""
        self.counter += 1
        name = f"%s{self.counter}"
        self.slots.append(f"  {name} = alloca {self.vector}, i64 {count}, align {8 * self.width}")
        return name

    def begin_loop(self, sums: int = 0) -> Frame:
        """Open a loop over the modes that carries some sums."""
        self.counter += 1
        label, index = f"modes{self.counter}", f"%k{self.counter}"
        before = self.block
        carried = [f"{index}_{i}" for i in range(sums)]
        self.lines += [f"  br label %{label}", f"{label}:"]
        place = len(self.lines)
        self.block = label
        return Frame(label, index, before, carried, place)

    def end_loop(self, loop: Frame, sums: Sequence[str] = ()) -> None:
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

    def _step(self, step: Any, arguments: list[str]) -> str:
        operation = step.operation
        if operation == CONSTANT:
            return self.splat(step.leaf)
        if operation == SUM:
            return self.load(self.totals[step.arguments[0]], "0")
        if operation == INPUT:
            field, index = step.leaf
            if field in self.fields:
                return self.gather(self.fields[field], index)
            return self.broadcast(str(index))
        return self.operation(operation, arguments)

    def broadcast(self, index: str) -> str:
        """One of the robot's numbers in all lanes."""
        value = self.new(f"load double, ptr {self.at('%hoisted', index)}")
        first = self.new(f"insertelement {self.vector} poison, double {value}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.new(f"shufflevector {self.vector} {first}, {self.vector} poison, {zeros}")

    def _store(self, values: list[str]) -> None:
        for k, output in enumerate(self.program.outputs.values()):
            loops = [place for place in output.places if not values[place]]
            if output.varying and len(loops) == len(output.places):
                continue  # stored by the loops that compute it
            starts = self._output_rows(k)
            loop = self.begin_loop() if output.varying else None
            for j, place in enumerate(output.places):
                if values[place]:
                    at = str(j)
                    if loop:
                        at = self.new(f"add i64 {loop.mode}, {j * self.program.modes}")
                    self.scatter(values[place], starts, at)
            if loop:
                self.end_loop(loop)

    def _output_rows(self, number: int) -> list[str]:
        """Where in an output each lane's state is."""
        output = list(self.program.outputs.values())[number]
        base = self.word("%outputs", number, "ptr")
        size = math.prod(output.shape)
        return [self.at(base, self.new(f"mul i64 {row}, {size}")) for row in self.rows]


class Frame(NamedTuple):
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
