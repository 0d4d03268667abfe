"""The CUDA backend against the contract, what it says of machines without a device, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_harness import first, needed

import quadrants as qd
from quadrants.backend import registry
from quadrants.backend.contract import Availability, Device, LaunchShape, Target, missing_members
from quadrants.diagnostics import BackendError, BackendUnavailable, CompileError, DeviceError, InternalError
from quadrants.ir.ops import OPS
from quadrants.ir.parser import parse_module
from quadrants.lower import softmath
from quadrants.lower.gpu.refusals import UNSUPPORTED
from quadrants.lower.gpu.table import emitters
from quadrants_cuda import CudaBackend
from quadrants_cuda import target as targets
from quadrants_cuda.codegen import refused, to_ptx
from quadrants_cuda.driver import library as libraries
from quadrants_cuda.executable import CudaExecutable
from quadrants_cuda.primitives import primitives

TEXT = """qir 1
entry @k

func @k({params}) -> () from "k.py" "k" 1 with {{kernel=true, level="device"}} {{
{body}
  return
}}
"""


def kernel(params: str = "", body: str = "") -> str:
    return TEXT.format(params=params, body=body)


def compiled(text: str, arch: str = "sm_80"):  # type: ignore[no-untyped-def]
    return CudaBackend().compile(parse_module(text), targets.target(arch))


def test_meets_the_contract() -> None:
    assert missing_members(CudaBackend()) == []
    assert CudaBackend().name == "cuda"


# Machines without a device


def test_without_a_driver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quadrants_cuda.backend.library", lambda: None)
    backend = CudaBackend()
    state = backend.availability()
    assert state == Availability(False, "the CUDA driver (libcuda.so.1) is not found", state.fix)
    assert "install the driver" in state.fix
    assert list(backend.devices()) == []
    with pytest.raises(BackendUnavailable, match="driver .* is not found"):
        backend.memory(Device("cuda", 0, "none"))


def test_an_unknown_platform_has_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "plan9")
    assert libraries.library.__wrapped__() is None


def test_a_driver_that_does_not_start_is_named() -> None:
    found = needed()
    driver = found.cuda
    found.library.standin_fail_next(999)
    state = CudaBackend(driver).availability()
    assert not state.ok and "cannot be started: CUDA_ERROR_UNKNOWN" in state.reason


def test_a_device_that_is_too_old_is_named() -> None:
    found = needed()
    found.library.standin_set_capability(6, 1)
    try:
        backend = CudaBackend(found.cuda)
        state = backend.availability()
        assert not state.ok and "compute capability 6.1" in state.reason and state.fix
        with pytest.raises(BackendUnavailable, match="too old"):
            backend.target_of(first(backend))
    finally:
        found.library.standin_set_capability(9, 0)


def test_the_device_of_the_stand_in() -> None:
    found = needed()
    assert found.availability().reason == "Stand-in, compute capability 9.0"
    assert found.target_of(first(found)) == targets.target("sm_90")
    with pytest.raises(BackendUnavailable, match="there is no CUDA device 3"):
        found.open(Device("cuda", 3, ""))


@pytest.mark.parametrize(
    ("major", "minor", "arch"), [(6, 2, None), (7, 0, "sm_70"), (8, 7, "sm_86"), (9, 0, "sm_90"), (12, 1, "sm_120")]
)
def test_a_device_runs_the_newest_code_that_it_can(major: int, minor: int, arch: str | None) -> None:
    assert targets.arch_of(major, minor) == arch


@pytest.mark.parametrize("target", [Target("cuda", "sm_35"), Target("vulkan", "spirv")])
def test_other_targets_are_refused(target: Target) -> None:
    with pytest.raises(BackendError, match="does not compile for"):
        CudaBackend().compile(parse_module(kernel()), target)


# What is not lowered


def test_every_operation_is_lowered_or_refused() -> None:
    table = emitters(primitives(parse_module(kernel())))
    assert set(OPS) == set(table) | set(UNSUPPORTED) | set(softmath.WRITERS)
    assert not set(table) & set(UNSUPPORTED)


@pytest.mark.parametrize(
    ("params", "body", "said"),
    [
        ("", "  grid.barrier", "grid.barrier .* cannot run on a CUDA device"),
        ("%n: i64", "  %a = alloc %n {type=array<f32, 1, C>}", "an array that is made while the kernel runs"),
        ("%c: c64", "", "a kernel that takes c64"),
        (
            "",
            "  %a = shared.array {shape=[20000], type=array<f32, 1, C, shared>}",
            "80000 bytes of shared arrays of constant size",
        ),
    ],
)
def test_what_a_device_does_not_run_is_a_compile_error(params: str, body: str, said: str) -> None:
    with pytest.raises(CompileError, match=said) as caught:
        compiled(kernel(params, body))
    assert caught.value.hint


def test_recursion_names_the_cycle() -> None:
    ns = needed().namespace

    @qd.njit
    def down(n):
        return 1 if n < 1 else n * down(n - 1)

    @ns.kernel
    def factorial(x):
        x[0] = down(x[0])

    before = registry._REGISTRY._instances.get("cuda")
    registry._REGISTRY._instances["cuda"] = needed()
    try:
        with pytest.raises(CompileError, match="QD407.*down -> .*down"):
            factorial[1, 1](np.ones(1, np.int64))
    finally:
        del registry._REGISTRY._instances["cuda"]
        if before is not None:
            registry._REGISTRY._instances["cuda"] = before


def test_code_that_would_end_the_process_is_refused_before() -> None:
    text = "declare float @llvm.sin.f32(float)\ndeclare void @abort()\n"
    assert refused(text) == ["abort", "llvm.sin.f32"]
    assert refused("declare i32 @llvm.ctpop.i32(i32)\ndeclare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)") == []
    call = "define ptx_kernel void @qd_kernel(i64 %a) {\n  %x = sitofp i64 %a to float\n"
    call += "  %y = call float @llvm.sin.f32(float %x)\n  %z = fptosi float %y to i64\n"
    call += "  %p = inttoptr i64 %a to ptr\n  store i64 %z, ptr %p\n  ret void\n}\n"
    with pytest.raises(InternalError, match="would need llvm.sin"):
        to_ptx(call, "sm_80")
    with pytest.raises(InternalError, match="not valid"):
        to_ptx("define void @f() { ret i32 0 }", "sm_80")


# The driver


def test_blocks_of_memory_are_kept_and_counted() -> None:
    found = needed()
    memory = found.memory(first(found))
    used = memory.used
    a = memory.allocate(1000)
    memory.free(a)
    found.open(first(found)).synchronize()  # beside streams, it is used again from here on
    assert memory.allocate(900) == a and memory.used == used + 1
    memory.free(a)
    live = found.library.standin_live(0)
    large = memory.allocate(100 << 20)
    memory.free(large)
    assert found.library.standin_live(0) == live and memory.used == used
    with pytest.raises(MemoryError, match="no room for"):
        memory.allocate(2 << 30)
    with pytest.raises(ValueError, match="cannot allocate"):
        memory.allocate(-1)


def test_no_room_is_asked_for_twice() -> None:
    found = needed()
    memory = found.memory(first(found))
    memory.free(memory.allocate(5 << 20))
    found.library.standin_fail_next(2)
    address = memory.allocate(9 << 20)  # the kept block is given back, and there is room
    memory.free(address)


def test_code_is_loaded_and_unloaded() -> None:
    found = needed()
    before = found.library.standin_live(2)
    executable = found.load(found.compile(parse_module(kernel()), targets.target("sm_90")), first(found))
    assert found.library.standin_live(2) == before + 1
    assert executable.address("k") and executable.registers() == 32
    with pytest.raises(KeyError):
        executable.address("other")
    executable.launch("k", b"", LaunchShape((1, 1, 1), (1024, 1, 1)))  # more threads than its code is made for
    assert found.library.standin_live(2) == before + 2
    executable.close()
    assert found.library.standin_live(2) == before


def test_code_that_the_driver_refuses() -> None:
    found = needed()
    artifact = found.compile(parse_module(kernel("%x: f32")), targets.target("sm_90"))
    found.open(first(found))
    found.library.standin_fail_next(218)
    with pytest.raises(BackendError, match="does not take the kernel k"):
        CudaExecutable(artifact, found.open(first(found)))


def test_what_a_kernel_did_wrong_surfaces() -> None:
    found = needed()
    device = found.open(first(found))
    found.library.standin_fail_next(700)
    with pytest.raises(DeviceError, match="CUDA_ERROR_ILLEGAL_ADDRESS") as caught:
        device.synchronize()
    assert "debug=True" in str(caught.value.hint)


def test_more_shared_memory_than_there_is() -> None:
    found = needed()
    executable = found.load(found.compile(parse_module(kernel()), targets.target("sm_90")), first(found))
    with pytest.raises(BackendError, match="of shared memory: it has 232448"):
        executable.launch("k", b"", LaunchShape((1, 1, 1), (1, 1, 1), 240 << 10))
    executable.close()


def test_events_need_to_be_recorded() -> None:
    found = needed()
    event = found.event(first(found))
    with pytest.raises(ValueError, match="has not been recorded"):
        event.wait(None)
    with pytest.raises(ValueError, match="both events"):
        event.elapsed_ms(event)


def test_memory_that_is_freed_beside_streams_is_not_used_at_once() -> None:
    found = needed()
    device = found.open(first(found))
    stream = found.stream(first(found))
    block = device.memory.allocate(3000)
    device.memory.free(block)
    other = device.memory.allocate(3000)
    assert other != block
    stream.synchronize()
    device.memory.free(other)
    assert device.memory.allocate(3000) == block
    device.memory.free(block)
    data = np.arange(8.0)
    at = device.memory.allocate(data.nbytes)
    device.memory.copy_in(at, data.data, stream)
    back = np.empty_like(data)
    device.memory.copy_out(back.data, at)
    assert back.tolist() == data.tolist() and stream.handle
    device.memory.free(at)
