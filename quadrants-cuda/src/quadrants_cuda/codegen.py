"""LLVM IR to PTX.

Takes a module as text and a compute capability; gives PTX. LLVM ends the process on what its code generator cannot
handle, so a module may only call the intrinsics that are listed here, and no function of its own that it does not
define: anything else is an error. LLVM is loaded when something is compiled.
"""

from __future__ import annotations

import functools
import re

from quadrants.diagnostics import Code, InternalError
from quadrants.host import llvm
from quadrants.ir import Module
from quadrants.lower.gpu.legalise import shared_bytes
from quadrants.lower.gpu.refusals import refuse
from quadrants_cuda.target import MOST_STATIC

TRIPLE = "nvptx64-nvidia-cuda"

#: Intrinsics of LLVM that its generator of PTX takes, by the name before their types.
_GENERAL = frozenset(
    """abs fabs sqrt floor ceil trunc rint copysign fma fmuladd minnum maxnum minimum maximum umin umax smin smax ctpop
    ctlz cttz bitreverse bswap fshl fshr memcpy memset memmove lifetime.start lifetime.end assume umul.with.overflow
    smul.with.overflow uadd.with.overflow sadd.with.overflow usub.with.overflow ssub.with.overflow uadd.sat usub.sat
    sadd.sat ssub.sat experimental.noalias.scope.decl vector.reduce.add vector.reduce.or vector.reduce.and
    vector.reduce.xor ucmp scmp is.fpclass ptrmask""".split()
)
_NVVM = re.compile(
    r"nvvm\.(read\.ptx\.sreg\.[a-z_.]+|barrier\.cta\.(sync|red\.(popc|and|or))\.aligned\.all|bar\.warp\.sync|activemask"
    r"|shfl\.sync\.idx\.i32|vote\.(all|any|ballot)\.sync|match\.any\.sync\.i32)"
)
#: Versions of PTX above the one that LLVM takes for an arch: `activemask` came with 6.2.
_FEATURES = {"sm_70": "+ptx63"}
_INTRINSIC = re.compile(r"@llvm\.([\w.]+)")
_TYPE = re.compile(r"\.(?:(?:v\d+)?(?:[if]\d+|p\d+))")
_DECLARED = re.compile(r"^declare .*@([\w.$]+)\(", re.MULTILINE)


def check_shared(module: Module) -> None:
    """Refuse more static shared memory than PTX has."""
    nbytes = shared_bytes(module)
    if nbytes > MOST_STATIC:
        what = f"a kernel with {nbytes} bytes of shared arrays of constant size (at most {MOST_STATIC})"
        hint = "make the array dynamic: shape 0, and the bytes as the fourth number of the launch"
        raise refuse("a CUDA device", module.functions[module.entry], None, what, hint)


def refused(text: str) -> list[str]:
    """What a module declares that is not for the generator of PTX."""
    problems = [name for name in _DECLARED.findall(text) if not name.startswith("llvm.")]
    for name in sorted(set(_INTRINSIC.findall(text))):
        if not _NVVM.fullmatch(name) and _TYPE.sub("", name) not in _GENERAL:
            problems.append(f"llvm.{name}")
    return problems


@functools.cache
def _machine(arch: str) -> llvm.Machine:
    llvm.initialise_all_targets()
    return llvm.Machine(TRIPLE, arch, _FEATURES.get(arch, ""), 3)


def _optimised(text: str, arch: str, level: int) -> llvm.Module:
    machine = _machine(arch)
    try:
        module = llvm.Module(text, TRIPLE, machine.layout)
    except llvm.LLVMError as problem:
        raise InternalError(Code.INTERNAL, f"the compiler made LLVM IR that is not valid: {problem}") from None
    machine.inline_always(module)
    machine.optimise(module, level, loops=level > 1, slp=level > 1)
    return module


def to_ptx(text: str, arch: str, level: int = 3) -> bytes:
    """PTX for a compute capability, such as "sm_80"."""
    with _optimised(text, arch, level) as module:
        problems = refused(str(module))
        if problems:
            raise InternalError(Code.INTERNAL, f"code for a device would need {', '.join(problems)}")
        return _machine(arch).emit(module, as_object=False)
