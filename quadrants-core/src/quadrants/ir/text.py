"""The text form of QIR: prints a module so that `ir.parser` reads an equal one back.

    qir 1
    entry @energy

    func @energy(%m: array<f64, 1, C>) -> (f64) from "energy.py" "energy" 1 {
      %n = dim %m {axis=0} : i64 @2:12-2:18+4
      %0 = const 0 : i64
      ...
      %e = for %0, %n, %1, %acc {label=1} : f64 (%i: i64, %s: f64) {
        ...
        continue %t {label=1}
      }
      return %e
    }

An op is: results, name, operands, attributes, result types, `cleanup(values)`, location, regions. Attributes are sorted;
names come from the hints of values, made unique. A location is line:column, then -line:column of the end and +offset of the
bytecode if they are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from quadrants.ir.core import QIR_VERSION, Function, Loc, Module, Op, Region, Scope, Value
from quadrants.types import Type
from quadrants.types.text import quote

INDENT = "  "
#: What stands between the regions of an op.
SEPARATORS = {"if": "else", "try": "handler"}
SEPARATOR = "next"

_PLAIN_SYMBOL = re.compile(r"[^\W\d][\w.$]*")
_BAD_IN_NAME = re.compile(r"\W+")
_NUMBERED = re.compile(r"\.\d+$")


def print_module(module: Module) -> str:
    """The text of the module."""
    lines = [f"qir {QIR_VERSION}"]
    if module.entry:
        lines.append(f"entry {symbol(module.entry)}")
    return "\n".join(lines) + "\n" + "".join(f"\n{print_function(function)}" for function in module.functions.values())


def print_function(function: Function) -> str:
    """The text of one function."""
    printer = _Printer()
    params = printer.arguments(function.params)
    results = ", ".join(map(str, function.result_types))
    attrs = f" with {attributes(function.attrs)}" if function.attrs else ""
    head = f"func {symbol(function.name)}({params}) -> ({results}) from {scope_text(function.scope)}{attrs} {{"
    printer.lines.append(head)
    for op in function.body.ops:
        printer.op(op, INDENT)
    printer.lines.append("}")
    return "\n".join(printer.lines) + "\n"


def print_op(op: Op) -> str:
    """The text of one op, with names of its own for what it reads."""
    printer = _Printer()
    printer.op(op, "")
    return "\n".join(printer.lines)


def op_line(op: Op) -> str:
    """The op without its regions, on one line: for messages."""
    return print_op(Op(op.defn, op.operands, op.results, op.attrs, [], op.loc, op.cleanup))


def symbol(name: str) -> str:
    """The name of a function."""
    return f"@{name}" if _PLAIN_SYMBOL.fullmatch(name) else f"@{quote(name)}"


def scope_text(scope: Scope) -> str:
    internal = " internal" if scope.internal else ""
    return f"{quote(scope.filename)} {quote(scope.qualname)} {scope.firstlineno}{internal}"


def loc_text(loc: Loc) -> str:
    """The location, in full."""
    end = f"-{loc.end_line}:{loc.end_col}" if loc.end_line or loc.end_col else ""
    offset = f"+{loc.offset}" if loc.offset else ""
    return f"@{loc.line}:{loc.col}{end}{offset}"


def attributes(attrs: dict[str, object]) -> str:
    """The attributes in braces, sorted."""
    return "{" + ", ".join(f"{name}={attribute(attrs[name])}" for name in sorted(attrs)) + "}"


def attribute(value: object) -> str:
    """The text of an attribute's value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(attribute, value))}]"
    if isinstance(value, Type):
        return str(value)
    number = plain_number(value)
    if number is not None:
        return repr(number)
    raise TypeError(f"an attribute cannot hold {value!r}")


def plain_number(value: object) -> int | float | complex | None:
    """The number as Python's own type (NumPy's float64 is a subclass of float); None if it is no number."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    return complex(value) if isinstance(value, complex) else None


class _Printer:
    """The lines of a function so far, and the names of its values."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[Value, str] = {}
        self._counters: dict[str, int] = {}

    def name(self, value: Value) -> str:
        """The name of the value, made at the first use."""
        name = self._names.get(value)
        if name is None:
            name = self._names[value] = self._fresh(_NUMBERED.sub("", value.hint))
        return name

    def _fresh(self, hint: str) -> str:
        stem = _BAD_IN_NAME.sub("_", hint)
        if not stem or stem[0].isdigit():
            stem = f"_{stem}" if stem else ""
        count = self._counters.get(stem, 0)
        self._counters[stem] = count + 1
        return f"%{count}" if not stem else f"%{stem}.{count}" if count else f"%{stem}"

    def values(self, values: Iterable[Value]) -> str:
        return ", ".join(map(self.name, values))

    def arguments(self, values: Iterable[Value]) -> str:
        return ", ".join(f"{self.name(value)}: {value.type}" for value in values)

    def op(self, op: Op, indent: str) -> None:
        """Add the lines of the op."""
        head = self._head(op)
        if not op.regions:
            self.lines.append(indent + head)
            return
        separator = SEPARATORS.get(op.name, SEPARATOR)
        for index, region in enumerate(op.regions):
            start = head if index == 0 else f"}} {separator}"
            self._region(region, f"{indent}{start} ", indent)
        self.lines.append(indent + "}")

    def _region(self, region: Region, start: str, indent: str) -> None:
        arguments = f"({self.arguments(region.args)}) " if region.args else ""
        self.lines.append(f"{start}{arguments}{{")
        for op in region.ops:
            self.op(op, indent + INDENT)

    def _head(self, op: Op) -> str:
        attrs = dict(op.attrs)
        operands = [self.name(value) for value in op.operands]
        if op.name == "const" and "value" in attrs:
            operands.append(attribute(attrs.pop("value")))
            if len(op.results) == 1 and attrs.get("type") == op.results[0].type:
                del attrs["type"]
        parts = [op.name, ", ".join(operands)] if operands else [op.name]
        if attrs:
            parts.append(attributes(attrs))
        if op.results:
            parts.append(": " + ", ".join(str(value.type) for value in op.results))
        if op.cleanup:
            parts.append(f"cleanup({self.values(op.cleanup)})")
        if op.loc is not None:
            parts.append(loc_text(op.loc))
        text = " ".join(parts)
        return f"{self.values(op.results)} = {text}" if op.results else text
