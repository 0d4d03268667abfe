"""The passes for loops that run on several threads, loaded where there is something for them to do: most functions have none.

Takes and gives QIR, as the passes that it stands for: `plain_atomics`, `parallelise` and `private_atomics`.
"""

from __future__ import annotations

from quadrants.ir import Function
from quadrants.passes.context import PassContext


def plain_updates(function: Function, context: PassContext) -> None:
    """Updates of elements that no other turn writes need not be atomic."""
    if function.attrs.get("portable"):
        from quadrants.passes import plain_atomics

        plain_atomics.run(function, context)


def run(function: Function, context: PassContext) -> None:
    """Loops that are declared parallel, or may be made so."""
    declared = (op for op in function.body.walk() if op.name == "for" and op.attrs.get("parallel"))
    if context.options.parallel or any(declared):
        from quadrants.passes import parallelise

        parallelise.run(function, context)


def private_updates(function: Function, context: PassContext) -> None:
    """Updates of one element by all turns of a chunk become one."""
    if function.name in context.outlined:
        from quadrants.passes import private_atomics

        private_atomics.run(function, context)
