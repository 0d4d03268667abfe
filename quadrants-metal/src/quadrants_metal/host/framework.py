"""Apple's Metal framework, through pyobjc.

Takes the platform; gives the bindings and the devices that can be used, or why there are none and what to do.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from platform import mac_ver
from typing import Any

from quadrants._frozen import frozen
from quadrants.backend.contract import Availability

_BINDINGS = "pip install pyobjc-framework-Metal"


#: The least version of macOS: MSL 3.2 came with it.
_MACOS = 15


@frozen(eq=False)
class Framework:
    """The module of the bindings, the devices that have Metal 3, and what frees what calls of the framework leave behind."""

    metal: Any
    devices: tuple[Any, ...]
    pool: Callable[[], AbstractContextManager[Any]]


def framework(platform: str, load: Callable[[str], Any] = importlib.import_module) -> Framework | Availability:
    """The framework, or why it cannot be used."""
    if platform != "darwin":
        return Availability(
            False, f"Metal exists on macOS only, and this is {platform}", "use qd.vulkan, qd.cuda or qd.cpu here"
        )
    version = mac_ver()[0]
    if version and int(version.split(".")[0]) < _MACOS:
        return Availability(False, f"this is macOS {version}", f"update to macOS {_MACOS} or later")
    try:
        metal, objc = load("Metal"), load("objc")
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
    return Framework(metal, devices, objc.autorelease_pool)
