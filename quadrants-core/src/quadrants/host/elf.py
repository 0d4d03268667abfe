"""Reads an ELF64 relocatable object, as LLVM emits it.

Takes bytes; gives `ElfObject`: the sections to load, the symbols and the relocations, every index and range checked, so that a
damaged file raises `BadObject` and what is returned can be trusted to lie inside the file.
"""

from __future__ import annotations

import enum
import struct

from quadrants._frozen import frozen

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_IDENT = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian, version 1
_ET_REL = 1
_SHT_PROGBITS, _SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS, _SHT_REL = 1, 2, 4, 8, 9
_SHF_WRITE, _SHF_ALLOC, _SHF_EXEC, _SHF_TLS = 1, 2, 4, 0x400
_SHN_UNDEF, _SHN_RESERVED, _SHN_ABS = 0, 0xFF00, 0xFFF1
_MAX_IMAGE = 1 << 30
_MAX_ALIGN = 4096
_UNWIND = ".eh_frame"  # nothing unwinds through compiled code


class BadObject(ValueError):
    """The bytes are not an object file that can be loaded."""


class Machine(enum.Enum):
    """The processors that the loader knows; the value is the ELF machine number."""

    X86_64 = 62
    AARCH64 = 183


@frozen
class Section:
    """A section that takes memory. `data` is empty for zeroed memory."""

    name: str
    data: bytes
    size: int
    align: int
    writable: bool
    executable: bool


# An object has hundreds of the next two, and a cached call waits for them: plain classes.


class Symbol:
    """A symbol: defined in `sections[section]` at `value`; `section` is None for an undefined one, -1 for an absolute one."""

    __slots__ = ("exported", "name", "section", "value")

    def __init__(self, name: str, section: int | None, value: int, exported: bool) -> None:
        self.name = name
        self.section = section
        self.value = value
        self.exported = exported


class Relocation:
    """A place in a section to be filled with something about a symbol; `type` is the machine's number."""

    __slots__ = ("addend", "offset", "section", "symbol", "type")

    def __init__(self, section: int, offset: int, type: int, symbol: int, addend: int) -> None:
        self.section = section
        self.offset = offset
        self.type = type
        self.symbol = symbol
        self.addend = addend


@frozen
class ElfObject:
    """See the module's docstring. Sections are numbered as in the list, not as in the file."""

    machine: Machine
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]


@frozen
class _Header:
    name: int
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entsize: int


def parse(data: bytes) -> ElfObject:
    """Read an object. Raises `BadObject`."""
    try:
        return _Reader(data).read()
    except (struct.error, IndexError, UnicodeDecodeError, OverflowError) as error:
        raise BadObject(f"damaged object file: {error}") from None


