"""Signatures: their text, and the objects that stand for them.

Takes what a decorator or `compile` is given: `"float64(float64[:], int32)"`, `"(f8, i8)"`, `qd.float64(qd.int64)`, a tuple of
types, or a list of any of these. Gives `Signature`s. A mistake is `QD214`, with a caret under the word.

In a text, NumPy's and Numba's names hold: `f8` is float64, `i8` int64, `u1` uint8, `c16` complex128; names that count bits
(`f32`, `i64`) hold where NumPy has no such name.
"""

from __future__ import annotations

import re
from typing import Any

from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.types import BOOL, F64, I32, I64, NONE, U32, U64, ArrayType, OptionalType, Scalar, TupleType, Type
from quadrants.types.names import SCALAR_NAMES, Signature, array_of, as_type

_CHARS = {"int": "i", "uint": "u", "float": "f", "complex": "c"}


def _names() -> dict[str, Type]:
    """Every name of a text; later rows win, so that NumPy's byte counts win over bit counts."""
    names: dict[str, Type] = {}
    for scalar, name in SCALAR_NAMES.items():
        if name != "bool":
            names[f"{_CHARS[name.rstrip('0123456789')]}{scalar.bits}"] = scalar
    for scalar, name in SCALAR_NAMES.items():
        names[name] = scalar
        if name != "bool":
            names[f"{_CHARS[name.rstrip('0123456789')]}{scalar.itemsize}"] = scalar
    names |= dict.fromkeys(("bool_", "boolean", "b1"), BOOL) | dict.fromkeys(("intp", "int_", "int", "long_"), I64)
    names |= dict.fromkeys(("intc",), I32) | dict.fromkeys(("uintc",), U32) | dict.fromkeys(("uintp", "uint"), U64)
    names |= dict.fromkeys(("float", "float_", "double", "d"), F64) | dict.fromkeys(("void", "none", "None"), NONE)
    names |= {
        "single": names["float32"],
        "half": names["float16"],
        "f": names["float32"],
        "complex": names["complex128"],
    }
    return names


NAMES = _names()
_GENERIC = ("Tuple", "UniTuple", "Optional", "optional", "Array")
_TOKEN = (  # compiled by `re` when a text is first read
    r"\s*(?:(?P<name>[A-Za-z_]\w*)|(?P<number>\d+)|(?P<text>'[^']*'|\"[^\"]*\")|(?P<mark>[()\[\],:]))"
)


