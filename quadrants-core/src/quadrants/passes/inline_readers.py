"""Puts the code of library functions that are given the result of an element-wise expression in the place of the call, so that the
elements can be computed where they are used.

Takes QIR with maps; gives QIR. A function is inlined if the result of a `map`, or a view of it, is an operand that nothing else
reads, and so are the functions that it hands the array on to. Legal for every function that does not call itself and computes
floats by the same rules. Only the library's own are inlined: they do not appear in tracebacks, so that what they raise comes
from the line of the call either way. Functions that are not called any more leave the module.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Function, Module, Op, Region, Value
from quadrants.ir.ops import OPS
from quadrants.ir.rewrite import clone_region, fresh_labels, max_label, replace_uses
from quadrants.passes.context import PassContext
from quadrants.passes.structure import size_of

#: The most ops of a function that is inlined, and of all in one function.
_MOST_OPS = 120
_MOST_GROWTH = 900
_DEEPEST = 10
_SIZES = ("dim", "stride")


def run(function: Function, context: PassContext) -> None:
    """Inline the readers of the maps of one function."""
    if not any(op.name == "map" for op in function.body.walk()):
        return
    state = _Inliner(function, context.module)
    for op in function.body.walk():
        for operand in op.operands:
            state.readers.setdefault(operand, []).append(op)
        state.makers.update(dict.fromkeys(op.results, op))
    state.region(function.body)
    if state.grown:
        replace_uses(function.body, state.replaced)
        context.changed.add(function.name)
        _drop_unused(context.module)


@record(eq=False)
class _Inliner:
    function: Function
    module: Module
    readers: dict[Value, list[Op]] = field(default_factory=dict)
    makers: dict[Value, Op] = field(default_factory=dict)
    replaced: dict[Value, Value] = field(default_factory=dict)
    grown: int = 0
    label: int = -1

    def region(self, region: Region) -> None:
        """Inline the calls of a region, and of those inside it."""
        out: list[Op] = []
        for op in region.ops:
            for nested in op.regions:
                self.region(nested)
            given = {value for value in op.operands if self.is_alone(value, op)} if op.name == "call" else set()
            made = self.call(op, given, ()) if given else None
            out += [op] if made is None else made
        region.ops[:] = out

    def is_alone(self, value: Value, reader: Op) -> bool:
        """Whether a value is a map's result, or a view of one, which only this op reads."""
        while True:
            if any(op is not reader and op.name not in _SIZES for op in self.readers.get(value, ())):
                return False
            maker = self.makers.get(value)
            if maker is None or maker.name != "view":
                return maker is not None and maker.name == "map"
            value, reader = maker.operands[0], maker

    def call(self, op: Op, given: set[Value], chain: tuple[str, ...]) -> list[Op] | None:
        """The ops in the place of a call that is given certain arrays; None: it stays."""
        name = str(op.attrs["callee"])
        callee = self.module.functions[name]
        size = size_of(callee.body)
        same = callee.attrs.get("fp") == self.function.attrs.get("fp")
        fits = size <= _MOST_OPS and self.grown + size <= _MOST_GROWTH and len(chain) < _DEEPEST
        if not callee.scope.internal or name in chain or not same or not fits or callee.attrs.get("recursive"):
            return None
        returns = [inner for inner in callee.body.walk() if inner.name == "return"]
        single = len(returns) == 1 and callee.body.terminator is returns[0]
        if not single and any(result.type.heap for result in op.results):
            return None
        self.grown += size
        if self.label < 0:
            self.label = max_label(self.function.body)
        labels = fresh_labels(callee.body, [self.label])
        self.label = max(self.label, *labels.values(), 0)
        values: dict[Value, Value] = dict(zip(callee.params, op.operands))
        body = clone_region(callee.body, values, labels)
        for inner in body.walk():
            inner.loc = op.loc
        out: list[Op] = []
        if single:
            self.replaced.update(zip(op.results, body.ops.pop().operands))
            self.inside(body, given, (*chain, name))
            out += body.ops
        else:
            label = self.label = self.label + 1
            _returns_break(body, label)
            self.inside(body, given, (*chain, name))
            out.append(Op(OPS["block"], [], op.results, {"label": label}, [body], op.loc))
        return out

    def inside(self, region: Region, given: set[Value], chain: tuple[str, ...]) -> None:
        """Inline those calls in a region that was inlined itself which hand the arrays on."""
        out: list[Op] = []
        for op in region.ops:
            op.operands[:] = [self.final(value) for value in op.operands]
            if op.name == "view" and op.operands[0] in given:
                given.add(op.result)
            for nested in op.regions:
                self.inside(nested, given, chain)
            handed = op.name == "call" and any(value in given for value in op.operands)
            made = self.call(op, given, chain) if handed else None
            out += [op] if made is None else made
        region.ops[:] = out

    def final(self, value: Value) -> Value:
        while value in self.replaced:
            value = self.replaced[value]
        return value


def _returns_break(region: Region, label: int) -> None:
    for index, op in enumerate(region.ops):
        for nested in op.regions:
            _returns_break(nested, label)
        if op.name == "return":
            region.ops[index] = Op(OPS["break"], op.operands, [], {"label": label}, [], op.loc)


def _drop_unused(module: Module) -> None:
    """Forget the library's functions that nothing reaches from the entry any more."""
    reached: set[str] = set()
    work = [module.entry, *(name for name, function in module.functions.items() if not function.scope.internal)]
    while work:
        name = work.pop()
        if name in reached or name not in module.functions:
            continue
        reached.add(name)
        callees = (op.attrs.get("callee") for op in module.functions[name].body.walk())
        work += [str(callee) for callee in callees if callee is not None]
    for name in [name for name in module.functions if name not in reached]:
        del module.functions[name]