class _Reader:
    """The state of one `parse`."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.headers: list[_Header] = []
        self.loaded: dict[int, int] = {}  # section number in the file -> in the result

    def read(self) -> ElfObject:
        machine, names = self._read_headers()
        sections = self._read_sections(names)
        symbols = self._read_symbols()
        relocations = [
            r for h in self.headers if h.type == _SHT_RELA for r in self._read_relocations(h, sections, len(symbols))
        ]
        return ElfObject(machine, tuple(sections), tuple(symbols), tuple(relocations))

    def _read_headers(self) -> tuple[Machine, bytes]:
        head = _HEADER.unpack_from(self.data, 0)
        ident, kind, machine, at, entsize, count, names = (
            head[0],
            head[1],
            head[2],
            head[6],
            head[11],
            head[12],
            head[13],
        )
        if not ident.startswith(_IDENT) or kind != _ET_REL:
            raise BadObject("not a 64-bit little-endian relocatable ELF object")
        if entsize != _SECTION.size or at + count * entsize > len(self.data) or not 0 < names < count:
            raise BadObject("the section table lies outside the file")
        try:
            known = Machine(machine)
        except ValueError:
            raise BadObject(f"code for an unknown processor (ELF machine {machine})") from None
        for index in range(count):
            name, type, flags, _, offset, size, link, info, align, entry = _SECTION.unpack_from(
                self.data, at + index * entsize
            )
            self.headers.append(_Header(name, type, flags, offset, size, link, info, align, entry))
        return known, self._content(self.headers[names])

    def _content(self, header: _Header) -> bytes:
        if header.type == _SHT_NOBITS:
            return b""
        if header.offset + header.size > len(self.data):
            raise BadObject("a section lies outside the file")
        return self.data[header.offset : header.offset + header.size]

    def _read_sections(self, names: bytes) -> list[Section]:
        sections: list[Section] = []
        total = 0
        for index, header in enumerate(self.headers):
            if not header.flags & _SHF_ALLOC or not header.size:
                continue
            name = _text(names, header.name)
            if name.startswith(_UNWIND):
                continue
            align = max(header.align, 1)
            total += header.size + align
            if header.type not in (_SHT_PROGBITS, _SHT_NOBITS) or header.flags & _SHF_TLS:
                raise BadObject(f"section {name} is of a kind that cannot be loaded")
            if align & (align - 1) or align > _MAX_ALIGN or total > _MAX_IMAGE:
                raise BadObject(f"section {name} has an impossible size or alignment")
            writable, executable = bool(header.flags & _SHF_WRITE), bool(header.flags & _SHF_EXEC)
            if writable and executable:
                raise BadObject(f"section {name} is both writable and executable")
            self.loaded[index] = len(sections)
            sections.append(Section(name, self._content(header), header.size, align, writable, executable))
        return sections

    def _read_symbols(self) -> list[Symbol]:
        tables = [header for header in self.headers if header.type == _SHT_SYMTAB]
        if len(tables) != 1:
            raise BadObject("an object has one symbol table")
        names = self._content(self.headers[tables[0].link])
        table = self._content(tables[0])
        if len(table) % _SYMBOL.size:
            raise BadObject("the symbol table is cut off")
        return [self._symbol(names, *fields) for fields in _SYMBOL.iter_unpack(table)]

    def _symbol(self, names: bytes, name: int, info: int, other: int, section: int, value: int, size: int) -> Symbol:
        text = _text(names, name)
        exported = info >> 4 != 0
        if section == _SHN_UNDEF:
            return Symbol(text, None, 0, exported)
        if section == _SHN_ABS:
            return Symbol(text, -1, value, False)
        if section >= _SHN_RESERVED or section >= len(self.headers):
            raise BadObject(f"symbol {text} is in no section")
        loaded = self.loaded.get(section)
        if loaded is None:  # in a section that takes no memory: debug information
            return Symbol(text, -1, value, False)
        if value > self.headers[section].size:
            raise BadObject(f"symbol {text} lies outside its section")
        return Symbol(text, loaded, value, exported)

    def _read_relocations(self, header: _Header, sections: list[Section], symbols: int) -> list[Relocation]:
        if header.info >= len(self.headers):
            raise BadObject("relocations of a section that does not exist")
        target = self.loaded.get(header.info)
        if target is None:
            return []
        table = self._content(header)
        if len(table) % _RELA.size:
            raise BadObject("a relocation table is cut off")
        if not sections[target].data:
            raise BadObject(f"relocations in {sections[target].name}, which has no contents")
        found = []
        for offset, info, addend in _RELA.iter_unpack(table):
            if info >> 32 >= symbols or offset + 4 > sections[target].size:
                raise BadObject("a relocation lies outside its section")
            found.append(Relocation(target, offset, info & 0xFFFFFFFF, info >> 32, addend))
        return found


def _text(table: bytes, at: int) -> str:
    """The zero-terminated string at an offset of a string table."""
    end = table.find(b"\0", at)
    if at >= len(table) or end < 0:
        raise BadObject("a name lies outside the string table")
    return table[at:end].decode()
