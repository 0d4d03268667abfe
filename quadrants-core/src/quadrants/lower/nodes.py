"""The metadata nodes of a module: the fixed ones, and those of its loops and allocations."""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import record

#: Kinds of memory that never overlap: elements of arrays, and the context. (Elements of different dtypes may.)
_FIXED = """\
!0 = !{!"branch_weights", i32 1048575, i32 1}
!1 = !{!"quadrants"}
!2 = !{!"data", !1}
!3 = !{!2, !2, i64 0}
!4 = !{!5, !5, i64 0}
!5 = !{!"context", !1}
!6 = !{!"branch_weights", i32 1, i32 1048575}
"""
LIKELY = "!prof !0"
UNLIKELY = "!prof !6"
DATA = "!tbaa !3"
CONTEXT = "!tbaa !4"
_FIRST = 7


@record(eq=False)
class Nodes:
    """Numbers nodes and collects their text."""

    lines: list[str] = field(default_factory=list)
    _next: int = _FIRST
    _loop: int = -1
    _wide: int = -1
    _cold: tuple[int, ...] = ()
    _domain: int = -1

    def new(self) -> int:
        """The number of a node that is defined later."""
        self._next += 1
        return self._next - 1

    def define(self, number: int, text: str) -> None:
        """Say what a node is."""
        self.lines.append(f"!{number} = {text}")

    def loop(self, cold: bool = False, place: str = "", copied: bool = False, wide: bool = False) -> str:
        """What the jump back of a new loop says. A cold loop is not unrolled or vectorised at all. One that is copied when it
        is vectorised is not unrolled by a run-time count: that would be done to the copy, at a cost in compile time only.
        A wide one takes one vector a turn. `place` names the loop for reports; LLVM keeps it on what it makes of the loop."""
        if copied and self._loop < 0:
            self._loop = self.new()
            self.define(self._loop, '!{!"llvm.loop.unroll.runtime.disable"}')
        if cold and not self._cold:
            self._cold = (self.new(), self.new())
            self.define(self._cold[0], '!{!"llvm.loop.vectorize.enable", i1 false}')
            self.define(self._cold[1], '!{!"llvm.loop.unroll.disable"}')
        number = self.new()
        kept = [number, *(self._cold if cold else (self._loop,) if copied else ())]
        if wide and not cold:
            if self._wide < 0:
                self._wide = self.new()
                self.define(self._wide, '!{!"llvm.loop.interleave.count", i32 1}')
            kept.append(self._wide)
        if place and not cold:
            kept.append(self.new())
            self.define(kept[-1], f'!{{!"quadrants.loop", !"{place}"}}')
        properties = ", ".join(f"!{node}" for node in kept)
        self.define(number, f"distinct !{{{properties}}}")
        return f", !llvm.loop !{number}"

    def domain(self) -> int:
        """The domain of the scopes of allocations."""
        if self._domain < 0:
            self._domain = self.new()
            self.define(self._domain, f"distinct !{{!{self._domain}}}")
        return self._domain

    def text(self) -> str:
        """Every node."""
        return _FIXED + "\n".join(self.lines) + "\n"
