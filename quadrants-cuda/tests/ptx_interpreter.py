"""PTX, run in NumPy: all threads of a block at once, an instruction for those at the lowest place in the code.

Takes the PTX that LLVM writes for kernels, and a launch; works on memory of this process, whose addresses are the ones of the
device. Shared and local memory are arrays of this process too, so that every space is the generic one.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_BASE = 4096
_WORDS = np.frombuffer((ctypes.c_uint8 * ((1 << 47) - _BASE)).from_address(_BASE), np.uint8)
_KINDS = {
    "f": {16: np.float16, 32: np.float32, 64: np.float64},
    "s": {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64},
}
_UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_DONE = 1 << 30
WARP = 32


class PtxError(Exception):
    """What the interpreter does not know, or a block that is stuck."""


def dtype_of(type: str) -> Any:
    """NumPy's type of one of PTX's."""
    if type == "pred":
        return np.bool_
    bits = int(type[1:])
    return _KINDS.get(type[0], _UNSIGNED)[bits]


@dataclass
class Function:
    """A function: its statements (predicate, opcode, operands), and its labels."""

    name: str
    params: list[tuple[str, int]]
    results: list[str]
    code: list[tuple[str, list[str], list[str]]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[str]] = field(default_factory=dict)
    local: tuple[str, int] = ("", 0)


_HEAD = re.compile(r"\.(entry|func)\s*(?:\(([^)]*)\))?\s*([\w$]+)\s*\(([^)]*)\)\s*(?:\.[a-z]\w*[^{;]*)?\{", re.DOTALL)
_PARAM = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.[bufs](\d+)\s+([\w$]+)(?:\[(\d+)\])?")
_SHARED = re.compile(r"\.shared\s+\.align\s+\d+\s+\.[bufs](\d+)\s+([\w$]+)(\[(\d*)\])?\s*;")
_CONSTANT = re.compile(
    r"\.(?:global|const)\s+\.align\s+\d+\s+\.[bus](\d+)\s+([\w$]+)(?:\[(\d+)\])?\s*=\s*\{?([^;}]*)\}?;"
)
_LOCAL = re.compile(r"\.local\s+\.align\s+\d+\s+\.b8\s+([\w$]+)\[(\d+)\]")


@dataclass
class Program:
    """A module: its functions, shared variables by name with their sizes, constants by name."""

    functions: dict[str, Function]
    shared: dict[str, int]
    constants: dict[str, Array]


def parse(text: str) -> Program:
    """Read a module."""
    text = re.sub(r"//[^\n]*", "", text)
    functions = {}
    for match in _HEAD.finditer(text):
        depth, at = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        _, results, name, params = match.groups()
        sizes = [(each[1], int(each[0]) // 8 * int(each[2] or 1)) for each in _PARAM.findall(params)]
        function = Function(name, sizes, [each[1] for each in _PARAM.findall(results or "")])
        _body(function, text[match.end() : at - 1])
        functions[name] = function
    shared = {
        name: int(bits) // 8 * (int(count or 0) if array else 1) for bits, name, array, count in _SHARED.findall(text)
    }
    constants = {}
    for bits, name, count, values in _CONSTANT.findall(text):
        constants[name] = np.zeros(int(count or 1), _UNSIGNED[int(bits)])  # what is not listed is 0
        listed = np.array([int(each) for each in values.split(",")], np.int64)
        constants[name][: len(listed)] = listed.astype(_UNSIGNED[int(bits)])
    return Program(functions, shared, constants)


def _body(function: Function, text: str) -> None:
    if found := _LOCAL.search(text):
        function.local = (found[1], int(found[2]))
    for statement in re.sub(r"^\s*[{}]\s*$", "", text, flags=re.MULTILINE).split(";"):
        words = statement.strip()
        while label := re.match(r"([\w$]+):\s*", words):
            function.labels[label[1]] = len(function.code)
            words = words[label.end() :]
            if words.startswith(".branchtargets"):
                function.tables[label[1]] = [each.strip() for each in words.split(None, 1)[1].split(",")]
                words = ""
        if not words or words.startswith("."):
            continue
        predicate, _, rest = words.partition(" ") if words[0] == "@" else ("", "", words)
        opcode, _, operands = rest.strip().partition("\t") if "\t" in rest else rest.strip().partition(" ")
        function.code.append((predicate.strip("@").strip(), opcode.strip().split("."), _split(operands)))


def _split(operands: str) -> list[str]:
    """Operands at the top level."""
    parts, depth, now = [], 0, ""
    for char in operands:
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(char, 0)
        if char == "," and not depth:
            parts.append(now.strip())
            now = ""
        else:
            now += char
    return [*parts, now.strip()] if now.strip() else parts


# Arithmetic


def _divided(a: Array, b: Array) -> Array:
    return a / b if a.dtype.kind == "f" else _quotient(a, b)


def _quotient(a: Array, b: Array) -> Array:
    """Toward zero; any number where the divisor is 0, as on a device."""
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    whole = a // safe
    return whole + ((whole < 0) & (whole * safe != a)).astype(a.dtype)


def _fused(a: Array, b: Array, c: Array) -> Array:
    """Rounded once."""
    from quadrants.ir.ops.math import _fma

    bits = a.dtype.itemsize * 8
    return np.array([_fma(float(x), float(y), float(z), bits) for x, y, z in zip(a, b, c)], a.dtype)


def _shift(left: bool) -> Callable[[Array, Array], Array]:
    def shifted(a: Array, n: Array) -> Array:
        bits = a.dtype.itemsize * 8
        far, small = n >= bits, np.minimum(n, bits - 1).astype(a.dtype)
        if left:
            return np.where(far, 0, a << small).astype(a.dtype)
        return np.where(far, a >> (bits - 1) if a.dtype.kind == "i" else 0, a >> small).astype(a.dtype)

    return shifted


def _counted(count: Callable[[int, int], int]) -> Callable[[Array], Array]:
    return lambda a: np.array([count(int(x), a.dtype.itemsize * 8) for x in a], np.uint64)


def _reversed(x: int, bits: int) -> int:
    return int(f"{x:0{bits}b}"[::-1], 2)


_ALU: dict[str, Callable[..., Array]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "mad": lambda a, b, c: a * b + c,
    "fma": _fused,
    "div": _divided,
    "rem": lambda a, b: a - _quotient(a, b) * b,
    "min": lambda a, b: np.fmin(a, b) if a.dtype.kind == "f" else np.minimum(a, b),
    "max": lambda a, b: np.fmax(a, b) if a.dtype.kind == "f" else np.maximum(a, b),
    "neg": lambda a: -a,
    "abs": np.abs,
    "not": lambda a: ~a,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": _shift(left=True),
    "shr": _shift(left=False),
    "sqrt": np.sqrt,
    "rcp": lambda a: a.dtype.type(1) / a,
    "copysign": lambda sign, size: np.copysign(size, sign),
    "popc": _counted(lambda x, bits: x.bit_count()),
    "clz": _counted(lambda x, bits: bits - x.bit_length()),
    "brev": _counted(_reversed),
    "mov": lambda a: a,
}
_COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_ATOMIC: dict[str, Callable[..., Any]] = {
    "add": lambda old, x: old + x,
    "and": lambda old, x: old & x,
    "or": lambda old, x: old | x,
    "xor": lambda old, x: old ^ x,
    "min": min,
    "max": max,
    "exch": lambda old, x: x,
    "inc": lambda old, x: 0 if old >= x else old + 1,
    "dec": lambda old, x: x if old == 0 or old > x else old - 1,
    "cas": lambda old, x, y: y if old == x else old,
}
_ROUND = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def _converted(modes: list[str], a: Array, target: Any) -> Array:
    for mode in modes:
        a = _ROUND[mode](a) if mode in _ROUND else a
    if a.dtype.kind == "f" and np.dtype(target).kind != "f":
        info = np.iinfo(target)
        whole = [0 if x != x else info.max if x >= info.max else info.min if x <= info.min else int(x) for x in a]
        return np.array(whole, target)
    return a.astype(target)


@dataclass
class Frame:
    """A call of a function: registers, parameters, the place in the code of each thread."""

    function: Function
    registers: dict[str, Array]
    params: dict[str, Array]
    place: Array
    local: Array


class Block:
    """The threads of a block."""

    def __init__(self, program: Program, grid: Any, block: Any, index: Any, shared_bytes: int) -> None:
        self.program = program
        self.n = block[0] * block[1] * block[2]
        each = np.arange(self.n)
        self.special: dict[str, Any] = {
            "%tid.x": each % block[0],
            "%tid.y": each // block[0] % block[1],
            "%tid.z": each // block[0] // block[1],
            "%laneid": each % WARP,
            "%lanemask_lt": (1 << each % WARP) - 1,
        }
        for axis, values in zip("xyz", zip(grid, block, index)):
            for name, value in zip(("nctaid", "ntid", "ctaid"), values):
                self.special[f"%{name}.{axis}"] = np.full(self.n, value)
        self.memory = {name: np.zeros(max(size, shared_bytes) + 16, np.uint8) for name, size in program.shared.items()}
        self.memory |= program.constants
        self.waiting = np.zeros(self.n, bool)
        self.votes: list[Any] = []

    # Operands

    def read(self, frame: Frame, name: str, type: str, at: Array) -> Array:
        """An operand for some threads."""
        kind = dtype_of(type)
        if name[0] == "%" and name in self.special:
            return self.special[name][at].astype(kind)
        if name == f"%{frame.function.local[0]}" or name == frame.function.local[0]:
            return (frame.local.ctypes.data + at * frame.local.shape[1]).astype(np.uint64)
        if name[0] == "%":
            raw = frame.registers[name][at]
            return raw != 0 if type == "pred" else raw.astype(_UNSIGNED[kind().itemsize * 8]).view(kind)
        if name in self.memory:
            return np.full(len(at), self.memory[name].ctypes.data, np.uint64)
        if name[:2] in ("0f", "0d"):
            bits = np.uint32(int(name[2:], 16)) if name[1] == "f" else np.uint64(int(name[2:], 16))
            return np.full(len(at), bits.view(np.float32 if name[1] == "f" else np.float64))
        size = np.dtype(kind).itemsize * 8
        value = np.uint64(int(name, 0) & ((1 << 64) - 1)).astype(_UNSIGNED[size])
        return np.full(len(at), value != 0 if type == "pred" else value.view(kind))

    def write(self, frame: Frame, name: str, value: Array, at: Array) -> None:
        """A register of some threads."""
        if name == "_":
            return
        value = np.ascontiguousarray(value)
        if value.dtype != bool:
            value = value.view(_UNSIGNED[value.dtype.itemsize * 8])
        frame.registers.setdefault(name, np.zeros(self.n, np.uint64))[at] = value.astype(np.uint64)

    def address(self, frame: Frame, operand: str, at: Array) -> Array:
        base, _, offset = operand.strip("[]").partition("+")
        return self.read(frame, base, "u64", at) + np.uint64(int(offset or 0) & ((1 << 64) - 1))

    # Running

    def call(self, name: str, params: dict[str, Array], mask: Array) -> dict[str, Array]:
        """Run a function for some threads; the parameters, in which its results are."""
        function = self.program.functions[name]
        place = np.where(mask, 0, _DONE)
        local = np.zeros((self.n, function.local[1]), np.uint8)
        frame = Frame(function, {}, params, place, local)
        while True:
            ready = (place < len(function.code)) & ~self.waiting
            if not ready.any():
                if not self.waiting.any():
                    return params
                self.release()
                continue
            now = int(place[ready].min())
            at = np.flatnonzero(ready & (place == now))
            place[at] += 1
            predicate, opcode, operands = function.code[now]
            if predicate:
                chosen = self.read(frame, predicate.lstrip("!"), "pred", at)
                at = at[chosen ^ (predicate[0] == "!")]
            if len(at):
                self.step(frame, opcode, operands, at)

    def release(self) -> None:
        """Every thread that is left waits at a barrier."""
        for kind, frame, result, _, at in self.votes:
            everyone = np.concatenate([each[3] for each in self.votes])
            value = {"popc": everyone.sum(), "and": everyone.all(), "or": everyone.any()}[kind]
            self.write(frame, result, np.full(len(at), value, np.uint32 if kind == "popc" else bool), at)
        self.votes = []
        self.waiting[:] = False

    def step(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        name, type = opcode[0], opcode[-1]
        special = getattr(self, f"do_{name}", None)
        if special is not None:
            special(frame, opcode, operands, at)
            return
        if name not in _ALU:
            raise PtxError(f"{'.'.join(opcode)} is not known")
        kinds = [type] * (len(operands) - 1)
        if name in ("shl", "shr"):
            kinds[1] = "u32"
        values = [self.read(frame, each, kind, at) for each, kind in zip(operands[1:], kinds)]
        if "wide" in opcode:
            wide = dtype_of(f"{type[0]}{2 * int(type[1:])}")
            values[:2] = [value.astype(wide) for value in values[:2]]
            if name == "mad":
                values[2] = self.read(frame, operands[3], f"{type[0]}{2 * int(type[1:])}", at)
        if "hi" in opcode:
            bits = int(type[1:])
            product = [(int(a) * int(b)) >> bits & ((1 << bits) - 1) for a, b in zip(*values[:2])]
            self.write(frame, operands[0], np.array(product, np.uint64).astype(_UNSIGNED[bits]), at)
            return
        self.write(frame, operands[0], _ALU[name](*values), at)

    # Control

    def do_bra(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        frame.place[at] = frame.function.labels[operands[0]]

    def do_brx(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        targets = [frame.function.labels[each] for each in frame.function.tables[operands[1]]]
        frame.place[at] = np.array(targets)[self.read(frame, operands[0], "u32", at)]

    def do_ret(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        frame.place[at] = _DONE

    def do_call(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        results = _split(operands[0].strip("()")) if operands[0][0] == "(" else []
        target, *more = operands[1:] if results else operands
        callee = self.program.functions[target]
        given = _split(more[0].strip("() \t\n")) if more else []
        params = {name: frame.params[arg.strip()] for (name, _), arg in zip(callee.params, given)}
        mask = np.zeros(self.n, bool)
        mask[at] = True
        after = self.call(callee.name, params, mask)
        for result, name in zip(results, callee.results):
            self._param(frame, result.strip())[at] = after[name][at]

    def do_bar(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        if "warp" in opcode:
            return
        self.waiting[at] = True
        if "red" in opcode:
            self.votes.append((opcode[2], frame, operands[0], self.read(frame, operands[-1], "pred", at), at))

    def do_fence(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        """Everything is in order here."""

    do_membar = do_fence

    # Memory

    def _param(self, frame: Frame, name: str) -> Array:
        return frame.params.setdefault(name, np.zeros((self.n, 256), np.uint8))

    def do_ld(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        type, registers = opcode[-1], _split(operands[0].strip("{}"))
        size = int(type[1:]) // 8
        for position, register in enumerate(registers):
            if "param" in opcode:
                name, _, offset = operands[1].strip("[]").partition("+")
                start = int(offset or 0) + position * size
                raw = self._param(frame, name)[at, start : start + size]
            else:
                where = self.address(frame, operands[1], at).astype(np.int64) + position * size - _BASE
                raw = _WORDS[where[:, None] + np.arange(size)]
            value = np.ascontiguousarray(raw).view(dtype_of(type))[:, 0]
            self.write(frame, register, value.astype(np.int64) if type[0] == "s" else value, at)

    def do_st(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        type, registers = opcode[-1], _split(operands[1].strip("{}"))
        size = int(type[1:]) // 8
        for position, register in enumerate(registers):
            raw = np.ascontiguousarray(self.read(frame, register, f"u{8 * size}", at)).view(np.uint8).reshape(-1, size)
            if "param" in opcode:
                name, _, offset = operands[0].strip("[]").partition("+")
                start = int(offset or 0) + position * size
                self._param(frame, name)[at, start : start + size] = raw
            else:
                where = self.address(frame, operands[0], at).astype(np.int64) + position * size - _BASE
                _WORDS[where[:, None] + np.arange(size)] = raw

    def do_atom(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        """One thread after the other."""
        type = opcode[-1]
        kind = dtype_of(type)
        update = next(_ATOMIC[each] for each in opcode[1:] if each in _ATOMIC)
        where = self.address(frame, operands[1], at)
        values = [self.read(frame, each, type, at) for each in operands[2:]]
        found = np.empty(len(at), kind)
        for position, address in enumerate(where):
            start = int(address) - _BASE
            cell = _WORDS[start : start + np.dtype(kind).itemsize].view(kind)
            found[position] = cell[0]
            cell[0] = kind(update(cell[0], *(value[position] for value in values)))
        self.write(frame, operands[0], found, at)

    def do_red(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        self.do_atom(frame, opcode, ["_", *operands], at)

    # Values

    def do_cvta(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        self.write(frame, operands[0], self.read(frame, operands[1], "u64", at), at)

    def do_mov(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        type = opcode[-1]
        into, source = operands
        if into[0] == "{":
            parts = _split(into.strip("{}"))
            bits = int(type[1:]) // len(parts)
            whole = self.read(frame, source, type, at)
            for position, part in enumerate(parts):
                piece = (whole >> whole.dtype.type(bits * position)).astype(_UNSIGNED[bits])
                self.write(frame, part, piece, at)
        elif source[0] == "{":
            parts = _split(source.strip("{}"))
            bits = int(type[1:]) // len(parts)
            total = np.zeros(len(at), np.uint64)
            for position, part in enumerate(parts):
                total |= self.read(frame, part, f"u{bits}", at).astype(np.uint64) << np.uint64(bits * position)
            self.write(frame, into, total.astype(dtype_of(type)), at)
        else:
            self.write(frame, into, self.read(frame, source, type, at), at)

    def do_setp(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        test, type = opcode[1], opcode[-1]
        a, b = (self.read(frame, each, type, at) for each in operands[1:3])
        unordered = np.isnan(a) | np.isnan(b) if type[0] == "f" else np.zeros(len(at), bool)
        if test in ("nan", "num"):
            answer = unordered if test == "nan" else ~unordered
        else:
            either = type[0] == "f" and len(test) == 3
            plain = _COMPARE[test[:2] if either else test](a, b)
            answer = plain | unordered if either else plain & ~unordered
        self.write(frame, operands[0], answer, at)

    def do_selp(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        a, b = (self.read(frame, each, opcode[-1], at) for each in operands[1:3])
        self.write(frame, operands[0], np.where(self.read(frame, operands[3], "pred", at), a, b), at)

    def do_cvt(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        target, source = opcode[-2:]
        value = _converted(opcode[1:-2], self.read(frame, operands[1], source, at), dtype_of(target))
        self.write(frame, operands[0], value.astype(np.int64) if target[0] == "s" else value, at)

    def do_bfe(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        """A field of bits, extended by its sign where the type has one."""
        type = opcode[-1]
        value, start, count = (
            self.read(frame, each, kind, at) for each, kind in zip(operands[1:], (type, "u32", "u32"))
        )
        bits = int(type[1:])
        high = (value << (bits - start - count).astype(value.dtype)).astype(value.dtype)
        self.write(frame, operands[0], high >> (bits - count).astype(value.dtype), at)

    def do_shf(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        low, high, count = (self.read(frame, each, "u32", at).astype(np.uint64) for each in operands[1:])
        count = count & np.uint64(31) if "wrap" in opcode else np.minimum(count, np.uint64(32))
        both = high << np.uint64(32) | low
        word = (both << count) >> np.uint64(32) if opcode[1] == "l" else both >> count
        self.write(frame, operands[0], word.astype(np.uint32), at)

    # Subgroups

    def do_activemask(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        self._ballot(frame, operands[0], np.ones(len(at), bool), at)

    def _ballot(self, frame: Frame, into: str, votes: Array, at: Array) -> None:
        found = np.zeros(self.n // WARP + 1, np.uint64)
        np.bitwise_or.at(found, at[votes] // WARP, np.uint64(1) << (at[votes] % WARP).astype(np.uint64))
        self.write(frame, into, found[at // WARP].astype(np.uint32), at)

    def do_vote(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        self._ballot(frame, operands[0], self.read(frame, operands[1], "pred", at), at)

    def do_shfl(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        shown = np.zeros((self.n // WARP + 1) * WARP, np.uint32)
        shown[at] = self.read(frame, operands[1], "u32", at)
        lane = self.read(frame, operands[2], "u32", at) % WARP
        self.write(frame, operands[0].split("|")[0], shown[at // WARP * WARP + lane], at)

    def do_match(self, frame: Frame, opcode: list[str], operands: list[str], at: Array) -> None:
        value = self.read(frame, operands[1], "u32", at)
        same = (value[:, None] == value) & (at[:, None] // WARP == at // WARP)
        masks = (same * (np.uint64(1) << (at % WARP).astype(np.uint64))).sum(1)
        self.write(frame, operands[0], masks.astype(np.uint32), at)


def launch(text: str, words: bytes, grid: Any, block: Any, shared_bytes: int) -> None:
    """Run a kernel; `words` are its parameters, one behind the other."""
    program = parse(text)
    (kernel,) = (function for function in program.functions.values() if function.name == "qd_kernel")
    with np.errstate(all="ignore"):
        for z, y, x in itertools.product(*(range(size) for size in reversed(grid))):
            running = Block(program, grid, block, (x, y, z), shared_bytes)
            params, offset = {}, 0
            for name, size in kernel.params:
                part = np.frombuffer(words[offset : offset + size], np.uint8)
                params[name] = np.tile(part, (running.n, 1))
                offset += size
            running.call("qd_kernel", params, np.ones(running.n, bool))
