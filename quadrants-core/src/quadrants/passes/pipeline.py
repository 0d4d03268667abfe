"""The list of passes, in order, and its one runner.

Takes a module that the verifier accepts, of the level of the front end; gives the same module, in place, ready for
lowering: without maps, with reference counts, with as few checks as could be proven away; and the decisions that were
taken.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants.diagnostics import Decision
from quadrants.ir import Module
from quadrants.passes import (
    bounds,
    chains,
    contractions,
    expand_maps,
    hoist_checks,
    idioms,
    if_convert,
    interchange,
    lanes,
    ownership,
    parallel_loops,
    partials,
    polls,
    reductions,
    simplify,
    split_borders,
    spmd,
    stack_arrays,
    version_loops,
)
from quadrants.passes.context import FunctionPass, PassContext, PassOptions

PASSES: tuple[FunctionPass, ...] = (
    simplify.run,
    expand_maps.run,
    if_convert.run,
    idioms.run,
    simplify.again,
    bounds.run,
    hoist_checks.run,
    simplify.again,
    parallel_loops.plain_updates,
    version_loops.run,
    parallel_loops.run,
    parallel_loops.private_updates,
    split_borders.run,
    simplify.again,
    contractions.run,
    interchange.run,
    lanes.run,
    reductions.run,
    chains.run,
    stack_arrays.run,
    spmd.run,
    partials.run,
    polls.run,
    ownership.run,
)


#: What kernels go through before the passes of their device: nothing that copies code.
DEVICE_PASSES: tuple[FunctionPass, ...] = (
    simplify.run,
    expand_maps.run,
    if_convert.run,
    simplify.again,
    bounds.run,
    simplify.again,
    stack_arrays.run,
)


def run_device(module: Module, options: PassOptions | None = None) -> list[Decision]:
    """Run the passes that all devices share over the functions of a kernel."""
    context = PassContext(module, options or PassOptions())
    for apply in DEVICE_PASSES:
        for function in module.functions.values():
            apply(function, context)
        if context.options.verify:
            _verify(module)
    return context.decisions


def _verify(module: Module) -> None:
    from quadrants.ir.spec import verify  # loaded where it is asked for: in tests

    verify(module)


def run(
    module: Module, options: PassOptions | None = None, mark: Callable[[str], None] | None = None
) -> list[Decision]:
    """Run every pass over every function of the module. `mark` is told the name of each pass when it ends."""
    context = PassContext(module, options or PassOptions())
    for apply in PASSES:
        for function in list(module.functions.values()):  # some add functions
            apply(function, context)
        if mark is not None:
            mark(apply.__module__.rpartition(".")[2])
        if context.options.verify:
            _verify(module)
    return context.decisions
