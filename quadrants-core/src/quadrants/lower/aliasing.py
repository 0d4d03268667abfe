"""Which arrays cannot overlap: what LLVM is told at each access, so that it need not test.

An array that a function allocates is disjoint from its parameters and from what it allocates elsewhere. That holds of the array
and of the views of it; of an array that comes out of control flow, a call or a variable, nothing is said. Memory that was freed
may come back in a later allocation: the release of an array, which LLVM takes to change it, stands between.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import record
from quadrants.ir.core import Value
from quadrants.lower.nodes import Nodes

#: More allocations than this in one function are not told apart: the lists grow with the square.
_MOST_SCOPES = 24
#: The scope number of the parameters.
_PARAMETER = -1


@record(eq=False)
class Aliasing:
    """What is known of the arrays of one function.

    Args:
        nodes: the metadata of the module.
        origins: array -> the number of its allocation in the function, or `_PARAMETER`.
        scopes: by allocation: the node of its scope, of the list of it alone, and of the list of all others.
        all_others: the node of the list of all scopes.
        allocating: whether the function allocates at all.
    """

    nodes: Nodes
    allocating: bool
    origins: dict[Value, int] = field(default_factory=dict)
    scopes: list[tuple[int, int, int]] = field(default_factory=list)
    all_others: int = -1

    def parameter(self, array: Value) -> None:
        """The array is a parameter."""
        self.origins[array] = _PARAMETER

    def allocated(self, array: Value) -> None:
        """The array is new."""
        if len(self.scopes) < _MOST_SCOPES:
            self.origins[array] = len(self.scopes)
            self.scopes.append((self.nodes.new(), self.nodes.new(), self.nodes.new()))

    def view(self, array: Value, source: Value) -> None:
        """The array is a part of another."""
        if source in self.origins:
            self.origins[array] = self.origins[source]

    def note(self, array: Value) -> str:
        """What to say at an access to an element."""
        origin = self.origins.get(array)
        if origin is None or not self.allocating:
            return ""
        if origin == _PARAMETER:
            if self.all_others < 0:
                self.all_others = self.nodes.new()
            return f", !noalias !{self.all_others}"
        _, alone, others = self.scopes[origin]
        return f", !alias.scope !{alone}, !noalias !{others}"

    def finish(self) -> None:
        """Write the nodes, all allocations being known."""
        numbers = [scope for scope, _, _ in self.scopes]
        for scope, alone, others in self.scopes:
            self.nodes.define(scope, f"distinct !{{!{scope}, !{self.nodes.domain()}}}")
            self.nodes.define(alone, f"!{{!{scope}}}")
            self.nodes.define(others, _list([number for number in numbers if number != scope]))
        if self.all_others >= 0:
            self.nodes.define(self.all_others, _list(numbers))


def _list(numbers: list[int]) -> str:
    return f"!{{{', '.join(f'!{number}' for number in numbers)}}}"
