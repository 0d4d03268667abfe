"""Loads object code into this process, without LLVM.

Takes the bytes of a relocatable ELF object (fresh from LLVM or out of the cache, on any system: it is only a container) and a
resolver of external symbols; gives the addresses of its exported symbols. Code lies in a reserved range of address space and is
written first, then made executable, never both. It is never freed: a kernel may be running while its dispatcher goes away.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from dataclasses import field

from quadrants._frozen import record
from quadrants.host import elf, monitor
from quadrants.host.elf import BadObject, ElfObject, Symbol
from quadrants.host.os import System, system
from quadrants.host.relocate import RULES, STUB_BYTES, Rule, Target, write_stub

Resolver = Callable[[str], int]

_GOT, _CALL = Target.GOT, Target.CALL  # quicker to read than members
_ARENA_BYTES = 256 << 20
_POINTER = 8


def load(data: bytes, resolve: Resolver) -> dict[str, int]:
    """Load an object. Raises `BadObject`, and what `resolve` raises for an unknown symbol; then nothing was loaded."""
    parsed = elf.parse(data)
    image = _Image(parsed, resolve)
    exported = image.load(_arena())
    monitor.register(parsed, image.addresses, exported)
    return exported


class Arena:
    """Hands out pages of reserved address space; grows by whole ranges."""

    def __init__(self, os: System, size: int = _ARENA_BYTES) -> None:
        self.os = os
        self._size = size
        self._next = self._end = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> int:
        """The address of `size` bytes (rounded up to pages), not accessible yet."""
        page = self.os.page_size
        size = _round_up(size, page)
        with self._lock:
            if self._end - self._next < size:
                reserved = max(self._size, size)
                self._next = self.os.reserve(reserved)
                self._end = self._next + reserved
            at = self._next
            self._next += size
            return at


@functools.cache
def _arena() -> Arena:
    return Arena(system())


def _round_up(value: int, align: int) -> int:
    return (value + align - 1) & ~(align - 1)


@record(eq=False)
class _Image:
    """One object on its way into memory: code, constants, stubs and GOT first, then on pages of their own the data."""

    object: ElfObject
    resolve: Resolver
    addresses: list[int] = field(default_factory=list)  # of the sections
    _offsets: list[int] = field(default_factory=list)  # of the sections in the image
    _values: list[int | None] = field(default_factory=list)  # of the symbols
    _got: dict[int, int] = field(default_factory=dict)  # symbol -> offset of its entry
    _stubs: dict[int, int] = field(default_factory=dict)  # symbol -> offset of its stub
    _base: int = 0

    def load(self, arena: Arena) -> dict[str, int]:
        """Place, relocate, copy, protect; the exported symbols."""
        page = arena.os.page_size
        rules = self._rules()
        code_size, total = self._place(rules, page)
        self._values = [self._external(symbol) for symbol in self.object.symbols]
        self._base = arena.take(total)
        self.addresses = [self._base + offset for offset in self._offsets]
        image = self._fill(total, rules)
        exported = {
            s.name: self._value(i) for i, s in enumerate(self.object.symbols) if s.exported and s.section is not None
        }
        arena.os.make_writable(self._base, total)
        arena.os.write(self._base, bytes(image))
        if code_size:
            arena.os.make_executable(self._base, code_size)
        return exported

    def _rules(self) -> list[Rule]:
        table = RULES[self.object.machine]
        rules = []
        for relocation in self.object.relocations:
            rule = table.get(relocation.type)
            if rule is None:
                raise BadObject(f"relocation type {relocation.type} is not supported")
            if relocation.offset + rule.size > len(self.object.sections[relocation.section].data):
                raise BadObject("a relocation lies outside its section")
            rules.append(rule)
        return rules

    def _place(self, rules: list[Rule], page: int) -> tuple[int, int]:
        """Lay out the image: the size of its executable part (whole pages), the size of all."""
        sections = self.object.sections
        self._offsets = [0] * len(sections)
        at = 0
        order = sorted(range(len(sections)), key=lambda i: (sections[i].writable, not sections[i].executable))
        readonly = [i for i in order if not sections[i].writable]
        for index in readonly:
            at = self._offsets[index] = _round_up(at, sections[index].align)
            at += sections[index].size
        at = _round_up(at, 16)
        stub = STUB_BYTES[self.object.machine]
        for relocation, rule in zip(self.object.relocations, rules):
            external = self.object.symbols[relocation.symbol].section in (None, -1)
            if rule.target is _CALL and external and relocation.symbol not in self._stubs:
                self._stubs[relocation.symbol] = at
                at += stub
        needed = [r.symbol for r, rule in zip(self.object.relocations, rules) if rule.target is _GOT]
        for symbol in dict.fromkeys((*needed, *self._stubs)):
            self._got[symbol] = at
            at += _POINTER
        code_size = at = _round_up(at, page)
        for index in order[len(readonly) :]:
            at = self._offsets[index] = _round_up(at, sections[index].align)
            at += sections[index].size
        return code_size, max(_round_up(at, page), page)

    def _external(self, symbol: Symbol) -> int | None:
        """The address of an undefined or absolute symbol; None for one that the object defines."""
        if symbol.section is None:
            return self.resolve(symbol.name) if symbol.name else 0
        return symbol.value if symbol.section < 0 else None

    def _value(self, index: int) -> int:
        """The address of a symbol."""
        known = self._values[index]
        if known is not None:
            return known
        symbol = self.object.symbols[index]
        assert symbol.section is not None
        return self.addresses[symbol.section] + symbol.value

    def _fill(self, total: int, rules: list[Rule]) -> bytearray:
        """The bytes of the image."""
        image = bytearray(total)
        for offset, section in zip(self._offsets, self.object.sections):
            image[offset : offset + len(section.data)] = section.data
        for symbol, offset in self._got.items():
            image[offset : offset + _POINTER] = self._value(symbol).to_bytes(_POINTER, "little")
        for symbol, offset in self._stubs.items():
            write_stub(self.object.machine, image, offset, self._base + offset, self._base + self._got[symbol])
        for relocation, rule in zip(self.object.relocations, rules):
            offset = self._offsets[relocation.section] + relocation.offset
            address = self._address(rule, relocation.symbol) + relocation.addend
            rule.apply(image, offset, self._base + offset, address)
        return image

    def _address(self, rule: Rule, symbol: int) -> int:
        if rule.target is _GOT:
            return self._base + self._got[symbol]
        if rule.target is _CALL and symbol in self._stubs:
            return self._base + self._stubs[symbol]
        return self._value(symbol)


Exports = Mapping[str, int]
