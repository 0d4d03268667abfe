"""Kernels on the CPU: a block's threads as loops, blocks on the thread pool.

Takes a QIR module whose entry is a kernel; gives an `Artifact` with the C function `ENTRY`:
`int32 (context*, argument block*, shape*, int64 blocks at once)`, where the shape is seven words: blocks and threads along x,
y and z, bytes of dynamic shared memory. It runs the blocks, several at a time on the pool, and returns when all have.
"""

from __future__ import annotations

import base64
import ctypes
import pickle
import struct
from collections.abc import Mapping

from quadrants.backend.arguments import words_of
from quadrants.backend.contract import Artifact, LaunchShape, Stream, Target
from quadrants.diagnostics import Code, CompileError
from quadrants.host import threads
from quadrants.host.hostcall import release_kept
from quadrants.host.raising import Handler
from quadrants.ir import Function, Module
from quadrants.ir.origin import Loc, Scope
from quadrants.lower import abi
from quadrants.lower.abi import Lowered, Site, SiteKind
from quadrants.options import Options
from quadrants.types import NONE, ArrayType, Scalar
from quadrants_cpu import codegen
from quadrants_cpu.codegen import HostExecutable, host_target_of

ENTRY = "qd_kernel"
FORMAT = "elf-object"
_HOSTCALL = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
_ARGUMENTS = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
#: Calls into Python, so that all blocks run in the calling thread.
_SERIAL = frozenset(("pycall",))
#: Chunks that a launch is cut into, for each thread.
_CHUNKS_A_THREAD = 4
#: Bytes of a frame behind the header of a region: the arguments and the shape of the launch.
_FRAME_ARGS, _FRAME_SHAPE = abi.REGION_BYTES, abi.REGION_BYTES + 8


def is_kernel(module: Module) -> bool:
    """Whether the entry of a module is a kernel."""
    return bool(module.functions[module.entry].attrs.get("kernel"))


def compile_kernel(module: Module, target: Target, options: Options) -> Artifact:
    """Make loops of the kernel, and compile them."""
    from quadrants.host.codegen import compile_ir
    from quadrants.lower import vectormath
    from quadrants.lower.module import LowerOptions, lower_module
    from quadrants.passes import blocks, pipeline
    from quadrants.passes.context import PassOptions

    kernel = module.functions[module.entry]
    try:
        loops = blocks.run(module)
    except blocks.Refused as problem:
        raise CompileError(Code.UNSUPPORTED_CAPABILITY, problem.message, _place(kernel.scope, problem.loc)) from None
    host = host_target_of(target)
    vector_bits = host.vector_bits if options.simd else 0
    checks = options.boundscheck
    pipeline.run(loops, PassOptions(checks, vector_bits=vector_bits, vector_functions=vectormath.NAMES))
    serial = any(op.name in _SERIAL for function in loops.functions.values() for op in function.body.walk())
    lowered = lower_module(loops, LowerOptions(native_f16=host.native_f16, holds_gil=serial, vector_bits=vector_bits))
    site = Site(SiteKind.RAISE, None, kernel.scope)
    text = lowered.full_text(_export(kernel, lowered, len(lowered.sites)), _DECLARATIONS)
    return Artifact(
        target,
        FORMAT,
        compile_ir(text, target=host).object_bytes,
        (ENTRY,),
        metadata=(
            ("classes", base64.b64encode(pickle.dumps(tuple(lowered.classes))).decode()),
            ("sites", base64.b64encode(pickle.dumps((*lowered.sites, site))).decode()),
            ("serial", str(serial)),
            ("fingerprint", host.fingerprint),
        ),
        text={"llvm": text},
    )


def _place(scope: Scope, loc: Loc | None):  # type: ignore[no-untyped-def]
    from quadrants.diagnostics import SourceLocation

    if loc is None:
        return SourceLocation(scope.filename, scope.firstlineno, function=scope.qualname)
    return SourceLocation(scope.filename, loc.line, loc.col, loc.end_line, loc.end_col, function=scope.qualname)


