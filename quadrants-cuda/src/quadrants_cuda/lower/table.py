"""The emitters by op name, and the ops that a CUDA device does not run, with the reason and the way out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quadrants.lower import table as shared
from quadrants.lower.emit import Emitter
from quadrants_cuda.lower import lanes, prints, threads

_HEAP = ("a device has no heap", "make the array before the launch, or give it a small constant size")
_LISTS = ("a list that grows needs a heap", "use an array of the size that is needed at most")
_LANES = ("SIMD registers belong to code for a CPU", "a device has its threads for that")
_MAPS = ("it is expanded into loops by the pass expand_maps", "compile through the passes of the device level")

#: Op name -> (why it is not lowered, what to do).
UNSUPPORTED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "map": _MAPS,
        "map_into": _MAPS,
        "poll": ("it asks the interpreter on the host", "compile through the passes of the device level"),
        "fork": ("parallel regions belong to code for a CPU", "a device has its threads for that"),
        "str.eq": (
            "strings are objects of the interpreter",
            "compare before the launch, and give the kernel the answer",
        ),
        "grid.barrier": ("this version does not launch all blocks at once", "end the kernel, and launch another"),
        **dict.fromkeys(("list.load", "list.new", "list.resize", "list.size", "list.store"), _LISTS),
        **dict.fromkeys((name for name in shared.EMITTERS if name.startswith("lanes.")), _LANES),
    }
)

EMITTERS: Mapping[str, Emitter] = MappingProxyType(
    {
        name: emitter
        for name, emitter in {
            **shared.EMITTERS,
            **threads.EMITTERS,
            **lanes.EMITTERS,
            **prints.EMITTERS,
        }.items()
        if name not in UNSUPPORTED
    }
)
#: Why an array that is allocated while the kernel runs is not: only those in the frame of a function are.
HEAP = _HEAP
