"""The parser of QIR's text form (see `ir.text`): recursive descent, one method a construct.

Gives a module equal to the one that was printed. The types of results may be left out: the op's own rule gives them. Raises
TextError (a ValueError) with line, column and what was expected; it refuses another version than `QIR_VERSION`.
"""

from __future__ import annotations

import re

from quadrants.ir.core import QIR_VERSION, Function, Loc, Module, Op, Region, Scope, Value
from quadrants.ir.opdef import OpDef
from quadrants.ir.ops import OPS
from quadrants.ir.text import SEPARATOR, SEPARATORS
from quadrants.types import Scalar, Type
from quadrants.types.text import Scanner, TextError, is_type_start, scan_number, scan_type

__all__ = ["TextError", "parse_function", "parse_module"]

_OP_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_VALUE = re.compile(r"%(?:\d+|[^\W\d]\w*(?:\.\d+)?)")
_SYMBOL = re.compile(r"@[^\W\d][\w.$]*")
_ATTRIBUTES = re.compile(r"\{\s*[^\W\d]\w*\s*=")
_NUMBER_START = re.compile(r"-|\d|\(|(?:nan|inf)j?\b")
_LOC = re.compile(r"@(\d+):(\d+)(?:-(\d+):(\d+))?(?:\+(\d+))?")
#: The names of results: after an op that has neither operands nor attributes, they begin the next one.
_RESULTS = re.compile(r"%[\w.]+(?:\s*,\s*%[\w.]+)*\s*=")
_HINT = re.compile(r"%([^\W\d]\w*)")


def parse_module(text: str) -> Module:
    """The module that the text describes."""
    scanner = Scanner(text)
    start = scanner.pos
    if not scanner.accept_word("qir"):
        raise scanner.expected("'qir' and the version")
    version = scanner.integer()
    if version != QIR_VERSION:
        raise scanner.error(f"this is qir {version}, only qir {QIR_VERSION} can be read", start)
    module = Module()
    if scanner.accept_word("entry"):
        module.entry = _symbol(scanner)
    while scanner.pos < len(scanner.text):
        start = scanner.pos
        function = _FunctionParser(scanner).function()
        if function.name in module.functions:
            raise scanner.error(f"the function {function.name!r} is defined twice", start)
        module.functions[function.name] = function
    return module


def parse_function(text: str) -> Function:
    """The one function that the text describes, without a header of the module."""
    scanner = Scanner(text)
    function = _FunctionParser(scanner).function()
    scanner.end()
    return function


def _symbol(scanner: Scanner) -> str:
    if scanner.at('@"'):
        scanner.expect("@")
        return scanner.string()
    return scanner.need(_SYMBOL, "'@' and the name of a function")[1:]


