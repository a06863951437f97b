"""Passes over the section of a program that is repeated until it settles (`passes.fixed_point`).

What sections leave for each other is in memory. The group goes through passes until none of its states
has to; a state that has settled stays as it is, whatever its neighbours do, and its passes find the same
again.
"""

from __future__ import annotations

from gough.engine.emit.group import Group, GroupPlan


class Repeat(Group):
    """A group of states, one of whose straight sections may be repeated."""

    def __init__(self, plan: GroupPlan) -> None:
        super().__init__(plan)
        self.block = "entry"
        """The one that lines are in."""

    def repeat(self, start: int, stop: int) -> None:
        """The section that is repeated."""
        self._begin()
        self.lines += ["  br label %repeat", "repeat:"]
        self.lines.append(f"  %pass = phi i64 [1, %{self.block}], [%pass.next, %another]")
        self.straight(self.operations(start, stop), False, False)
        self._judge()
        self.block = "settled"

    def _begin(self) -> None:
        """Unknowns of the first pass, where the caller does not give them."""
        repeated = self.plan.fused.repeated
        assert repeated is not None
        for (old, _), start in zip(repeated.unknowns, repeated.starts, strict=False):
            self.store(self.from_memory(start), "%handed", self.handed[old])

    def _judge(self) -> None:
        """Go on, with new unknowns, while there is a state that has not settled and a pass left."""
        repeated = self.plan.fused.repeated
        assert repeated is not None
        left = self.compare("ogt", self.from_memory(repeated.test), self.splat(repeated.tolerance))
        bits = self.new(f"bitcast <{self.width} x i1> {left} to i{self.width}")
        any_left = self.new(f"icmp ne i{self.width} {bits}, 0")
        passes = self.new(f"icmp slt i64 %pass, {repeated.most}")
        more = self.new(f"and i1 {any_left}, {passes}")
        self.lines += [f"  br i1 {more}, label %another, label %settled", "another:"]
        for old, new in repeated.unknowns:
            chosen = self.select(left, self.from_memory(new), self.from_memory(old))
            self.store(chosen, "%handed", self.handed[old])
        for old, new in repeated.history:
            self.store(self.from_memory(new), "%handed", self.handed[old])
        self.lines += ["  %pass.next = add i64 %pass, 1", "  br label %repeat", "settled:"]
