"""Annotations of parameters: `qd.template()`, `qd.types.ndarray()`, `qd.Tensor`, types of numbers and vectors.

Takes a function; gives what its parameters are annotated with, texts evaluated. What an annotation asks for is done by
inference (`infer.portable.parameters`): here are the objects.
"""

from __future__ import annotations

import inspect
from typing import Any


class Template:
    """The annotation of a parameter whose value is a part of the code; in a `qd.func`, of one that is passed by reference."""

    __quadrants_template__ = True

    def __call__(self) -> Template:
        return self

    def __or__(self, other: Any) -> Template:
        return self

    __ror__ = __or__

    def __repr__(self) -> str:
        return "template()"


class ArrayAnnotation:
    """The annotation of a parameter that is an array or a tensor. What it says is not checked: any array is compiled for."""

    def __init__(self, dtype: Any = None, ndim: int | None = None, **options: Any) -> None:
        self.dtype, self.ndim, self.options = dtype, ndim, options

    def __call__(self, dtype: Any = None, ndim: int | None = None, **options: Any) -> ArrayAnnotation:
        return ArrayAnnotation(dtype, ndim, **options)

    def __getitem__(self, parts: Any) -> ArrayAnnotation:
        return ArrayAnnotation(*(parts if isinstance(parts, tuple) else (parts,)))

    def __or__(self, other: Any) -> ArrayAnnotation:
        return self

    __ror__ = __or__

    def __repr__(self) -> str:
        return "ndarray()"


def is_template(annotation: Any) -> bool:
    """Whether a parameter is a part of the code."""
    return hasattr(type(annotation), "__quadrants_template__") or annotation is Template


def annotations_of(function: Any) -> dict[str, Any]:
    """The annotations, texts evaluated where they can be."""
    try:
        return inspect.get_annotations(function, eval_str=True)
    except (NameError, AttributeError, TypeError, SyntaxError):  # a name that only type checkers, or a closure, know
        return {name: _evaluated(function, value) for name, value in inspect.get_annotations(function).items()}


def _evaluated(function: Any, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    try:
        known = {name: cell.cell_contents for name, cell in cells}
        return eval(value, function.__globals__, known)
    except (NameError, AttributeError, TypeError, SyntaxError):
        return None


template = Template()
ndarray = ArrayAnnotation()


def annotations_of_class(cls: type) -> dict[str, Any]:
    """The annotated members of a class, texts evaluated where the names are known in its module."""
    try:
        return inspect.get_annotations(cls, eval_str=True)
    except (NameError, AttributeError, TypeError, SyntaxError):
        return dict(inspect.get_annotations(cls))
