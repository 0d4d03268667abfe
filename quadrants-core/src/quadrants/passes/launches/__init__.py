"""Makes the host's part of a portable kernel: structured control flow over launches, each of a kernel of its own.

`run` takes a module whose entry is a function of the portable language, with its parallel loops in it and in what it calls outside
of loops; gives the same module, in place: the entry is a function of the host that only computes with numbers, launches kernels and
reads back what it cannot go on without; everything else is of the device level. A parallel loop is a kernel over its turns; what
lies between loops and touches memory is a kernel of one thread. Numbers that go from one kernel to another are kept in memory of
the device: the entry takes an array more for each type of them (see `Scratch`).
"""

from __future__ import annotations

from quadrants.ir import Function, Module, Op
from quadrants.passes import bounds, if_convert, parallel_loops, simplify
from quadrants.passes.context import PassContext
from quadrants.passes.launches import leaving
from quadrants.passes.launches.inline import inline
from quadrants.passes.launches.split import Scratch, Splitter, Widths

__all__ = ["Scratch", "Widths", "run"]


def run(module: Module, context: PassContext, widths: Widths) -> Scratch:
    """Split the entry of a module. Gives the arrays that it takes at its end."""
    entry = module.functions[module.entry]
    for function in module.functions.values():
        simplify.run(function, context)
    inline(module)
    for apply in (
        simplify.run,
        if_convert.run,
        simplify.again,
        bounds.run,
        simplify.again,
        parallel_loops.plain_updates,
    ):
        apply(entry, context)
    leaving.run(entry)
    scratch = Splitter(module, entry, context, widths).run()
    for name in list(module.functions):
        if name != module.entry and name not in reached_by(module, kernels_of(entry)):
            del module.functions[name]
    for name, function in module.functions.items():
        if name != module.entry:
            function.attrs.pop("portable", None)
            function.attrs["level"] = "device"
    return scratch


def kernels_of(entry: Function) -> list[str]:
    """The kernels that a host function launches, in the order of the text."""
    return list(dict.fromkeys(str(op.attrs["callee"]) for op in launches_of(entry)))


def launches_of(entry: Function) -> list[Op]:
    """The launches of a host function."""
    return [op for op in entry.body.walk() if op.name == "launch"]


def reached_by(module: Module, names: list[str]) -> set[str]:
    """Functions, and what they call."""
    found, work = set(names), list(names)
    while work:
        for op in module.functions[work.pop()].body.walk():
            callee = str(op.attrs["callee"]) if op.name == "call" else None
            if callee is not None and callee not in found:
                found.add(callee)
                work.append(callee)
    return found
