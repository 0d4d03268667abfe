"""What the cache keeps of a specialisation.

Takes the object code and the tables that go with it; gives bytes for the cache, and back. The names of source files are not
kept: where the code is loaded they are those of the functions there, so that a moved file, or a notebook's cell in a new
session, finds its code.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Sequence

from quadrants._frozen import frozen
from quadrants.cache.codec import Codec
from quadrants.cache.dependencies import Ref, Roots, roots_after
from quadrants.cache.fingerprint import digest, function_key, type_key
from quadrants.host.spec import EntrySpec, Hidden, Source, constants_of
from quadrants.ir.origin import Loc, Scope
from quadrants.lower.abi import Site, SiteKind
from quadrants.options import Options
from quadrants.types import (
    ArrayType,
    CellsType,
    ChoiceType,
    ExcType,
    FormatHole,
    FormatType,
    Kind,
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
    UnionType,
)

_CLASSES = (
    *(ArrayType, CellsType, ChoiceType, ExcType, FormatHole, FormatType, Kind, ListType, LiteralType, NamedTupleType),
    *(NoneType, ObjectType, OptionalType, Scalar, SliceType, StrType, TupleType, UnionType),
    *(EntrySpec, Hidden, Source, Site, SiteKind, Loc, Scope),
)


HiddenAt = tuple[int, tuple[int, ...]]


@frozen
class Stored:
    """A compiled specialisation. `hidden` says where the object of each hidden argument is: the number of a dependency, and
    the indices that lead to it through tuples. `sensitive`: whether code for known sizes of arrays would be better.
    """

    spec: EntrySpec
    code: bytes
    sites: tuple[Site, ...]
    classes: tuple[str, ...]
    hidden: tuple[HiddenAt, ...]
    sensitive: bool = False

    @property
    def live(self) -> frozenset[int]:
        """The dependencies that are looked up at every call, so that they may change."""
        pairs = zip(self.hidden, self.spec.hidden, strict=True)
        return frozenset(at[0] for at, hidden in pairs if hidden.source is not Source.OBJECT)


def first_key(
    function: types.FunctionType, arg_types: Sequence[Type], options: Options, result: Type | None, context: object
) -> str:
    """The first key of the cache. Raises `Uncacheable`."""
    declared = None if result is None else type_key(result)
    return digest((function_key(function), tuple(map(type_key, arg_types)), options.key(), declared, context))


def literal_roots(arg_types: Sequence[Type]) -> list[object]:
    """The functions and classes among the literal arguments and the types of arguments."""
    roots = Roots([])
    for type_ in arg_types:
        for value in constants_of(type_):
            roots.add(value)
    return roots.all


def dumps(stored: Stored, arg_types: Sequence[Type], refs: Sequence[Ref], roots: Sequence[object]) -> bytes:
    """The bytes to keep. Raises `Uncacheable`."""
    filenames = tuple(function.__code__.co_filename for function in roots_after(refs, roots).functions)
    fields = tuple(getattr(stored, field.name) for field in dataclasses.fields(stored))
    return codec(arg_types).dumps((filenames, *fields))


def loads(data: bytes, arg_types: Sequence[Type], refs: Sequence[Ref], roots: Sequence[object]) -> Stored:
    """What `dumps` was given, with the file names of this process."""
    filenames, spec, code, sites, classes, hidden, sensitive = codec(arg_types).loads(data)
    here = [function.__code__.co_filename for function in roots_after(refs, roots).functions]
    moved = {old: new for old, new in zip(filenames, here) if old != new}
    if moved:
        sites = tuple(_moved(site, moved) for site in sites)
    return Stored(spec, code, tuple(sites), tuple(classes), hidden, sensitive)


def codec(arg_types: Sequence[Type]) -> Codec:
    return Codec(_CLASSES, [value for type_ in arg_types for value in constants_of(type_)])


def _moved(site: Site, moved: dict[str, str]) -> Site:
    filename = moved.get(site.scope.filename)
    return (
        site
        if filename is None
        else dataclasses.replace(site, scope=dataclasses.replace(site.scope, filename=filename))
    )
