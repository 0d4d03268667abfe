"""The emitters by op name, and the ops that a Metal device does not run, with the reason and the way out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quadrants_metal.lower import atomics, calls, control, device, errors, floats, memory, scalars, subgroup
from quadrants_metal.lower.emit import Emitter

_FAMILIES = (scalars, floats, memory, control, calls, errors, device, atomics, subgroup)

EMITTERS: Mapping[str, Emitter] = MappingProxyType(
    {name: emitter for family in _FAMILIES for name, emitter in family.EMITTERS.items()}
)

_HEAP = ("a device has no heap, and counts no references", "compile through the passes of the device level")
_HANDLE = ("exceptions end a kernel, they are not handled in it", "test the condition instead")
_MAPS = ("it is expanded into loops by the pass expand_maps", "compile through the backend's passes")
_HOST = ("it asks the interpreter on the host", "compile through the passes of the device level")
_LANES = ("SIMD registers belong to code for a CPU", "a device has its threads for that")
_LISTS = ("a list that grows needs a heap", "use an array of the size that is needed at most")

#: Op name -> (why it is not lowered, what to do).
UNSUPPORTED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("retain", "release"), _HEAP),
        **dict.fromkeys(("map", "map_into"), _MAPS),
        **dict.fromkeys(("try", "reraise", "exc.match"), _HANDLE),
        "poll": _HOST,
        "fork": ("parallel regions belong to code for a CPU", "a device has its threads for that"),
        "launch": ("only the host launches kernels", "launch them one after the other"),
        **dict.fromkeys(
            ("contract", "contract.prepare"),
            ("products by kernels of the CPU belong to code for it", "write the loops"),
        ),
        "str.eq": (
            "strings are objects of the interpreter",
            "compare before the launch, and give the kernel the answer",
        ),
        **dict.fromkeys(
            (
                "lanes.all",
                "lanes.any",
                "lanes.extract",
                "lanes.gather",
                "lanes.index",
                "lanes.load",
                "lanes.pick",
                "lanes.reduce",
                "lanes.scatter",
                "lanes.splat",
                "lanes.store",
            ),
            _LANES,
        ),
        **dict.fromkeys(("list.load", "list.new", "list.resize", "list.size", "list.store"), _LISTS),
        "grid.barrier": ("Metal does not say that all blocks run at once", "end the kernel, and launch another"),
    }
)
