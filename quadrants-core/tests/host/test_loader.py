"""Object files: what is loaded runs, and what is damaged is refused."""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quadrants.host import elf, loader, relocate
from quadrants.host.codegen import compile_ir
from quadrants.host.elf import BadObject, Machine
from quadrants.host.os import system
from quadrants.host.symbols import UndefinedSymbol, resolve
from quadrants.host.target import host_target

MODULE = """
@counter = global i64 5
@zeroed = global [1000 x i64] zeroinitializer
@table = internal constant [3 x ptr] [ptr @one, ptr @two, ptr @three]
@PyFloat_Type = external global i8
declare double @sin(double)
declare double @pow(double, double)
define internal i64 @one() noinline { ret i64 1 }
define internal i64 @two() noinline { ret i64 2 }
define internal i64 @three() noinline { ret i64 3 }
define i64 @pick(i64 %i) {
  %at = getelementptr ptr, ptr @table, i64 %i
  %f = load ptr, ptr %at
  %r = call i64 %f()
  %old = load i64, ptr @counter
  %new = add i64 %old, %r
  store i64 %new, ptr @counter
  store i64 %new, ptr getelementptr (i64, ptr @zeroed, i64 999)
  ret i64 %new
}
define double @apply(double %x) {
  %s = call double @sin(double %x)
  %p = call double @pow(double %s, double 3.0)
  %r = fmul double %p, 0x400921FB54442D18
  ret double %r
}
define ptr @type() { ret ptr @PyFloat_Type }
define i64 @switch(i64 %x) {
  switch i64 %x, label %d [i64 0, label %a i64 1, label %b i64 2, label %c i64 3, label %e i64 4, label %f i64 5, label %g]
a:
  br label %join
b:
  br label %join
c:
  br label %join
e:
  br label %join
f:
  br label %join
g:
  br label %join
d:
  br label %join
join:
  %r = phi i64 [10, %a], [7, %b], [99, %c], [-4, %e], [3, %f], [77, %g], [0, %d]
  ret i64 %r
}
"""


@pytest.fixture(scope="module")
def data() -> bytes:
    return compile_ir(MODULE).object_bytes


def test_code_and_data(data: bytes) -> None:
    symbols = loader.load(data, resolve)
    assert set(symbols) >= {"counter", "zeroed", "pick", "apply", "type", "switch"} and "one" not in symbols
    pick = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(symbols["pick"])
    assert [pick(i) for i in range(3)] == [6, 8, 11]
    assert ctypes.c_int64.from_address(symbols["counter"]).value == 11
    assert ctypes.c_int64.from_address(symbols["zeroed"] + 999 * 8).value == 11
    import math

    apply = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(symbols["apply"])
    assert apply(0.7) == math.pow(math.sin(0.7), 3.0) * math.pi
    assert ctypes.CFUNCTYPE(ctypes.c_void_p)(symbols["type"])() == id(float)
    switch = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(symbols["switch"])
    assert [switch(i) for i in range(7)] == [10, 7, 99, -4, 3, 77, 0]


def test_each_load_has_data_of_its_own(data: bytes) -> None:
    first, second = loader.load(data, resolve), loader.load(data, resolve)
    assert first["counter"] != second["counter"] and abs(first["pick"] - second["pick"]) < 1 << 28


def test_code_is_never_writable_and_executable(data: bytes) -> None:
    symbols = loader.load(data, resolve)
    if not sys.platform.startswith("linux"):
        pytest.skip("reads /proc")
    modes = {}
    for line in open("/proc/self/maps", encoding="ascii"):
        span, mode = line.split()[:2]
        low, high = (int(part, 16) for part in span.split("-"))
        modes |= {name: mode for name, at in symbols.items() if low <= at < high}
    assert modes["pick"][:3] == "r-x" and modes["counter"][:3] == "rw-"


def test_unknown_symbols_are_refused() -> None:
    for name in ("system", "execve", "qd_no_such_function", "PyRun_SimpleString", "PyExc_NoSuchError", ""):
        with pytest.raises(UndefinedSymbol):
            resolve(name)
    data = compile_ir(
        "declare i32 @system(ptr)\ndefine i32 @f() { %r = call i32 @system(ptr null)\n ret i32 %r }"
    ).object_bytes
    with pytest.raises(UndefinedSymbol, match="'system'"):
        loader.load(data, resolve)


