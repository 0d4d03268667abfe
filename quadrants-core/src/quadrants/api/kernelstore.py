"""Compiled kernels on disk.

Takes what identifies a kernel's code (function, argument types, options, target) and, to keep it, the artifact with what a launch
needs to know; gives it back in another process, if the globals that it depends on have the values that they had.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from quadrants._frozen import frozen
from quadrants.api import stored
from quadrants.backend.contract import Artifact, Target
from quadrants.backend.registry import get_backend
from quadrants.cache import manifest
from quadrants.cache.codec import Codec
from quadrants.cache.dependencies import Ref
from quadrants.cache.fingerprint import Uncacheable, compiler_key, package_key
from quadrants.cache.store import current
from quadrants.host.target import host_target
from quadrants.options import Options
from quadrants.types import ArrayType, Kind, Scalar, Type

HiddenAt = tuple[int, tuple[int, ...]]
#: What `load` gives: the name of the kernel, the types of its parameters, hidden arguments, the artifact, live dependencies.
Found = tuple[str, tuple[Type, ...], tuple[HiddenAt, ...], Artifact, tuple[Ref, ...]]

_CODEC = Codec((ArrayType, Kind, Scalar))


@frozen(eq=False)
class Request:
    """What to compile."""

    function: Any  # a Python function: declared so, it would read as a method
    arg_types: tuple[Type, ...]
    options: Options
    target: Target

    @property
    def roots(self) -> list[object]:
        """What the places of dependencies are relative to."""
        found = [root for root in stored.literal_roots(self.arg_types) if root is not self.function]
        return [self.function, *found]

    def key(self, kind: str = "kernel") -> str | None:
        """The first key of the cache, for what is kept of this kind; None where something has no fingerprint."""
        assert isinstance(self.function, types.FunctionType)
        backend = package_key(type(get_backend(self.target.backend)).__module__)
        context = (kind, compiler_key(), backend, host_target().fingerprint, self.target.to_json())
        try:
            return stored.first_key(self.function, self.arg_types, self.options, None, context)
        except Uncacheable:
            return None


def fields_of(artifact: Artifact) -> tuple[object, ...]:
    """An artifact as what the cache can write."""
    text = tuple(artifact.text.items())
    return artifact.target.to_json(), artifact.format, artifact.code, artifact.entries, artifact.metadata, text


def artifact_of(fields: Sequence[Any]) -> Artifact:
    """The artifact that has the fields."""
    target, format_, code, entries, metadata, text = fields
    return Artifact(Target.from_json(target), format_, code, entries, metadata, dict(text))


def load(request: Request) -> Found | None:
    """The code of an earlier process."""
    store = current() if request.options.cache else None
    key = None if store is None else request.key()
    if store is None or key is None:
        return None
    found = manifest.lookup(store, key, request.roots)
    if found is None:
        return None
    try:
        entry, machine, hidden, *fields = _CODEC.loads(found.payload)
        return entry, machine, hidden, artifact_of(fields), found.refs
    except (Uncacheable, LookupError, TypeError, ValueError):
        return None


def save(
    request: Request,
    entry: str,
    machine: tuple[Type, ...],
    hidden: tuple[HiddenAt, ...],
    artifact: Artifact,
    refs: Sequence[Ref],
) -> None:
    """Keep the code, if everything that it depends on has a fingerprint."""
    store = current() if request.options.cache else None
    key = None if store is None else request.key()
    if store is None or key is None:
        return
    try:
        payload = _CODEC.dumps((entry, machine, hidden, *fields_of(artifact)))
        manifest.save(store, key, refs, request.roots, payload)
    except Uncacheable:
        return  # it works in this process, and is compiled again in the next
