"""The verifier: the executable specification of what a module of QIR is.

Takes a module in any state; gives nothing, or raises InvalidIR with the function, the op and the reason. It holds before and
after every pass:

- the entry and every callee is a function of the module, and calls fit the callee's parameters and results;
- every op is one of `OPS`, has the attributes, regions and types that its definition asks for, and nothing else;
- SSA: a value is defined once, and used only after its definition, in the same region or in one inside;
- a region ends in its only terminator; `yield` ends the regions of `if`, `block`, `try` and maps, and no others; `break` and
  `continue` name an enclosing op by its label; `return` gives the results of the function;
- nothing leaves the region of a map, or has an effect in it;
- variables (`ref`) stay in their function: they are not passed, returned, yielded, or carried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir.core import Function, Loc, Module, Op, Region, Scope, Value
from quadrants.ir.opdef import Attr, AttrKind, Effect
from quadrants.ir.ops import OPS
from quadrants.ir.ops.rules import is_machine
from quadrants.ir.text import op_line, plain_number
from quadrants.types import I64, ArrayType, RefType, Type

#: What a function may say about itself.
FUNCTION_ATTRS: dict[str, tuple[object, ...]] = {
    "recursive": (True, False),
    "level": ("host", "device"),
    "kernel": (True, False),
    "portable": (True, False),
    "inline": ("always", "never"),
    "fp": ("default", "strict", "fast"),
}

_YIELDING = ("if", "block", "try", "map", "map_into")
_LABELLED = ("block", "loop", "for")
_LOOPS = ("loop", "for")
_MAPS = ("map", "map_into")
#: Ops that cannot take a variable as an operand: it would leave the region where it is known.
_LEAVING = (
    "yield",
    "break",
    "continue",
    "return",
    "call",
    "fork",
    "launch",
    "loop",
    "for",
    "map",
    "map_into",
    "select",
    "raise",
    "check",
)
_ALLOWED_IN_MAP = Effect.CONTROL


class InvalidIR(Exception):
    """A module that breaks the rules.

    Args:
        function: the name of the function.
        reason: what is wrong.
        op: where, if it is one op.
    """

    def __init__(self, function: str, reason: str, op: Op | None = None) -> None:
        place = f"in {function}: " if function else ""
        text = f"\n  {_describe(op)}" if op is not None else ""
        super().__init__(f"{place}{reason}{text}")
        self.function = function
        self.reason = reason
        self.op = op


def verify(module: Module) -> None:
    """Raise InvalidIR unless the module keeps the rules."""
    if module.entry not in module.functions:
        raise InvalidIR("", f"the entry {module.entry!r} is not a function of the module")
    seen: dict[int, str] = {}
    for name, function in module.functions.items():
        if function.name != name:
            raise InvalidIR(name, f"it is called {function.name!r} itself")
        if id(function) in seen:
            raise InvalidIR(name, f"it is the same object as {seen[id(function)]}")
        seen[id(function)] = name
        _Verifier(module, function).function()


def verify_function(function: Function, module: Module | None = None) -> None:
    """The same for one function; calls are only checked against the functions of `module`, when it is given."""
    _Verifier(module, function).function()


@record
class _Frame:
    """A region that is being verified: the op around it, and the values that it defines."""

    parent: Op | None
    values: list[Value] = field(default_factory=list)


class _Verifier:
    """Verifies one function."""

    def __init__(self, module: Module | None, fn: Function) -> None:
        self.module = module
        self.fn = fn
        self.visible: set[Value] = set()
        self.defined: set[Value] = set()
        self.regions: set[int] = set()
        self.ops: set[int] = set()
        self.frames: list[_Frame] = []
        self.at: Op | None = None

    def fail(self, reason: str) -> InvalidIR:
        return InvalidIR(self.fn.name, reason, self.at)

    def function(self) -> None:
        fn = self.fn
        if not isinstance(fn.scope, Scope):
            raise self.fail(f"its scope is {fn.scope!r}")
        for name, value in fn.attrs.items():
            if name == "sizes":
                self.sizes(value)
                continue
            if name not in FUNCTION_ATTRS:
                raise self.fail(f"a function has no attribute {name!r}")
            if value not in FUNCTION_ATTRS[name]:
                raise self.fail(f"its attribute {name!r} is {value!r}")
        for type in (*(param.type for param in fn.params), *fn.result_types):
            if not is_machine(type) or isinstance(type, RefType):
                raise self.fail(f"{type} is not the type of a parameter or result")
        self.region(fn.body, None, fn.params)

    def sizes(self, value: object) -> None:
        """The sizes of arrays that a caller promises."""
        numbers = value if isinstance(value, tuple) else ("",)
        if len(numbers) % 3 or not all(isinstance(number, int) and number >= 0 for number in numbers):
            raise self.fail(f"its attribute 'sizes' is {value!r}")
        for param, axis, _ in self.fn.sizes:
            type = self.fn.params[param].type if param < len(self.fn.params) else None
            if not isinstance(type, ArrayType) or axis >= type.ndim:
                raise self.fail(f"it has no array with axis {axis} as its parameter {param}")

    def region(self, region: Region, parent: Op | None, args: list[Value]) -> None:
        """A region, whose arguments are `args` (the parameters, for the body of a function)."""
        if id(region) in self.regions:
            raise self.fail("a region stands in two places")
        self.regions.add(id(region))
        if parent is None and region.args:
            raise self.fail("the body of a function has arguments of its own")
        with self.frame(parent):
            for arg in args:
                self.define(arg)
            for op in region.ops[:-1]:
                if op.defn.terminator:
                    self.at = op
                    raise self.fail("a terminator that is not at the end of its region")
                self.op(op)
            self.at = parent
            if region.terminator is None:
                raise self.fail("a region does not end in a terminator")
            self.op(region.ops[-1])

    @contextmanager
    def frame(self, parent: Op | None) -> Iterator[None]:
        """Values defined inside are not visible afterwards."""
        self.frames.append(_Frame(parent))
        yield
        self.visible.difference_update(self.frames.pop().values)

    def define(self, value: Value) -> None:
        if value in self.defined:
            raise self.fail(f"%{value.hint} is defined twice")
        if not is_machine(value.type):
            raise self.fail(f"{value.type} is not a machine type")
        self.defined.add(value)
        self.visible.add(value)
        self.frames[-1].values.append(value)

    def op(self, op: Op) -> None:
        self.at = op
        if id(op) in self.ops:
            raise self.fail("an op stands in two places")
        self.ops.add(id(op))
        if OPS.get(op.name) is not op.defn:
            raise self.fail(f"{op.name} is not an operation of QIR")
        if not (op.loc is None or isinstance(op.loc, Loc)):
            raise self.fail(f"its location is {op.loc!r}")
        self.uses(op.operands, "uses")
        self.uses(op.cleanup, "cleans up")
        self.attributes(op)
        if len(op.regions) != op.defn.regions:
            raise self.fail(f"takes {op.defn.regions} regions, not {len(op.regions)}")
        self.label(op)
        for region in op.regions:
            self.region(region, op, region.args)
        self.at = op
        self.types(op)
        self.rules(op)
        for value in op.results:
            self.define(value)

    def uses(self, values: Iterable[Value], verb: str) -> None:
        for value in values:
            if value in self.visible:
                continue
            known = "does not reach this op" if value in self.defined else "is not defined before"
            raise self.fail(f"{verb} a value of type {value.type} that {known}")

    def attributes(self, op: Op) -> None:
        specs = {spec.name: spec for spec in op.defn.attrs}
        for name, value in op.attrs.items():
            if name not in specs:
                raise self.fail(f"has no attribute {name!r}")
            if not _fits(value, specs[name]):
                choices = f" among {', '.join(map(str, specs[name].choices))}" if specs[name].choices else ""
                raise self.fail(f"attribute {name!r} must be {specs[name].kind.value}{choices}, not {value!r}")
        for spec in specs.values():
            if spec.required and spec.name not in op.attrs:
                raise self.fail(f"lacks the attribute {spec.name!r}")

    def label(self, op: Op) -> None:
        if op.name not in _LABELLED:
            return
        label = op.attrs["label"]
        if any(parent.attrs["label"] == label for parent in self.parents() if parent.name in _LABELLED):
            raise self.fail(f"the label {label} is that of an op around it")

    def parents(self) -> Iterator[Op]:
        """The ops around the current one, from the inside out."""
        for frame in reversed(self.frames):
            if frame.parent is not None:
                yield frame.parent

    def types(self, op: Op) -> None:
        try:
            expected = op.defn.type_rule([value.type for value in op.operands], op.attrs, op.regions)
        except TypeError as error:
            raise self.fail(str(error)) from None
        found = tuple(value.type for value in op.results)
        if found != expected:
            raise self.fail(f"the results should be ({_join(expected)}), not ({_join(found)})")

    def rules(self, op: Op) -> None:
        """The rules that are not about types."""
        message = op.defn.verify(op) if op.defn.verify is not None else None
        if message is None and op.name in _RULES:
            message = _RULES[op.name](self, op)
        if message is None:
            message = self.in_map(op) or _variables(op) or _cleanup(op)
        if message is not None:
            raise self.fail(message)

    def in_map(self, op: Op) -> str | None:
        """What is wrong with the op inside the region of a map, if it is in one."""
        parents = [parent.name for parent in self.parents()]
        if not any(name in parents for name in _MAPS):
            return None
        if op.name in ("break", "continue"):
            return None  # they stay inside: labels are looked up no further than the map
        if op.name == "return":
            return "leaves the region of a map"
        if op.name == "call" and op.attr("nothrow"):
            return None
        if op.defn.effects & ~_ALLOWED_IN_MAP and (
            op.can_raise or op.defn.effects & ~(_ALLOWED_IN_MAP | Effect.RAISES)
        ):
            return "has an effect in the region of a map"
        return None

    def jump(self, op: Op) -> str | None:
        """`break` and `continue`."""
        label = op.attrs["label"]
        for parent in self.parents():
            if parent.name in _LABELLED and parent.attrs["label"] == label:
                fits = op.name == "break" or parent.name in _LOOPS
                return None if fits else f"label {label} is that of a {parent.name}, which does not repeat"
            if parent.name in _MAPS:
                break
        return f"no op around it has the label {label}"

    def yields(self, op: Op) -> str | None:
        parent = self.frames[-1].parent
        if parent is None or parent.name not in _YIELDING:
            return f"there is nothing to yield to at the end of {'the function' if parent is None else parent.name}"
        return None

    def returns(self, op: Op) -> str | None:
        found = tuple(value.type for value in op.operands)
        if found != self.fn.result_types:
            return f"the function returns ({_join(self.fn.result_types)}), not ({_join(found)})"
        return None

    def call(self, op: Op) -> str | None:
        if self.module is None:
            return None
        callee = self.module.functions.get(op.attrs["callee"])  # type: ignore[call-overload]
        if callee is None:
            return f"the module has no function {op.attrs['callee']!r}"
        expected = tuple(param.type for param in callee.params)
        found = tuple(value.type for value in op.operands)
        if found != expected:
            return f"{callee.name} takes ({_join(expected)}), not ({_join(found)})"
        if op.attrs["result_types"] != callee.result_types:
            return f"{callee.name} returns ({_join(callee.result_types)})"
        return None

    def fork(self, op: Op) -> str | None:
        if self.module is None:
            return None
        callee = self.module.functions.get(op.attrs["callee"])  # type: ignore[call-overload]
        if callee is None:
            return f"the module has no function {op.attrs['callee']!r}"
        expected = tuple(param.type for param in callee.params)
        found = (I64, I64, *(value.type for value in op.operands[3:]))
        if found != expected:
            return f"{callee.name} takes ({_join(expected)}), not ({_join(found)})"
        return "the chunks of a parallel region give nothing" if callee.result_types else None

    def launch(self, op: Op) -> str | None:
        if self.module is None:
            return None
        callee = self.module.functions.get(op.attrs["callee"])  # type: ignore[call-overload]
        if callee is None or not callee.attrs.get("kernel"):
            return f"the module has no kernel {op.attrs['callee']!r}"
        expected = tuple(param.type for param in callee.params)
        found = tuple(value.type for value in op.operands[1:])
        return f"{callee.name} takes ({_join(expected)}), not ({_join(found)})" if found != expected else None


_RULES = {
    "break": _Verifier.jump,
    "continue": _Verifier.jump,
    "yield": _Verifier.yields,
    "return": _Verifier.returns,
    "call": _Verifier.call,
    "fork": _Verifier.fork,
    "launch": _Verifier.launch,
}


def _variables(op: Op) -> str | None:
    if op.name in _LEAVING and any(isinstance(value.type, RefType) for value in op.operands):
        return "a variable cannot be passed on"
    return None


def _cleanup(op: Op) -> str | None:
    if op.cleanup and not op.can_raise:
        return "cleans up, but cannot raise"
    for value in op.cleanup:
        if not value.type.heap:
            return f"cleans up a {value.type}, which owns no memory"
    return None


def _fits(value: object, spec: Attr) -> bool:
    """Whether the attribute's value is of its kind."""
    if spec.choices and value not in spec.choices:
        return False
    match spec.kind:
        case AttrKind.BOOL:
            return isinstance(value, bool)
        case AttrKind.INT:
            return isinstance(value, int) and not isinstance(value, bool)
        case AttrKind.STR:
            return isinstance(value, str)
        case AttrKind.NUMBER:
            return plain_number(value) is not None
        case AttrKind.TYPE:
            return isinstance(value, Type)
        case AttrKind.TYPES:
            return isinstance(value, tuple) and all(isinstance(item, Type) for item in value)
        case AttrKind.STRS:
            return isinstance(value, tuple) and all(isinstance(item, str) for item in value)
        case AttrKind.INTS:
            return isinstance(value, tuple) and all(type(item) is int for item in value)


def _describe(op: Op) -> str:
    """The op in words, as far as it can be printed at all."""
    try:
        return op_line(op)
    except (TypeError, ValueError, AttributeError):
        return f"{op.name} {op.attrs!r} {op.loc!r}"


def _join(types: Iterable[Type]) -> str:
    return ", ".join(map(str, types))
