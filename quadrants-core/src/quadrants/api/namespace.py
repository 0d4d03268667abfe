"""The namespace of a backend: `qd.cpu`, `qd.cuda`, ... are modules with the same names.

Takes the name of a backend; gives a module with the names of the explicit language (`quadrants.simt.names`), the decorators
`kernel` and `func`, and what the host needs beside them.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from quadrants.api.devicearrays import HostSide
from quadrants.api.functions import func
from quadrants.api.kernels import decorator
from quadrants.simt.names import NAMES


class Namespace(types.ModuleType):
    """See the module's docstring. `backend` is the name of the backend."""

    __quadrants_backend__ = ""  # of each namespace its own
    kernel: Callable[..., Any]

    def __init__(self, backend: str) -> None:
        super().__init__(
            f"quadrants.{backend}", f"The explicit language for {backend}: kernels, and what they may use."
        )
        self.__quadrants_backend__ = backend
        vars(self).update(NAMES)
        self.kernel = decorator(backend)
        self.func = func
        host = HostSide(backend)
        for name in ("device_array", "device_array_like", "to_device", "stream", "event", "synchronize"):
            setattr(self, name, getattr(host, name))

    def __getattr__(self, name: str) -> Any:
        import difflib  # only a mistake needs it

        close = difflib.get_close_matches(name, vars(self), n=1)
        hint = f". Did you mean: {close[0]!r}?" if close else ""
        raise AttributeError(f"quadrants.{self.__quadrants_backend__} has no {name!r}{hint}", name=name)

    def __dir__(self) -> list[str]:
        return sorted(name for name in vars(self) if not name.startswith("_"))


def explicit_namespace(backend: str) -> Namespace:
    """The namespace of a backend."""
    return Namespace(backend)
