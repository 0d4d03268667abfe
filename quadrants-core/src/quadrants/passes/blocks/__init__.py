"""Kernels for the CPU: the threads of a block become loops.

`run` takes a module whose entry is a kernel of the device level; gives a module of the host level whose entry runs a range of
blocks. Its parameters are those of the kernel, then i64: blocks and threads along x, y and z, the first block and how many;
then the dynamic shared memory, an array of bytes. Everything that stands between two barriers, or other ops that threads do
together, becomes a loop over the threads of the block; what a thread still needs behind them is kept in an array with an
element a thread. Control flow around such ops is done once for the block where its conditions are the same for all threads;
elsewhere threads that do not take part wait, so that a barrier that only some of them reach is found. Legal for every kernel
without a barrier of the whole grid.
"""

from __future__ import annotations

from quadrants.passes.blocks.fission import run
from quadrants.passes.blocks.structure import Refused

__all__ = ["Refused", "run"]
