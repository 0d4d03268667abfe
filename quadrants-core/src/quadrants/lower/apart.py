"""A loop as a function of its own, which LLVM hardly optimises: for loops that run only to raise.

Takes a loop op and how it is emitted in place; gives the call in its place, and the function as a helper of the module. Its
parameters are what the loop uses from outside, by the same names; it returns the status, then the results. Legal where
nothing inside leaves the loop but by its end or by an exception, and nothing that it uses has an address in the frame.
"""

from __future__ import annotations

from collections.abc import Iterator

from quadrants.ir.core import Op, Value
from quadrants.lower.abi import all_components, components, symbol
from quadrants.lower.calls import finish, result_text, return_by_value, unpack
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.types import ArrayType, RefType

_ATTRIBUTES = "noinline optnone cold nounwind"
_JUMPS = ("break", "continue")
#: The owner of an array that is in the frame.
_NOBODY = "null"


def possible(e: FunctionEmitter, loop: Op) -> bool:
    """Whether the loop may be set apart. An address that is passed on would keep LLVM from using registers for what is there."""
    if e.handling:
        return False
    inner = list(loop.regions[0].walk())
    labels = {op.attrs.get("label") for op in (loop, *inner) if op.regions}
    if any(op.name == "return" or (op.name in _JUMPS and op.attrs["label"] not in labels) for op in inner):
        return False
    return not any(_in_frame(e, value) for value in _used(loop))


def _in_frame(e: FunctionEmitter, value: Value) -> bool:
    if isinstance(value.type, ArrayType):
        return e.get(value)[1] == _NOBODY
    return isinstance(value.type, RefType)


def emit(e: FunctionEmitter, loop: Op, here: Emitter) -> None:
    """Call the function instead of running the loop; exceptions go on from there, what they release being released."""
    name = symbol(f"{e.function.name}.{e.label('apart')}")
    names = dict(_names(e, loop))
    types = all_components(result.type for result in loop.results)
    text = result_text([result.type for result in loop.results], raising=True)
    e.module.helpers[name] = _function(e, loop, here, name, names)
    given = ", ".join(("ptr %ctx", *(f"{type} {part}" for part, type in names.items())))
    status, *parts = unpack(e, e.let(f"call {text} {name}({given})"), text, len(types) + 1)
    failed = e.branch(e.let(f"icmp eq i32 {status}, 0"), "raised")
    with e.cold_block(failed):
        e.leave(status, ())
    e.define(loop.results, parts)


def _function(e: FunctionEmitter, loop: Op, here: Emitter, name: str, names: dict[Text, str]) -> str:
    inner = e.inside()
    here(inner, loop)
    types = all_components(result.type for result in loop.results)
    return_by_value(inner, inner.all(loop.results), types, raising=True)
    text = result_text([result.type for result in loop.results], raising=True)
    params = ", ".join(("ptr noalias noundef %ctx", *(f"{type} {part}" for part, type in names.items())))
    return finish(inner, f"define internal {text} {name}({params}) {_ATTRIBUTES}", text)


def _names(e: FunctionEmitter, loop: Op) -> Iterator[tuple[Text, str]]:
    """The names that the loop uses, with their types; constants are written where they are used."""
    for value in _used(loop):
        for part, type in zip(e.get(value), components(value.type)):
            if part.startswith("%"):
                yield part, type


def _used(loop: Op) -> list[Value]:
    """The values from outside, in order."""
    inside: set[Value] = set()
    used: dict[Value, None] = {}

    def look(op: Op) -> None:
        used.update((value, None) for value in (*op.operands, *op.cleanup) if value not in inside)
        for region in op.regions:
            inside.update(region.args)
            for inner in region.ops:
                look(inner)
                inside.update(inner.results)

    look(loop)
    return list(used)
