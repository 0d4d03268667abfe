"""Joining types where control flow meets, and converting values to the joined type.

`join_types` is monotone and commutative; `convert` emits what is needed to turn a value of one of the joined types into the
result. Types that do not unify give a `ConflictType`, which is an error only when the variable is read afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from quadrants.diagnostics import Code, CompileError
from quadrants.infer.dicts import DictDisplay, DictType
from quadrants.infer.listtypes import EMPTY, EmptyType, holds
from quadrants.infer.values import (
    Abstract,
    Arr,
    Choice,
    ClosureType,
    Conflict,
    ConflictType,
    Const,
    DisplayType,
    Functions,
    FunctionsType,
    List,
    ListDisplay,
    Maybe,
    MaybeType,
    Num,
    Opt,
    Sequence_,
    SequenceType,
    SliceValue,
    Tup,
    rebuild,
)
from quadrants.ir import Value
from quadrants.ir.builder import Builder
from quadrants.types import (
    OBJECT,
    STR,
    ArrayType,
    ChoiceType,
    FormatType,
    ListType,
    LiteralType,
    NamedTupleType,
    NoneType,
    ObjectType,
    OptionalType,
    Scalar,
    SliceType,
    StrType,
    TupleType,
    Type,
)
from quadrants.types.promotion import join, representable, weak_of

Number = (bool, int, float, complex)

#: A variable that may be one of more strings than these is any string.
MAX_CHOICES = 16


class Promote(Exception):
    """A list display has to be a run-time list from the start: the function is walked again (see `lists`)."""

    def __init__(self, site: object, item: Type) -> None:
        super().__init__(site)
        self.site = site
        self.item = item


def is_number_literal(type_: Type) -> bool:
    return isinstance(type_, LiteralType) and isinstance(type_.value, Number)


def is_text_type(type_: Type) -> bool:
    """Whether values of the type are strings."""
    return isinstance(type_, (StrType, FormatType, ChoiceType)) or (
        isinstance(type_, LiteralType) and isinstance(type_.value, str)
    )


def generalise(type_: Type) -> Type:
    """The type without its literal numbers: what a variable that changes is assumed to be."""
    if isinstance(type_, LiteralType):
        return weak_of(type_.value) if isinstance(type_.value, Number) else type_
    if isinstance(type_, (TupleType, NamedTupleType, DisplayType, DictType)):
        return replace(type_, items=tuple(generalise(item) for item in type_.items))
    if isinstance(type_, (OptionalType, MaybeType)):
        return replace(type_, item=generalise(type_.item))
    return type_


def with_floats(type_: Type, floats: Scalar | None) -> Type:
    """The type with a sized float in the place of Python's: what registers of the portable language hold."""
    if floats is None:
        return type_
    if isinstance(type_, Scalar):
        return floats if type_.weak and type_.is_float else type_
    if isinstance(type_, (TupleType, NamedTupleType, DisplayType)):
        return replace(type_, items=tuple(with_floats(item, floats) for item in type_.items))
    if isinstance(type_, (OptionalType, MaybeType)):
        return replace(type_, item=with_floats(type_.item, floats))
    return type_


def join_types(a: Type, b: Type) -> Type:
    """The least type that holds the values of both."""
    if a == b:
        return a
    if isinstance(a, EmptyType) or isinstance(b, EmptyType):
        return b if isinstance(a, EmptyType) else a
    if isinstance(a, MaybeType) or isinstance(b, MaybeType):
        item = join_types(*(t.item if isinstance(t, MaybeType) else t for t in (a, b)))
        return item if isinstance(item, ConflictType) else MaybeType(item)
    if isinstance(a, (NoneType, OptionalType)) or isinstance(b, (NoneType, OptionalType)):
        return _join_optional(a, b)
    if (is_number_literal(a) or isinstance(a, Scalar)) and (is_number_literal(b) or isinstance(b, Scalar)):
        return _join_numbers(a, b)
    if is_text_type(a) and is_text_type(b):
        return _join_texts(a, b)
    if {type(a), type(b)} <= {DisplayType, ListType} and (
        isinstance(a, ListType) or type(a) is not type(b) or _differ(a, b)
    ):
        return _join_lists(a, b)
    if _is_function(a) and _is_function(b):
        kinds = (*_functions(a), *_functions(b))
        return FunctionsType(tuple(dict.fromkeys(kinds)))
    if _passes_as_object(a) and _passes_as_object(b):
        return OBJECT
    if type(a) is type(b):
        return _JOIN.get(type(a), _conflict)(a, b)
    return _conflict(a, b)


