"""Types say where a thread's own arrays are: small allocations, and what is made of them, are local memory.

Takes a module whose small allocations are marked `stack`, in place, before exits get one level; gives the same with their types in
the local space. In MSL a pointer's type has its address space, so a function that is called with such arrays becomes one for each
combination of places. Legal always: an array that may be in one of two places is refused, with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from quadrants.ir.core import Function, Module, Op, Value
from quadrants.ir.ops.control import exits
from quadrants.ir.rewrite import clone_function
from quadrants.types import ArrayType, RefType, Type

Refuse = Callable[[Function, "Op | None", str, str], None]
_LOCAL = "local"


def run(module: Module, refuse: Refuse) -> None:
    """Give the arrays of all functions that the entry reaches their places."""
    Places(module, refuse).settle(module.functions[module.entry])


class Places:
    """See the module's docstring."""

    def __init__(self, module: Module, refuse: Refuse) -> None:
        self.module = module
        self.refuse = refuse
        self._settled: set[str] = set()

    def settle(self, function: Function) -> None:
        """Move the values of a function, and what it calls, until the types agree."""
        if function.name in self._settled:
            return
        self._settled.add(function.name)
        made = [op.result for op in function.body.walk() if op.name == "alloc" and op.attr("stack")]
        news = [*made, *(param for param in function.params if _is_local(param.type))]
        calls = [op for op in function.body.walk() if op.name == "call"]
        while True:
            self._move(function, news)
            news = [value for op in calls for value in self._given(op)]
            if not news:
                break
        self._results(function)

    def _move(self, function: Function, news: list[Value]) -> None:
        """Move values, and what comes from them, into the local space."""
        edges = list(_edges(function))
        moved = _closure(edges, news)
        nothing = {op.result for op in function.body.walk() if op.name == "zero"}
        for source, target in edges:
            if target in moved and source not in moved and not _is_local(source.type):
                if source not in nothing:
                    self._refuse(function)
                moved.add(source)
        for value in moved:
            value.type = _local(value.type)
        for op in function.body.walk():
            _retype(op)

    def _given(self, op: Op) -> list[Value]:
        """Call the function for the places of the operands; the results that it gives in another place than was thought."""
        callee = self._callee(op)
        self.settle(callee)
        op.attrs["result_types"] = callee.result_types
        return [value for value, type in zip(op.results, callee.result_types) if value.type != type]

    def _callee(self, op: Op) -> Function:
        """The function that a call means, with parameters in the places of its operands."""
        functions = self.module.functions
        callee = functions[str(op.attrs["callee"])]
        types = [value.type for value in op.operands]
        if types == [param.type for param in callee.params]:
            return callee
        name = f"{callee.name}.{''.join('l' if _is_local(type) else '-' for type in types)}"
        if name not in functions:
            made = functions[name] = clone_function(callee, name)
            for param, type in zip(made.params, types):
                param.type = type
        op.attrs["callee"] = name
        return functions[name]

    def _results(self, function: Function) -> None:
        """The types that a function gives, from what it returns."""
        returns = [tuple(v.type for v in op.operands) for op in function.body.walk() if op.name == "return"]
        if returns:
            if any(types != returns[0] for types in returns):
                self._refuse(function)
            function.result_types = returns[0]

    def _refuse(self, function: Function) -> None:
        what = "an array that is in global memory or a thread's own"
        self.refuse(function, None, what, "use one array, or decide outside of the kernel")


def reached(function: Function, origins: Iterable[Value]) -> set[Value]:
    """The values that may be one of some arrays, or a view of one, inside the function."""
    return _closure(list(_edges(function)), origins)


def _closure(edges: Iterable[tuple[Value, Value]], origins: Iterable[Value]) -> set[Value]:
    onward: dict[Value, list[Value]] = {}
    for source, target in edges:
        onward.setdefault(source, []).append(target)
    found = set(origins)
    pending = list(found)
    while pending:
        for target in onward.get(pending.pop(), ()):
            if target not in found:
                found.add(target)
                pending.append(target)
    return found


def _edges(function: Function) -> Iterator[tuple[Value, Value]]:
    """Which value may become which other one: of arrays, and variables that hold them."""
    for op in function.body.walk():
        for source, target in _edges_of(op):
            if isinstance(source.type, (ArrayType, RefType)):
                yield source, target


def _edges_of(op: Op) -> Iterator[tuple[Value, Value]]:
    if op.name in ("view", "var", "var.get"):
        yield op.operands[0], op.result
    elif op.name == "var.set":
        yield op.operands[1], op.operands[0]
    elif op.name == "if":
        for region in op.regions:
            yield from _ends(op, region.ops[-1])
    elif op.name in ("block", "loop", "for"):
        yield from _loop_edges(op)


def _ends(op: Op, end: Op) -> Iterator[tuple[Value, Value]]:
    if end.name == "yield":
        yield from zip(end.operands, op.results)


def _loop_edges(op: Op) -> Iterator[tuple[Value, Value]]:
    (body,) = op.regions
    label = op.attrs["label"]
    assert isinstance(label, int)
    yield from _ends(op, body.ops[-1])
    for leaving in exits(body, label, "break"):
        yield from zip(leaving.operands, op.results)
    first = 1 if op.name == "for" else 0
    starts = op.operands[3:] if op.name == "for" else op.operands
    sources = [starts, *(going.operands for going in exits(body, label, "continue"))]
    for values in sources:
        yield from zip(values, body.args[first:])
        if op.name == "for":
            yield from zip(values, op.results)


def _is_local(type: Type) -> bool:
    return isinstance(type, ArrayType) and type.space == _LOCAL


def _local(type: Type) -> Type:
    if isinstance(type, RefType):
        return RefType(_local(type.item))
    assert isinstance(type, ArrayType)
    return replace(type, space=_LOCAL)


def _retype(op: Op) -> None:
    """The attributes that repeat the types of results."""
    if op.name in ("alloc", "view", "zero"):
        op.attrs["type"] = op.result.type
    elif op.name == "loop":
        op.attrs["result_types"] = tuple(value.type for value in op.results)
