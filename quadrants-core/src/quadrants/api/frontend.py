"""Everything between a request and LLVM: inference, passes, lowering, the entry.

Takes a request; gives the text of one LLVM module and what goes with it. Imported only when something is compiled. Runs under
the front end's lock.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from quadrants._frozen import frozen
from quadrants.api.results import convert_result
from quadrants.api.stored import HiddenAt
from quadrants.cache.dependencies import CellRef, GlobalRef, Ref, Roots, functions_of
from quadrants.diagnostics import Code, Decision, InternalError
from quadrants.host.entry import Entry, emit_entry
from quadrants.host.layout import native_call_supported
from quadrants.host.spec import EntrySpec, Hidden, Source
from quadrants.host.target import host_target
from quadrants.infer import infer_module
from quadrants.infer.emitter import Options as InferOptions
from quadrants.infer.engine import Dependency
from quadrants.ir import Module
from quadrants.lower import vectormath
from quadrants.lower.abi import Site, module_text, signature
from quadrants.lower.context import LowerOptions
from quadrants.lower.module import lower_module
from quadrants.options import Options
from quadrants.passes import known_sizes, pipeline
from quadrants.passes.context import PassOptions
from quadrants.types.scalar import SCALARS, Scalar

if TYPE_CHECKING:
    from quadrants.api.compile import Request


_RUNS_PYTHON = ("pycall", "poll", "fork", "contract")  # a poll runs signal handlers


@frozen
class FrontEnd:
    """What the front end made of a request.

    Args:
        text: the LLVM IR, as one module.
        modules: the same as what `codegen.compile_ir` takes: the code, and the entry where it stays apart.
        sensitive: whether known sizes of arrays would have made other code.
    """

    text: str
    modules: tuple[str, ...]
    spec: EntrySpec
    sites: tuple[Site, ...]
    classes: tuple[str, ...]
    refs: tuple[Ref, ...]
    hidden: tuple[HiddenAt, ...]
    decisions: tuple[Decision, ...]
    module: Module
    sensitive: bool

    def ir_text(self) -> str:
        """The intermediate representation after all passes."""
        from quadrants.ir.text import print_module  # only who looks at it needs the printer

        return print_module(self.module)


def run(request: Request, mark: Callable[[str], None] | None = None) -> FrontEnd:
    """All of the front end. `mark` is told the name of each stage when it ends."""
    options = request.options
    single = request.result is not None
    typed = infer_module(
        request.function, request.param_types, _infer_options(options), _dynamic(request.dynamic), unions=not single
    )
    result = typed.result_type
    if request.result is not None:
        result = convert_result(typed.module, result, request.result)
    sensitive = not request.sizes and known_sizes.is_sensitive(typed.module)
    sized = known_sizes.run(typed.module, request.sizes)
    if mark is not None:
        mark("inference")
    target = host_target()
    vector_bits = target.vector_bits if options.simd else 0
    decisions = pipeline.run(typed.module, _pass_options(options, vector_bits), mark)
    nogil = options.nogil and not _has_op(typed.module, ("pycall",))  # what calls Python holds the lock
    lower_options = LowerOptions(target.native_f16, holds_gil=not nogil, vector_bits=vector_bits, simd=options.simd)
    lowered = lower_module(typed.module, lower_options)
    if mark is not None:
        mark("lowering")
    numbers = {hidden.place for hidden in typed.hidden if isinstance(hidden, Dependency)}
    named = [ref_of(dependency, dependency.place in numbers) for dependency in typed.dependencies]
    refs = (*named, *absent_globals(request.function, typed.dependencies))
    hidden = tuple(place_of_hidden(value, typed.dependencies) for value in typed.hidden)
    sources = [_source(at, refs) for at in hidden]
    watched = _watched(refs, hidden, sources)
    spec = EntrySpec(
        name=f"qd.{request.function.__qualname__}",
        kernel=lowered.entry_symbol,
        params=request.arg_types,
        result=result,
        hidden=tuple(Hidden(type_, source) for type_, source in zip(typed.hidden_types, sources, strict=True)),
        dicts=_count(id(ref.namespace) for ref in watched if isinstance(ref, GlobalRef)),
        cells=_count(id(ref.cell) for ref in watched if isinstance(ref, CellRef)),
        functions=len(functions_of((request.function, *(ref.value for ref in watched)))),
        direct=not request.function.__code__.co_kwonlyargcount,
        nogil=nogil,
        parallel=_has_op(typed.module, ("fork",)),
        recursive=_recurs(typed.module),
        calls_python=_recurs(typed.module) or _has_op(typed.module, _RUNS_PYTHON),  # recursion polls
        pin=_has_op(typed.module, ("pycall",)),
        native=native_call_supported(),
        sizes=typed.module.functions[typed.module.entry].sizes,
    )
    entry = emit_entry(spec, quick=not lowered.entry_inlines)
    text = lowered.full_text(entry.text, entry.declarations)
    return FrontEnd(
        text,
        (text,) if lowered.entry_inlines else (lowered.full_text(), _apart(entry, spec)),
        spec,
        tuple(lowered.sites),
        tuple(lowered.classes),
        refs,
        hidden,
        (*typed.decisions, *sized, *decisions),
        typed.module,
        sensitive,
    )


def _apart(entry: Entry, spec: EntrySpec) -> str:
    """The entry as a module of its own: straight code, which LLVM's passes would take long to leave as it is."""
    params = (*spec.params, *(hidden.type for hidden in spec.hidden))
    kernel = f"declare hidden {signature(spec.kernel, params, (spec.result,))}"
    return module_text({**entry.declarations, spec.kernel: kernel}, entry.text)