def _is_function(type_: Type) -> bool:
    """Whether values of the type are functions."""
    return isinstance(type_, (ClosureType, FunctionsType)) or (
        isinstance(type_, LiteralType) and callable(type_.value) and not isinstance(type_.value, type)
    )


def _functions(type_: Type) -> tuple[Type, ...]:
    return type_.items if isinstance(type_, FunctionsType) else (type_,)


def _passes_as_object(type_: Type) -> bool:
    """Whether values of the type may become objects of the interpreter, which compiled code only passes on."""
    return isinstance(type_, (ObjectType, Scalar)) or is_text_type(type_) or is_number_literal(type_)


def _differ(a: Type, b: Type) -> bool:
    """Whether two displays are of different lengths."""
    return isinstance(a, DisplayType) and isinstance(b, DisplayType) and len(a.items) != len(b.items)


def _join_lists(a: Type, b: Type) -> Type:
    """A list of unknown length."""
    items = [type_.item if isinstance(type_, ListType) else _items_of(type_) for type_ in (a, b)]
    item = join_types(items[0], items[1])
    return ListType(item) if not isinstance(item, ConflictType) and holds(item) else _conflict(a, b)


def as_item(type_: Type) -> Type:
    """The type as one of a list's items: numbers without their values, lists that are written out as lists that change."""
    type_ = generalise(type_)
    if isinstance(type_, DisplayType):
        item = _items_of(type_)
        return ListType(item) if holds(item) and not isinstance(item, ConflictType) else type_
    if isinstance(type_, (TupleType, NamedTupleType)):
        return replace(type_, items=tuple(as_item(item) for item in type_.items))
    return type_


def _items_of(type_: Type) -> Type:
    """The type of the items of a list that is written out."""
    item: Type = EMPTY
    for other in getattr(type_, "items", ()):
        item = join_types(item, as_item(other))
    return item


def _join_texts(a: Type, b: Type) -> Type:
    """Strings that are known stay so, up to some number of them."""
    texts: set[str] = set()
    for type_ in (a, b):
        if isinstance(type_, ChoiceType):
            texts.update(type_.texts)
        elif isinstance(type_, LiteralType):
            texts.add(str(type_.value))
        else:
            return STR
    return ChoiceType(tuple(sorted(texts))) if len(texts) <= MAX_CHOICES else STR


def _conflict(a: Type, b: Type) -> Type:
    kinds = tuple(dict.fromkeys(k for t in (a, b) for k in (t.kinds if isinstance(t, ConflictType) else (t,))))
    return ConflictType(tuple(sorted(kinds, key=str)))


def _join_optional(a: Type, b: Type) -> Type:
    items = [t.item if isinstance(t, OptionalType) else t for t in (a, b) if not isinstance(t, NoneType)]
    item = generalise(items[0]) if len(items) == 1 else join_types(generalise(items[0]), generalise(items[1]))
    return item if isinstance(item, ConflictType) else OptionalType(item)


def _join_numbers(a: Type, b: Type) -> Type:
    for literal, other in ((a, b), (b, a)):
        if isinstance(literal, LiteralType) and isinstance(other, Scalar) and not other.weak:
            value = literal.value
            assert isinstance(value, Number)
            same_kind = not (isinstance(value, bool) ^ other.is_bool)
            if same_kind and representable(value, other):
                return other
    numbers = [t if isinstance(t, Scalar) else weak_of(t.value) for t in (a, b)]  # type: ignore[attr-defined]
    return join(numbers[0], numbers[1])


def _join_arrays(a: ArrayType, b: ArrayType) -> Type:
    if a.dtype != b.dtype or a.ndim != b.ndim or a.space != b.space:
        return _conflict(a, b)
    layout = a.layout if a.layout == b.layout else "A"
    mixed = a.mixed or b.mixed or a.readonly != b.readonly
    return replace(a, layout=layout, readonly=a.readonly or b.readonly, mixed=mixed)


