"""Which types the entry function may return: those that have a Python object.

Takes the type of the result; raises a compile error that says what to do instead for a type that exists only in compiled code.
"""

from __future__ import annotations

from quadrants.diagnostics import Code
from quadrants.infer.describe import type_name
from quadrants.infer.emitter import fail
from quadrants.infer.values import ClosureType, DisplayType, FunctionsType, SequenceType
from quadrants.types import EXC, OptionalType, TupleType, Type, UnionType

_HINT_ARRAY = "Return an array or a tuple."

_ONLY_COMPILED: dict[type[Type], tuple[Code, str]] = {
    DisplayType: (Code.BAD_RETURN, _HINT_ARRAY),
    FunctionsType: (Code.ESCAPING_FUNCTION, "Return the values, and choose the function in Python."),
    ClosureType: (Code.ESCAPING_FUNCTION, "Return the values, and make the function in Python."),
    SequenceType: (Code.BAD_RETURN, _HINT_ARRAY),
    type(EXC): (Code.BAD_RETURN, "Raise it, or return a number that says what went wrong."),
}


def check_returnable(function: str, result: Type) -> None:
    """Raise CompileError if a value of the type cannot leave compiled code."""
    for part in _parts(result):
        if isinstance(part, SequenceType) and part.kind == "generator":
            fail(
                Code.UNSUPPORTED_GENERATOR,
                f"{function}() cannot return a generator: its items are made where they are consumed",
                hint="Return list(...) of it.",
            )
        if type(part) in _ONLY_COMPILED:
            code, hint = _ONLY_COMPILED[type(part)]
            fail(code, f"{function}() cannot return {type_name(part)}: it exists only in compiled code", hint=hint)


def _parts(result: Type) -> list[Type]:
    """The type, and the types that it is made of."""
    if isinstance(result, (TupleType, UnionType)):
        return [result, *(part for item in result.items for part in _parts(item))]
    return [result, *_parts(result.item)] if isinstance(result, OptionalType) else [result]
