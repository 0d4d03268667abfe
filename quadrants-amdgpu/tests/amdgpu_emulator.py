"""An emulator of gfx1100: executes the machine code of a code object, as LLVM's disassembler reads it.

Takes a code object; its kernel descriptor says what a wave begins with. All lanes of a wave are computed at once, in NumPy arrays;
waves of a block take turns at barriers. An instruction that is not known here is an error that names it. What it proves is results:
no timing, no weak memory, no hazards.
"""

from __future__ import annotations

import ctypes
import re
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from amdgpu_instructions import ALL, COMPARE, LANES, SCALAR, VECTOR, classes, fma, signed, updated

Box = tuple[int, int, int]
_LINE = re.compile(r"^\s+(\S+)\s*(.*?)\s*// ([0-9A-F]{12}): ([0-9A-F ]+)")
_RANGE = re.compile(r"([sv])\[(\d+):(\d+)\]")
_SINGLE = re.compile(r"([sv])(\d+)")
_KINDS = {
    kind: np.dtype(f"{'f' if kind[0] == 'f' else kind[0]}{int(kind[1:]) // 8}")
    for kind in ("u16", "i16", "f16", "u32", "i32", "f32", "u64", "i64", "f64")
}
_IGNORED = re.compile(
    r"s_(clause|delay_alu|waitcnt\w*|nop|code_end|sendmsg|icache_inv)|buffer_gl[01]_inv|s_set_inst_prefetch_distance"
)


class Unknown(Exception):
    """An instruction that the emulator does not know."""


@dataclass
class Instruction:
    """One instruction: its parts are more than one where two are issued together."""

    at: int
    size: int
    parts: list[tuple[str, list[str], dict[str, int]]]


@dataclass
class Wave:
    """The registers of a wave."""

    pc: int
    s: list[int] = field(default_factory=lambda: [0] * 130)
    v: np.ndarray = field(default_factory=lambda: np.full((256, LANES), 0xCBCBCBCB, np.uint32))
    exec: int = 0
    vcc: int = 0
    scc: int = 0
    done: bool = False
    scratch: list[bytearray] = field(default_factory=list)


class CodeObject:
    """A code object, taken apart."""

    def __init__(self, code: bytes, folder: Path, tool: str) -> None:
        path = folder / "kernel.hsaco"
        path.write_bytes(code)
        descriptor = code[self._symbol(code, b"qd_kernel.kd") :][:64]
        self.lds_bytes, self.scratch_bytes = struct.unpack_from("<II", descriptor, 0)
        _, rsrc2 = struct.unpack_from("<II", descriptor, 48)
        self.user_sgprs = rsrc2 >> 1 & 31
        self.group_ids = [bool(rsrc2 >> bit & 1) for bit in (7, 8, 9)]
        listing = subprocess.run([tool, "-d", str(path)], capture_output=True, text=True, check=True).stdout
        self.instructions = {each.at: each for each in _read(listing)}
        found = re.search(r"^([0-9a-f]+) <qd_kernel>:", listing, re.MULTILINE)
        assert found is not None
        self.entry = int(found[1], 16)

    @staticmethod
    def _symbol(code: bytes, name: bytes) -> int:
        """Where in the file a symbol's data are."""
        (headers,) = struct.unpack_from("<Q", code, 40)
        size, count = struct.unpack_from("<HH", code, 58)
        sections = [struct.unpack_from("<IIQQQQIIQQ", code, headers + size * index) for index in range(count)]
        for _, kind, _, _, offset, nbytes, link, _, _, entry in sections:
            if kind != 11:  # the dynamic symbols
                continue
            names = sections[link][4]
            for at in range(offset, offset + nbytes, entry):
                text, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", code, at)
                end = code.index(b"\0", names + text)
                if code[names + text : end] == name:
                    return int(value - sections[section][3] + sections[section][4])
        raise LookupError(name)

    def launch(self, arguments: bytes, grid: Box, block: Box, shared_bytes: int = 0) -> None:
        """Run all blocks, one after the other."""
        held = ctypes.create_string_buffer(arguments, len(arguments))
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    _Block(self, ctypes.addressof(held), (x, y, z), block, shared_bytes).run()