def _join_items(a: TupleType, b: TupleType) -> Type:
    if len(a.items) != len(b.items):
        return _conflict(a, b)
    items = tuple(join_types(x, y) for x, y in zip(a.items, b.items))
    return _conflict(a, b) if any(isinstance(item, ConflictType) for item in items) else replace(a, items=items)


def _join_named(a: NamedTupleType, b: NamedTupleType) -> Type:
    return _join_items(a, b) if a.cls is b.cls else _conflict(a, b)  # type: ignore[arg-type]


def _join_dicts(a: DictType, b: DictType) -> Type:
    return _join_items(a, b) if a.keys == b.keys else _conflict(a, b)  # type: ignore[arg-type]


def _join_sequences(a: SequenceType, b: SequenceType) -> Type:
    if a.kind != b.kind or len(a.parts) != len(b.parts):
        return _conflict(a, b)
    parts = tuple(join_types(x, y) for x, y in zip(a.parts, b.parts))
    return _conflict(a, b) if any(isinstance(p, ConflictType) for p in parts) else SequenceType(a.kind, parts)


def _join_slices(a: SliceType, b: SliceType) -> Type:
    bounds = [join_types(x, y) for x, y in ((a.start, b.start), (a.stop, b.stop), (a.step, b.step))]
    return _conflict(a, b) if any(isinstance(t, ConflictType) for t in bounds) else SliceType(*bounds)


_JOIN: dict[type, Callable[..., Type]] = {
    ArrayType: _join_arrays,
    TupleType: _join_items,
    DisplayType: _join_items,
    DictType: _join_dicts,
    NamedTupleType: _join_named,
    SequenceType: _join_sequences,
    SliceType: _join_slices,
}


def zero(b: Builder, type_: Type) -> Abstract:
    """Some value of the type, to fill what is absent."""
    return rebuild(type_, iter([b.value("zero", type=leaf) for leaf in type_.leaves()]))


def convert(b: Builder, value: Abstract | None, to: Type) -> Abstract:
    """The value as one of the joined type; None stands for an unbound local."""
    if isinstance(to, ConflictType):
        return Conflict(to.kinds)
    if isinstance(to, MaybeType):
        return _to_maybe(b, value, to)
    assert value is not None
    if value.type == to:
        return value
    if isinstance(to, OptionalType):
        return _to_optional(b, value, to)
    return _CONVERT[type(to)](b, value, to)


def _to_maybe(b: Builder, value: Abstract | None, to: MaybeType) -> Abstract:
    if value is None:
        return Maybe(b.bool(False), zero(b, to.item))
    if isinstance(value, Maybe):
        return Maybe(value.flag, convert(b, value.item, to.item))
    return Maybe(b.bool(True), convert(b, value, to.item))


def _to_optional(b: Builder, value: Abstract, to: OptionalType) -> Abstract:
    if isinstance(value, Const) and value.value is None:
        return Opt(b.bool(False), zero(b, to.item))
    if isinstance(value, Opt):
        return Opt(value.flag, convert(b, value.item, to.item))
    return Opt(b.bool(True), convert(b, value, to.item))


def _to_scalar(b: Builder, value: Abstract, to: Scalar) -> Abstract:
    return Num(to, cast_value(b, to_num(b, value), to))


def to_num(b: Builder, value: Abstract) -> Num:
    """A number in a register from a number known at compile time; registers stay."""
    if isinstance(value, Num):
        return value
    assert isinstance(value, Const) and isinstance(value.value, Number)
    scalar = weak_of(value.value)
    return Num(scalar, b.const(value.value, scalar.machine))


def cast_value(b: Builder, num: Num, to: Scalar) -> Value:
    """The register converted to the machine type of `to`, as NumPy's unsafe casts do."""
    source, target = num.scalar.machine, to.machine
    if source == target:
        return num.value
    if target.is_complex:
        if source.is_complex:
            return b.value("cast", num.value, type=target)
        part = cast_value(b, num, target.part)
        return b.value("complex", part, b.const(0.0, target.part))
    if source.is_complex:
        return cast_value(b, Num(source.part, b.value("real", num.value)), to)
    return b.value("cast", num.value, type=target)