def test_every_symbol_of_the_whitelist_that_this_system_should_have() -> None:
    from quadrants.host import symbols

    for name in (*symbols._LIBC, *symbols._NUMPY, *symbols._OBJECTS, *symbols._RUNTIME, "PyExc_ValueError", "qd_tail"):
        assert resolve(name) != 0
    newer = {"PyErr_GetRaisedException", "PyErr_SetRaisedException"}
    for name in symbols._PYTHON - (newer if sys.version_info < (3, 12) else set()):
        assert resolve(name) != 0, name
    for name in ("__udivti3", "__powidf2", "sin", "powf", "lgamma"):
        assert resolve(name) != 0


def test_relocations_of_the_host(data: bytes) -> None:
    parsed = elf.parse(data)
    assert {r.type for r in parsed.relocations} <= set(relocate.RULES[parsed.machine])


# Damage


def attempt(data: bytes) -> None:
    """Load without running; a refusal is fine, anything else is not."""
    try:
        parsed = elf.parse(data)
    except BadObject:
        return
    try:
        loader.load(data, lambda name: 0x1000)
    except BadObject:
        return
    assert parsed.sections is not None


def test_truncated_objects(data: bytes) -> None:
    for length in (0, 1, 3, 4, 15, 16, 63, 64, 65, *range(66, len(data), 13)):
        attempt(data[:length])
        if length < 64:
            with pytest.raises(BadObject):
                elf.parse(data[:length])


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 8), region=st.sampled_from(["head", "tables", "all"]))
def test_flipped_bytes(seed: int, count: int, region: str) -> None:
    data = _object()
    choose = random.Random(seed)
    damaged = bytearray(data)
    (table,) = struct.unpack_from("<Q", data, 0x28)
    for _ in range(count):
        low, high = {"head": (0, 64), "tables": (table, len(data)), "all": (0, len(data))}[region]
        damaged[choose.randrange(low, high)] = choose.choice([0, 1, 0x7F, 0x80, 0xFF, choose.randrange(256)])
    attempt(bytes(damaged))


_cached: list[bytes] = []


def _object() -> bytes:
    if not _cached:
        _cached.append(compile_ir(MODULE).object_bytes)
    return _cached[0]


def test_foreign_objects(data: bytes) -> None:
    for change in (
        (0, b"MZ"),
        (4, b"\x01"),  # 32 bits
        (5, b"\x02"),  # big-endian
        (16, b"\x03"),  # a shared library
        (18, b"\x08"),  # MIPS
    ):
        damaged = bytearray(data)
        damaged[change[0] : change[0] + len(change[1])] = change[1]
        with pytest.raises(BadObject):
            elf.parse(bytes(damaged))
    with pytest.raises(BadObject):
        elf.parse(b"not an object at all")
    with pytest.raises(BadObject):
        elf.parse(b"")


def test_relocations_out_of_reach_are_refused(data: bytes) -> None:
    parsed = elf.parse(data)
    far = replace(
        parsed, relocations=tuple(elf.Relocation(r.section, r.offset, 2, r.symbol, 1 << 40) for r in parsed.relocations)
    )
    with pytest.raises(BadObject, match="out of reach"):
        loader._Image(far, resolve).load(loader.Arena(system(), 1 << 20))


# AArch64, without the processor: the instructions are read back

ARM = replace(host_target(), arch="aarch64", triple="aarch64-unknown-linux-gnu", isa="generic", fingerprint="test")


@pytest.fixture(scope="module")
def arm() -> bytes:
    return compile_ir(MODULE, target=ARM).object_bytes


def adrp_target(word: int, place: int) -> int:
    pages = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
    return (place & ~0xFFF) + ((pages - (1 << 21) if pages >> 20 else pages) << 12)