def _read(listing: str) -> Iterator[Instruction]:
    for line in listing.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        size = 4 * len(found[4].split())
        parts = [_part(text) for text in f"{found[1]} {found[2]}".split(" :: ")]
        yield Instruction(int(found[3], 16), size, parts)


def _part(text: str) -> tuple[str, list[str], dict[str, int]]:
    name, _, rest = text.strip().partition(" ")
    modifiers = {key: int(value, 0) for key, value in re.findall(r"\b(offset\d?):(-?\w+)", rest)}
    modifiers |= dict.fromkeys(re.findall(r"\b(glc|slc|dlc|clamp)\b", rest), 1)
    rest = re.sub(r"\s*\b(offset\d?:-?\w+|glc|slc|dlc|clamp|<[^>]*>)", "", rest)
    operands = [part.strip() for part in rest.split(",")] if rest.strip() else []
    name = re.sub(r"_e(32|64)$", "", name).replace("v_dual_", "v_")
    return name, operands, modifiers


class _Block:
    """The waves of one block, and its memory."""

    def __init__(self, code: CodeObject, kernarg: int, index: Box, shape: Box, shared_bytes: int) -> None:
        self.code = code
        self.lds = np.full(code.lds_bytes + shared_bytes, 0xCB, np.uint8)
        count = shape[0] * shape[1] * shape[2]
        self.waves = [self._wave(first, count, kernarg, index, shape) for first in range(0, count, LANES)]

    def _wave(self, first: int, count: int, kernarg: int, index: Box, shape: Box) -> Wave:
        """What a wave begins with: the address of the arguments, the index of the block, and each lane its own index."""
        wave = Wave(self.code.entry, scratch=[bytearray(self.code.scratch_bytes) for _ in range(LANES)])
        wave.s[0], wave.s[1] = kernarg & 0xFFFFFFFF, kernarg >> 32
        place = self.code.user_sgprs
        for axis in range(3):
            if self.code.group_ids[axis]:
                wave.s[place] = index[axis]
                place += 1
        numbers = np.arange(first, first + LANES, dtype=np.uint32)
        x, y = np.uint32(shape[0]), np.uint32(shape[1])
        wave.v[0] = numbers % x | numbers // x % y << np.uint32(10) | numbers // (x * y) << np.uint32(20)
        wave.exec = sum(1 << lane for lane in range(min(LANES, count - first)))
        return wave

    def run(self) -> None:
        """Each wave to its next barrier, in turns."""
        with np.errstate(all="ignore"):
            while not all(wave.done for wave in self.waves):
                for wave in self.waves:
                    if not wave.done:
                        _Runner(self, wave).run()