def as_layout(b: Builder, arr: Arr, to: ArrayType) -> Arr:
    """The array under a type of the same dtype and rank that promises less."""
    if arr.array == to:
        return arr
    dims = [b.value("dim", arr.value, axis=axis) for axis in range(to.ndim)]
    strides = [b.value("stride", arr.value, axis=axis) for axis in range(to.ndim)]
    return Arr(to, b.value("view", arr.value, b.i64(0), *dims, *strides, type=to))


def _to_array(b: Builder, value: Abstract, to: ArrayType) -> Abstract:
    assert isinstance(value, Arr)
    return as_layout(b, value, to)


def _to_tuple(b: Builder, value: Abstract, to: TupleType) -> Abstract:
    assert isinstance(value, Tup)
    return Tup(tuple(convert(b, item, type_) for item, type_ in zip(value.items, to.items)), value.named)


def _to_list(b: Builder, value: Abstract, to: DisplayType) -> Abstract:
    assert isinstance(value, ListDisplay)
    items = tuple(convert(b, item, type_) for item, type_ in zip(value.items, to.items))
    return ListDisplay(items, value.depth, value.site)


def _to_dict(b: Builder, value: Abstract, to: DictType) -> Abstract:
    assert isinstance(value, DictDisplay)
    return DictDisplay(to.keys, tuple(convert(b, item, type_) for item, type_ in zip(value.items, to.items)))


def _to_run_time_list(b: Builder, value: Abstract, to: ListType) -> Abstract:
    assert isinstance(value, (List, ListDisplay))
    if value.site is None:
        raise CompileError(
            Code.UNSUPPORTED_LIST,
            "a list that was made elsewhere meets another one here",
            hint="Make both lists in this function, with items of one type.",
        )
    raise Promote(value.site, to.item)


def _to_sequence(b: Builder, value: Abstract, to: SequenceType) -> Abstract:
    assert isinstance(value, Sequence_)
    return Sequence_(value.kind, tuple(convert(b, part, type_) for part, type_ in zip(value.parts, to.parts)))


def _to_slice(b: Builder, value: Abstract, to: SliceType) -> Abstract:
    assert isinstance(value, SliceValue)
    return SliceValue(
        convert(b, value.start, to.start), convert(b, value.stop, to.stop), convert(b, value.step, to.step)
    )


def _to_functions(b: Builder, value: Abstract, to: FunctionsType) -> Abstract:
    if not isinstance(value, Functions):
        items = tuple(value if item == value.type else zero(b, item) for item in to.items)
        return Functions(b.i64(to.items.index(value.type)), items)
    known = {item.type: item for item in value.items}
    chosen = b.i64(0)
    for position, item in enumerate(value.items):
        here = b.value("cmp", value.chosen, b.i64(position), pred="eq")
        chosen = b.value("select", here, b.i64(to.items.index(item.type)), chosen)
    return Functions(chosen, tuple(known.get(item) or zero(b, item) for item in to.items))


def _to_choice(b: Builder, value: Abstract, to: ChoiceType) -> Abstract:
    if isinstance(value, Const):
        return Choice(to.texts, b.i64(to.texts.index(str(value.value))))
    assert isinstance(value, Choice)
    places = [to.texts.index(text) for text in value.texts]
    chosen = b.i64(places[-1])
    for position in range(len(places) - 2, -1, -1):
        here = b.value("cmp", value.value, b.i64(position), pred="eq")
        chosen = b.value("select", here, b.i64(places[position]), chosen)
    return Choice(to.texts, chosen)


def materialised(b: Builder, value: Abstract, to: Type = STR) -> Abstract:
    """A string or a number as an object of the interpreter."""
    target = "builtins:str" if to == STR else "quadrants.host.hostcall:same"
    types = TupleType((value.type, LiteralType("()")))
    return rebuild(to, iter(b.op("pycall", *value.leaves, target=target, args=types, result=to).results))


_CONVERT: dict[type, Callable[..., Abstract]] = {
    Scalar: _to_scalar,
    ChoiceType: _to_choice,
    FunctionsType: _to_functions,
    StrType: materialised,
    ObjectType: materialised,
    ListType: _to_run_time_list,
    ArrayType: _to_array,
    TupleType: _to_tuple,
    NamedTupleType: _to_tuple,
    DisplayType: _to_list,
    DictType: _to_dict,
    SequenceType: _to_sequence,
    SliceType: _to_slice,
}
