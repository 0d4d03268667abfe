"""Portable kernels for devices on disk.

Takes what identifies a program (function, argument types, options, target) and, to keep it, the host's function with the artifacts
of its kernels; gives them back in another process, if the globals that it depends on have the values that they had.
"""

from __future__ import annotations

import types
from collections.abc import Sequence

from quadrants._frozen import frozen
from quadrants.api import stored
from quadrants.api.kernelstore import Request
from quadrants.backend.contract import Artifact, Target
from quadrants.backend.registry import get_backend
from quadrants.cache import manifest
from quadrants.cache.dependencies import Ref
from quadrants.cache.fingerprint import Uncacheable, compiler_key, package_key
from quadrants.cache.store import current
from quadrants.host.target import host_target
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


def _key(request: Request) -> str | None:
    """The first key of the cache; None where something has no fingerprint."""
    assert isinstance(request.function, types.FunctionType)
    backend = package_key(type(get_backend(request.target.backend)).__module__)
    context = ("portable", compiler_key(), backend, host_target().fingerprint, request.target.to_json())
    try:
        return stored.first_key(request.function, request.arg_types, request.options, None, context)
    except Uncacheable:
        return None


def load(request: Request) -> tuple[Parts, tuple[Ref, ...]] | None:
    """The program of an earlier process."""
    store = current() if request.options.cache else None
    key = None if store is None else _key(request)
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


def _kernel(fields: Sequence[object]) -> KernelParts:
    name, machine, target, format_, code, entries, metadata, text = fields
    artifact = Artifact(Target.from_json(target), format_, code, entries, metadata, dict(text))  # type: ignore[arg-type, call-overload]
    return name, machine, artifact  # type: ignore[return-value]


def save(request: Request, parts: Parts, refs: Sequence[Ref]) -> None:
    """Keep a program, if everything that it depends on has a fingerprint."""
    store = current() if request.options.cache else None
    key = None if store is None else _key(request)
    if store is None or key is None:
        return
    kernels = tuple(
        (name, machine, a.target.to_json(), a.format, a.code, a.entries, a.metadata, tuple(a.text.items()))
        for name, machine, a in parts.kernels
    )
    fields = (parts.host, kernels, parts.machine, parts.scratch, parts.result, parts.hidden)
    try:
        manifest.save(store, key, refs, request.roots, stored.codec(request.arg_types).dumps(fields))
    except Uncacheable:
        return  # it works in this process, and is compiled again in the next
