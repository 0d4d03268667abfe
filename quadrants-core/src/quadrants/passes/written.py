"""Which arrays a function may write: what a launch on a device has to copy back.

Takes a module at any stage; changes nothing. An array that goes where it is hard to follow (carried, yielded, returned, kept in a
variable) counts as written.
"""

from __future__ import annotations

from quadrants.ir import Function, Module, Op, Value

#: Ops that only read an array, or make a view of it; and where those that write one have it.
_READING = frozenset({"load", "dim", "stride", "same", "overlap", "view"})
TARGETS = {"store": 1, "atomic": 1, "atomic.cas": 2}


def written_params(module: Module, function: Function) -> frozenset[int]:
    """The parameters, by number, whose memory a call of the function may write."""
    return _Written(module).params(function)


class _Written:
    """The answers so far, by the name of the function."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.known: dict[str, frozenset[int]] = {}

    def params(self, function: Function) -> frozenset[int]:
        found = self.known.get(function.name)
        if found is None:
            self.known[function.name] = frozenset(range(len(function.params)))  # in a cycle: all of them
            found = self.known[function.name] = self._find(function)
        return found

    def _find(self, function: Function) -> frozenset[int]:
        sources: dict[Value, int] = {param: index for index, param in enumerate(function.params) if param.type.heap}
        found: set[int] = set()
        for op in function.body.walk():
            for position, operand in enumerate(op.operands):
                source = sources.get(operand)
                if source is not None and self._writes(op, position):
                    found.add(source)
            if op.name == "view" and op.operands[0] in sources:
                sources[op.result] = sources[op.operands[0]]
        return frozenset(found)

    def _writes(self, op: Op, position: int) -> bool:
        """Whether an op may write the array that is its operand, or let it out of sight."""
        if op.name == "call":
            callee = self.module.functions[str(op.attrs["callee"])]
            return any(result.type.heap for result in op.results) or position in self.params(callee)
        return op.name not in _READING and TARGETS.get(op.name, position) == position
