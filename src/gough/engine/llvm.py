"""LLVM back end: a program as one vector kernel, compiled in memory for this processor.

The kernel takes W states at a time, W by the host's vector unit. Lanes past the end of the batch repeat
the last state and write it again, so tails run through the same instructions and a result never
depends on the length of the batch. Operations may be contracted into fused ones; NaN stays NaN.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np

from gough.engine.graph import CONSTANT, INPUT
from gough.engine.program import HOISTED, Program

FLAGS = "reassoc nsz arcp contract"
BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
INTRINSICS = {
    "sqrt": "sqrt",
    "abs": "fabs",
    "rint": "rint",
    "copysign": "copysign",
    "min": "minimum",
    "max": "maximum",
}

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


def lanes() -> int:
    """States a kernel takes at a time: the doubles in a vector register."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") or features.get("avx") else 2


def kernel_text(program: Program, name: str, width: int) -> str:
    """LLVM IR of void name(i64 rows, ptr inputs, ptr strides, ptr hoisted, ptr outputs).

    `inputs` points to an array of field pointers, `strides` to the doubles from one state to the
    next of each; `outputs` to pointers of row-major results.
    """
    return _Kernel(program, name, width).text()


class _Kernel:
    def __init__(self, program: Program, name: str, width: int) -> None:
        self.program, self.name, self.width = program, name, width
        self.vector = f"<{width} x double>"
        self.lines: list[str] = []
        self.counter = 0
        self.intrinsics: set[str] = set()

    def new(self, line: str) -> str:
        self.counter += 1
        value = f"%t{self.counter}"
        self.lines.append(f"  {value} = {line}")
        return value

    def splat(self, value: float) -> str:
        bits = np.float64(value).view(np.uint64)
        one = f"double 0x{int(bits):016X}"
        return "<" + ", ".join([one] * self.width) + ">"

    def text(self) -> str:
        self._rows()
        fields = self._field_pointers()
        values = self._body(fields)
        self._store(values)
        body = "\n".join(self.lines)
        declarations = "\n".join(sorted(self.intrinsics))
        return f"""{declarations}
define void @{self.name}(i64 %rows, ptr noalias %inputs, ptr noalias %strides, \
ptr noalias %hoisted, ptr noalias %outputs) {{
entry:
  %last = sub i64 %rows, 1
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
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
        self.intrinsics.add("declare i64 @llvm.smin.i64(i64, i64)")

    def _field_pointers(self) -> dict[str, list[str]]:
        used = {s.leaf[0] for s in self.program.body if s.operation == INPUT} - {HOISTED}
        pointers: dict[str, list[str]] = {}
        for k, field in enumerate(self.program.fields):
            if field not in used:
                continue
            slot = self.new(f"getelementptr ptr, ptr %inputs, i64 {k}")
            base = self.new(f"load ptr, ptr {slot}")
            slot = self.new(f"getelementptr i64, ptr %strides, i64 {k}")
            stride = self.new(f"load i64, ptr {slot}")
            pointers[field] = []
            for row in self.rows:
                offset = self.new(f"mul i64 {row}, {stride}")
                pointers[field].append(self.new(f"getelementptr double, ptr {base}, i64 {offset}"))
        return pointers

    def _body(self, fields: dict[str, list[str]]) -> list[str]:
        values: list[str] = []
        for step in self.program.body:
            arguments = [values[a] for a in step.arguments]
            values.append(self._step(step, arguments, fields))
        return values

    def _step(self, step: Any, arguments: list[str], fields: dict[str, list[str]]) -> str:
        operation, vector = step.operation, self.vector
        if operation == CONSTANT:
            return self.splat(step.leaf)
        if operation == INPUT:
            field, index = step.leaf
            return self._broadcast(index) if field == HOISTED else self._load(fields[field], index)
        if operation in BINARY:
            a, b = arguments
            return self.new(f"{BINARY[operation]} {FLAGS} {vector} {a}, {b}")
        if operation == "neg":
            return self.new(f"fneg {FLAGS} {vector} {arguments[0]}")
        if operation in INTRINSICS:
            return self._intrinsic(INTRINSICS[operation], arguments)
        if operation == "or_one":
            (a,) = arguments
            test = self.new(f"fcmp oeq {vector} {a}, {self.splat(0.0)}")
            mask = f"<{self.width} x i1>"
            return self.new(f"select {mask} {test}, {vector} {self.splat(1.0)}, {vector} {a}")
        if operation == "atan2":
            return self._by_lane("atan2", arguments)
        raise AssertionError(operation)

    def _intrinsic(self, name: str, arguments: list[str]) -> str:
        full = f"@llvm.{name}.v{self.width}f64"
        kinds = ", ".join([self.vector] * len(arguments))
        self.intrinsics.add(f"declare {self.vector} {full}({kinds})")
        given = ", ".join(f"{self.vector} {a}" for a in arguments)
        return self.new(f"call {FLAGS} {self.vector} {full}({given})")

    def _by_lane(self, function: str, arguments: list[str]) -> str:
        kinds = ", ".join(["double"] * len(arguments))
        self.intrinsics.add(f"declare double @{function}({kinds})")
        result = "poison"
        for lane in range(self.width):
            one = [self.new(f"extractelement {self.vector} {a}, i64 {lane}") for a in arguments]
            given = ", ".join(f"double {a}" for a in one)
            value = self.new(f"call double @{function}({given})")
            result = self.new(f"insertelement {self.vector} {result}, double {value}, i64 {lane}")
        return result

    def _broadcast(self, index: int) -> str:
        slot = self.new(f"getelementptr double, ptr %hoisted, i64 {index}")
        value = self.new(f"load double, ptr {slot}")
        first = self.new(f"insertelement {self.vector} poison, double {value}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.new(f"shufflevector {self.vector} {first}, {self.vector} poison, {zeros}")

    def _load(self, pointers: list[str], index: int) -> str:
        result = "poison"
        for lane, pointer in enumerate(pointers):
            slot = self.new(f"getelementptr double, ptr {pointer}, i64 {index}")
            value = self.new(f"load double, ptr {slot}")
            result = self.new(f"insertelement {self.vector} {result}, double {value}, i64 {lane}")
        return result

    def _store(self, values: list[str]) -> None:
        for k, output in enumerate(self.program.outputs.values()):
            slot = self.new(f"getelementptr ptr, ptr %outputs, i64 {k}")
            base = self.new(f"load ptr, ptr {slot}")
            for lane, row in enumerate(self.rows):
                offset = self.new(f"mul i64 {row}, {len(output.places)}")
                start = self.new(f"getelementptr double, ptr {base}, i64 {offset}")
                for j, place in enumerate(output.places):
                    value = self.new(f"extractelement {self.vector} {values[place]}, i64 {lane}")
                    slot = self.new(f"getelementptr double, ptr {start}, i64 {j}")
                    self.lines.append(f"  store double {value}, ptr {slot}")
