"""Lines of LLVM's language for operations on vectors, one state a lane.

Numbers in memory are doubles. In single precision values become floats as they are read, and doubles
again as they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gough.engine.operations import OPERATIONS
from gough.engine.passes.fused import FUSED


class Lines:
    """Lines of a function, and what they need declared."""

    def __init__(self, width: int, single: bool = False) -> None:
        self.width, self.single = width, single
        self.number = "float" if single else "double"
        self.size = width * (4 if single else 8)
        """Bytes of a vector."""
        self.vector, self.doubles = (f"<{width} x {one}>" for one in (self.number, "double"))
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self.counter = 0

    def new(self, line: str) -> str:
        """A line with a result; the result's name."""
        self.counter += 1
        value = f"%t{self.counter}"
        self.lines.append(f"  {value} = {line}")
        return value

    def splat(self, value: float) -> str:
        """A number in all lanes."""
        with np.errstate(over="ignore"):
            exact = np.float64(np.float32(value) if self.single else value)
        one = f"{self.number} 0x{int(exact.view(np.uint64)):016X}"
        return "<" + ", ".join([one] * self.width) + ">"

    def at(self, base: str, index: int | str, kind: str = "double") -> str:
        """Where element `index` is."""
        return self.new(f"getelementptr {kind}, ptr {base}, i64 {index}")

    def load(self, base: str, index: int | str) -> str:
        """A vector of an array of vectors."""
        return self.new(f"load {self.vector}, ptr {self.at(base, index, self.vector)}")

    def store(self, value: str, base: str, index: int | str) -> None:
        """Into an array of vectors."""
        self.lines.append(f"  store {self.vector} {value}, ptr {self.at(base, index, self.vector)}")

    def word(self, base: str, index: int, kind: str = "i64") -> str:
        """An address or a whole number from a table."""
        return self.new(f"load {kind}, ptr {self.at(base, index, kind)}")

    def gather(self, pointers: Sequence[str], index: int | str) -> str:
        """A vector from one number a lane."""
        result = "poison"
        for lane, pointer in enumerate(pointers):
            value = self.new(f"load double, ptr {self.at(pointer, index)}")
            result = self.new(f"insertelement {self.doubles} {result}, double {value}, i64 {lane}")
        return self._rounded(result)

    def scatter(self, value: str, pointers: Sequence[str], index: int | str) -> None:
        """One number a lane to its place."""
        wide = self._widened(value)
        for lane, pointer in enumerate(pointers):
            one = self.new(f"extractelement {self.doubles} {wide}, i64 {lane}")
            self.lines.append(f"  store double {one}, ptr {self.at(pointer, index)}")

    def _rounded(self, value: str) -> str:
        """Doubles as operations take them."""
        convert = f"fptrunc {self.doubles} {value} to {self.vector}"
        return self.new(convert) if self.single else value

    def _widened(self, value: str) -> str:
        """What operations give, as doubles."""
        convert = f"fpext {self.vector} {value} to {self.doubles}"
        return self.new(convert) if self.single else value

    def gather_pair(self, pointers: Sequence[str], index: int) -> tuple[str, str]:
        """Two vectors from two neighbouring numbers a lane."""
        pair = "<2 x double>"
        pairs = [self.new(f"load {pair}, ptr {self.at(one, index)}, align 8") for one in pointers]
        even, odd = (self._rounded(self._joined(pairs[k::2])) for k in (0, 1))
        return self._zipped(even, odd, 0), self._zipped(even, odd, 1)

    def scatter_pair(self, first: str, second: str, pointers: Sequence[str], index: int) -> None:
        """Two neighbouring numbers a lane to their place."""
        halves = [self._widened(self._zipped(first, second, k)) for k in (0, 1)]
        for lane, pointer in enumerate(pointers):
            start = lane - lane % 2
            mask = f"<2 x i32> <i32 {start}, i32 {start + 1}>"
            vector = f"{self.doubles} {halves[lane % 2]}, {self.doubles} poison"
            pair = self.new(f"shufflevector {vector}, {mask}")
            self.lines.append(
                f"  store <2 x double> {pair}, ptr {self.at(pointer, index)}, align 8"
            )

    def _joined(self, parts: Sequence[str]) -> str:
        """Short vectors one after the other."""
        size = 2
        while len(parts) > 1:
            kind, mask = f"<{size} x double>", self._mask(range(2 * size))
            parts = [
                self.new(f"shufflevector {kind} {a}, {kind} {b}, {mask}")
                for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
            size *= 2
        return parts[0]

    def _zipped(self, a: str, b: str, start: int) -> str:
        """Every second lane of two vectors in turn."""
        lanes = [lane for k in range(start, self.width, 2) for lane in (k, self.width + k)]
        mask = self._mask(lanes)
        return self.new(f"shufflevector {self.vector} {a}, {self.vector} {b}, {mask}")

    def _mask(self, lanes: Sequence[int]) -> str:
        return f"<{len(lanes)} x i32> <" + ", ".join(f"i32 {lane}" for lane in lanes) + ">"

    def operation(self, operation: str, arguments: Sequence[str], leaf: Any = None) -> str:
        """One step of a program on values."""
        if operation == FUSED:
            first, second, third = arguments
            if leaf[0]:
                first = self.new(f"fneg {self.vector} {first}")
            if leaf[1]:
                third = self.new(f"fneg {self.vector} {third}")
            return self.intrinsic("fmuladd", [first, second, third])
        return OPERATIONS[operation].llvm(self, *arguments)

    def arithmetic(self, instruction: str, *arguments: str) -> str:
        """An instruction on vectors."""
        return self.new(f"{instruction} {self.vector} {', '.join(arguments)}")

    def compare(self, test: str, a: str, b: str) -> str:
        """A test of two vectors, one bit a lane."""
        return self.new(f"fcmp {test} {self.vector} {a}, {b}")

    def select(self, test: str, yes: str, no: str) -> str:
        """One of two vectors, lane by lane."""
        mask = f"<{self.width} x i1>"
        return self.new(f"select {mask} {test}, {self.vector} {yes}, {self.vector} {no}")

    def intrinsic(self, name: str, arguments: Sequence[str]) -> str:
        """One of LLVM's own functions on vectors."""
        full = f"@llvm.{name}.v{self.width}f{32 if self.single else 64}"
        kinds = ", ".join([self.vector] * len(arguments))
        self.declarations.add(f"declare {self.vector} {full}({kinds})")
        given = ", ".join(f"{self.vector} {a}" for a in arguments)
        return self.new(f"call {self.vector} {full}({given})")

    def by_lane(self, function: str, arguments: Sequence[str]) -> str:
        """A function of single numbers, lane by lane."""
        kinds = ", ".join(["double"] * len(arguments))
        self.declarations.add(f"declare double @{function}({kinds})")
        wide, result = [self._widened(a) for a in arguments], "poison"
        for lane in range(self.width):
            one = [self.new(f"extractelement {self.doubles} {a}, i64 {lane}") for a in wide]
            given = ", ".join(f"double {a}" for a in one)
            value = self.new(f"call double @{function}({given})")
            result = self.new(f"insertelement {self.doubles} {result}, double {value}, i64 {lane}")
        return self._rounded(result)
