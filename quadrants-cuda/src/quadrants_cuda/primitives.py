"""The instructions of CUDA devices that kernels are made of, for the shared lowering of GPUs.

Lanes that arrive together are found when they do (`activemask`), and named to each instruction; `converging` sees to it that
lanes that a branch has parted arrive together again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from quadrants.ir import Module
from quadrants.ir.core import Op
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.gpu import context, threads
from quadrants.lower.gpu.lanes import to_words
from quadrants.lower.gpu.primitives import Primitives
from quadrants.types import Scalar
from quadrants_cuda.converging import Converging, active, wait

_AXES = "xyz"
#: A kernel has 4096 bytes of parameters, 48 of which are the launch's.
MOST_WORDS = (4096 - 48) // 8


def _register(e: FunctionEmitter, name: str) -> Text:
    return e.let(f"call i32 @llvm.nvvm.read.ptx.sreg.{name}()")


def _along(name: str) -> Callable[[FunctionEmitter, int], Text]:
    return lambda e, axis: _register(e, f"{name}.{_AXES[axis]}")


def _ballot(e: FunctionEmitter, mask: Text, condition: Text) -> Text:
    return e.let(f"call i32 @llvm.nvvm.vote.ballot.sync(i32 {mask}, i1 {condition})")


def _read(e: FunctionEmitter, mask: Text, word: Text, lane: Text) -> Text:
    return e.let(f"call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 {mask}, i32 {word}, i32 {lane}, i32 31)")


def _wait(e: FunctionEmitter) -> None:
    e.line("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)")


# What has an instruction of its own


def _axis(read: Callable[[FunctionEmitter, int], Text]) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        axis = op.attrs["axis"]
        assert isinstance(axis, int)
        e.set(op, read(e, axis))

    return emit


def _block_index(e: FunctionEmitter, axis: int) -> Text:
    """Along x, one launch has all blocks."""
    index = _register(e, f"ctaid.{_AXES[axis]}")
    return e.let(f"add i32 {index}, {threads.of_launch(e, context.FIRST + 4 * axis)}") if axis else index


def _grid_size(e: FunctionEmitter, axis: int) -> Text:
    return threads.of_launch(e, context.GRID + 4 * axis) if axis else _register(e, "nctaid.x")


def _counting(name: str, result: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        given = f"i32 0, i1 {e.one(op.operands[0])}"
        e.set(op, e.let(f"call {result} @llvm.nvvm.barrier.cta.red.{name}.aligned.all({given})"))

    return emit


class _Lanes:
    """What depends on where lanes wait for each other."""

    def __init__(self, converging: Converging) -> None:
        self.converging = converging

    def active(self, e: FunctionEmitter, op: Op) -> Text:
        """The lanes that are here together."""
        if self.converging.all_lanes(op):
            wait(e, "-1")
        return active(e)

    def match(self, e: FunctionEmitter, op: Op) -> None:
        """A value of 64 bits is matched by both of its words."""
        type = op.operands[0].type
        assert isinstance(type, Scalar)
        words = to_words(e, type, e.one(op.operands[0]))
        mask = self.active(e, op)
        found = [e.let(f"call i32 @llvm.nvvm.match.any.sync.i32(i32 {mask}, i32 {word})") for word in words]
        both = found[0] if len(found) == 1 else e.let(f"and i32 {found[0]}, {found[1]}")
        e.set(op, e.let(f"zext i32 {both} to i64"))

    def barrier(self, e: FunctionEmitter, op: Op) -> None:
        wait(e, self.active(e, op))


#: What has an instruction, whatever the kernel.
_OWN: Mapping[str, Emitter] = MappingProxyType(
    {
        "block.index": _axis(_block_index),
        "block.size": _axis(_along("ntid")),
        "grid.size": _axis(_grid_size),
        "barrier.count": _counting("popc", "i32"),
        "barrier.all": _counting("and", "i1"),
        "barrier.any": _counting("or", "i1"),
    }
)
_SCOPES = MappingProxyType({"block": ' syncscope("block")', "device": ' syncscope("device")', "system": ""})


def primitives(module: Module) -> Primitives:
    """Those for a module, which is changed."""
    converging = Converging(module)
    lanes = _Lanes(converging)
    return Primitives(
        title="a CUDA device",
        convention="ptx_kernel",
        scopes=_SCOPES,
        thread_index=_along("tid"),
        block_index=_along("ctaid"),
        lane=lambda e: _register(e, "laneid"),
        active=lanes.active,
        ballot=_ballot,
        read=_read,
        wait=_wait,
        own={**_OWN, **converging.emitters(), "lane.match": lanes.match, "subgroup.barrier": lanes.barrier},
        most_words=MOST_WORDS,
    )
