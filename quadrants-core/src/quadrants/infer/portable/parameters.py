"""Annotations of parameters and results of the portable language.

Takes the walk of a function with its parameters bound; converts numbers to the annotated types (`int` and `float` are those of
`qd.init`), and what the kernel returns to what the interpreter gets: Python's numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quadrants.infer import sequences
from quadrants.infer.emitter import scalar_type
from quadrants.infer.merge import Number
from quadrants.infer.portable import names as portable_names
from quadrants.infer.portable import references, vectors
from quadrants.infer.portable.holding import held
from quadrants.infer.values import Abstract, Arr, Const, Num, Tup
from quadrants.types import Scalar
from quadrants.types.names import TypeName
from quadrants.types.promotion import representable, weak_version

if TYPE_CHECKING:
    from quadrants.infer.function import FunctionWalk

__all__ = ["convert", "result"]


def convert(w: FunctionWalk, names: tuple[str, ...]) -> None:
    """Convert the parameters to their annotated types."""
    known = dict(w.ref.annotations)
    for name in names:
        value = w.live_env.locals.get(name)
        if value is None:
            continue
        if isinstance(value, Const) and hasattr(type(value.value), "__quadrants_template_value__"):
            value = w.from_python(value.value.value, name)  # type: ignore[attr-defined]
        w.live_env.locals[name] = held(w, _converted(w, value, known.get(name)))


def _converted(w: FunctionWalk, value: Abstract, annotation: Any) -> Abstract:
    element = getattr(annotation, "element_shape", None)
    if element is not None and hasattr(type(annotation), "__quadrants_literal__"):
        value = vectors.as_value(_from_array(w, value, element))
        return portable_names.element_type(w, annotation, (value,)) if vectors.is_value(value) else value
    to = scalar_of(w, annotation)
    if to is None or scalar_type(value) is None:
        return value
    if isinstance(value, Const) and isinstance(value.value, Number) and not isinstance(value.value, bool):
        if to.is_float or not isinstance(value.value, float):
            return (
                Const(float(value.value))
                if to.is_float and not isinstance(value.value, complex)
                else _known(w, value, to)
            )
    return vectors.cast(w, value, to)


def _from_array(w: FunctionWalk, value: Abstract, shape: tuple[int, ...]) -> Abstract:
    """An array as the vector or the matrix that it is given for."""
    if not isinstance(value, Arr) or value.array.ndim != len(shape):
        return value
    rows = sequences.as_items(w, value, shape[0])
    return Tup(tuple(_from_array(w, row, shape[1:]) for row in rows))


def _known(w: FunctionWalk, value: Const, to: Scalar) -> Abstract:
    """A constant stays one where the type holds it."""
    return value if representable(value.value, to) else vectors.cast(w, value, to)  # type: ignore[arg-type]


def scalar_of(w: FunctionWalk, annotation: Any) -> Scalar | None:
    """The type of numbers that an annotation names."""
    if annotation is int:
        return w.options.default_ip
    if annotation is float:
        return w.options.default_fp
    if isinstance(annotation, TypeName) and isinstance(annotation.type, Scalar):
        return annotation.type
    return None


def result(w: FunctionWalk, value: Abstract) -> Abstract:
    """What a `return` gives: converted to the annotated type, and for the interpreter to Python's numbers."""
    value = _converted_result(w, value, dict(w.ref.annotations).get("return"))
    if w.is_entry:
        return held(w, value) if w.options.device else _for_host(w, value)  # who launches it boxes numbers as Python's
    changed = references.changed(w.ref, w.param_types)
    return references.with_changed(w, held(w, value), changed) if changed else held(w, value)


def _converted_result(w: FunctionWalk, value: Abstract, annotation: Any) -> Abstract:
    parts = getattr(annotation, "__args__", None)
    if parts and isinstance(value, Tup) and len(parts) == len(value.items) and value.named is None:
        return Tup(tuple(_converted_result(w, item, part) for item, part in zip(value.items, parts)))
    return _converted(w, value, annotation)


def _for_host(w: FunctionWalk, value: Abstract) -> Abstract:
    if isinstance(value, Num) and not value.scalar.weak:
        weak = weak_version(value.scalar)
        return Num(weak, w.cast(value, weak))
    if isinstance(value, Tup):
        return Tup(tuple(_for_host(w, item) for item in value.items), value.named)
    return value
