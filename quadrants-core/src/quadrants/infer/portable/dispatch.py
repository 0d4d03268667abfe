"""Where the walk asks whether an operation is one of the portable language.

Each function takes the walk and the operands; gives the result, or None (False for statements) where the operation is as elsewhere.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quadrants.bytecode import nodes
from quadrants.bytecode.opcode import Inst, Opcode
from quadrants.diagnostics import Code
from quadrants.infer.emitter import describe, fail, scalar_type
from quadrants.infer.portable import structs, tensors, vectors
from quadrants.infer.portable.holding import rebind
from quadrants.infer.portable.structs import Element
from quadrants.infer.portable.vectors import Origin
from quadrants.infer.values import Abstract, Arr, Const, Method, Num, Tup

if TYPE_CHECKING:
    from quadrants.infer.instructions import InstructionWalk

Args = tuple[Abstract, ...]


class _Stored:
    """Stands for the value of an update in place that memory has already."""


STORED = Const(_Stored())

#: Functions of numbers that are applied to each element of a vector.
_ELEMENTWISE = frozenset((builtins.abs, builtins.int, builtins.float, builtins.bool, builtins.round, builtins.pow))


def names() -> Mapping[str, Any]:
    """The table of names, loaded by the first call of one."""
    from quadrants.infer.portable.names import PORTABLE

    return PORTABLE


# Calls


def call(w: InstructionWalk, target: object, args: Args, keywords: dict[str, Abstract]) -> Abstract | None:
    """A call of something that vectors make different, or of a type of vectors."""
    if hasattr(type(target), "__quadrants_key__") and hasattr(target, "members"):
        return structs.construct(w, target, args, keywords)
    if hasattr(target, "element_shape") and hasattr(type(target), "__quadrants_literal__"):
        from quadrants.infer.portable.names import element_type

        return element_type(w, target, args)
    if target is builtins.float and len(args) == 1 and scalar_type(w.unwrap(args[0])) is not None:
        value = w.unwrap(args[0])
        return None if isinstance(value, Const) else vectors.cast(w, value, w.options.default_fp)
    if keywords or not any(vectors.is_value(arg) for arg in args):
        return None
    if target in (builtins.min, builtins.max) and len(args) > 1:
        from quadrants.infer.portable import methods

        return methods.extreme(w, target.__name__, *args)  # type: ignore[attr-defined]
    if _is_elementwise(target):
        return vectors.elementwise(w, lambda *xs: w.call_value(Const(target), xs, {}), *args)
    return None


def _is_elementwise(target: object) -> bool:
    from quadrants.infer.convert import scalar_class

    try:
        known = target in _ELEMENTWISE
    except TypeError:
        return False
    return known or scalar_class(target) is not None or getattr(math, getattr(target, "__name__", ""), None) is target


def method(w: InstructionWalk, owner: Abstract, name: str, args: Args, keywords: dict[str, Abstract]) -> Abstract:
    """A method of a vector or a matrix, or of a struct."""
    if structs.is_struct(owner):
        return structs.method(w, owner, name, args, keywords)  # type: ignore[arg-type]
    from quadrants.infer.portable.methods import METHODS

    if name == "fill" and len(args) == 1:
        rebind(w, owner, vectors.updated(w, owner, (), args[0]), "fill()")
        return Const(None)
    found = METHODS.get(name)
    if found is None:
        fail(
            Code.NO_ATTRIBUTE, f"vectors and matrices have no method '{name}'", hint=f"They have {', '.join(METHODS)}."
        )
    try:
        return found(w, owner, *map(vectors.as_value, args), **keywords)
    except TypeError as problem:
        if "argument" not in str(problem):
            raise
        fail(Code.BAD_ARGUMENTS, f"{name}() does not take {len(args) + len(keywords)} arguments")


# Elements


def get_item(w: InstructionWalk, base: Abstract, index: Abstract) -> Abstract | None:
    """`base[index]`."""
    if tensors.is_tensor(base):
        return tensors.get_item(w, base, index)
    if isinstance(base, Tup) and structs.is_field(base):
        return structs.load(w, base, index)
    if isinstance(base, Tup) and vectors.is_value(base):
        element = vectors.get_item(w, base, index)
        _note_origin(w, base, element, vectors.index_items(index))
        return element
    if not isinstance(base, Arr):
        return None
    items = tensors.plain_index(w, base, index)
    if items is None or len(items) != base.array.ndim:
        return None
    from quadrants.infer import indexing

    found = indexing.load(w, base, [w.integer(item) for item in items])
    w.loaded[id(found)] = (found, lambda: tensors.origin_in(w, base, items))
    return found


def set_item(w: InstructionWalk, base: Abstract, index: Abstract, value: Abstract) -> bool:
    """`base[index] = value`."""
    if value is STORED:
        return True
    if tensors.is_tensor(base):
        tensors.set_item(w, base, index, value)
        return True
    if isinstance(base, Tup) and structs.is_field(base):
        structs.store(w, base, index, value)
        return True
    if isinstance(base, Tup) and vectors.is_value(base):
        items = vectors.index_items(index)
        if isinstance(base.origin, Origin):
            return _store_part(w, base, items, value)
        rebind(w, base, vectors.updated(w, base, items, value), "a store into its element")
        return True
    if isinstance(base, Arr):
        return _set_plain(w, base, index, value)
    return False


def _store_part(w: InstructionWalk, base: Tup, items: Args, value: Abstract) -> bool:
    origin = base.origin
    assert isinstance(origin, Origin)
    if all(scalar_type(item) is not None for item in items):
        tensors.store(w, Origin(origin.tensor, origin.places, (*origin.path, *items)), value)
    else:
        tensors.store(w, origin, vectors.updated(w, base, items, value))
    return True


def _set_plain(w: InstructionWalk, base: Arr, index: Abstract, value: Abstract) -> bool:
    """Indices that are vectors or lists, and `x[None]`, on a plain array."""
    items = tensors.plain_index(w, base, index)
    if items is None or len(items) != base.array.ndim:
        return False
    from quadrants.infer import indexing

    indexing.refuse_readonly(w, base)
    indexing.store(w, base, [w.integer(item) for item in items], value)
    return True


def augment(w: InstructionWalk, symbol: str, right: Abstract) -> bool:
    """`base[index] symbol= right` and `base.name symbol= right`, where memory is updated; the value on the stack is replaced."""
    stack, following = w.live_env.stack, _following(w)
    if following is Opcode.STORE_SUBSCR:
        base, index = w.unwrap(stack[-3]), w.unwrap(stack[-2])
    elif following is Opcode.STORE_ATTR and isinstance(stack[-2], Tup) and vectors.is_vector(stack[-2]):
        base, index = stack[-2], _letter(w)
    elif following is Opcode.STORE_ATTR and isinstance(stack[-2], Tup) and isinstance(stack[-2].origin, Element):
        base, index = _member(w, stack[-2]), stack[-2].origin.index
    else:
        return False
    shared = w.parallel_depth > 0 or not w.spec.top
    if not shared or not tensors.augment(w, base, index, symbol, right):
        return False
    stack[-1] = STORED
    return True


def _letter(w: InstructionWalk) -> Abstract:
    """The element that the attribute of the store behind an update names."""
    name = _stored_name(w)
    return Const(vectors.LETTERS.get(name, len(name) + 64))


def _stored_name(w: InstructionWalk) -> str:
    """The attribute that the store behind an update names."""
    insts = [inst for inst in w._insts[w._position + 1 :] if isinstance(inst, Inst)]
    return next(str(inst.arg) for inst in insts if inst.op is Opcode.STORE_ATTR)


def _member(w: InstructionWalk, struct: Tup) -> Abstract:
    """The tensor of the member that the store behind an update names."""
    assert isinstance(struct.origin, Element) and struct.named is not None
    name = _stored_name(w)
    if name not in struct.named[0]:
        fail(Code.NO_ATTRIBUTE, f"{describe(struct)} has no member '{name}'")
    return struct.origin.field.items[struct.named[0].index(name)]


def _following(w: InstructionWalk) -> Opcode | None:
    """What stores the result of an update, if it goes into an element or an attribute."""
    for inst in w._insts[w._position + 1 :]:
        assert isinstance(inst, Inst)
        if inst.op is not Opcode.SWAP:
            return inst.op
    return None


# Attributes


def get_attr(w: InstructionWalk, value: Abstract, name: str) -> Abstract | None:
    """`v.x`, `tensor.shape`, methods."""
    if tensors.is_tensor(value):
        return tensors.get_attr(w, value, name)
    if isinstance(value, Tup) and (structs.is_struct(value) or structs.is_field(value)):
        return structs.get_attr(w, value, name)
    from quadrants.infer.portable import methods

    assert isinstance(value, Tup)
    found = methods.get_attr(w, value, name)
    if found is None:
        if name not in (*methods.METHODS, "fill"):
            hint = f"They have {', '.join((*methods.METHODS, 'fill'))}, and their elements by letters."
            fail(Code.NO_ATTRIBUTE, f"{describe(value)} has no '{name}'", hint=hint)
        return Method(value, name)
    if len(name) == 1 and name in vectors.LETTERS:
        _note_origin(w, value, found, (Const(vectors.LETTERS[name]),))
    return found


def _note_origin(w: InstructionWalk, value: Tup, element: Abstract, items: Args) -> None:
    """Remember where an element of a loaded vector is kept, for atomic operations on it."""
    origin = value.origin
    if isinstance(origin, Origin) and isinstance(element, Num):
        place = Origin(origin.tensor, origin.places, (*origin.path, *items))
        w.loaded[id(element)] = (element, lambda: place)


def set_attr(w: InstructionWalk, owner: Abstract, name: str, value: Abstract) -> bool:
    """`v.x = value`, `v.xy = value`."""
    if value is STORED:
        return True
    if isinstance(owner, Tup) and structs.is_struct(owner):
        structs.set_attr(w, owner, name, value)
        return True
    if not isinstance(owner, Tup) or not vectors.is_vector(owner):
        return False
    if any(letter not in vectors.LETTERS for letter in name):
        fail(Code.NO_ATTRIBUTE, f"{describe(owner)} has no elements '{name}'")
    parts = (value,) if len(name) == 1 else vectors.items_of(vectors.as_value(value))
    if len(parts) != len(name):
        fail(Code.TYPE_MISMATCH, f"{len(parts)} values are put into the {len(name)} elements '{name}'")
    if isinstance(owner.origin, Origin):
        for letter, part in zip(name, parts):
            _store_part(w, owner, (Const(vectors.LETTERS[letter]),), part)
        return True
    new: Abstract = owner
    for letter, part in zip(name, parts):
        new = vectors.updated(w, new, (Const(vectors.LETTERS[letter]),), part)
    rebind(w, owner, new, "a store into its element")
    return True


# Loops


def loop_over(w: InstructionWalk, node: nodes.For, iterable: Abstract) -> bool:
    """A `for` over what this language walks in its own way."""
    from quadrants.infer.portable import loops

    parallel = w.spec.top and w.loop_depth == 0 and not w.serialize_next
    w.serialize_next = False
    block, w.block_next = w.block_next, 0
    done = loops.loop_over(w, node, iterable, parallel)
    if done and parallel and block and w.b.region.ops and w.b.region.ops[-1].attrs.get("parallel"):
        w.b.region.ops[-1].attrs["block"] = block
    return done
