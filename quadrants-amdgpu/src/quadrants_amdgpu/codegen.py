"""LLVM IR to an object for an AMD GPU.

Takes a module as text and a processor; gives a relocatable object, which `linking` makes a code object of. LLVM ends the process
on what its code generator cannot handle, so a module may only call the intrinsics that are listed here, and no function that it
does not define, and has no inline assembly: anything else is an error. LLVM is loaded when something is compiled.
"""

from __future__ import annotations

import functools
import re

from quadrants.diagnostics import Code, InternalError
from quadrants.host import llvm
from quadrants.lower.abi import FIRST_FREE_METADATA
from quadrants_amdgpu.target import MOST_THREADS

TRIPLE = "amdgcn-amd-amdhsa"
#: The version of the code object's format: 5, which every ROCm since 5.6 loads.
_CODE_OBJECT = 500

#: Intrinsics of LLVM that its generator for these devices takes for all of the types in use, by the name before them.
_GENERAL = frozenset(
    """abs fabs sqrt floor ceil trunc rint copysign fma fmuladd minnum maxnum umin umax smin smax ctpop ctlz cttz bitreverse
    bswap fshl fshr memcpy memset memmove lifetime.start lifetime.end assume umul.with.overflow smul.with.overflow
    uadd.with.overflow sadd.with.overflow usub.with.overflow ssub.with.overflow uadd.sat usub.sat sadd.sat ssub.sat
    experimental.noalias.scope.decl vector.reduce.add vector.reduce.or vector.reduce.and vector.reduce.xor ucmp scmp
    is.fpclass canonicalize ldexp""".split()
)
#: Those of amdgcn that `primitives` writes. LLVM's passes for the target make others of them, which its generator takes.
_AMDGCN = re.compile(
    r"amdgcn\.(workitem\.id\.[xyz]|workgroup\.id\.[xyz]|s\.barrier|mbcnt\.(lo|hi)|ballot\.i(32|64)|ds\.bpermute)"
)
_INTRINSIC = re.compile(r"@llvm\.([\w.]+)")
_TYPE = re.compile(r"\.(?:v\d+)?(?:[if]\d+|p\d+)(?=\.|$)")
_ASSEMBLY = re.compile(r"\bcall [^\n]*\basm\b")
_DECLARED = re.compile(r"^declare .*@([\w.$]+)\(", re.MULTILINE)
_ALLOCA = re.compile(r"^  (%\S+) = alloca (.*)$", re.MULTILINE)
_ATOMIC = re.compile(r"^(.* atomicrmw .*)$", re.MULTILINE)
_MEMORY = ("no.fine.grained.memory", "no.remote.memory", "ignore.denormal.mode")
_NOTE = FIRST_FREE_METADATA
_NODES = f"""
!{_NOTE} = !{{}}
!llvm.module.flags = !{{!{_NOTE + 1}}}
!{_NOTE + 1} = !{{i32 1, !"amdhsa_code_object_version", i32 {_CODE_OBJECT}}}
"""


def adapted(text: str) -> str:
    """The text as amdgcn has it: memory of a frame has an address space, and atomics say that memory is not shared with others.

    All memory of kernels is of the device (`hipMalloc`), neither fine-grained nor another device's, and additions of floats may
    flush subnormal numbers, as some of the instructions do: without saying so, they would be loops.
    """
    text = _ALLOCA.sub(
        r"  \1.frame = alloca \2, addrspace(5)\n  \1 = addrspacecast ptr addrspace(5) \1.frame to ptr", text
    )
    notes = ", ".join(f"!amdgpu.{name} !{_NOTE}" for name in _MEMORY)
    text = _ATOMIC.sub(lambda found: f"{found[1]}, {notes}", text)
    return (
        text.replace(
            ") convergent nounwind {\nentry:\n  %ctx",
            f') convergent nounwind "amdgpu-flat-work-group-size"="1,{MOST_THREADS}" {{\nentry:\n  %ctx',
        )
        + _NODES
    )


def refused(text: str, optimised: bool = False) -> list[str]:
    """What a module declares that is not for the code generator. `optimised`: LLVM's own passes have been over it."""
    problems = [name for name in _DECLARED.findall(text) if not name.startswith("llvm.")]
    if _ASSEMBLY.search(text):
        problems.append("inline assembly")
    for name in sorted(set(_INTRINSIC.findall(text))):
        known = name.startswith("amdgcn.") if optimised else _AMDGCN.fullmatch(name)
        if not known and _TYPE.sub("", name) not in _GENERAL:
            problems.append(f"llvm.{name}")
    return problems


@functools.cache
def _machine(arch: str) -> llvm.Machine:
    llvm.initialise_all_targets()
    return llvm.Machine(TRIPLE, arch, "", 3)


def _optimised(text: str, arch: str, level: int) -> llvm.Module:
    machine = _machine(arch)
    try:
        module = llvm.Module(adapted(text), TRIPLE, machine.layout)
    except llvm.LLVMError as problem:
        raise InternalError(Code.INTERNAL, f"the compiler made LLVM IR that is not valid: {problem}") from None
    problems = refused(str(module))
    if not problems:
        machine.inline_always(module)
        machine.optimise(module, level, loops=level > 1, slp=level > 1)
        problems = refused(str(module), optimised=True)
    if problems:
        module.__exit__()
        raise InternalError(Code.INTERNAL, f"code for a device would need {', '.join(problems)}")
    return module


def to_object(text: str, arch: str, level: int = 3) -> bytes:
    """A relocatable object for a processor, such as "gfx90a"."""
    with _optimised(text, arch, level) as module:
        return _machine(arch).emit(module)


def assembly(text: str, arch: str, level: int = 3) -> str:
    """The assembly of the processor."""
    with _optimised(text, arch, level) as module:
        return _machine(arch).emit(module, as_object=False).decode()
