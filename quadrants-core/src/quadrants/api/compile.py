"""From argument types to loaded code: the driver.

Takes a request (function, types, options); gives a loaded specialisation, out of the cache if it can, else through the whole
compiler. Legal at any time, from any thread. On the way of a cached load nothing of the compiler is imported, and no LLVM.
"""

from __future__ import annotations

import contextlib
import gc
import types
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from quadrants._frozen import frozen
from quadrants.api import stored
from quadrants.api.dispatcher import HiddenValue, Specialisation
from quadrants.api.jobs import JOBS, progress
from quadrants.api.stored import Stored
from quadrants.cache import manifest
from quadrants.cache.dependencies import ABSENT, CellRef, GlobalRef, Ref, functions_of
from quadrants.cache.fingerprint import Uncacheable, compiler_key
from quadrants.cache.store import Store, current
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import InternalError, QuadrantsError
from quadrants.diagnostics.location import SourceLocation
from quadrants.host.layout import fingerprint
from quadrants.host.spec import (
    FUNCTION_ATTRIBUTES,
    MISSING,
    CellDependency,
    Dependency,
    FunctionDependency,
    GlobalDependency,
    Source,
)
from quadrants.host.specialisation import Loaded, load_specialisation
from quadrants.host.target import host_target
from quadrants.options import Options
from quadrants.types import TupleType, Type
from quadrants.types.names import Signature

if TYPE_CHECKING:
    from quadrants.api.frontend import FrontEnd
    from quadrants.api.sizes import Sizes


@frozen
class Request:
    """What to compile. `arg_types` are those of the arguments in canonical order, the items of `*args` one by one."""

    function: Any  # a Python function: declared so, it would read as a method
    arg_types: tuple[Type, ...]
    options: Options
    result: Type | None = None
    dynamic: tuple[Ref, ...] = ()  # globals and cells whose numbers change often: arguments of the code
    sizes: Sizes = ()  # of arrays, that the code may rely on if that is of use

    @property
    def param_types(self) -> tuple[Type, ...]:
        """The types of the parameters: the items of `*args` as one tuple."""
        code = self.function.__code__
        if not code.co_flags & 0x04:  # CO_VARARGS
            return self.arg_types
        fixed = code.co_argcount + code.co_kwonlyargcount
        return (*self.arg_types[:fixed], TupleType(self.arg_types[fixed:]))

    @property
    def title(self) -> str:
        text = f"{self.function.__qualname__}{Signature(self.arg_types)}"
        return text if len(text) <= 200 else f"{text[:200]}...)"

    @property
    def roots(self) -> list[object]:
        """What the places of dependencies are relative to."""
        found = [root for root in stored.literal_roots(self.arg_types) if root is not self.function]
        return [self.function, *found]


def specialise(request: Request) -> Specialisation:
    """Loaded code for the request."""
    store = current() if request.options.cache else None
    if store is not None:
        found = _from_cache(store, request, bool(request.sizes))
        if found is None and request.sizes:
            found = _from_cache(store, request, False)
        if found is not None:
            return found
    with progress(f"compiling {request.title}"):
        return _compile(request, store)


def _first_key(request: Request, sized: bool) -> str | None:
    """None where something in the request has no fingerprint: then nothing is kept. `sized`: of code for the sizes."""
    dynamic = tuple(sorted(_name_of(ref) for ref in request.dynamic))
    context = (compiler_key(), host_target().fingerprint, fingerprint(), dynamic, request.sizes if sized else ())
    try:
        return stored.first_key(request.function, request.arg_types, request.options, request.result, context)
    except Uncacheable:
        return None


def _name_of(ref: Ref) -> str:
    """Tells the changing names of one function apart."""
    return f"{ref.namespace.get('__name__')}.{ref.name}" if isinstance(ref, GlobalRef) else "cell"