class _FunctionParser:
    """Parses one function: its values by name."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.values: dict[str, Value] = {}

    def function(self) -> Function:
        scanner = self.scanner
        if not scanner.accept_word("func"):
            raise scanner.expected("'func'")
        name = _symbol(scanner)
        params = self.arguments()
        scanner.expect("->")
        scanner.expect("(")
        result_types = () if scanner.at(")") else self.types()
        scanner.expect(")")
        scope = self.scope()
        attrs = self.attributes() if scanner.accept_word("with") else {}
        body = Region()
        self.region_body(body)
        return Function(name, params, result_types, body, scope, attrs)

    def scope(self) -> Scope:
        scanner = self.scanner
        if not scanner.accept_word("from"):
            return Scope("", "", 0)
        return Scope(scanner.string(), scanner.string(), scanner.integer(), scanner.accept_word("internal"))

    def types(self) -> tuple[Type, ...]:
        types = [scan_type(self.scanner)]
        while self.scanner.accept(","):
            types.append(scan_type(self.scanner))
        return tuple(types)

    def arguments(self) -> list[Value]:
        """`(%a: type, ...)`, which defines the values."""
        scanner = self.scanner
        scanner.expect("(")
        values: list[Value] = []
        while not scanner.accept(")"):
            if values:
                scanner.expect(",")
            start = scanner.pos
            name = scanner.need(_VALUE, "a value")
            scanner.expect(":")
            values.append(self.define(name, scan_type(scanner), start))
        return values

    def define(self, name: str, type: Type, pos: int) -> Value:
        if name in self.values:
            raise self.scanner.error(f"{name} is defined twice", pos)
        hint = _HINT.match(name)
        value = self.values[name] = Value(type, hint.group(1) if hint else "")
        return value

    def use(self) -> Value:
        start = self.scanner.pos
        name = self.scanner.need(_VALUE, "a value")
        if name not in self.values:
            raise self.scanner.error(f"{name} is not defined", start)
        return self.values[name]

    def region_body(self, region: Region) -> None:
        """`{ ops }`."""
        self.scanner.expect("{")
        while not self.scanner.accept("}"):
            region.ops.append(self.op())

    def region(self) -> Region:
        """`(%a: type) { ops }`."""
        region = Region(self.arguments() if self.scanner.at("(") else [])
        self.region_body(region)
        return region

    def op(self) -> Op:
        """One op, with its regions."""
        scanner = self.scanner
        names: list[tuple[str, int]] = []
        if scanner.at("%"):
            names = self.result_names()
        start = scanner.pos
        name = scanner.need(_OP_NAME, "an operation or '}'")
        defn = OPS.get(name)
        if defn is None:
            raise scanner.error(f"unknown operation {name!r}", start)
        op = Op(defn, [], [])
        if name == "const" and not scanner.at("{"):
            op.attrs["value"] = self.attribute()
        else:
            op.operands = self.operands()
        if _ATTRIBUTES.match(scanner.text, scanner.pos):
            op.attrs |= self.attributes()
        types = self.types() if scanner.accept(":") else None
        if name == "const" and types and isinstance(types[0], Scalar):
            op.attrs.setdefault("type", types[0])
        if scanner.accept_word("cleanup"):
            op.cleanup = self.cleanup()
        op.loc = self.loc()
        self.regions(op)
        self.results(op, names, types, start)
        return op

    def regions(self, op: Op) -> None:
        scanner = self.scanner
        separator = SEPARATORS.get(op.name, SEPARATOR)
        while scanner.at("{") or scanner.at("("):
            op.regions.append(self.region())
            if not scanner.accept_word(separator):
                break

    def results(self, op: Op, names: list[tuple[str, int]], types: tuple[Type, ...] | None, start: int) -> None:
        """Define the results, with the given types or those of the op's rule. An op without names for them has none."""
        if types is None and names:
            types = self.inferred(op.defn, op, start)
        found = types or ()
        if len(found) != len(names):
            raise self.scanner.error(f"{op.name} has {len(found)} results, not {len(names)}", start)
        op.results = [self.define(name, type, pos) for (name, pos), type in zip(names, found)]

    def inferred(self, defn: OpDef, op: Op, start: int) -> tuple[Type, ...]:
        try:
            return defn.type_rule([value.type for value in op.operands], op.attrs, op.regions)
        except TypeError as error:
            raise self.scanner.error(f"{op.name}: {error}", start) from None

    def result_names(self) -> list[tuple[str, int]]:
        scanner = self.scanner
        names = [(scanner.pos, scanner.need(_VALUE, "a value"))]
        while scanner.accept(","):
            names.append((scanner.pos, scanner.need(_VALUE, "a value")))
        scanner.expect("=")
        return [(name, pos) for pos, name in names]

    def operands(self) -> list[Value]:
        if not self.scanner.at("%") or _RESULTS.match(self.scanner.text, self.scanner.pos):
            return []
        values = [self.use()]
        while self.scanner.accept(","):
            values.append(self.use())
        return values

    def cleanup(self) -> tuple[Value, ...]:
        self.scanner.expect("(")
        values = self.operands()
        self.scanner.expect(")")
        return tuple(values)

    def loc(self) -> Loc | None:
        if not self.scanner.at("@"):
            return None
        text = self.scanner.need(_LOC, "a location")
        match = _LOC.match(text)
        assert match is not None
        return Loc(*(int(part or 0) for part in match.groups()))

    def attributes(self) -> dict[str, object]:
        """`{name=value, ...}`."""
        scanner = self.scanner
        scanner.expect("{")
        attrs: dict[str, object] = {}
        while not scanner.accept("}"):
            if attrs:
                scanner.expect(",")
            start = scanner.pos
            name = scanner.word("the name of an attribute")
            if name in attrs:
                raise scanner.error(f"the attribute {name!r} is given twice", start)
            scanner.expect("=")
            attrs[name] = self.attribute()
        return attrs

    def attribute(self) -> object:
        scanner = self.scanner
        for word, value in (("true", True), ("false", False)):
            if scanner.accept_word(word):
                return value
        if scanner.at('"') or scanner.at("'"):
            return scanner.string()
        if scanner.accept("["):
            items: list[object] = []
            while not scanner.accept("]"):
                if items:
                    scanner.expect(",")
                items.append(self.attribute())
            return tuple(items)
        if _NUMBER_START.match(scanner.text, scanner.pos):
            return scan_number(scanner)
        if is_type_start(scanner):
            return scan_type(scanner)
        raise scanner.expected("a number, a string, a truth value, a type or a list")
