"""Abstract interpretation of regions with argument types: Python functions become QIR.

Takes a Python function and the types of its arguments; gives an `InferResult`.
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Sequence
from dataclasses import replace

from quadrants.diagnostics import Code, CompileError
from quadrants.infer.binding import parameter_names
from quadrants.infer.closures import Rebox
from quadrants.infer.emitter import Options
from quadrants.infer.engine import MAX_WIDENED, Dependency, Engine, Found, FunctionRef, InferResult
from quadrants.infer.function import walk_function
from quadrants.infer.merge import Promote
from quadrants.types import NONE, Type
from quadrants.types.annotations import annotations_of
from quadrants.types.promotion import rules_of_kernels

__all__ = ["Dependency", "InferResult", "Options", "infer_module"]


def infer_module(
    function: pytypes.FunctionType,
    arg_types: Sequence[Type],
    options: Options,
    dynamic: frozenset[tuple[int, str]] = frozenset(),
    unions: bool = True,
) -> InferResult:
    """Compile a call tree to QIR.

    Args:
        function: the entry.
        arg_types: the types of its parameters in the order of its code's `co_varnames`: positional, keyword-only, then the
            tuple of `*args`.
        options: how.
        dynamic: the places (see `Dependency.place`) of numbers that change often: arguments of the code, not constants of it.
        unions: whether the paths of the entry may return different types.

    Raises:
        CompileError: the program cannot be compiled, with the place and the reason.
    """
    internal = function.__module__ is not None and function.__module__.startswith("quadrants.library")
    ref = FunctionRef(
        function.__code__, function.__globals__, function.__name__, function.__closure__ or (), internal=internal
    )
    if options.portable:
        ref = replace(ref, annotations=tuple(annotations_of(function).items()))
    assert len(arg_types) == len(parameter_names(function.__code__))
    found = Found()
    with rules_of_kernels(options.kernel):
        for _ in range(MAX_WIDENED):
            engine = Engine(options, walk_function, found)
            engine.dynamic = dynamic
            engine.unions = unions
            try:
                spec = engine.specialise(ref, tuple(arg_types), options.fp, entry=True, top=options.portable)
                break
            except (Rebox, Promote):  # of a function that has returned: it is compiled again with what was found
                continue
        else:
            raise CompileError(Code.NO_FIXPOINT, "the types of the lists and variables do not settle")
    module = engine.finish(spec)
    return InferResult(
        module,
        tuple(arg_types),
        NONE if spec.result is None else spec.result,
        tuple(engine.dependencies.values()),
        tuple(array for array, _ in engine.hidden.values()),
        tuple(type_ for _, type_ in engine.hidden.values()),
        tuple(engine.decisions),
    )