def _from_cache(store: Store, request: Request, sized: bool) -> Specialisation | None:
    key = _first_key(request, sized)
    roots = request.roots
    found = None if key is None else manifest.lookup(store, key, roots)
    if found is None:
        return None
    try:
        entry = stored.loads(found.payload, request.arg_types, found.refs, roots)
    except (Uncacheable, LookupError, TypeError):
        return None  # it names a class or an object that is not there in this process
    if entry.sensitive and request.sizes:
        return None
    return Specialisation(
        request.arg_types,
        entry.spec.result,
        _load(entry, found.refs, request.function),
        True,
        hidden_of(entry, found.refs),
    )


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """No cyclic garbage collection meanwhile: what the compiler makes lives on, and each pass over it costs 10 ms."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextlib.contextmanager
def _internal_errors(request: Request) -> Iterator[None]:
    """What goes wrong inside the compiler is an error that says so, with what happened as its cause."""
    try:
        yield
    except (QuadrantsError, OverflowError, MemoryError):
        raise
    except Exception as problem:
        raise InternalError(
            Code.INTERNAL,
            f"the compiler failed on {request.title}: {type(problem).__name__}: {problem}",
            SourceLocation.of_code(request.function.__code__),
            hint="this is a bug of Quadrants: please report it with the function; until then, leave the decorator out",
        ) from problem


def _compile(request: Request, store: Store | None) -> Specialisation:
    with _without_collections():
        from quadrants.api import frontend  # the compiler is loaded when something is compiled
        from quadrants.host.codegen import compile_ir

        with JOBS.front_end(), _internal_errors(request):
            front = frontend.run(request)
    code = compile_ir(*front.modules).object_bytes
    entry = Stored(front.spec, code, front.sites, front.classes, front.hidden, front.sensitive)
    hidden = hidden_of(entry, front.refs)
    made = Specialisation(
        request.arg_types, front.spec.result, _load(entry, front.refs, request.function), False, hidden
    )
    key = None if store is None else _first_key(request, bool(front.spec.sizes))
    if store is not None and key is not None:
        _keep(store, key, request, front, entry)
    return made


def _keep(store: Store, key: str, request: Request, front: FrontEnd, entry: Stored) -> None:
    roots = request.roots
    try:
        payload = stored.dumps(entry, request.arg_types, front.refs, roots)
        manifest.save(store, key, front.refs, roots, payload)
    except Uncacheable:
        return  # it works in this process, and is compiled again in the next


def hidden_of(entry: Stored, refs: Sequence[Ref]) -> tuple[HiddenValue, ...]:
    """The hidden arguments, live."""
    pairs = zip(entry.hidden, entry.spec.hidden, strict=True)
    return tuple(HiddenValue(refs[index], path, hidden.type) for (index, path), hidden in pairs)


def _load(entry: Stored, refs: Sequence[Ref], root: types.FunctionType) -> Loaded:
    watched = [ref for index, ref in enumerate(refs) if index not in entry.live]
    functions = functions_of((root, *(ref.value for ref in watched)))
    dependencies = [_dependency(ref) for ref in watched]
    dependencies += [FunctionDependency(f, name, getattr(f, name)) for f in functions for name in FUNCTION_ATTRIBUTES]
    pairs = zip(hidden_of(entry, refs), entry.spec.hidden, strict=True)
    objects = [_hidden_object(value, hidden.source) for value, hidden in pairs]
    return load_specialisation(
        entry.code, entry.spec, entry.sites, entry.classes, hidden=objects, dependencies=dependencies
    )


def _dependency(ref: Ref) -> Dependency:
    value = MISSING if ref.value is ABSENT else ref.value
    return (
        CellDependency(ref.cell, value)
        if isinstance(ref, CellRef)
        else GlobalDependency(ref.namespace, ref.name, value)
    )


def _hidden_object(value: HiddenValue, source: Source) -> object:
    """A hidden argument as the loader takes it: the object, its cell, or the namespace and the name."""
    if source is Source.OBJECT:
        return value.object
    return value.ref.cell if isinstance(value.ref, CellRef) else (value.ref.namespace, value.ref.name)
