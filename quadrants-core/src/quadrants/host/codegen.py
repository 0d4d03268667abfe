"""LLVM IR text to machine code. LLVM itself (`host.llvm`) is loaded when it is first used.

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

from quadrants._frozen import frozen
from quadrants.diagnostics import Code, InternalError
from quadrants.host import llvm
from quadrants.host.target import Target, architecture, host_target
from quadrants.lower import vectormath

#: The attribute of functions that are inlined wherever they are called.
_ALWAYS = " alwaysinline "
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
    with _parsed(text, target) as module:
        parsed = time.perf_counter()
        _optimise(module, text, target, opt_level)
        _finish(module, text, plain, target)
        optimised = time.perf_counter()
        data = _machine(target, quick=opt_level == 0).emit(module)
    return CodegenResult(data, parsed - start, optimised - parsed, time.perf_counter() - optimised)


def optimise(text: str, *, opt_level: int = 3, target: Target | None = None) -> str:
    """The LLVM IR after LLVM's passes."""
    target = target or host_target()
    with _parsed(text, target) as module:
        _optimise(module, text, target, opt_level)
        return str(module)


def assembly(text: str, *plain: str, opt_level: int = 3, target: Target | None = None) -> str:
    """The assembly of the target."""
    target = target or host_target()
    with _parsed(text, target) as module:
        _optimise(module, text, target, opt_level)
        _finish(module, text, plain, target)
        return _machine(target).emit(module, as_object=False).decode("utf-8", "replace")


@functools.cache
def _machine(target: Target, quick: bool = False) -> llvm.Machine:
    """The target machine, made once a process. `quick`: it selects instructions fast, not well."""
    if target.arch != architecture():
        llvm.initialise_all_targets()
    if target.isa:
        cpu, features = target.isa if target.arch == "x86_64" else "generic", ""
    else:
        cpu, features = llvm.host_cpu()
    return llvm.Machine(target.triple, cpu, features, 0 if quick else 3)


def _parsed(text: str, target: Target) -> llvm.Module:
    """The module, read and verified, for the target."""
    try:
        return llvm.Module(text, target.triple, _machine(target).layout)
    except llvm.LLVMError as problem:
        raise _invalid(problem) from None


def _invalid(problem: Exception) -> InternalError:
    return InternalError(Code.INTERNAL, f"the compiler made LLVM IR that is not valid: {problem}")


def _optimise(module: llvm.Module, text: str, target: Target, opt_level: int) -> None:
    """Run the passes. What must be inlined is inlined first, so that it is optimised once, in its place."""
    pipeline = pipeline_for(text, opt_level)
    if pipeline.level and _ALWAYS in text:
        _machine(target).inline_always(module)
    _machine(target).optimise(module, pipeline.level, pipeline.loops, pipeline.slp)


def _finish(module: llvm.Module, text: str, plain: Sequence[str], target: Target) -> None:
    """Bring in what was kept from the passes: other modules, and the elementary functions that vectorised loops call, to be
    inlined."""
    try:
        names = vectormath.called(str(module)) if vectormath.PREFIX in text else ()
        if names:
            module.link(vectormath.definitions(names))
            _machine(target).inline_always(module)
        for more in plain:
            module.link(more)
    except llvm.LLVMError as problem:
        raise _invalid(problem) from None
