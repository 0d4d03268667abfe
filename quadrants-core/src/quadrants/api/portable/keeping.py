"""Portable kernels for devices on disk.

Takes what identifies a program (function, argument types, options, target) and, to keep it, the host's function with the artifacts
of its kernels; gives them back in another process, if the globals that it depends on have the values that they had.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quadrants._frozen import frozen
from quadrants.api import stored
from quadrants.api.kernelstore import Request, artifact_of, fields_of
from quadrants.backend.contract import Artifact
from quadrants.cache import manifest
from quadrants.cache.dependencies import Ref
from quadrants.cache.fingerprint import Uncacheable
from quadrants.cache.store import current
from quadrants.types import Scalar, Type

HiddenAt = tuple[int, tuple[int, ...]]
#: The name of a kernel, the types of its parameters, its artifact.
KernelParts = tuple[str, tuple[Type, ...], Artifact]


@frozen(eq=False)
class Parts:
    """What is kept of a program: as `Compiled`, with the host's function as text."""

    host: str
    kernels: tuple[KernelParts, ...]
    machine: tuple[Type, ...]
    scratch: tuple[tuple[Scalar, int], ...]
    result: Type
    hidden: tuple[HiddenAt, ...]


def load(request: Request) -> tuple[Parts, tuple[Ref, ...]] | None:
    """The program of an earlier process."""
    store = current() if request.options.cache else None
    key = None if store is None else request.key("portable")
    if store is None or key is None:
        return None
    found = manifest.lookup(store, key, request.roots)
    if found is None:
        return None
    try:
        host, kernels, *rest = stored.codec(request.arg_types).loads(found.payload)
        return Parts(host, tuple(map(_kernel, kernels)), *rest), found.refs
    except (Uncacheable, LookupError, TypeError, ValueError):
        return None


def _kernel(fields: Sequence[Any]) -> KernelParts:
    name, machine, *rest = fields
    return name, machine, artifact_of(rest)


def save(request: Request, parts: Parts, refs: Sequence[Ref]) -> None:
    """Keep a program, if everything that it depends on has a fingerprint."""
    store = current() if request.options.cache else None
    key = None if store is None else request.key("portable")
    if store is None or key is None:
        return
    kernels = tuple((name, machine, *fields_of(artifact)) for name, machine, artifact in parts.kernels)
    fields = (parts.host, kernels, parts.machine, parts.scratch, parts.result, parts.hidden)
    try:
        manifest.save(store, key, refs, request.roots, stored.codec(request.arg_types).dumps(fields))
    except Uncacheable:
        return  # it works in this process, and is compiled again in the next
