"""The compiled function: what `@njit` makes.

Takes a Python function, options and declared signatures. A call whose argument types were seen before runs natively and never
reaches this module (see `quadrants.host`); the first call with new types comes to `_miss`: coerce the arguments, find their types,
load the code from the cache or compile it, install it, dispatch again.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import types
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from quadrants._frozen import frozen
from quadrants.api import matching
from quadrants.api.coerce import coerce
from quadrants.api.jobs import JOBS
from quadrants.api.signature import as_signature
from quadrants.api.typeof import typeof
from quadrants.cache.dependencies import CellRef, GlobalRef, Ref
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.diagnostics.location import SourceLocation
from quadrants.host.layout import native_call_supported
from quadrants.host.native_type import (
    DispatcherBase,
    Loaded,
    Parameters,
    Retry,
    install,
    make_dispatcher_type,
    uninstall,
)
from quadrants.host.spec import FunctionDependency, GlobalDependency
from quadrants.host.specialisation import current, same_value
from quadrants.options import Options
from quadrants.types import ArrayType, Scalar, Type
from quadrants.types.dtypes import scalar_of
from quadrants.types.names import Signature, TypeName, type_text
from quadrants.types.promotion import weak_of

if TYPE_CHECKING:
    from quadrants.api.compile import Request
    from quadrants.api.sizes import Sizes

MANY_SIGNATURES = 16
MOST_SIZES = 3  # of the same types; then there is code for any
CHANGES = 2  # of a global or closure number, after which it is an argument of the code instead of a constant

_NUMBERS = (bool, int, float, complex)

Types = tuple[Type, ...]


def _item_at(value: Any, index: int) -> Any:
    """An item of a tuple, of a tensor among them what compiled code takes."""
    found = operator.getitem(value, index)
    return getattr(found, "__quadrants_argument__", found)


@frozen
class HiddenValue:
    """A global or closure array, or number that changes, that code takes as an argument: its place, and the type it is for."""

    ref: Ref
    path: tuple[int, ...]
    type: Type

    @property
    def object(self) -> Any:
        """The array, found through the tuples that it is in."""
        value = cast(Any, self.ref.value)
        return functools.reduce(_item_at, self.path, getattr(value, "__quadrants_argument__", value))

    def fits(self) -> bool:
        """Whether it still has that type."""
        found = self.object
        if isinstance(self.type, Scalar):
            return type(found) in _NUMBERS and weak_of(found) == self.type
        return (
            type(found) is np.ndarray
            and found.flags.aligned
            and scalar_of(found.dtype) is not None
            and typeof(found) == self.type
        )


@frozen
class Specialisation:
    """Code for one tuple of argument types."""

    types: Types
    result: Type
    loaded: Loaded
    cached: bool
    hidden: tuple[HiddenValue, ...] = ()

    @property
    def sizes(self) -> Sizes:
        """The sizes of arrays that it is for."""
        return self.loaded.spec.sizes

    def takes(self, given: Sizes) -> bool:
        """Whether it is right for arrays of such sizes."""
        return set(self.sizes) <= set(given)

    def fits(self) -> bool:
        """Whether it is right for the present values of what it depends on."""
        return (self.loaded.valid or self.loaded.revalidate()) and all(value.fits() for value in self.hidden)

    @property
    def signature(self) -> Signature:
        return Signature(self.types, self.result)

    def __repr__(self) -> str:
        return f"<code for {self.signature}>"


@frozen
class Stats:
    """Where code came from: by signature, how often out of the cache, how often compiled."""

    cache_path: str | None
    cache_hits: Counter[str] = dataclasses.field(default_factory=Counter)
    cache_misses: Counter[str] = dataclasses.field(default_factory=Counter)


class Dispatcher(DispatcherBase):
    """A compiled function. These are its methods; the native leaf type made of it below adds the call."""

    __slots__ = ()

    __quadrants_dispatcher__ = True

    py_func: Any  # a function: as an attribute of a class its type would be that of a method
    __name__: str
    __qualname__: str
    options: Options
    complete: bool
    declared: tuple[Signature, ...]

    def __init__(
        self, function: types.FunctionType, options: Options, signatures: tuple[Signature, ...] | None = None
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.options = options
        self.declared = ()
        self.complete = False
        self._known: dict[Types, Specialisation] = {}
        self._sized: dict[Types, list[Specialisation]] = {}
        self._hits: Counter[str] = Counter()
        self._misses: Counter[str] = Counter()
        self._changes: Counter[tuple[int, str]] = Counter()
        self._dynamic: dict[tuple[int, str], Ref] = {}
        self._always_constant = False
        if signatures is not None:
            self.finish(signatures)

    def finish(self, signatures: tuple[Signature, ...]) -> None:
        """Make it callable; compile the declared signatures."""
        self._parameters = Parameters.of(self.py_func)
        self.complete = True
        for signature in signatures:
            self._check_arity(signature)
            self._specialise(tuple(map(matching.primary, signature.params)), signature.result)
        self.declared = signatures

    # The call

    def _miss(self, arguments: tuple[Any, ...], retried: bool) -> object:
        """No native code takes the arguments: make it, or make arguments that it takes, and dispatch again."""
        values = tuple(coerce(value, self._name_of(index)) for index, value in enumerate(arguments))
        found = tuple(typeof(value, self._name_of(index)) for index, value in enumerate(values))
        if retried:
            return self._interpret(values, found)
        if self.declared:
            values, found = self._declared_arguments(values, found)
        result = matching.chosen_result(self.declared, found)
        self._specialise(found, result, self._sizes_of(values, found))
        return Retry(values)

    def _sizes_of(self, values: tuple[Any, ...], found: Types) -> Sizes:
        """The sizes of arrays that are worth code of their own: for a few of them, then there is code for any."""
        variable = self.py_func.__code__.co_flags & inspect.CO_VARARGS
        arrays = any(isinstance(type_, ArrayType) and type_.ndim > 1 for type_ in found)
        if (
            not arrays
            or self.declared
            or variable
            or not native_call_supported()
            or len(self._sized.get(found, ())) >= MOST_SIZES
        ):
            return ()
        from quadrants.api import sizes  # of no use to most calls

        return sizes.of_arguments(values, found)

    def _interpret(self, values: tuple[Any, ...], found: Types) -> object:
        """A global that the code depends on changed between its compilation and its call: run the function itself."""
        known = self._known.get(found)
        if known is not None and known.loaded.valid and not known.hidden and not known.loaded.dependencies:
            text = f"{self.__qualname__}{Signature(found)} was compiled, but does not take its arguments"
            raise QuadrantsError(Code.INTERNAL, text)
        code = self.py_func.__code__
        count, fixed = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
        named = dict(zip(code.co_varnames[count:fixed], values[count:fixed]))
        return self.py_func(*values[:count], *values[fixed:], **named)

    def _declared_arguments(self, values: tuple[Any, ...], found: Types) -> tuple[tuple[Any, ...], Types]:
        chosen = matching.choose(self.declared, found, values)
        if chosen is None:
            raise matching.no_match(self.__name__, self.declared, found)
        return chosen, tuple(map(typeof, chosen))

    def _name_of(self, index: int) -> str:
        """What errors call an argument."""
        code = self.py_func.__code__
        fixed = code.co_argcount + code.co_kwonlyargcount
        name = code.co_varnames[index] if index < fixed else f"{code.co_varnames[fixed]}[{index - fixed}]"
        return f"argument {name!r} of {self.__qualname__}()"

    def _specialise(self, types_: Types, result: Type | None, given: Sizes = ()) -> Specialisation:
        """The code for the types, and for sizes of arrays if that is of use, valid for the present values of the globals;
        compiled once, however many threads ask."""
        known = self._known.get(types_)
        if known is not None and known.fits() and known.takes(given):
            return known
        made: Specialisation = JOBS.once((id(self), types_, given), lambda: self._make(types_, result, given))
        return made

    def _make(self, types_: Types, result: Type | None, given: Sizes) -> Specialisation:
        from quadrants.api.compile import Request

        _refuse_keywords(self.py_func)
        known = self._known.get(types_)
        if known is not None:
            if known.fits() and known.takes(given):
                return known
            if not known.fits():
                self._drop(known)
                self._count_changes(known.loaded)
        dynamic = tuple(self._dynamic.values())
        made = self._compiled(Request(self.py_func, types_, self.options, result, dynamic, given))
        sized = self._sized.setdefault(types_, []) if made.sizes else self._sized.get(types_, [])
        install(self, made.loaded, () if made.sizes else [other.loaded for other in sized])
        if made.sizes:
            sized.append(made)
        self._known[types_] = made
        counter = self._hits if made.cached else self._misses
        counter[str(Signature(types_))] += 1
        if known is None and len(self._known) == MANY_SIGNATURES + 1:
            self._warn_many()
        return made

    def _drop(self, known: Specialisation) -> None:
        """Take all code for some types out of use."""
        for each in (known, *self._sized.pop(known.types, ())):
            uninstall(self, each.loaded)

    def _compiled(self, request: Request) -> Specialisation:
        """Code for the request; with constants again where it does not work with numbers that are only known at a call."""
        from quadrants.api.compile import specialise

        try:
            return specialise(request)
        except QuadrantsError:
            if not request.dynamic:
                raise
        self._dynamic.clear()
        self._always_constant = True
        return specialise(dataclasses.replace(request, dynamic=()))

    def _count_changes(self, loaded: Loaded) -> None:
        """A number that has changed twice becomes an argument of the code."""
        for dependency in () if self._always_constant else loaded.dependencies:
            now, before = current(dependency), dependency.value
            if (
                isinstance(dependency, FunctionDependency)
                or type(now) not in _NUMBERS
                or type(before) not in _NUMBERS
                or same_value(now, before)
            ):
                continue
            ref: Ref
            if isinstance(dependency, GlobalDependency):
                place, ref = (
                    (id(dependency.namespace), dependency.key),
                    GlobalRef(dependency.namespace, dependency.key, True),
                )
            else:
                place, ref = (id(dependency.cell), ""), CellRef(cast(types.CellType, dependency.cell), True)
            self._changes[place] += 1
            if self._changes[place] >= CHANGES:
                self._dynamic[place] = ref

    def _warn_many(self) -> None:
        """Name the argument that has the most types."""
        lengths = {len(key) for key in self._known}
        columns = [{key[k] for key in self._known if k < len(key)} for k in range(max(lengths, default=0))]
        kinds = [len(column) for column in columns]
        why = f"it has been called with {len(lengths)} numbers of arguments"
        if max(kinds, default=0) >= len(lengths):
            where = kinds.index(max(kinds))
            shown = ", ".join(sorted(type_text(t) for t in columns[where])[:4])
            why = f"{self._name_of(where)} has had {kinds[where]} types ({shown}, ...)"
        from quadrants.diagnostics.warning import warn

        warn(
            f"{Code.TOO_MANY_SIGNATURES}: {self.__qualname__}() has been compiled for more than {MANY_SIGNATURES} signatures; "
            f"{why}"
        )

    def _check_arity(self, signature: Signature) -> None:
        code = self.py_func.__code__
        fixed = code.co_argcount + code.co_kwonlyargcount
        given = len(signature.params)
        if given < fixed or (given > fixed and not code.co_flags & inspect.CO_VARARGS):
            raise QuadrantsError(
                Code.BAD_SIGNATURE,
                f"the signature {signature} has {given} parameters, {self.__qualname__}() has {fixed}",
                hint="a signature names a type for each parameter, those with defaults included",
            )

    # Compiling by hand

    def compile(self, *given: Any, wait: bool = True) -> Any:
        """Compile ahead of the first call; calls with such arguments take the code from then on.

        Args:
            given: for each parameter a type (`qd.float64[:, ::1]`, `float`, `np.float32`), the text of one (`"float64[:]"`) or an
                example, which is not changed; parameters with defaults may be left out. Or one signature, as the decorator takes
                it: `"float64(float64[:], int64)"`, `(qd.float64[:], int)`.
            wait: False compiles in a thread. A call that comes before the code is there waits for it.

        Returns:
            What was compiled; with `wait=False` a `concurrent.futures.Future` of it.

        Raises:
            QuadrantsError: what the first call would; with `wait=False`, the future's `result()` raises it.
        """
        from quadrants.api.ahead import compile_for  # loaded by who compiles ahead

        return compile_for(self, given, wait)

    def recompile(self) -> None:
        """Compile every signature again, against the present values of all globals."""
        for known in list(self._known.values()):
            self._drop(known)
            self._known.pop(known.types, None)
            self._specialise(known.types, matching.chosen_result(self.declared, known.types))

    # What is there

    @property
    def signatures(self) -> list[tuple[TypeName, ...]]:
        """The argument types of each specialisation, in the order of compilation."""
        return [tuple(map(TypeName, types_)) for types_ in self._known]

    @property
    def nopython_signatures(self) -> list[Signature]:
        """The same with the types of the results."""
        return [known.signature for known in self._known.values()]

    @property
    def overloads(self) -> Mapping[tuple[TypeName, ...], Specialisation]:
        """The specialisations by argument types."""
        return types.MappingProxyType({tuple(map(TypeName, key)): known for key, known in self._known.items()})

    @property
    def stats(self) -> Stats:
        """How often code came out of the cache, and how often it was compiled."""
        from quadrants.cache.store import current

        store = current() if self.options.cache else None
        return Stats(None if store is None else store.folder, Counter(self._hits), Counter(self._misses))

    def inspect_bytecode(self, signature: Any = None) -> Any:
        """The canonical form of the function's bytecode; it is the same for every signature."""
        return self._inspect("bytecode", signature)

    def inspect_ir(self, signature: Any = None) -> Any:
        """The intermediate representation after all passes: a text for one signature, a dict for all."""
        return self._inspect("ir", signature)

    def inspect_llvm(self, signature: Any = None) -> Any:
        """The LLVM IR before LLVM's own optimiser."""
        return self._inspect("llvm", signature)

    def inspect_asm(self, signature: Any = None) -> Any:
        """The assembly of this machine."""
        return self._inspect("asm", signature)

    def explain(self, signature: Any = None, *, timings: bool = False) -> Any:
        """What the compiler decided, and why: records that print as text, and as a page (`html()`, `save(path)`).

        Args:
            signature: of one specialisation, which is compiled if need be; None: all there are.
            timings: whether to compile again and say how long each stage takes.
        """
        from quadrants.api.inspection import explain

        return explain(self, self._selected(signature), timings)

    def _inspect(self, stage: str, signature: Any) -> Any:
        from quadrants.api.inspection import text_of

        found = {tuple(map(TypeName, s.types)): text_of(self, s, stage) for s in self._selected(signature)}
        return found if signature is None else next(iter(found.values()))

    def _selected(self, signature: Any) -> Iterator[Specialisation]:
        """The specialisations for a signature (compiled if need be), or all."""
        if signature is None:
            return iter([each for known in list(self._known.values()) for each in self._all(known)])
        wanted = as_signature(signature)
        known = self._known.get(wanted.params)
        return iter([known if known is not None else cast(Specialisation, self.compile(wanted))])

    def _all(self, known: Specialisation) -> list[Specialisation]:
        """The code for some types and known sizes, and the code for any."""
        sized = self._sized.get(known.types, [])
        return list(sized) if known in sized else [*sized, known]

    # As a function

    @property
    def __code__(self) -> types.CodeType:
        return self.py_func.__code__

    @property
    def __globals__(self) -> dict[str, Any]:
        return self.py_func.__globals__

    @property
    def __closure__(self) -> tuple[types.CellType, ...] | None:
        return self.py_func.__closure__

    @property
    def __defaults__(self) -> tuple[Any, ...] | None:
        return self.py_func.__defaults__

    @property
    def __kwdefaults__(self) -> dict[str, Any] | None:
        return self.py_func.__kwdefaults__

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.py_func)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<compiled function {self.__module__}.{self.__qualname__}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        from quadrants.api.pickling import reduce_dispatcher  # loaded by who pickles

        return reduce_dispatcher(self)

    def __reduce_ex__(self, protocol: object) -> str | tuple[Any, ...]:
        return self.__reduce__()

    def __copy__(self) -> Dispatcher:
        return self

    def __deepcopy__(self, memo: object) -> Dispatcher:
        return self


def _refuse_keywords(function: types.FunctionType) -> None:
    code = function.__code__
    if code.co_flags & inspect.CO_VARKEYWORDS:
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
        name = code.co_varnames[count]
        raise QuadrantsError(
            Code.UNSUPPORTED_KWARGS,
            f"{function.__qualname__}() takes **{name}, which only other compiled functions can pass",
            SourceLocation.of_code(code),
            hint=f"Name the parameters that **{name} stands for, with defaults, in what Python calls.",
        )


Dispatcher = make_dispatcher_type(Dispatcher)  # type: ignore[misc]