def test_arm_relocations(arm: bytes) -> None:
    parsed = elf.parse(arm)
    assert parsed.machine is Machine.AARCH64
    assert {r.type for r in parsed.relocations} <= set(relocate.RULES[Machine.AARCH64])
    external = {"sin": 0x7F0000001230, "pow": 0x7F0000004560, "PyFloat_Type": 0x7F1234567890}
    image = loader._Image(parsed, external.__getitem__)
    exported = image.load(loader.Arena(system(), 1 << 20))
    kinds = {275: 0, 277: 0, 283: 0, 311: 0, 312: 0, 286: 0}
    for relocation in parsed.relocations:
        place = image.addresses[relocation.section] + relocation.offset
        (word,) = struct.unpack("<I", ctypes.string_at(place, 4))
        symbol = parsed.symbols[relocation.symbol]
        target = image._value(relocation.symbol) + relocation.addend
        kinds[relocation.type] = kinds.get(relocation.type, 0) + 1
        if relocation.type == 275:
            assert adrp_target(word, place) == target & ~0xFFF
        elif relocation.type == 277:
            assert word >> 10 & 0xFFF == target & 0xFFF
        elif relocation.type == 286:
            assert (word >> 10 & 0xFFF) << 3 == target & 0xFFF
        elif relocation.type in (282, 283) and symbol.section is None:
            stub = place + (((word & 0x3FFFFFF) ^ 0x2000000) - 0x2000000 << 2)
            page, load, branch = struct.unpack("<III", ctypes.string_at(stub, 12))
            entry = adrp_target(page, stub) + ((load >> 10 & 0xFFF) << 3)
            assert page & 0x9F00001F == 0x90000010 and branch == 0xD61F0200
            assert ctypes.c_uint64.from_address(entry).value == external[symbol.name]
        elif relocation.type == 311:
            assert adrp_target(word, place) == image._base + image._got[relocation.symbol] & ~0xFFF
        elif relocation.type == 312:
            assert (word >> 10 & 0xFFF) << 3 == image._base + image._got[relocation.symbol] & 0xFFF
        elif relocation.type == 257:
            assert ctypes.c_uint64.from_address(place).value == target
    assert exported["pick"] and sum(kinds.values()) > 10


def test_arm_flipped_bytes(arm: bytes) -> None:
    choose = random.Random(7)
    for _ in range(200):
        damaged = bytearray(arm)
        for _ in range(3):
            damaged[choose.randrange(len(arm))] = choose.randrange(256)
        attempt(bytes(damaged))


def test_encodings_check_their_range() -> None:
    image = bytearray(16)
    for machine, type, address in (
        (Machine.X86_64, 2, 1 << 31),
        (Machine.X86_64, 10, -1),
        (Machine.X86_64, 11, 1 << 31),
        (Machine.AARCH64, 283, 1 << 27),
        (Machine.AARCH64, 283, 2),
        (Machine.AARCH64, 275, 1 << 33),
        (Machine.AARCH64, 263, 1 << 16),
        (Machine.AARCH64, 274, 1 << 20),
    ):
        with pytest.raises(BadObject):
            relocate.RULES[machine][type].apply(image, 0, 0, address)
    relocate.RULES[Machine.AARCH64][269].apply(image, 0, 0, 0xABCD << 48)
    assert struct.unpack_from("<I", image)[0] == 0xABCD << 5


# The system


def test_stack_bounds() -> None:
    low, high = system().stack_bounds()
    assert low < high and high - low >= 1 << 16
    frame = ctypes.c_int64(0)
    assert system().page_size >= 4096 and frame.value == 0


def test_arena_grows() -> None:
    arena = loader.Arena(system(), 1 << 16)
    taken = [arena.take(1 << 14) for _ in range(10)] + [arena.take(1 << 20)]
    assert len(set(taken)) == 11 and all(at % system().page_size == 0 for at in taken)


def test_perf_map(data: bytes) -> None:
    program = (
        "import os; from quadrants.host import loader, symbols; data = open(0, 'rb').read()\n"
        "s = loader.load(data, symbols.resolve)\n"
        "path = f'/tmp/perf-{os.getpid()}.map'; text = open(path).read(); os.unlink(path)\n"
        "print(any(int(line.split()[0], 16) <= s['pick'] < int(line.split()[0], 16) + int(line.split()[1], 16)"
        " for line in text.splitlines()), 'quadrants::' in text)"
    )
    import os

    environment = {**os.environ, "QUADRANTS_PERF": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], input=data, env=environment, capture_output=True, check=True
    )
    assert done.stdout.split() == [b"True", b"True"]
