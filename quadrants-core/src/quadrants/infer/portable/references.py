"""Parameters that are passed by reference: those of a `qd.func` that are annotated with `qd.template()`.

Values are in registers: the function returns what its parameters hold at the end beside its result, and the caller puts that where
the arguments came from, a local or an element of a tensor. Only vectors, matrices and numbers of parameters that the function
assigns, or stores into, are returned.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quadrants.infer.emitter import Emitter
from quadrants.infer.engine import FunctionRef
from quadrants.infer.portable import tensors
from quadrants.infer.portable.holding import held, replaced
from quadrants.infer.values import Abstract, Tup
from quadrants.types import LiteralType, NamedTupleType, Scalar, Type
from quadrants.types.annotations import is_template
from quadrants.types.structs import Struct, StructArg
from quadrants.types.vectors import Value as HostValue

if TYPE_CHECKING:
    from quadrants.infer.function import FunctionWalk
    from quadrants.infer.names import ScopeWalk

__all__ = ["changed", "with_changed", "written_back"]


def changed(ref: FunctionRef, param_types: Sequence[Type]) -> tuple[int, ...]:
    """The parameters that are passed by reference and hold values, by their numbers."""
    if not _stores(ref.code):
        return ()
    known = dict(ref.annotations)
    names = ref.code.co_varnames[: len(param_types)]
    return tuple(
        k
        for k, (name, type_) in enumerate(zip(names, param_types))
        if (is_template(known.get(name)) or name == "self") and _is_value(type_)
    )


@functools.cache
def _stores(code: types.CodeType) -> bool:
    """Whether a function stores anything into a parameter, or may through a function that it calls."""
    params = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return any(
        inst.opname.startswith(("STORE_SUBSCR", "STORE_ATTR", "CALL"))
        or (inst.opname == "STORE_FAST" and inst.argval in params)
        for inst in dis.get_instructions(code)
    )


def _is_value(type_: Type) -> bool:
    if isinstance(type_, NamedTupleType):
        return issubclass(type_.cls, (HostValue, Struct)) and not issubclass(type_.cls, StructArg)
    return isinstance(type_, Scalar) or (isinstance(type_, LiteralType) and isinstance(type_.value, (int, float)))


def with_changed(w: FunctionWalk, value: Abstract, places: Sequence[int]) -> Abstract:
    """The result, with what the parameters hold now."""
    names = w.ref.code.co_varnames
    return Tup((value, *(w._readable(w.live_env.locals.get(names[k]), names[k]) for k in places)))


def written_back(emitter: Emitter, found: Abstract, places: Sequence[int], args: Sequence[Abstract]) -> Abstract:
    """The result alone; what the parameters hold is put where the arguments came from."""
    w: ScopeWalk = emitter  # type: ignore[assignment]
    assert isinstance(found, Tup)
    result, *new = found.items
    for k, value in zip(places, new):
        origin = tensors.origin_of(w, args[k])
        if origin is not None:
            tensors.store(w, origin, value)
            continue
        for name, local in w.live_env.locals.items():
            now = replaced(local, args[k], value)
            if now is not local:
                w.rebound.add(name)
                w.store_local(name, held(w, now))
                break
    return result
