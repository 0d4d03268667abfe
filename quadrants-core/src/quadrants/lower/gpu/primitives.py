"""What one kind of GPU has to say of itself for the shared lowering: a handful of instructions, as LLVM text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from quadrants._frozen import frozen
from quadrants.ir.core import Op
from quadrants.lower.emit import Emitter, FunctionEmitter, Text

#: Lanes of a subgroup, whatever the hardware's own number is: programs agree on all GPUs.
LANES = 32


@frozen(eq=False)
class Primitives:
    """Each writes instructions and gives the operand of the result, an i32 unless it says otherwise.

    Args:
        title: of a device, in messages: "an AMD GPU".
        convention: the calling convention of a kernel.
        scopes: the scopes of fences and atomics ("block", "device", "system") as LLVM writes them, with a space before.
        thread_index: along an axis.
        block_index: of the launch, along an axis.
        lane: the thread's place in its subgroup.
        active: the lanes of the subgroup that are here together, as bits.
        ballot: (mask, condition): those of them where a condition holds, as bits.
        read: (mask, word, lane): the word of a lane of the mask.
        wait: waits for the threads of the block, memory included; gives nothing.
        own: op name -> emitter, for what this kind has better instructions for than those that are made of the ones above.
        most_words: the most words of an argument block that a kernel takes as parameters; None: any number.
    """

    title: str
    convention: str
    scopes: Mapping[str, str]
    thread_index: Callable[[FunctionEmitter, int], Text]
    block_index: Callable[[FunctionEmitter, int], Text]
    lane: Callable[[FunctionEmitter], Text]
    active: Callable[[FunctionEmitter, Op], Text]
    ballot: Callable[[FunctionEmitter, Text, Text], Text]
    read: Callable[[FunctionEmitter, Text, Text, Text], Text]
    wait: Callable[[FunctionEmitter], None]
    own: Mapping[str, Emitter] = field(default_factory=dict)
    most_words: int | None = None
