"""Manifests: which dependencies the compilations under one key had, and the entries that fit their present values.

Takes the first key (a digest of code, signature, options, compiler and machine) and the roots that places are relative to;
gives the payload of the entry whose dependencies all have the values that they had, together with the live dependencies.
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence

from quadrants._frozen import frozen
from quadrants.cache.dependencies import Place, Ref, Roots, follow_all, places_of, refs_key
from quadrants.cache.fingerprint import Uncacheable, digest
from quadrants.cache.store import Store

MAX_LISTS = 8  # lists of dependencies under one key: one, unless the globals decide which others are read


@frozen
class Found:
    """An entry that fits: its name, contents and live dependencies."""

    name: str
    payload: bytes
    refs: tuple[Ref, ...]


def lookup(store: Store, key: str, roots: Sequence[object]) -> Found | None:
    """The entry under `key` that fits this process."""
    for places in _read_lists(store, key):
        try:
            refs = follow_all(places, Roots(roots))
            name = _entry_name(key, places, refs)
        except (LookupError, TypeError, Uncacheable):
            continue
        payload = store.read(name)
        if payload is not None:
            return Found(name, payload, tuple(refs))
    return None


def save(store: Store, key: str, refs: Sequence[Ref], roots: Sequence[object], payload: bytes) -> bool:
    """Keep an entry; whether that was possible. Raises `Uncacheable` for dependencies that have no place or fingerprint."""
    places = places_of(refs, Roots(roots))
    if not store.write(_entry_name(key, places, refs), payload):
        return False
    lists = _read_lists(store, key)
    if places in lists:
        return True
    return store.write(_manifest_name(key), marshal.dumps((places, *lists)[:MAX_LISTS], 4))


def _manifest_name(key: str) -> str:
    return f"{key}.deps"


def _entry_name(key: str, places: Sequence[Place], refs: Sequence[Ref]) -> str:
    return f"{digest((key, tuple(places), refs_key(refs)))}.code"


def _read_lists(store: Store, key: str) -> tuple[tuple[Place, ...], ...]:
    data = store.read(_manifest_name(key)) if store.usable() else None
    return () if data is None else marshal.loads(data)
