"""A backend whose code generator does not exist yet.

Takes what is seen of its device and driver; gives a `Backend` that is honest about itself: `availability()` says in words that
the code generator is not part of this version and whether the machine has the driver, and every other operation raises
`BackendUnavailable` with the same words. A package is thereby installable, listed and diagnosable before it can compile.
"""

from __future__ import annotations

import ctypes
import types
from collections.abc import Sequence
from typing import Any, NoReturn

from quadrants._frozen import frozen
from quadrants._version import __version__
from quadrants.backend.contract import (
    Artifact,
    Availability,
    Capabilities,
    Device,
    DeviceMemory,
    Event,
    Executable,
    Stream,
    Target,
)
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import BackendUnavailable


@frozen
class Driver:
    """A driver library as the system's loader knows it, by platform (`sys.platform`)."""

    title: str
    libraries: tuple[tuple[str, str], ...]  # (platform, file name)

    def found(self, platform: str) -> str | None:
        """The file name of the library, if the loader finds it here."""
        for on, library in self.libraries:
            if on == platform and _loads(library):
                return library
        return None

    def describe(self, platform: str) -> str:
        """What is seen of the driver on this machine, as a clause."""
        library = self.found(platform)
        if library:
            return f"the {self.title} ({library}) is present"
        if all(on != platform for on, _ in self.libraries):
            return f"the {self.title} does not exist on {platform}"
        return f"the {self.title} is not found"


class UnbuiltBackend:
    """The base of a backend without a code generator; a subclass gives `name`, `title`, `driver` and `platform`."""

    def __init__(self, name: str, title: str, driver: Driver, platform: str) -> None:
        self._name = name
        self._title = title
        self._driver = driver
        self._platform = platform

    @property
    def name(self) -> str:
        return self._name

    def availability(self) -> Availability:
        """Never available; says whether the driver is seen."""
        reason = (
            f"the {self._title} code generator is not built yet in quadrants {__version__}; "
            f"on this machine {self._driver.describe(self._platform)}"
        )
        return Availability(False, reason, "use the CPU backend (qd.njit, arch=qd.cpu)")

    def _refuse(self, what: str) -> NoReturn:
        """Raise the reason of `availability()` for an operation that needs a code generator or a device."""
        state = self.availability()
        raise BackendUnavailable(
            Code.BACKEND_UNAVAILABLE, f"{self._name} cannot {what}: {state.reason}", hint=state.fix or None
        )

    @property
    def namespace(self) -> types.ModuleType:
        self._refuse("be programmed")

    @property
    def legalise(self) -> Sequence[Any]:
        return ()

    @property
    def intrinsics(self) -> Sequence[Any]:
        return ()

    def targets(self) -> Sequence[Target]:
        return ()

    def devices(self) -> Sequence[Device]:
        return ()

    def target_of(self, device: Device) -> Target:
        self._refuse("name a target")

    def capabilities(self, target: Target) -> Capabilities:
        self._refuse("describe a target")

    def compile(self, module: Any, target: Target, options: Any) -> Artifact:
        self._refuse("compile")

    def load(self, artifact: Artifact, device: Device) -> Executable:
        self._refuse("load code")

    def memory(self, device: Device) -> DeviceMemory:
        self._refuse("allocate memory")

    def stream(self, device: Device) -> Stream:
        self._refuse("make a stream")

    def event(self, device: Device) -> Event:
        self._refuse("make an event")


def _loads(library: str) -> bool:
    """Whether the system's loader finds a library."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
