"""The instructions of AMD GPUs that kernels are made of, for the shared lowering of GPUs.

A subgroup has 32 lanes, as on other GPUs: where the hardware runs 64 in step, each half is one. Lanes are numbered by the
hardware, with the threads of a block in order; `ds_bpermute` reads a word of another lane, ballots say who is here.
"""

from __future__ import annotations

from types import MappingProxyType

from quadrants.ir.core import Op
from quadrants.lower.emit import FunctionEmitter, Text
from quadrants.lower.gpu.primitives import Primitives

_AXES = "xyz"
#: Who takes part, as LLVM's scopes of amdgcn.
SCOPES = MappingProxyType({"block": ' syncscope("workgroup")', "device": ' syncscope("agent")', "system": ""})


def _thread_index(e: FunctionEmitter, axis: int) -> Text:
    return e.let(f"call i32 @llvm.amdgcn.workitem.id.{_AXES[axis]}()")


def _block_index(e: FunctionEmitter, axis: int) -> Text:
    return e.let(f"call i32 @llvm.amdgcn.workgroup.id.{_AXES[axis]}()")


def _wait(e: FunctionEmitter) -> None:
    e.line('fence syncscope("workgroup") release')
    e.line("call void @llvm.amdgcn.s.barrier()")
    e.line('fence syncscope("workgroup") acquire')


class _Wave:
    """The lanes of a wave of 32 or 64."""

    def __init__(self, size: int) -> None:
        self.size = size

    def hardware_lane(self, e: FunctionEmitter) -> Text:
        """In the wave."""
        low = e.let("call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)")
        return low if self.size == 32 else e.let(f"call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 {low})")

    def lane(self, e: FunctionEmitter) -> Text:
        """In the subgroup."""
        lane = self.hardware_lane(e)
        return lane if self.size == 32 else e.let(f"and i32 {lane}, 31")

    def _half(self, e: FunctionEmitter) -> Text:
        """The first lane of the subgroup in the wave."""
        return e.let(f"and i32 {self.hardware_lane(e)}, 32")

    def ballot(self, e: FunctionEmitter, mask: Text, condition: Text) -> Text:
        """Only the lanes that are here have a say: the mask is theirs."""
        if self.size == 32:
            return e.let(f"call i32 @llvm.amdgcn.ballot.i32(i1 {condition})")
        both = e.let(f"call i64 @llvm.amdgcn.ballot.i64(i1 {condition})")
        own = e.let(f"lshr i64 {both}, {e.let(f'zext i32 {self._half(e)} to i64')}")
        return e.let(f"trunc i64 {own} to i32")

    def active(self, e: FunctionEmitter, op: Op) -> Text:
        """The lanes that are here."""
        return self.ballot(e, "", "true")

    def read(self, e: FunctionEmitter, mask: Text, word: Text, lane: Text) -> Text:
        """A word of another lane, by its number in bytes."""
        place = lane if self.size == 32 else e.let(f"or i32 {lane}, {self._half(e)}")
        at = e.let(f"shl i32 {place}, 2")
        return e.let(f"call i32 @llvm.amdgcn.ds.bpermute(i32 {at}, i32 {word})")


def primitives(wave: int) -> Primitives:
    """Those of a processor with so many lanes in a wave."""
    lanes = _Wave(wave)
    return Primitives(
        title="an AMD GPU",
        convention="amdgpu_kernel",
        scopes=SCOPES,
        thread_index=_thread_index,
        block_index=_block_index,
        lane=lanes.lane,
        active=lanes.active,
        ballot=lanes.ballot,
        read=lanes.read,
        wait=_wait,
    )
