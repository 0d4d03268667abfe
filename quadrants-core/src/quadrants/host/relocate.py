"""Fills in the relocations of a loaded object: one table a processor.

A rule says what is computed (the symbol's address, that of its GOT entry, or that of something callable), whether it is taken
relative to the place, and how it is encoded. An object whose relocations are of another kind, or out of reach, raises `BadObject`.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType

from quadrants._frozen import frozen
from quadrants.host.elf import BadObject, Machine

Encode = Callable[[bytearray, int, int], None]  # image, offset in it, value


class Target(enum.Enum):
    """Whose address a relocation takes."""

    SYMBOL = 0
    GOT = 1  # the entry of the global offset table that holds the symbol's address
    CALL = 2  # the symbol, or a stub that jumps to it if it is external


class Relative(enum.Enum):
    """What is subtracted."""

    NO = 0
    PLACE = 1
    PAGE = 2  # both addresses are rounded down to 4 KiB pages first


#: As variables, which are quicker to read than members: there are hundreds of relocations, and a cached call waits for them.
_S, _G, _C = Target.SYMBOL, Target.GOT, Target.CALL
_NO, _PC, _PAGE = Relative.NO, Relative.PLACE, Relative.PAGE


@frozen
class Rule:
    """How a type of relocation is filled in; `size` is how many bytes it touches."""

    target: Target
    relative: Relative
    encode: Encode
    size: int = 4

    def apply(self, image: bytearray, offset: int, place: int, address: int) -> None:
        """Write `address` (addend included) at `offset` of the image; `place` is the address of that byte."""
        value = address
        if self.relative is _PC:
            value -= place
        elif self.relative is _PAGE:
            value = (address & ~0xFFF) - (place & ~0xFFF)
        self.encode(image, offset, value)


def _word(format: str, low: int, high: int) -> Encode:
    """A whole machine word, with the range of values that it holds."""
    packer = struct.Struct(format)
    mask = (1 << 8 * packer.size) - 1

    def encode(image: bytearray, offset: int, value: int) -> None:
        if not low <= value < high:
            raise BadObject("a relocation is out of reach")
        packer.pack_into(image, offset, value & mask)

    return encode


def _bits(at: int, width: int, shift: int, check: bool = True) -> Encode:
    """A signed field of an AArch64 instruction: `width` bits at bit `at`, the value shifted right by `shift`."""

    def encode(image: bytearray, offset: int, value: int) -> None:
        if value & ((1 << shift) - 1):
            raise BadObject("a relocation is misaligned")
        scaled = value >> shift
        if check and not -(1 << (width - 1)) <= scaled < 1 << (width - 1):
            raise BadObject("a relocation is out of reach")
        (word,) = struct.unpack_from("<I", image, offset)
        mask = ((1 << width) - 1) << at
        struct.pack_into("<I", image, offset, word & ~mask | (scaled << at) & mask)

    return encode


def _low12(shift: int) -> Encode:
    """The low 12 bits of an address, in units of the access, at bit 10."""
    inner = _bits(10, 12, shift, check=False)
    return lambda image, offset, value: inner(image, offset, value & 0xFFF)


def _halfword(index: int, check: bool = False) -> Encode:
    """A 16-bit part of an address, in a MOVZ or MOVK."""

    def encode(image: bytearray, offset: int, value: int) -> None:
        if check and value >> (16 * (index + 1)):
            raise BadObject("a relocation is out of reach")
        (word,) = struct.unpack_from("<I", image, offset)
        part = (value >> 16 * index) & 0xFFFF
        struct.pack_into("<I", image, offset, word & ~(0xFFFF << 5) | part << 5)

    return encode


def _page21(image: bytearray, offset: int, value: int) -> None:
    """ADRP: a signed number of pages, its low two bits apart."""
    _split21(image, offset, value >> 12)


def _split21(image: bytearray, offset: int, value: int) -> None:
    """ADR, ADRP: a signed number of 21 bits, its low two bits apart."""
    if not -(1 << 20) <= value < 1 << 20:
        raise BadObject("a relocation is out of reach")
    (word,) = struct.unpack_from("<I", image, offset)
    word &= ~(3 << 29 | 0x7FFFF << 5)
    struct.pack_into("<I", image, offset, word | (value & 3) << 29 | (value >> 2 & 0x7FFFF) << 5)


_ANY64 = _word("<Q", -(1 << 63), 1 << 64)
_SIGNED32 = _word("<I", -(1 << 31), 1 << 31)
_UNSIGNED32 = _word("<I", 0, 1 << 32)
_EITHER32 = _word("<I", -(1 << 31), 1 << 32)

_X86_64: Mapping[int, Rule] = {
    1: Rule(_S, _NO, _ANY64, 8),  # R_X86_64_64
    2: Rule(_S, _PC, _SIGNED32),  # PC32
    4: Rule(_C, _PC, _SIGNED32),  # PLT32
    9: Rule(_G, _PC, _SIGNED32),  # GOTPCREL
    10: Rule(_S, _NO, _UNSIGNED32),  # 32
    11: Rule(_S, _NO, _SIGNED32),  # 32S
    24: Rule(_S, _PC, _ANY64, 8),  # PC64
    41: Rule(_G, _PC, _SIGNED32),  # GOTPCRELX
    42: Rule(_G, _PC, _SIGNED32),  # REX_GOTPCRELX
}

_AARCH64: Mapping[int, Rule] = {
    257: Rule(_S, _NO, _ANY64, 8),  # R_AARCH64_ABS64
    258: Rule(_S, _NO, _EITHER32),  # ABS32
    260: Rule(_S, _PC, _ANY64, 8),  # PREL64
    261: Rule(_S, _PC, _SIGNED32),  # PREL32
    263: Rule(_S, _NO, _halfword(0, check=True)),  # MOVW_UABS_G0
    264: Rule(_S, _NO, _halfword(0)),  # MOVW_UABS_G0_NC
    265: Rule(_S, _NO, _halfword(1, check=True)),  # MOVW_UABS_G1
    266: Rule(_S, _NO, _halfword(1)),  # MOVW_UABS_G1_NC
    267: Rule(_S, _NO, _halfword(2, check=True)),  # MOVW_UABS_G2
    268: Rule(_S, _NO, _halfword(2)),  # MOVW_UABS_G2_NC
    269: Rule(_S, _NO, _halfword(3)),  # MOVW_UABS_G3
    273: Rule(_S, _PC, _bits(5, 19, 2)),  # LD_PREL_LO19
    274: Rule(_S, _PC, _split21),  # ADR_PREL_LO21
    275: Rule(_S, _PAGE, _page21),  # ADR_PREL_PG_HI21
    276: Rule(_S, _PAGE, _page21),  # ADR_PREL_PG_HI21_NC
    277: Rule(_S, _NO, _low12(0)),  # ADD_ABS_LO12_NC
    278: Rule(_S, _NO, _low12(0)),  # LDST8_ABS_LO12_NC
    279: Rule(_C, _PC, _bits(5, 14, 2)),  # TSTBR14
    280: Rule(_C, _PC, _bits(5, 19, 2)),  # CONDBR19
    282: Rule(_C, _PC, _bits(0, 26, 2)),  # JUMP26
    283: Rule(_C, _PC, _bits(0, 26, 2)),  # CALL26
    284: Rule(_S, _NO, _low12(1)),  # LDST16_ABS_LO12_NC
    285: Rule(_S, _NO, _low12(2)),  # LDST32_ABS_LO12_NC
    286: Rule(_S, _NO, _low12(3)),  # LDST64_ABS_LO12_NC
    299: Rule(_S, _NO, _low12(4)),  # LDST128_ABS_LO12_NC
    311: Rule(_G, _PAGE, _page21),  # ADR_GOT_PAGE
    312: Rule(_G, _NO, _low12(3)),  # LD64_GOT_LO12_NC
}

RULES: Mapping[Machine, Mapping[int, Rule]] = MappingProxyType({Machine.X86_64: _X86_64, Machine.AARCH64: _AARCH64})

#: Bytes of a stub that jumps to the address in a GOT entry.
STUB_BYTES: Mapping[Machine, int] = MappingProxyType({Machine.X86_64: 8, Machine.AARCH64: 16})


def write_stub(machine: Machine, image: bytearray, offset: int, place: int, entry: int) -> None:
    """Write the stub at `offset` (address `place`) that jumps through the GOT entry at address `entry`."""
    if machine is Machine.X86_64:
        image[offset : offset + 8] = b"\xff\x25\0\0\0\0\xcc\xcc"  # jmp *entry(%rip)
        _SIGNED32(image, offset + 2, entry - (place + 6))
        return
    struct.pack_into("<III", image, offset, 0x90000010, 0xF9400210, 0xD61F0200)  # adrp x16; ldr x16, [x16]; br x16
    _AARCH64[311].apply(image, offset, place, entry)
    _AARCH64[312].apply(image, offset + 4, place + 4, entry)
