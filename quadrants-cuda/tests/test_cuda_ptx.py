"""PTX: that `ptxas` takes it for every compute capability, and what it says."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cuda_harness import ASSEMBLED, assemble

from quadrants.backend.conformance import GOLDEN
from quadrants.backend.conformance.golden import dtype_of
from quadrants.backend.conformance.running import make_case
from quadrants.infer import infer_module
from quadrants.infer.emitter import Options
from quadrants.ir.parser import parse_module
from quadrants.passes import pipeline
from quadrants.passes.context import PassOptions
from quadrants_cuda import CudaBackend
from quadrants_cuda import target as targets

BACKEND = CudaBackend()
SAXPY = """qir 1
entry @saxpy

func @saxpy(%a: f32, %x: array<f32, 1, C>, %y: array<f32, 1, C>) -> () from "s.py" "saxpy" 1 with
    {fp="FP", kernel=true, level="device"} {
  %t = thread.index {axis=0} : i32
  %b = block.index {axis=0} : i32
  %n = block.size {axis=0} : i32
  %first = mul %b, %n : i32
  %i32 = add %first, %t : i32
  %i = cast %i32 {type=i64} : i64
  %u = load %x, %i {checked=false, wrap=false} : f32
  %v = load %y, %i {checked=false, wrap=false} : f32
  %w = mul %a, %u : f32
  %s = add %w, %v : f32
  store %s, %y, %i {checked=false, wrap=false}
  return
}
""".replace(" with\n    ", " with ")


def ptx_of(text: str, arch: str = "sm_70") -> str:
    return BACKEND.compile(parse_module(text), targets.target(arch)).code.decode()


def test_arrays_are_global_memory_and_arguments_are_parameters() -> None:
    ptx = ptx_of(SAXPY.replace("FP", "default"))
    assert ".target sm_70" in ptx and ".visible .entry qd_kernel(" in ptx
    assert ptx.count(".param .u64") == 8 and ptx.count("ld.global.b32") == 2 and "st.global.b32" in ptx
    assert "local" not in ptx  # the context is taken apart
    assert "fma.rn.f32" in ptx


def test_strict_floating_point_is_not_fused() -> None:
    ptx = ptx_of(SAXPY.replace("FP", "strict"))
    assert "fma" not in ptx and "mul.rn.f32" in ptx and "add.rn.f32" in ptx


def golden_ptx(name: str, arch: str) -> bytes:
    """A golden program, compiled as a kernel of CUDA without a device."""
    golden = GOLDEN[name]
    dtype = golden.dtypes[len(name) % len(golden.dtypes)]
    kernel = golden.kernel(BACKEND.namespace, dtype_of(dtype))
    types = kernel.types_of(kernel.bind(make_case(golden, dtype).args, {}))
    target = targets.target(arch)
    capabilities = BACKEND.capabilities(target)
    options = Options(
        kernel.options.fp,
        False,
        division=kernel.options.numerics.division,
        kernel=True,
        device="cuda",
        lacks=capabilities.lacks,
    )
    typed = infer_module(kernel.py_func, types, options)
    pipeline.run_device(typed.module, PassOptions(bounds_checks=False))
    return BACKEND.compile(typed.module, target).code


@pytest.mark.parametrize("arch", ASSEMBLED)
@pytest.mark.parametrize("name", [name for name, golden in GOLDEN.items() if "cg" not in str(golden.needs)][::6])
def test_the_assembler_takes_golden_programs(name: str, arch: str) -> None:
    assemble(golden_ptx(name, arch), arch)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ASSEMBLED)
@pytest.mark.parametrize("name", [name for name, golden in GOLDEN.items() if "cg" not in str(golden.needs)])
def test_the_assembler_takes_every_golden_program(name: str, arch: str) -> None:
    assemble(golden_ptx(name, arch), arch)


def test_the_package_is_light_until_something_is_compiled() -> None:
    code = (
        "import sys, quadrants_cuda; b = quadrants_cuda.CudaBackend(); b.availability(); b.targets(); "
        "print('llvmlite' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
