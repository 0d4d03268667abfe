"""Module namespaces by identity, so that the type of a closure can name the one that it was made in.

A namespace is kept alive by being here; there is one a module that makes closures in kernels.
"""

from __future__ import annotations

_NAMESPACES: dict[int, dict[str, object]] = {}


def remember(namespace: dict[str, object]) -> dict[str, object]:
    """Register a function's globals and return them."""
    return _NAMESPACES.setdefault(id(namespace), namespace)


def namespace_of(identity: int) -> dict[str, object]:
    """The namespace registered under `id(namespace)`."""
    return _NAMESPACES[identity]
