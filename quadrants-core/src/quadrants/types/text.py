"""Types from their text form: the inverse of `str(type)`.

`parse_type` takes a whole text; `Scanner` is the position in a text that it and the parser of QIR read from. A literal of an
arbitrary Python object (a class, a function) has no text form that can be read back: that is an error, as is a named tuple
whose module is not imported.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from functools import reduce

from quadrants.types.compound import (
    SPACES,
    ArrayType,
    CellsType,
    ChoiceType,
    ExcType,
    FormatHole,
    FormatType,
    ListType,
    LiteralType,
    NamedTupleType,
    NoneType,
    ObjectType,
    OptionalType,
    RefType,
    SliceType,
    StrType,
    TupleType,
    UnionType,
)
from quadrants.types.lanes import LanesType
from quadrants.types.scalar import SCALARS, Scalar, Type

_SPACE = re.compile(r"(?:\s+|;[^\n]*)*")
_WORD = re.compile(r"[^\W\d]\w*")
_STRING = re.compile(r"""[bB]?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""")
_INTEGER = re.compile(r"-?\d+")
_REAL = r"(?:nan|inf|\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_NUMBER = re.compile(rf"-?{_REAL}")
_COMPLEX = re.compile(rf"\(-?{_REAL}[+-]{_REAL}j\)|-?{_REAL}j")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\x00"}


class TextError(ValueError):
    """A text that is not what it should be. `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column


class Scanner:
    """A position in a text. Spaces and comments (from `;` to the end of the line) separate tokens."""

    __slots__ = ("pos", "text")

    def __init__(self, text: str, pos: int = 0) -> None:
        self.text = text
        self.pos = pos
        self.skip()

    def skip(self) -> None:
        """Go over spaces and comments."""
        match = _SPACE.match(self.text, self.pos)
        self.pos = match.end() if match else self.pos

    def error(self, message: str, pos: int | None = None) -> TextError:
        """The error with the current position, or the given one."""
        pos = self.pos if pos is None else pos
        return TextError(message, self.text.count("\n", 0, pos) + 1, pos - self.text.rfind("\n", 0, pos))

    def expected(self, what: str) -> TextError:
        """The error that something else stands here than `what`."""
        found = re.compile(r"[\w.]+|\S|$").search(self.text, self.pos)
        token = found.group() if found else ""
        return self.error(f"expected {what}, found {token!r}" if token else f"expected {what}, found the end")

    def at(self, token: str) -> bool:
        """Whether the punctuation stands here."""
        return self.text.startswith(token, self.pos)

    def accept(self, token: str) -> bool:
        """Go over the punctuation if it stands here."""
        if not self.at(token):
            return False
        self.pos += len(token)
        self.skip()
        return True

    def expect(self, token: str) -> None:
        """Go over the punctuation, which must stand here."""
        if not self.accept(token):
            raise self.expected(f"{token!r}")

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """Go over a match of the pattern, if there is one here."""
        match = pattern.match(self.text, self.pos)
        if match is None:
            return None
        self.pos = match.end()
        self.skip()
        return match.group()

    def need(self, pattern: re.Pattern[str], what: str) -> str:
        """Go over a match of the pattern, which must be here."""
        found = self.match(pattern)
        if found is None:
            raise self.expected(what)
        return found

    def word(self, what: str = "a name") -> str:
        """An identifier."""
        return self.need(_WORD, what)

    def accept_word(self, word: str) -> bool:
        """Go over the identifier if it stands here, whole."""
        match = _WORD.match(self.text, self.pos)
        return match is not None and match.group() == word and self.accept(word)

    def integer(self) -> int:
        return int(self.need(_INTEGER, "an integer"))

    def string(self) -> str:
        """A quoted string."""
        start = self.pos
        value = _evaluate(self, self.need(_STRING, "a string"), start)
        if not isinstance(value, str):
            raise self.error("expected a string, found bytes", start)
        return value

    def end(self) -> None:
        """Nothing may follow."""
        if self.pos != len(self.text):
            raise self.expected("the end")


def quote(text: str) -> str:
    """The string in double quotes, as `Scanner.string` reads it."""
    escaped = "".join(_ESCAPES.get(char, char) for char in text)
    return '"' + _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", escaped) + '"'


def parse_type(text: str) -> Type:
    """The type with the text form. Raises TextError (a ValueError) when there is none."""
    scanner = Scanner(text)
    type = scan_type(scanner)
    scanner.end()
    return type


def scan_type(scanner: Scanner) -> Type:
    """The type whose text stands at the scanner, which goes over it."""
    start = scanner.pos
    name = scanner.word("a type")
    simple = _SIMPLE.get(name)
    if simple is not None:
        return simple
    compound = _COMPOUND.get(name)
    if compound is None:
        raise scanner.error(f"unknown type {name!r}", start)
    scanner.expect("<")
    type = compound(scanner)
    scanner.expect(">")
    return type


def is_type_start(scanner: Scanner) -> bool:
    """Whether a type stands at the scanner."""
    match = _WORD.match(scanner.text, scanner.pos)
    return match is not None and (match.group() in _SIMPLE or match.group() in _COMPOUND)


def scan_number(scanner: Scanner) -> int | float | complex:
    """A number as `repr` writes it."""
    text = scanner.match(_COMPLEX)
    if text is not None:
        return complex(text)
    text = scanner.need(_NUMBER, "a number")
    return int(text) if _INTEGER.fullmatch(text) else float(text)


def _evaluate(scanner: Scanner, text: str, start: int) -> str | bytes:
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError) as error:
        raise scanner.error(f"not a string: {error}", start) from None
    assert isinstance(value, (str, bytes))
    return value


def _literal_value(scanner: Scanner) -> object:
    for word, value in (("None", None), ("True", True), ("False", False), ("Ellipsis", Ellipsis)):
        if scanner.accept_word(word):
            return value
    start = scanner.pos
    text = scanner.match(_STRING)
    if text is not None:
        return _evaluate(scanner, text, start)
    if scanner.at("(") and _COMPLEX.match(scanner.text, scanner.pos) is None:
        scanner.expect("(")
        items: list[object] = []
        while not scanner.accept(")"):
            items.append(_literal_value(scanner))
            if not scanner.at(")"):
                scanner.expect(",")
        return tuple(items)
    try:
        return scan_number(scanner)
    except TextError:
        raise scanner.expected("a literal of a number, string, bytes, None, truth value or tuple") from None


def _scalar(scanner: Scanner) -> Scalar:
    start = scanner.pos
    type = scan_type(scanner)
    if not isinstance(type, Scalar):
        raise scanner.error(f"expected a scalar type, found {type}", start)
    return type


def _array(scanner: Scanner) -> ArrayType:
    dtype = _scalar(scanner)
    scanner.expect(",")
    ndim = scanner.integer()
    scanner.expect(",")
    start = scanner.pos
    layout = scanner.word("a layout")
    if layout not in ("C", "F", "A"):
        raise scanner.error(f"expected the layout C, F or A, found {layout!r}", start)
    more = scanner.accept(",")
    mixed = more and scanner.accept_word("mixed")
    readonly = mixed or (more and scanner.accept_word("ro"))
    if readonly:
        more = scanner.accept(",")
    space = SPACES[0]
    if more:
        start = scanner.pos
        space = scanner.word("'ro' or an address space")
        if space not in SPACES[1:]:
            raise scanner.error(
                f"expected {'' if readonly else 'ro, '}{' or '.join(SPACES[1:])}, found {space!r}", start
            )
    return ArrayType(dtype, ndim, layout, readonly, space, mixed)


def _lanes(scanner: Scanner) -> LanesType:
    item = _scalar(scanner)
    scanner.expect(",")
    start = scanner.pos
    count = scanner.integer()
    if count < 1:
        raise scanner.error(f"expected a number of lanes, found {count}", start)
    return LanesType(item, count)


def _items(scanner: Scanner) -> tuple[Type, ...]:
    items: list[Type] = []
    while not scanner.at(">"):
        if items:
            scanner.expect(",")
        items.append(scan_type(scanner))
    return tuple(items)


def _slice(scanner: Scanner) -> SliceType:
    start = scanner.pos
    items = _items(scanner)
    if len(items) != 3:
        raise scanner.error(f"a slice has 3 parts, not {len(items)}", start)
    return SliceType(*items)


def _format(scanner: Scanner) -> FormatType:
    parts: list[str | FormatHole] = []
    while not scanner.at(">"):
        if parts:
            scanner.expect(",")
        if not scanner.accept("{"):
            parts.append(scanner.string())
            continue
        type = scan_type(scanner)
        scanner.expect(",")
        conversion = scanner.string()
        scanner.expect(",")
        parts.append(FormatHole(type, conversion, scanner.string()))
        scanner.expect("}")
    return FormatType(tuple(parts))


def _named_tuple(scanner: Scanner) -> NamedTupleType:
    start = scanner.pos
    module_name, _, qualname = scanner.string().partition(":")
    fields: list[str] = []
    items: list[Type] = []
    while scanner.accept(","):
        fields.append(scanner.word("the name of a field"))
        scanner.expect("=")
        items.append(scan_type(scanner))
    module = sys.modules.get(module_name)
    if module is None:
        raise scanner.error(f"the module {module_name!r} of a named tuple is not imported", start)
    try:
        cls = reduce(getattr, qualname.split("."), module)
    except AttributeError:
        raise scanner.error(f"there is no {qualname!r} in the module {module_name!r}", start) from None
    if not isinstance(cls, type) or getattr(cls, "_fields", None) != tuple(fields):
        raise scanner.error(f"{module_name}:{qualname} is not a named tuple with the fields {', '.join(fields)}", start)
    return NamedTupleType(tuple(items), tuple(fields), cls)


_SIMPLE: dict[str, Type] = {**SCALARS, "none": NoneType(), "str": StrType(), "exc": ExcType(), "object": ObjectType()}


def _scalar_item(scanner: Scanner) -> Scalar:
    start = scanner.pos
    found = scan_type(scanner)
    if not isinstance(found, Scalar) or found.weak:
        raise scanner.error(f"{found} is no machine scalar", start)
    return found


def _cell(scanner: Scanner) -> Scalar | CellsType:
    start = scanner.pos
    found = scan_type(scanner)
    if isinstance(found, CellsType) or (isinstance(found, Scalar) and not found.weak):
        return found
    raise scanner.error(f"cells do not hold {found}", start)


def _choice(scanner: Scanner) -> ChoiceType:
    texts = [scanner.string()]
    while scanner.accept(","):
        texts.append(scanner.string())
    return ChoiceType(tuple(texts))


_COMPOUND: dict[str, Callable[[Scanner], Type]] = {
    "choice": _choice,
    "array": _array,
    "cells": lambda scanner: CellsType(_cell(scanner)),
    "list": lambda scanner: ListType(scan_type(scanner)),
    "union": lambda scanner: UnionType(_items(scanner)),
    "lanes": _lanes,
    "tuple": lambda scanner: TupleType(_items(scanner)),
    "namedtuple": _named_tuple,
    "optional": lambda scanner: OptionalType(scan_type(scanner)),
    "literal": lambda scanner: LiteralType(_literal_value(scanner)),
    "format": _format,
    "slice": _slice,
    "ref": lambda scanner: RefType(scan_type(scanner)),
}