class _Runner:
    """Executes a wave."""

    def __init__(self, block: _Block, wave: Wave) -> None:
        self.block, self.w = block, wave

    def run(self) -> None:
        """To the next barrier, or the end."""
        instructions = self.block.code.instructions
        while True:
            instruction = instructions[self.w.pc]
            self.w.pc += instruction.size
            writes: list[tuple[str, Any]] = []
            for name, operands, modifiers in instruction.parts:
                if name == "s_endpgm":
                    self.w.done = True
                    return
                if name == "s_barrier":
                    return
                if not _IGNORED.fullmatch(name):
                    self._step(name, operands, modifiers, writes)
            for target, value in writes:
                self.put(target, value)

    def _step(self, name: str, o: list[str], m: dict[str, int], writes: list[tuple[str, Any]]) -> None:
        if "clamp" in m:
            raise Unknown(f"{name} that saturates")
        if name in VECTOR:
            kinds, function = VECTOR[name]
            values = [self.get(operand, kind) for operand, kind in zip(o[1:], kinds.split())]
            writes.append((o[0], function(*values)))
            return
        family = name.split("_")[0]
        found = getattr(self, f"_{family}", None)
        if found is None or not found(name, o, m):
            raise Unknown(f"{name} {', '.join(o)}")

    # Operands

    def scalar(self, operand: str) -> int:
        """The bits of an operand that is the same in all lanes."""
        named = {"vcc_lo": self.w.vcc, "exec_lo": self.w.exec, "null": 0, "scc": self.w.scc, "m0": self.w.s[124]}
        if operand in named:
            return named[operand]
        if match := _RANGE.fullmatch(operand):
            return sum(self.w.s[int(match[2]) + i] << 32 * i for i in range(int(match[3]) - int(match[2]) + 1))
        if match := _SINGLE.fullmatch(operand):
            return self.w.s[int(match[2])]
        return int(operand.removeprefix("lit(").removesuffix(")"), 0)

    def set_scalar(self, operand: str, value: int) -> None:
        if operand in ("vcc_lo", "exec_lo"):
            setattr(self.w, operand[:-3], value & ALL)
        elif match := _RANGE.fullmatch(operand):
            for i in range(int(match[3]) - int(match[2]) + 1):
                self.w.s[int(match[2]) + i] = value >> 32 * i & 0xFFFFFFFF
        elif match := _SINGLE.fullmatch(operand):
            self.w.s[int(match[2])] = value & 0xFFFFFFFF
        elif operand != "null":
            raise Unknown(f"the destination {operand}")

    def get(self, operand: str, kind: str) -> np.ndarray:
        """The lanes of an operand."""
        dtype = _KINDS[kind]
        if operand.startswith("-") and not operand[1:2].isdigit():
            return -self.get(operand[1:], kind)
        if operand.startswith("|"):
            return np.abs(self.get(operand[1:-1], kind))
        if match := re.fullmatch(r"v\[(\d+):(\d+)\]", operand):
            low, high = self.w.v[int(match[1])].astype(np.uint64), self.w.v[int(match[2])].astype(np.uint64)
            return (low | high << np.uint64(32)).view(dtype)
        if match := re.fullmatch(r"v(\d+)", operand):
            words = self.w.v[int(match[1])]
            return words.view(dtype).copy() if dtype.itemsize == 4 else words.astype(np.uint16).view(dtype)
        if re.fullmatch(r"-?\d+\.\d+", operand):
            return np.full(LANES, float(operand), dtype if kind[0] == "f" else np.float32).view(dtype)
        bits = self.scalar(operand)
        if kind == "f64" and operand.startswith("0x"):
            bits <<= 32  # a literal is the high half
        raw = np.full(LANES, bits & ((1 << 8 * dtype.itemsize) - 1), f"u{dtype.itemsize}")
        return raw.view(dtype)

    def put(self, operand: str, value: np.ndarray) -> None:
        """Write the lanes that are active."""
        mask = self.lanes()
        match = re.fullmatch(r"v\[?(\d+)(?::\d+\])?", operand)
        if match is None:
            raise Unknown(f"the destination {operand}")
        raw = np.ascontiguousarray(value)
        words = (
            raw.view(np.uint32).reshape(LANES, -1)
            if raw.itemsize >= 4
            else raw.view(np.uint16).astype(np.uint32).reshape(LANES, 1)
        )
        for part in range(words.shape[1]):
            self.w.v[int(match[1]) + part][mask] = words[mask, part]

    def lanes(self) -> np.ndarray:
        """Which lanes are active."""
        return self.bits(self.w.exec)

    @staticmethod
    def bits(mask: int) -> np.ndarray:
        return (mask >> np.arange(LANES) & 1).astype(bool)

    def as_mask(self, truths: np.ndarray) -> int:
        return sum(1 << int(lane) for lane in np.flatnonzero(truths & self.lanes()))

    # Vector instructions with masks

    def _v(self, name: str, o: list[str], m: dict[str, int]) -> bool:
        if match := re.fullmatch(r"v_cmp(x?)_class_(f32|f64)", name):
            mask = self.as_mask(classes(self.get(o[-2], match[2]), self.scalar(o[-1])))
            self.set_scalar("exec_lo" if match[1] else o[0], mask)
            return True
        if match := re.fullmatch(r"v_cmp(x?)_(\w+)_([uif]\d+)", name):
            a, b = (self.get(operand, match[3]) for operand in o[-2:])
            mask = self.as_mask(COMPARE[match[2]](a, b))
            self.set_scalar("exec_lo" if match[1] else o[0], mask)
            return True
        if match := re.fullmatch(r"v_(add|sub|subrev)_co(_ci)?_u32", name):
            a, b = (self.get(operand, "u32").astype(np.int64) for operand in o[2:4])
            carry = self.bits(self.scalar(o[4])).astype(np.int64) if match[2] else 0
            total = a + b + carry if match[1] == "add" else (a - b if match[1] == "sub" else b - a) - carry
            self.set_scalar(o[1], self.as_mask((total < 0) | (total >= 1 << 32)))
            self.put(o[0], (total & 0xFFFFFFFF).astype(np.uint32))
            return True
        if name in ("v_mad_u64_u32", "v_mad_i64_i32"):
            kind = name[6]
            a, b = (self.get(operand, f"{kind}32").astype(f"{kind}8") for operand in o[2:4])
            self.put(o[0], a * b + self.get(o[4], f"{kind}64"))
            return True
        if name in ("v_div_scale_f32", "v_div_scale_f64"):
            self.put(o[0], self.get(o[2], name[-3:]))
            self.set_scalar(o[1], 0)
            return True
        if name == "v_cndmask_b32":
            chosen = self.bits(self.scalar(o[3] if len(o) > 3 else "vcc_lo"))
            self.put(o[0], np.where(chosen, self.get(o[2], "u32"), self.get(o[1], "u32")))
            return True
        if match := re.fullmatch(r"v_(fmac|fmamk|fmaak)_f(32|64)", name):
            kind = f"f{match[2]}"
            order = {"fmac": (o[1], o[2], o[0]), "fmamk": (o[1], o[2], o[-1]), "fmaak": tuple(o[1:4])}[match[1]]
            self.put(o[0], fma(kind)(*(self.get(operand, kind) for operand in order)))
            return True
        if name == "v_mbcnt_lo_u32_b32":
            below = np.array([(1 << lane) - 1 for lane in range(LANES)], np.uint32)
            self.put(o[0], np.bitwise_count(self.get(o[1], "u32") & below).astype(np.uint32) + self.get(o[2], "u32"))
            return True
        if name in ("v_readfirstlane_b32", "v_readlane_b32"):
            active = np.flatnonzero(self.lanes())
            lane = self.scalar(o[2]) & 31 if name == "v_readlane_b32" else int(active[0]) if active.size else 0
            self.set_scalar(o[0], int(self.get(o[1], "u32")[lane]))
            return True
        return False

    # Scalar instructions

    def _s(self, name: str, o: list[str], m: dict[str, int]) -> bool:
        if name.startswith("s_load_b"):
            base = self.scalar(o[1]) + (0 if o[2] == "null" else self.scalar(o[2])) + m.get("offset", 0)
            self.set_scalar(o[0], int.from_bytes(ctypes.string_at(base, int(name[8:]) // 8), "little"))
            return True
        if name == "s_getpc_b64":
            self.set_scalar(o[0], self.w.pc)
            return True
        if name in ("s_swappc_b64", "s_setpc_b64"):
            target = self.scalar(o[-1])
            if name == "s_swappc_b64":
                self.set_scalar(o[0], self.w.pc)
            self.w.pc = target
            return True
        if name == "s_branch" or name.startswith("s_cbranch_"):
            taken = {
                "s_branch": True,
                "s_cbranch_scc0": not self.w.scc,
                "s_cbranch_scc1": self.w.scc,
                "s_cbranch_execz": not self.w.exec,
                "s_cbranch_execnz": self.w.exec,
                "s_cbranch_vccz": not self.w.vcc,
                "s_cbranch_vccnz": self.w.vcc,
            }[name]
            distance = int(o[0].split()[0])
            self.w.pc += 4 * (distance - (1 << 16 if distance >> 15 else 0)) if taken else 0
            return True
        if match := re.fullmatch(r"s_cmpk?_(eq|lg|lt|le|gt|ge)_([iu])(32|64)", name):
            a, b = (signed(self.scalar(operand), int(match[3]), match[2]) for operand in o)
            self.w.scc = int(
                {"eq": a == b, "lg": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[match[1]]
            )
            return True
        if match := re.fullmatch(r"s_bitcmp([01])_b32", name):
            self.w.scc = int(self.scalar(o[0]) >> (self.scalar(o[1]) & 31) & 1 == int(match[1]))
            return True
        if match := re.fullmatch(r"s_(and|or|and_not1|xor)_saveexec_b32", name):
            given, before = self.scalar(o[1]), self.w.exec
            self.w.exec = {
                "and": given & before,
                "or": given | before,
                "and_not1": given & ~before,
                "xor": given ^ before,
            }[match[1]]
            self.set_scalar(o[0], before)
            self.w.scc = int(self.w.exec != 0)
            return True
        if name in SCALAR:
            function, sets = SCALAR[name]
            result, scc = function(self, *(self.scalar(operand) for operand in o[1:]))
            self.set_scalar(o[0], result)
            self.w.scc = int(scc) if sets else self.w.scc
            return True
        return False

    # Memory

    def _addresses(self, operands: list[str], offset: int) -> np.ndarray:
        if operands[1] == "off":
            return self.get(operands[0], "u64") + np.int64(offset).astype(np.uint64)
        return (
            self.get(operands[0], "u32").astype(np.uint64)
            + np.uint64(self.scalar(operands[1]))
            + np.int64(offset).astype(np.uint64)
        )

    def _global(self, name: str, o: list[str], m: dict[str, int]) -> bool:
        active, offset = np.flatnonzero(self.lanes()), m.get("offset", 0)
        if match := re.fullmatch(r"global_load_([buid]\w*?)(\d+)", name):
            size = int(match[2]) // 8
            at = self._addresses(o[1:], offset)
            self._loaded(o[0], match[1], size, lambda lane: ctypes.string_at(int(at[lane]), size))
            return True
        if match := re.fullmatch(r"global_store_b(\d+)", name):
            at, size = self._addresses([o[0], o[2]], offset), int(match[1]) // 8
            for lane in active:
                ctypes.memmove(int(at[lane]), self._bytes(o[1], size, int(lane)), size)
            return True
        if match := re.fullmatch(r"global_atomic_(\w+)_([uibf])(32|64)", name):
            returns = o[0] if m.get("glc") else None
            rest = o[1:] if returns else o
            self._atomic(
                match, returns, rest[1], self._addresses([rest[0], rest[2]], offset), ctypes.string_at, ctypes.memmove
            )
            return True
        return False

    def _scratch(self, name: str, o: list[str], m: dict[str, int]) -> bool:
        """Memory of a thread, which has no other way to it here."""
        match = re.fullmatch(r"scratch_(load|store)_([bui])(\d+)", name)
        if match is None:
            return False
        places = o[1:] if match[1] == "load" else [o[0], o[2]]
        at = np.full(LANES, m.get("offset", 0), np.int64)
        for place in places:
            if place != "off":
                at += self.get(place, "u32")
        size = int(match[3]) // 8
        if match[1] == "load":
            memory = self.w.scratch
            self._loaded(o[0], match[2], size, lambda lane: bytes(memory[lane][int(at[lane]) : int(at[lane]) + size]))
            return True
        for lane in np.flatnonzero(self.lanes()):
            self.w.scratch[lane][int(at[lane]) : int(at[lane]) + size] = self._bytes(o[1], size, int(lane))
        return True

    def _atomic(
        self, match: re.Match[str], target: str | None, given: str, at: np.ndarray, read: Any, write: Any
    ) -> None:
        """Lanes update cells one after the other."""
        what, kind, size = match[1], match[2], int(match[3]) // 8
        old = np.zeros((LANES, size // 4), np.uint32)
        for lane in np.flatnonzero(self.lanes()):
            place = int(at[lane])
            before = read(place, size)
            old[lane] = np.frombuffer(before, np.uint32)
            value = self._bytes(given, size * (2 if what.startswith("cmp") else 1), int(lane))
            write(place, updated(what, kind, size, before, value), size)
        if target:
            self.put(target, old)

    def _read_lds(self, at: int, size: int) -> bytes:
        return self.block.lds[at : at + size].tobytes()

    def _write_lds(self, at: int, data: bytes, size: int) -> None:
        self.block.lds[at : at + size] = np.frombuffer(data, np.uint8)

    def _ds(self, name: str, o: list[str], m: dict[str, int]) -> bool:
        lds, active = self.block.lds, np.flatnonzero(self.lanes())
        if match := re.fullmatch(r"ds_load_([bui])(\d+)", name):
            at, size = self.get(o[1], "u32") + np.uint32(m.get("offset", 0)), int(match[2]) // 8
            self._loaded(o[0], match[1], size, lambda lane: lds[int(at[lane]) : int(at[lane]) + size].tobytes())
            return True
        if match := re.fullmatch(r"ds_store_b(\d+)", name):
            at, size = self.get(o[0], "u32") + np.uint32(m.get("offset", 0)), int(match[1]) // 8
            for lane in active:
                lds[int(at[lane]) : int(at[lane]) + size] = np.frombuffer(self._bytes(o[1], size, int(lane)), np.uint8)
            return True
        if match := re.fullmatch(r"ds_(load|store)_2addr_(stride64_)?b(32|64)", name):
            self._two(match[1], int(match[3]) // 8, 64 if match[2] else 1, o, m)
            return True
        if name == "ds_bpermute_b32":
            source = (self.get(o[1], "u32") >> 2) & 31
            values, there = self.get(o[2], "u32"), self.lanes()
            self.put(o[0], np.where(there[source], values[source], 0).astype(np.uint32))
            return True
        if match := re.fullmatch(r"ds_(add|sub|max|min|or|and|xor|inc|dec|storexchg)_(?:rtn_)?([uibf])(32|64)", name):
            returns = o[0] if "_rtn_" in name else None
            rest = o[1:] if returns else o
            at = self.get(rest[0], "u32") + np.uint32(m.get("offset", 0))
            self._atomic(match, returns, rest[1], at, self._read_lds, self._write_lds)
            return True
        if match := re.fullmatch(r"ds_cmpstore_(?:rtn_)?b(32|64)", name):
            returns = o[0] if "_rtn_" in name else None
            rest, size = (o[1:] if returns else o), int(match[1]) // 8
            at, old = self.get(rest[0], "u32") + np.uint32(m.get("offset", 0)), np.zeros((LANES, size // 4), np.uint32)
            for lane in active:
                before = self._read_lds(int(at[lane]), size)
                old[lane] = np.frombuffer(before, np.uint32)
                if before == self._bytes(rest[2], size, int(lane)):
                    self._write_lds(int(at[lane]), self._bytes(rest[1], size, int(lane)), size)
            if returns:
                self.put(returns, old)
            return True
        return False

    def _two(self, what: str, size: int, stride: int, o: list[str], m: dict[str, int]) -> None:
        """Two elements at once."""
        lds = self.block.lds
        at = self.get(o[1] if what == "load" else o[0], "u32")
        places = [at + np.uint32(m.get(f"offset{i}", 0) * size * stride) for i in (0, 1)]
        if what == "load":
            found = np.zeros((LANES, 2 * size), np.uint8)
            for lane in np.flatnonzero(self.lanes()):
                for i in (0, 1):
                    start = int(places[i][lane])
                    found[lane, i * size : (i + 1) * size] = lds[start : start + size]
            self.put(o[0], found.view(np.uint32))
            return
        for lane in np.flatnonzero(self.lanes()):
            for i in (0, 1):
                start = int(places[i][lane])
                lds[start : start + size] = np.frombuffer(self._bytes(o[1 + i], size, int(lane)), np.uint8)

    def _loaded(self, target: str, kind: str, size: int, read: Callable[[int], bytes]) -> None:
        words = max(1, size // 4)
        found = np.zeros((LANES, words), np.uint32)
        for lane in np.flatnonzero(self.lanes()):
            data = read(int(lane))
            if size < 4:
                found[lane, 0] = int.from_bytes(data, "little", signed=kind == "i") & 0xFFFFFFFF
            else:
                found[lane] = np.frombuffer(data, np.uint32)
        self.put(target, found)

    def _bytes(self, operand: str, size: int, lane: int) -> bytes:
        match = re.fullmatch(r"v\[?(\d+)(?::\d+\])?", operand)
        assert match is not None
        first = int(match[1])
        return b"".join(int(self.w.v[first + i][lane]).to_bytes(4, "little") for i in range(max(1, size // 4)))[:size]
