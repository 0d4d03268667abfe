"""LLVM IR text to machine code. The only module of the package that talks to LLVM, which is imported on first use.

Takes a whole module as text, and texts of modules that gain nothing from LLVM's passes, to be linked to it behind them; gives the
bytes of a relocatable object (ELF on Linux), position-independent, for the small code model. The text is parsed and verified
first: an error in it is raised as `InternalError`, since LLVM ends the process on what it cannot handle. Safe to call from
several threads: each compilation has a context of its own.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from quadrants._frozen import frozen
from quadrants.diagnostics import Code, InternalError
from quadrants.host.target import Target, architecture, host_target
from quadrants.lower import vectormath

#: The labels of the heads of loops, as `lower` writes them: a module without one needs no loop passes.
_LOOP = re.compile(r"^(?:for|loop)[0-9]+:", re.MULTILINE)


@frozen
class CodegenResult:
    """A compiled module.

    Args:
        object_bytes: the relocatable object.
        parse_seconds: reading and verifying the text.
        optimise_seconds: LLVM's passes.
        emit_seconds: instruction selection to bytes.
    """

    object_bytes: bytes
    parse_seconds: float
    optimise_seconds: float
    emit_seconds: float


@frozen
class Pipeline:
    """Which of LLVM's passes run.

    Args:
        level: 0 to 3, as in -O3.
        loops: whether loops are vectorised, interleaved and unrolled.
        slp: whether straight-line code is vectorised.
    """

    level: int
    loops: bool
    slp: bool


def pipeline_for(text: str, opt_level: int) -> Pipeline:
    """The passes that pay for this text."""
    if opt_level < 2:
        return Pipeline(opt_level, loops=False, slp=False)
    loops = _LOOP.search(text) is not None
    return Pipeline(min(opt_level, 2), loops=loops, slp=True)


def compile_ir(text: str, *plain: str, opt_level: int = 3, target: Target | None = None) -> CodegenResult:
    """Compile a module to an object, with the modules that need no passes."""
    target = target or host_target()
    start = time.perf_counter()
    context = _llvm().create_context()
    with _parsed(text, target, context) as module:
        parsed = time.perf_counter()
        _optimise(module, target, pipeline_for(text, opt_level))
        _define_vector_functions(module, text, target, context)
        _link(module, plain, target, context)
        optimised = time.perf_counter()
        data = _machine(target, quick=opt_level == 0).emit_object(module)
    return CodegenResult(data, parsed - start, optimised - parsed, time.perf_counter() - optimised)


def optimise(text: str, *, opt_level: int = 3, target: Target | None = None) -> str:
    """The LLVM IR after LLVM's passes."""
    target = target or host_target()
    with _parsed(text, target, _llvm().create_context()) as module:
        _optimise(module, target, pipeline_for(text, opt_level))
        return str(module)


def assembly(text: str, *plain: str, opt_level: int = 3, target: Target | None = None) -> str:
    """The assembly of the target."""
    target = target or host_target()
    context = _llvm().create_context()
    with _parsed(text, target, context) as module:
        _optimise(module, target, pipeline_for(text, opt_level))
        _define_vector_functions(module, text, target, context)
        _link(module, plain, target, context)
        return str(_machine(target).emit_assembly(module))


@functools.cache
def _llvm() -> ModuleType:
    """LLVM, with the backend of this machine initialised."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@functools.cache
def _machine(target: Target, quick: bool = False) -> Any:
    """The target machine, made once a process. `quick`: it selects instructions fast, not well."""
    llvm = _llvm()
    if target.arch != architecture():
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    if target.isa:
        cpu, features = target.isa if target.arch == "x86_64" else "generic", ""
    else:
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    found = llvm.Target.from_triple(target.triple)
    return found.create_target_machine(
        cpu=cpu, features=features, opt=0 if quick else 3, reloc="pic", codemodel="small"
    )


def _parsed(text: str, target: Target, context: Any) -> Any:
    """The module, read and verified, for the target."""
    llvm = _llvm()
    try:
        module = llvm.parse_assembly(text, context)
        module.verify()
    except RuntimeError as problem:
        raise InternalError(Code.INTERNAL, f"the compiler made LLVM IR that is not valid: {problem}") from None
    machine = _machine(target)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    return module


def _link(module: Any, texts: Sequence[str], target: Target, context: Any) -> None:
    """Bring other modules in. (They are used up by that.)"""
    for text in texts:
        module.link_in(_parsed(text, target, context))


def _define_vector_functions(module: Any, text: str, target: Target, context: Any) -> None:
    """Inline the elementary functions that vectorised loops call. (Before the passes they would be optimised in vain.)"""
    names = vectormath.called(str(module)) if vectormath.PREFIX in text else ()
    if not names:
        return
    _link(module, (vectormath.definitions(names),), target, context)
    passes = _llvm().create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, _pass_builder(target, Pipeline(1, loops=False, slp=False)))


def _pass_builder(target: Target, pipeline: Pipeline) -> Any:
    llvm = _llvm()
    tuning = llvm.create_pipeline_tuning_options(speed_level=pipeline.level)
    tuning.loop_vectorization = pipeline.loops
    tuning.loop_interleaving = pipeline.loops
    tuning.loop_unrolling = pipeline.loops
    tuning.slp_vectorization = pipeline.slp
    return llvm.create_pass_builder(_machine(target), tuning)


def _optimise(module: Any, target: Target, pipeline: Pipeline) -> None:
    builder = _pass_builder(target, pipeline)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
