"""The code that is made for AMD GPUs, read by LLVM's tools; and what LLVM could not make code of."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from quadrants.diagnostics import Code, InternalError
from quadrants.ir.parser import parse_module
from quadrants_amdgpu import AmdgpuBackend
from quadrants_amdgpu.codegen import to_object
from quadrants_amdgpu.driver import linking
from quadrants_amdgpu.target import ARCHES, target

MAIN = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
pytestmark = pytest.mark.skipif(
    not linking.linkers(), reason="there is no linker for AMD GPUs (Debian: apt-get install lld)"
)

SAXPY = """
qir 1
entry @saxpy

func @saxpy(%a: f32, %x: array<f32, 1, C>, %y: array<f32, 1, C>) -> () from "s.py" "saxpy" 1 with {kernel=true, level="device"} {
  %t = thread.index {axis=0} : i32
  %b = block.index {axis=0} : i32
  %n = block.size {axis=0} : i32
  %first = mul %b, %n : i32
  %i32 = add %first, %t : i32
  %i = cast %i32 {type=i64} : i64
  %size = dim %x {axis=0} : i64
  %inside = cmp %i, %size {pred="lt"} : bool
  if %inside {
    %v = load %x, %i {checked=false, wrap=false} : f32
    %w = load %y, %i {checked=false, wrap=false} : f32
    %p = mul %a, %v : f32
    %s = add %p, %w : f32
    store %s, %y, %i {checked=false, wrap=false}
    yield
  } else {
    yield
  }
  return
}
"""
#: Adds to an element of memory, and to one of the block.
ADDING = """
qir 1
entry @adding

func @adding(%x: array<{dtype}, 1, C>) -> () from "a.py" "adding" 1 with {{kernel=true, level="device"}} {{
  %tile = shared.array {{shape=[64], type=array<{dtype}, 1, C, shared>}} : array<{dtype}, 1, C, shared>
  %t32 = thread.index {{axis=0}} : i32
  %t = cast %t32 {{type=i64}} : i64
  %v = load %x, %t {{checked=false, wrap=false}}
  store %v, %tile, %t {{checked=false, wrap=false}}
  barrier
  %zero = const 0 : i64
  %was = atomic %v, %tile, %zero {{checked=false, wrap=false, op="add"}}
  barrier
  %w = load %tile, %zero {{checked=false, wrap=false}}
  %old = atomic %w, %x, %zero {{checked=false, wrap=false, op="add"}}
  return
}}
"""


def _tool(name: str) -> str:
    found = next((path for suffix in ("-22", "-21", "-20", "") if (path := shutil.which(name + suffix))), None)
    if found is None:
        pytest.skip(f"{name} is not installed (Debian: apt-get install llvm)")
    return found


@cache
def _code(text: str, arch: str) -> bytes:
    module = parse_module(text)
    artifact = AmdgpuBackend().compile(module, target(arch))
    assert artifact.format == "hsaco"
    return artifact.code


def _read(name: str, code: bytes, folder: Path, *options: str) -> str:
    path = folder / "kernel.hsaco"
    path.write_bytes(code)
    return subprocess.run([_tool(name), *options, str(path)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("arch", ARCHES)
def test_the_notes_describe_the_kernel(arch: str, tmp_path: Path) -> None:
    notes = _read("llvm-readelf", _code(SAXPY, arch), tmp_path, "--notes")
    found = dict(re.findall(r"\.(\w+):\s+(\S+)", notes))
    assert f"amdgcn-amd-amdhsa--{arch}" in notes
    assert found["symbol"] == "qd_kernel.kd"
    # a: 1 word; two arrays of 3; the report; three times three words and the bytes of dynamic memory
    assert int(found["kernarg_segment_size"]) == 8 * 7 + 8 + 4 * 10
    assert int(found["wavefront_size"]) == ARCHES[arch].wave
    assert int(found["max_flat_workgroup_size"]) == 1024
    assert (found["private_segment_fixed_size"], found["vgpr_spill_count"]) == ("0", "0")


@pytest.mark.parametrize("arch", MAIN)
def test_memory_is_accessed_as_what_it_is(arch: str, tmp_path: Path) -> None:
    listing = _read("llvm-objdump", _code(SAXPY, arch), tmp_path, "-d")
    assert len(re.findall(r"\bglobal_load_(?:dword|b32)\b", listing)) == 2
    assert len(re.findall(r"\bglobal_store_(?:dword|b32)\b", listing)) == 1
    assert "flat_" not in listing and "scratch_" not in listing
    assert re.search(r"v_(?:pk_)?(?:fma|fmac|mac)", listing)


@pytest.mark.parametrize("arch", MAIN)
@pytest.mark.parametrize("dtype", ["i32", "f32"])
def test_atomics_are_instructions(arch: str, dtype: str, tmp_path: Path) -> None:
    listing = _read("llvm-objdump", _code(ADDING.format(dtype=dtype), arch), tmp_path, "-d")
    assert re.search(r"\bds_(add|pk_add)", listing) or (dtype, arch) == ("f32", "gfx1030")
    assert "s_barrier" in listing
    assert "flat_" not in listing
    native = arch != "gfx1030" or dtype == "i32"  # that processor adds floats by exchanging
    assert bool(re.search(r"\bglobal_atomic_add", listing)) is native
    assert ("cmpswap" in listing) is not native


@pytest.mark.parametrize(
    "call",
    [
        "call double @llvm.sin.f64(double 1.0)",
        "call float @llvm.pow.f32(float 1.0, float 2.0)",
        "call double @llvm.exp.f64(double 1.0)",
        "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "call double @sin(double 1.0)",
        'call i32 asm "mov.u32 $0, 1;", "=r"()',
    ],
)
def test_what_would_end_the_process_is_an_error(call: str) -> None:
    type = call.split()[1]
    declared = re.search(r"(\S+) (@[\w.]+)\((.*)\)", call)
    text = ""
    if declared:
        params = ", ".join(part.split()[0] for part in declared[3].split(", ") if part)
        text = f"declare {type} {declared[2]}({params})\n"
    text += f"define amdgpu_kernel void @k(ptr addrspace(1) %p) {{\n  %v = {call}\n"
    text += f"  store {type} %v, ptr addrspace(1) %p\n  ret void\n}}\n"
    with pytest.raises(InternalError, match="code for a device would need") as caught:
        to_object(text, "gfx90a")
    assert caught.value.code is Code.INTERNAL


def test_text_that_is_no_ir_is_an_error() -> None:
    with pytest.raises(InternalError, match="not valid"):
        to_object("define void @k() { ret i32 }", "gfx1100")
