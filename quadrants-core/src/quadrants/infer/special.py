"""Operators that the class of a named tuple defines: `__add__`, `__radd__`, `__eq__`, `__getitem__` and so on.

Takes an operator and its operands; gives the result of the special method, or None where no class defines one (or it returned
NotImplemented), so that the operation of plain tuples and numbers follows.
"""

from __future__ import annotations

from quadrants.infer import attributes
from quadrants.infer.emitter import Emitter
from quadrants.infer.values import Abstract, Arr, Const, Tup

_BINARY = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "<<": "lshift",
    ">>": "rshift",
    "&": "and",
    "|": "or",
    "^": "xor",
}
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
#: A comparison and the one with its operands exchanged.
_COMPARISONS = {
    "==": ("__eq__", "__eq__"),
    "!=": ("__ne__", "__ne__"),
    "<": ("__lt__", "__gt__"),
    "<=": ("__le__", "__ge__"),
    ">": ("__gt__", "__lt__"),
    ">=": ("__ge__", "__le__"),
}


def call(w: Emitter, name: str, value: Abstract, *others: Abstract) -> Abstract | None:
    """`value.name(*others)` if the class of a named tuple defines the method."""
    function = attributes.class_function(value, name)
    if function is None:
        return None
    assert isinstance(value, Tup) and value.named is not None
    method = w.from_attribute(value.named[1], name, function)  # type: ignore[attr-defined]
    result: Abstract = w.call_value(method, (value, *others), {})  # type: ignore[attr-defined]
    return None if isinstance(result, Const) and result.value is NotImplemented else result


def binary(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract | None:
    """`x symbol y`."""
    name = _BINARY[symbol]
    return _either(w, f"__{name}__", f"__r{name}__", x, y)


def inplace(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract | None:
    """`x symbol= y`, unless it is `x = x symbol y`."""
    return call(w, f"__i{_BINARY[symbol]}__", x, y)


def unary(w: Emitter, symbol: str, value: Abstract) -> Abstract | None:
    """`-x`, `+x`, `~x`."""
    return call(w, _UNARY[symbol], value)


def compare(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract | None:
    """`x symbol y` of a comparison operator."""
    return _either(w, *_COMPARISONS[symbol], x, y)


def _either(w: Emitter, name: str, reflected: str, x: Abstract, y: Abstract) -> Abstract | None:
    """The left operand's method, then the right one's; the right one's first if its class is below the left one's."""
    if isinstance(x, Arr):
        return None  # an array takes a tuple as an array
    left, right = _class(x), _class(y)
    first = right is not None and left is not None and right is not left and issubclass(right, left)
    found = call(w, reflected, y, x) if first else call(w, name, x, y)
    if found is None:
        found = call(w, name, x, y) if first else call(w, reflected, y, x)
    return found


def _class(value: Abstract) -> type | None:
    return value.named[1] if isinstance(value, Tup) and value.named is not None else None
