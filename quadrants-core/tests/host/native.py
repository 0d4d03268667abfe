"""Hand-written kernels behind real entries, for the tests of the call path."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from quadrants.host.codegen import compile_ir
from quadrants.host.entry import emit_entry
from quadrants.host.layout import native_call_supported
from quadrants.host.native_type import (
    DispatcherBase,
    Loaded,
    Parameters,
    Retry,
    install,
    load_specialisation,
    make_dispatcher_type,
)
from quadrants.host.spec import Dependency, EntrySpec
from quadrants.lower import abi
from quadrants.lower.abi import Lowered, Site
from quadrants.types import Type

_numbers = itertools.count()


class Miss(Exception):
    """No specialisation took the arguments."""


class _Base(DispatcherBase):
    """Counts misses; compiles nothing by itself."""

    __slots__ = ()

    def __init__(self, function: Callable[..., Any], on_miss: Callable[..., Any] | None = None) -> None:
        self.py_func = function
        self._parameters = Parameters.of(function)  # type: ignore[arg-type]
        self.misses: list[tuple[Any, ...]] = []
        self.on_miss = on_miss

    def _miss(self, arguments: tuple[Any, ...], retried: bool) -> object:
        self.misses.append(arguments)
        if self.on_miss is not None:
            return self.on_miss(self, arguments, retried)
        return ("missed", *arguments)


Dispatcher = make_dispatcher_type(_Base)


def function_of(count: int) -> Callable[..., Any]:
    """A Python function with so many positional parameters."""
    return [lambda: 0, lambda a: 0, lambda a, b: 0, lambda a, b, c: 0, lambda a, b, c, d: 0, lambda a, b, c, d, e: 0][
        count
    ]


def parameters(types: Sequence[Type]) -> list[str]:
    """The parameter list of a kernel: %ctx, then %p0, %p1, ... by component."""
    return ["ptr %ctx", *(f"{kind} %p{i}" for i, kind in enumerate(abi.all_components(types)))]


def kernel_text(name: str, types: Sequence[Type], result: Type, body: str) -> str:
    """A kernel whose body stores the results through %r0, %r1, ... and returns a status."""
    outs = [f"ptr %r{i}" for i in range(len(abi.all_components([result])))]
    return f'define internal i32 @"{name}"({", ".join((*parameters(types), *outs))}) {{\n{body}\n}}\n'


def load_kernel(
    types: Sequence[Type],
    result: Type,
    body: str,
    *,
    sites: Sequence[Site] = (),
    classes: Sequence[Any] = (),
    hidden_objects: Sequence[object] = (),
    dependencies: Sequence[Dependency] = (),
    extra: str = "",
    declarations: dict[str, str] | None = None,
    **spec_fields: Any,
) -> Loaded:
    """Compile and load a kernel with its entry."""
    name = f"test{next(_numbers)}"
    spec_fields.setdefault("native", native_call_supported())
    spec = EntrySpec(name, f"{name}.kernel", tuple(types), result, **spec_fields)
    all_types = (*types, *(hidden.type for hidden in spec.hidden))
    lowered = Lowered(
        kernel_text(spec.kernel, all_types, result, body) + extra, declarations or {}, tuple(sites), tuple(classes)
    )
    entry = emit_entry(spec)
    data = compile_ir(lowered.full_text(entry.text, entry.declarations)).object_bytes
    return load_specialisation(data, spec, sites, classes, hidden=hidden_objects, dependencies=dependencies)


def make(
    types: Sequence[Type], result: Type, body: str, *, function: Callable[..., Any] | None = None, **fields: Any
) -> Any:
    """A dispatcher with one specialisation."""
    dispatcher = Dispatcher(function or function_of(len(types)))
    install(dispatcher, load_kernel(types, result, body, **fields))
    return dispatcher


def identity(type: Type) -> str:
    """The body of a kernel that returns its parameter."""
    lines = []
    for i, kind in enumerate(abi.all_components([type])):
        if kind == "i1":
            lines.append(f"  %b{i} = zext i1 %p{i} to i8\n  store i8 %b{i}, ptr %r{i}")
        else:
            lines.append(f"  store {kind} %p{i}, ptr %r{i}")
    return "\n".join((*lines, "  ret i32 0"))


def took(dispatcher: Any, *arguments: object) -> bool:
    """Whether a call ran natively."""
    before = len(dispatcher.misses)
    dispatcher(*arguments)
    return len(dispatcher.misses) == before


__all__ = ["Dispatcher", "Miss", "Retry", "identity", "install", "load_kernel", "make", "took"]