class _Parser:
    """Recursive descent over one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        position = 0
        while position < len(text.rstrip()):
            match = re.compile(_TOKEN).match(text, position)
            if match is None:
                start = position + len(text[position:]) - len(text[position:].lstrip())
                raise self.error(f"unexpected {text[start]!r}", start, 1)
            kind = match.lastgroup or ""
            self.tokens.append((kind, match[kind], match.start(kind)))
            position = match.end()
        self.tokens.append(("end", "", len(text.rstrip())))

    def error(self, message: str, start: int, length: int, hint: str | None = None) -> QuadrantsError:
        marks = " " * start + "^" * max(1, length)
        shown = self.text.replace("\n", " ")
        return QuadrantsError(
            Code.BAD_SIGNATURE,
            f"bad signature: {message}\n    {shown}\n    {marks}",
            hint=hint or 'a signature is written "float64(float64[:], int64)": the result, then the parameters',
        )

    def fail(self, expected: str) -> QuadrantsError:
        kind, word, start = self.tokens[self.at]
        found = "the end" if kind == "end" else repr(word)
        return self.error(f"expected {expected}, found {found}", start, len(word))

    def peek(self) -> str:
        kind, word, _ = self.tokens[self.at]
        return word if kind == "mark" else kind

    def accept(self, mark: str) -> bool:
        if self.peek() != mark:
            return False
        self.at += 1
        return True

    def expect(self, mark: str, what: str | None = None) -> None:
        if not self.accept(mark):
            raise self.fail(what or f"`{mark}`")

    def take(self, kind: str, what: str) -> tuple[str, int]:
        found, word, start = self.tokens[self.at]
        if found != kind:
            raise self.fail(what)
        self.at += 1
        return word, start

    def signature(self) -> Signature:
        """`result(params)`, `(params)`."""
        result = None if self.peek() == "(" else self.type()
        self.expect("(", "`(` and the types of the parameters")
        params = self.types(")")
        self.expect("end", "the end")
        return Signature(params, result)

    def types(self, close: str) -> tuple[Type, ...]:
        """Types with commas between them, up to the closing mark."""
        items: list[Type] = []
        while not self.accept(close):
            items.append(self.type())
            if not self.accept(","):
                self.expect(close, f"`,` or `{close}`")
                break
        return tuple(items)

    def type(self) -> Type:
        """A name, a tuple in parentheses, or a generic one; then array subscripts."""
        start = self.tokens[self.at][2]
        if self.accept("("):
            result: Type = TupleType(self.types(")"))
        else:
            word, position = self.take("name", "a type")
            result = self.generic(word) if word in _GENERIC else self.named(word, position)
        while self.peek() == "[":
            result = self.array(result, start)
        return result

    def named(self, word: str, position: int) -> Type:
        found = NAMES.get(word)
        if found is None:
            import difflib  # only a mistake needs it

            close = difflib.get_close_matches(word, [*NAMES, *_GENERIC], n=1)
            hint = f"did you mean {close[0]}?" if close else f"the names are {', '.join(SCALAR_NAMES.values())}, void"
            raise self.error(f"unknown type {word!r}", position, len(word), hint)
        return found

    def generic(self, word: str) -> Type:
        """`Tuple((a, b))`, `Tuple(a, b)`, `UniTuple(a, 3)`, `Optional(a)`, `Array(a, 2, 'C')`."""
        self.expect("(")
        if word == "Tuple":
            items = self.types(")")
            return items[0] if len(items) == 1 and isinstance(items[0], TupleType) else TupleType(items)
        item = self.type()
        result: Type
        if word == "UniTuple":
            self.expect(",")
            result = TupleType((item,) * int(self.take("number", "a length")[0]))
        elif word == "Array":
            result = self.array_call(item)
        else:
            result = OptionalType(item)
        self.expect(")")
        return result

    def array_call(self, item: Type) -> Type:
        if not isinstance(item, Scalar):
            raise self.fail("a scalar type for the elements")
        self.expect(",")
        rank = int(self.take("number", "a rank")[0])
        self.expect(",")
        layout, position = self.take("text", "a layout, 'C', 'F' or 'A'")
        if layout[1:-1] not in ("C", "F", "A"):
            raise self.error("the layout is 'C', 'F' or 'A'", position, len(layout))
        return ArrayType(item, rank, "C" if rank == 0 else layout[1:-1])

    def array(self, element: Type, start: int) -> Type:
        """`[:]`, `[:, ::1]`, ... after a scalar type."""
        opening = self.tokens[self.at][2]
        self.expect("[")
        dims: list[slice] = []
        while not self.accept("]"):
            dims.append(self.dim())
            if not self.accept(","):
                self.expect("]", "`,` or `]`")
                break
        end = self.tokens[self.at - 1][2] + 1
        if not isinstance(element, Scalar):
            raise self.error("the elements of an array are scalars", start, opening - start)
        if not dims:
            raise self.error("an array type has one `:` for each axis", opening, end - opening)
        try:
            return array_of(element, dims)
        except ValueError as problem:
            raise self.error(str(problem), opening, end - opening) from None

    def dim(self) -> slice:
        self.expect(":", "`:` or `::1`")
        if not self.accept(":"):
            return slice(None)
        word, position = self.take("number", "1")
        if word != "1":
            raise self.error("the step of a contiguous axis is 1", position, len(word))
        return slice(None, None, 1)


def parse_signature(text: str) -> Signature:
    """The signature that a text writes."""
    return _Parser(text).signature()


def parse_type(text: str) -> Type:
    """The type that a text writes."""
    parser = _Parser(text)
    result = parser.type()
    parser.expect("end", "the end")
    return result


def as_signature(spec: Any) -> Signature:
    """One signature: a `Signature`, its text, or a tuple of the parameters' types."""
    if isinstance(spec, Signature):
        return spec
    if isinstance(spec, str):
        return parse_signature(spec)
    if isinstance(spec, tuple):
        return Signature(tuple(_as_param(item) for item in spec))
    raise QuadrantsError(
        Code.BAD_SIGNATURE,
        f"{spec!r} is not a signature",
        hint='write "float64(float64[:], int64)", qd.float64(qd.float64[:], qd.int64) or (qd.float64[:], qd.int64)',
    )


def as_signatures(spec: Any) -> tuple[Signature, ...]:
    """What a decorator is given: nothing, one signature or a list of them."""
    if spec is None:
        return ()
    return tuple(map(as_signature, spec)) if isinstance(spec, list) else (as_signature(spec),)


def is_signature(spec: object) -> bool:
    """Whether a decorator's first argument is meant as a signature."""
    return isinstance(spec, (str, tuple, list, Signature))


def _as_param(spec: Any) -> Type:
    if isinstance(spec, str):
        return parse_type(spec)
    try:
        return as_type(spec)
    except TypeError as problem:
        raise QuadrantsError(
            Code.BAD_SIGNATURE, str(problem), hint="types are qd.float64, qd.int32[:], int, float, np.float32, ..."
        ) from None


__all__ = ["NAMES", "Signature", "as_signature", "as_signatures", "is_signature", "parse_signature", "parse_type"]
