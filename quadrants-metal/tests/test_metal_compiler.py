"""What the tests check MSL with is able to say no: text that is wrong in Metal does not compile."""

from __future__ import annotations

import metal_compiler
import pytest
from metal_harness import needed

from quadrants.ir.parser import parse_module
from quadrants_metal import target as targets

TEXT = """qir 1
entry @k

func @k(%x: array<f32, 1, C>, %n: array<u32, 1, C>) -> () from "k.py" "k" 1 with {kernel=true, level="device"} {
  %s = shared.array {shape=[4], type=array<f32, 1, C, shared>} : array<f32, 1, C, shared>
  %zero = const 0 : i64
  %v = load %x, %zero {checked=false, wrap=false}
  store %v, %s, %zero {checked=false, wrap=false}
  barrier
  %w = load %s, %zero {checked=false, wrap=false}
  %y = math.floor %w
  %one = const 1 : u32
  %old = atomic %one, %n, %zero {checked=false, op="add", wrap=false}
  store %y, %x, %zero {checked=false, wrap=false}
  return
}
"""


@pytest.fixture(scope="module")
def text() -> str:
    backend = needed().backend
    return backend.compile(parse_module(TEXT), targets.COMMON).code.decode()


def test_what_is_right_passes(text: str) -> None:
    metal_compiler.check(text)
    assert metal_compiler.bare_pointers(text) == []


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("float v_", "double v_", "double"),
        ("floor(", "floorf(", "floorf"),
        ("device atomic_uint*>(", "device uint*>(", "no matching function"),
        ("device atomic_uint*>(", "threadgroup atomic_uint*>(", "not allowed"),
        ("threadgroup float*>(here", "device float*>(here", "not allowed"),
        ("threadgroup_barrier(mem_flags::mem_device |", "barrier(mem_flags::mem_device |", "barrier"),
    ],
)
def test_what_is_wrong_does_not(text: str, right: str, wrong: str, said: str) -> None:
    own = text[text.index("constant uint STATIC_BYTES") :]
    assert right in own, own
    changed = text.replace(own, own.replace(right, wrong))
    with pytest.raises(metal_compiler.MslError, match=said):
        metal_compiler.check(changed)


def test_a_pointer_without_an_address_space_is_found(text: str) -> None:
    assert metal_compiler.bare_pointers(text.replace("device float* p0", "float* p0")) == ["  float* p0;"]


def test_attributes_are_those_of_metal(text: str) -> None:
    with pytest.raises(AssertionError, match="thread_position_in_block"):
        metal_compiler.check(text.replace("thread_position_in_threadgroup", "thread_position_in_block"))