_DECLARATIONS = {
    "qd_pool_run": "declare i32 @qd_pool_run(ptr, ptr, i64, i64, i64, ptr)",
    "qd_pool_context": "declare ptr @qd_pool_context(ptr, i32, ptr)",
    "qd_pool_failed": "declare i32 @qd_pool_failed(ptr, ptr, i32, i64)",
    "qd_pool_error": "declare i32 @qd_pool_error(ptr, ptr, i32, i32)",
    "malloc": "declare ptr @malloc(i64)",
    "free": "declare void @free(ptr)",
}


def _load_arguments(kernel: Function) -> tuple[list[str], list[str]]:
    """Code that reads the argument block at %args: the lines, and the arguments of the call."""
    lines: list[str] = []
    given: list[str] = []
    word = 0

    def load(text: str) -> str:
        nonlocal word
        name = f"%w{word}"
        lines.append(f"  {name}.at = getelementptr i64, ptr %args, i64 {word}")
        lines.append(f"  {name} = load {text}, ptr {name}.at, align 8")
        word += 1
        return name

    for param in kernel.params:
        type = param.type
        if isinstance(type, ArrayType):
            given += [f"ptr {load('ptr')}", "ptr null", *(f"i64 {load('i64')}" for _ in range(words_of(type) - 1))]
        else:
            assert isinstance(type, Scalar)
            text = "i8" if type.is_bool else abi.scalar_text(type)
            name = load(text)
            if type.is_bool:
                lines.append(f"  {name}.bit = icmp ne i8 {name}, 0")
                text, name = "i1", f"{name}.bit"
            given.append(f"{text} {name}")
    return lines, given


def _export(kernel: Function, lowered: Lowered, site: int) -> str:
    """The entry, and the function of a chunk of blocks."""
    shape = "\n".join(
        f"  %s{k}.at = getelementptr i64, ptr %shape, i64 {k}\n  %s{k} = load i64, ptr %s{k}.at" for k in range(7)
    )
    return _chunk(kernel, lowered, shape) + _entry(shape, site)


def _chunk(kernel: Function, lowered: Lowered, shape: str) -> str:
    """The function that the pool calls for some blocks."""
    loads, given = _load_arguments(kernel)
    words = ", ".join(
        [
            *given,
            *(f"i64 %s{k}" for k in range(6)),
            "i64 %lo",
            "i64 %count",
            "ptr %dynamic",
            "ptr null",
            "i64 %s6",
            "i64 1",
        ]
    )
    lines = "\n".join(loads)
    return f"""
define internal i32 @qd_kernel_chunk(ptr %frame, i64 %lo, i64 %hi, i32 %worker) {{
  %local = alloca [{abi.CTX_BYTES} x i8], align 16
  %ctx = call ptr @qd_pool_context(ptr %frame, i32 %worker, ptr %local)
  %args.at = getelementptr i8, ptr %frame, i64 {_FRAME_ARGS}
  %args = load ptr, ptr %args.at
  %shape.at = getelementptr i8, ptr %frame, i64 {_FRAME_SHAPE}
  %shape = load ptr, ptr %shape.at
{lines}
{shape}
  %count = sub i64 %hi, %lo
  %bytes = add i64 %s6, 64
  %memory = call ptr @malloc(i64 %bytes)
  %end = getelementptr i8, ptr %memory, i64 63
  %dynamic = call ptr @llvm.ptrmask.p0.i64(ptr %end, i64 -64)
  %status = call i32 {abi.symbol(lowered.entry_symbol)}(ptr %ctx, {words})
  call void @free(ptr %memory)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %good, label %bad
good:
  ret i32 0
bad:
  %result = call i32 @qd_pool_failed(ptr %frame, ptr %ctx, i32 %status, i64 %lo)
  ret i32 %result
}}
"""


