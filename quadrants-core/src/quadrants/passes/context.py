"""What a pass is given besides the function: options, and the place for its decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.diagnostics import Decision, DecisionKind, SourceLocation
from quadrants.ir import Function, Module, Op
from quadrants.types import Scalar


@frozen
class PassOptions:
    """What the pipeline may do.

    Args:
        bounds_checks: whether indices are checked; without, an index out of range is undefined.
        version_loops: whether loops may be doubled, one version without checks behind a guard.
        polls: whether running code looks for Ctrl-C.
        parallel: whether loops that are declared parallel, or proven independent, run on several threads.
        parallel_work: nanoseconds of work, as estimated, below which a loop stays in its thread.
        verify: whether the module is verified after every pass.
        vector_bits: the size of the target's largest vector registers; 0: no loop is put into lanes.
        vector_functions: the elementary functions that lowering has for lanes, by name and bits.
        exact_state: whether arrays never hold results of turns behind one that raised.
        tile: rows and columns of the result that the kernel of a type of numbers keeps in registers; None: there are no kernels.
    """

    bounds_checks: bool = True
    version_loops: bool = True
    polls: bool = True
    parallel: bool = False
    parallel_work: int = 20_000
    verify: bool = False
    vector_bits: int = 0
    vector_functions: frozenset[tuple[str, int]] = frozenset()
    exact_state: bool = False
    tile: Callable[[Scalar], tuple[int, int]] | None = None


@record
class PassContext:
    """The state of one run of the pipeline over one module."""

    module: Module
    options: PassOptions
    decisions: list[Decision] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)  # functions that a pass left something to simplify in
    outlined: set[str] = field(default_factory=set)  # functions that `parallelise` made of loops
    silent: set[str] | None = None  # see `parallelise`: the functions that must not raise
    looped: set[str] | None = None  # see `parallelise`: the functions that loops call
    polling: tuple[set[str], set[str]] | None = None  # see `polls`: the functions that must not raise; those that loop

    def note(
        self,
        pass_name: str,
        kind: DecisionKind,
        function: Function,
        op: Op | None,
        code: str,
        text: str,
        detail: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Record a decision about an op of a function; decisions inside the library's own functions are not reported."""
        if function.scope.internal:
            return
        self.decisions.append(Decision(pass_name, kind, location_of(function, op), code, text, tuple(detail)))


#: A pass over one function.
FunctionPass = Callable[[Function, PassContext], None]


def location_of(function: Function, op: Op | None) -> SourceLocation:
    """Where an op comes from; the function's first line if the op has no place of its own."""
    scope = function.scope
    loc = op.loc if op is not None else None
    if loc is None:
        return SourceLocation(scope.filename, scope.firstlineno, function=scope.qualname)
    return SourceLocation(
        scope.filename, loc.line, loc.col, loc.end_line or None, loc.end_col or None, function=scope.qualname
    )
