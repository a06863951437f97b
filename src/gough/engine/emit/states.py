"""Where each lane's state and numbers are: pointers into the inputs and outputs of a kernel."""

from __future__ import annotations

from math import prod

from gough.engine.emit.lines import Lines
from gough.engine.graph import INPUT, MODE
from gough.engine.program import HOISTED, Program, Step


class States(Lines):
    """Lines that find the states of a group: its first is %i, and lanes past the state %last repeat it.

    In a loop from %begin to %end outputs are those of the group before. Groups but the last, and only,
    one of a loop have states in all lanes.
    """

    def __init__(
        self,
        program: Program,
        steps: list[Step],
        width: int,
        variants: bool,
        looping: bool,
        single: bool = False,
    ) -> None:
        super().__init__(width, single)
        self.program, self.steps, self.looping = program, steps, looping
        self.variants = variants
        self.before: list[str] = []
        """Lines before the loop."""
        self.fields: dict[str, list[str]] = {}
        self.results: dict[int, list[str]] = {}
        self._ways: dict[str | int, list[str]] = {}
        """Bytes from the first lane's state to that of each other, by those from state to state."""
        self._locate()

    def _locate(self) -> None:
        """What is known before the loop, and where the members of variants have their numbers."""
        used = {step.leaf[0] for step in self.steps if step.operation == INPUT} - {HOISTED}
        used |= {step.leaf for step in self.steps if step.operation == MODE}
        in_loop, self.lines = self.lines, self.before
        left = self.new(f"sub i64 %last, {'%begin' if self.looping else '%i'}")
        self.lanes = [self._smaller(left, lane) for lane in range(self.width)]
        self.tables = {
            field: self._table(k) for k, field in enumerate(self.program.fields) if field in used
        }
        if self.variants:
            rows = self._table(len(self.program.fields))
        self.bases = [self.word("%outputs", k, "ptr") for k in range(len(self.program.outputs))]
        end = self.new(f"sub i64 %end, {self.width}") if self.looping else ""
        self.lines = in_loop
        # the last round of a loop has no new group: it reads the last one again
        self.start = self._smaller("%i", end) if self.looping else "%i"
        if self.variants:
            size = self._first_table() + self.program.mode_numbers
            numbers = [self.new(f"load i64, ptr {one}") for one in self._pointers(*rows)]
            self.fields[HOISTED] = [
                self.at("%hoisted", self.new(f"mul i64 {number}, {size}")) for number in numbers
            ]

    def of_input(self, field: str) -> list[str]:
        """Pointers of all lanes."""
        if field not in self.fields:
            self.fields[field] = self._pointers(*self.tables[field])
        return self.fields[field]

    def of_output(self, number: int) -> list[str]:
        """Pointers of all lanes; in the first round of a loop there is nothing yet to put anywhere."""
        if number not in self.results:
            output = list(self.program.outputs.values())[number]
            size = 8 * prod(output.shape)
            start = self.new(f"sub i64 %i, {self.width}") if self.looping else "%i"
            here = self.at(self.bases[number], self.new(f"mul i64 {start}, {size}"), "i8")
            if self.looping:
                first = self.new("icmp eq i64 %i, %begin")
                here = self.new(f"select i1 {first}, ptr %nowhere, ptr {here}")
            self.results[number] = self._from_first(here, size)
        return self.results[number]

    def of_table(self, index: str) -> str:
        """A number of the tables and matrices, in all lanes."""
        place = self.new(f"add i64 {index}, {self._first_table()}")
        if self.variants:
            return self.gather(self.fields[HOISTED], place)
        value = self.new(f"load double, ptr {self.at('%hoisted', place)}")
        first = self.new(f"insertelement {self.vector} poison, double {value}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.new(f"shufflevector {self.vector} {first}, {self.vector} poison, {zeros}")

    def _first_table(self) -> int:
        """Where they begin: behind the hoisted numbers, which one tree has in all lanes."""
        return max(len(self.program.hoisted), 1) * (1 if self.variants else self.width)

    def _smaller(self, a: str, b: str | int) -> str:
        self.declarations.add("declare i64 @llvm.smin.i64(i64, i64)")
        return self.new(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")

    def _table(self, k: int) -> tuple[str, str]:
        """Address of an input and the bytes from state to state."""
        return self.word("%inputs", k, "ptr"), self.new(f"mul i64 {self.word('%strides', k)}, 8")

    def _pointers(self, base: str, size: str) -> list[str]:
        first = self.at(base, self.new(f"mul i64 {self.start}, {size}"), "i8")
        return self._from_first(first, size)

    def _from_first(self, first: str, size: str | int) -> list[str]:
        """Pointers of all lanes from that of the first; the way to each is the same in all rounds."""
        if size not in self._ways:
            here, self.lines = self.lines, self.before
            self._ways[size] = [self.new(f"mul i64 {lane}, {size}") for lane in self.lanes[1:]]
            self.lines = here
        return [first, *(self.at(first, way, "i8") for way in self._ways[size])]