def _entry(shape: str, site: int) -> str:
    """The exported function: a region of the pool over all blocks."""
    return f"""
define i32 @{ENTRY}(ptr %ctx, ptr %args, ptr %shape, i64 %grain) {{
  %frame = alloca [{abi.REGION_BYTES + 16} x i8], align 16
  call void @llvm.memset.p0.i64(ptr %frame, i8 0, i64 {abi.REGION_BYTES + 16}, i1 false)
  %context.at = getelementptr i8, ptr %frame, i64 {abi.REGION_CONTEXT}
  store ptr %ctx, ptr %context.at
  %first.at = getelementptr i8, ptr %frame, i64 {abi.REGION_FIRST}
  store i64 9223372036854775807, ptr %first.at
  %args.at = getelementptr i8, ptr %frame, i64 {_FRAME_ARGS}
  store ptr %args, ptr %args.at
  %shape.at = getelementptr i8, ptr %frame, i64 {_FRAME_SHAPE}
  store ptr %shape, ptr %shape.at
{shape}
  %xy = mul i64 %s0, %s1
  %n = mul i64 %xy, %s2
  %result = call i32 @qd_pool_run(ptr @qd_kernel_chunk, ptr %frame, i64 %n, i64 %grain, i64 0, ptr %ctx)
  %fine = icmp eq i32 %result, 0
  br i1 %fine, label %good, label %bad
good:
  ret i32 0
bad:
  %status = call i32 @qd_pool_error(ptr %frame, ptr %ctx, i32 %result, i32 {site})
  ret i32 %status
}}
"""


class KernelExecutable(HostExecutable):
    """A kernel in this process's memory."""

    def __init__(self, addresses: Mapping[str, int], metadata: Mapping[str, str]) -> None:
        super().__init__(addresses)
        sites, classes = (pickle.loads(base64.b64decode(metadata[name])) for name in ("sites", "classes"))
        self._handler = Handler(sites, classes, NONE)
        self._serial = metadata["serial"] == "True"
        self._entry = ctypes.PYFUNCTYPE(ctypes.c_int32, *_ARGUMENTS)(self.address(ENTRY))

    def launch(self, entry: str, arguments: bytes, shape: LaunchShape, stream: Stream | None = None) -> None:
        """Run the blocks; everything is done when this returns. Raises what the kernel raises."""
        blocks = shape.grid[0] * shape.grid[1] * shape.grid[2]
        workers = 1 if self._serial else threads.get_num_threads()
        grain = blocks if workers == 1 else max(1, -(-blocks // (workers * _CHUNKS_A_THREAD)))
        words = struct.pack("<7q", *shape.grid, *shape.block, shape.shared_bytes)
        context = ctypes.create_string_buffer(abi.CTX_BYTES)
        pending: list[BaseException] = []
        if self._serial:  # only then does it call Python
            hostcall = _HOSTCALL(self._into_python(pending))
            called = ctypes.cast(hostcall, ctypes.c_void_p).value or 0
            ctypes.c_uint64.from_buffer(context, abi.CTX_HOSTCALL).value = called
        at = ctypes.addressof(context)
        try:
            status = self._entry(at, arguments, words, grain)
            if status:
                raise self._handler.exception(status, at, pending[-1] if pending else None)
        finally:
            release_kept(at)

    def _into_python(self, pending: list[BaseException]):  # type: ignore[no-untyped-def]
        def call(context: int, site: int, buffer: int) -> int:
            try:
                self._handler(site, buffer, context, None)
            except BaseException as error:  # noqa: BLE001  (whatever it is, it goes on to the caller of the kernel)
                pending.append(error)
                return abi.PYTHON_ERROR
            return 0

        return call


def load_kernel(artifact: Artifact) -> KernelExecutable:
    """Load a kernel into this process."""
    loaded = codegen.load_artifact(artifact)
    return KernelExecutable({name: loaded.address(name) for name in artifact.entries}, dict(artifact.metadata))


def is_kernel_artifact(artifact: Artifact) -> bool:
    """Whether an artifact is a kernel's."""
    return ENTRY in artifact.entries