def _recurs(module: Module) -> bool:
    return any(function.attrs.get("recursive") for function in module.functions.values())


def _has_op(module: Module, names: tuple[str, ...]) -> bool:
    return any(op.name in names for function in module.functions.values() for op in function.body.walk())


def _pass_options(options: Options, vector_bits: int) -> PassOptions:
    return PassOptions(
        bounds_checks=options.boundscheck,
        vector_bits=vector_bits,
        vector_functions=vectormath.NAMES,
        exact_state=options.debug,
        parallel=options.parallel,
        parallel_work=options.parallel_work,
        tile=_tile if vector_bits else None,
    )


def _tile(dtype: Scalar) -> tuple[int, int]:
    """The tile of a product of matrices, on this machine."""
    from quadrants.lower.contraction import Number, blocks  # most functions have no product

    target = host_target()
    found = blocks.blocks_for(Number(dtype.bits, dtype.is_float), target.vector_bits, target.many_registers)
    return found.rows, found.columns


def _infer_options(options: Options) -> InferOptions:
    numerics = options.numerics
    return InferOptions(
        options.fp,
        options.boundscheck,
        options.debug,
        numerics.division,
        kernel=options.portable,
        portable=options.portable,
        default_ip=SCALARS[numerics.weak_int],
        default_fp=SCALARS[numerics.weak_float],
    )


def _dynamic(refs: Iterable[Ref]) -> frozenset[tuple[int, str]]:
    """The places of what changes often, as inference knows them."""
    return frozenset((id(ref.cell), "") if isinstance(ref, CellRef) else (id(ref.namespace), ref.name) for ref in refs)


def ref_of(dependency: Dependency, live: bool) -> Ref:
    """A dependency of inference, as the cache knows it."""
    if dependency.cell is not None:
        return CellRef(dependency.cell, live)
    assert dependency.namespace is not None
    return GlobalRef(dependency.namespace, dependency.name, live)


def absent_globals(function: types.FunctionType, dependencies: Iterable[Dependency]) -> list[Ref]:
    """The builtins that the functions of the call tree may name: a global of that name would hide them."""
    roots = Roots([function])
    for dependency in dependencies:
        roots.add(dependency.value)
    found = {}
    for root in roots.functions:
        namespace = root.__globals__
        for name in sorted(names_in(root.__code__)):
            if name not in namespace and hasattr(builtins, name):
                found[id(namespace), name] = GlobalRef(namespace, name)
    return list(found.values())


def names_in(code: types.CodeType) -> set[str]:
    """Every name in the code and in code inside it."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(names_in, inner))


def place_of_hidden(hidden: np.ndarray | Dependency, dependencies: Sequence[Dependency]) -> HiddenAt:
    """The dependency that holds a hidden argument, and the way to it through tuples."""
    path: tuple[int, ...] | None
    for index, dependency in enumerate(dependencies):
        if isinstance(hidden, Dependency):
            path = () if dependency.place == hidden.place else None
        else:
            path = _path(dependency.value, hidden)
        if path is not None:
            return index, path
    raise InternalError(Code.INTERNAL, "a hidden argument is in no dependency")


def _path(value: object, array: np.ndarray) -> tuple[int, ...] | None:
    value = getattr(value, "__quadrants_argument__", value)
    if value is array:
        return ()
    for index, item in enumerate(value if isinstance(value, tuple) else ()):
        path = _path(item, array)
        if path is not None:
            return (index, *path)
    return None


def _source(at: HiddenAt, refs: Sequence[Ref]) -> Source:
    """How a hidden argument is found at a call: by its name, unless it is in a tuple or has several names."""
    index, path = at
    value = refs[index].value
    if refs[index].live:
        return Source.CELL if isinstance(refs[index], CellRef) else Source.GLOBAL
    if path or hasattr(refs[index].value, "__quadrants_argument__") or sum(ref.value is value for ref in refs) > 1:
        return Source.OBJECT
    return Source.CELL if isinstance(refs[index], CellRef) else Source.GLOBAL


def _watched(refs: Sequence[Ref], hidden: Sequence[HiddenAt], sources: Sequence[Source]) -> list[Ref]:
    """The dependencies whose values the code contains: the others are looked up at every call."""
    live = {at[0] for at, source in zip(hidden, sources) if source is not Source.OBJECT}
    return [ref for index, ref in enumerate(refs) if index not in live]


def _count(identities: Iterable[int]) -> int:
    return len(set(identities))
