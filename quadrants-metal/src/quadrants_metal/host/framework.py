"""Apple's Metal framework, through pyobjc.

Takes the platform; gives the bindings and the devices that can be used, or why there are none and what to do.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from quadrants._frozen import frozen
from quadrants.backend.contract import Availability

_BINDINGS = "pip install pyobjc-framework-Metal"


@frozen(eq=False)
class Framework:
    """The module of the bindings, and the devices that have Metal 3."""

    metal: Any
    devices: tuple[Any, ...]


def framework(platform: str, load: Callable[[str], Any] = importlib.import_module) -> Framework | Availability:
    """The framework, or why it cannot be used."""
    if platform != "darwin":
        return Availability(
            False, f"Metal exists on macOS only, and this is {platform}", "use qd.vulkan, qd.cuda or qd.cpu here"
        )
    try:
        metal = load("Metal")
    except ImportError as problem:
        return Availability(False, f"the bindings of Metal are not installed: {problem}", _BINDINGS)
    found = tuple(metal.MTLCopyAllDevices() or ())
    if not found:
        return Availability(False, "Metal finds no device", "run it on a Mac with a GPU, logged in")
    devices = tuple(device for device in found if device.supportsFamily_(metal.MTLGPUFamilyMetal3))
    if not devices:
        names = ", ".join(str(device.name()) for device in found)
        return Availability(
            False, f"no device has Metal 3: {names}", "use macOS 15 or later, on a Mac of 2019 or later"
        )
    return Framework(metal, devices)
