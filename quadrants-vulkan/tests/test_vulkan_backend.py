"""The Vulkan backend against the contract, what it says of devices, and what it refuses."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from vulkan_harness import ONE, Bench

from quadrants.backend.contract import Device, LaunchShape, Target, missing_members
from quadrants.diagnostics import BackendError, BackendUnavailable, Code, CompileError
from quadrants.ir.ops import OPS
from quadrants.ir.parser import parse_module
from quadrants.lower import softmath
from quadrants_vulkan import VulkanBackend
from quadrants_vulkan import target as targets
from quadrants_vulkan.driver import library as libraries
from quadrants_vulkan.driver.library import VulkanError
from quadrants_vulkan.lower.table import EMITTERS, UNSUPPORTED
from quadrants_vulkan.target import Feature

EMPTY = """qir 1
entry @k

func @k({params}) -> () from "k.py" "k" 1 with {{kernel=true, level="device"}} {{
{body}
  return
}}
"""


def kernel(params: str = "", body: str = "") -> str:
    return EMPTY.format(params=params, body=body)


def test_meets_the_contract() -> None:
    assert missing_members(VulkanBackend()) == []
    assert VulkanBackend().name == "vulkan"


def test_without_a_loader_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = VulkanBackend()
    monkeypatch.setattr("quadrants_vulkan.backend.library", lambda: None)
    state = backend.availability()
    assert not state.ok
    assert state.reason == "the Vulkan loader is not installed"
    assert "mesa-vulkan-drivers" in state.fix
    assert list(backend.devices()) == []
    with pytest.raises(BackendUnavailable, match="there is no Vulkan device 0: the Vulkan loader is not installed"):
        backend.memory(Device("vulkan", 0, "none"))


def test_an_unknown_platform_has_no_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "plan9")
    assert libraries.library.__wrapped__() is None


def test_the_compiled_declarations_are_current() -> None:
    tool = Path(__file__).parents[2] / "tools" / "vulkan_declarations.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_failures_of_calls_are_words() -> None:
    error = VulkanError("vkCreateDevice", -4)
    assert "vkCreateDevice failed: the device is lost" in str(error)
    assert not error.no_memory and VulkanError("vkAllocateMemory", -2).no_memory


def test_targets_keep_what_they_say() -> None:
    for target in VulkanBackend().targets():
        assert Target.from_json(target.to_json()) == target
    profile = targets.profile(targets.COMMON)
    assert profile.has(Feature.INT64) and not profile.has(Feature.FLOAT64)
    assert profile.limit("max_threads") == 1024
    assert targets.profile(targets.LEAST).limit("shared_bytes") == 16384


def test_capabilities_follow_the_target() -> None:
    backend = VulkanBackend()
    least = backend.capabilities(targets.LEAST)
    assert "f64" not in least.dtypes and ("add", "i64") not in least.atomics and least.subgroup_width == 1
    doubles = targets.target((Feature.FLOAT64, Feature.ATOMIC_INT64), {})
    assert {"f64", "c128"} <= backend.capabilities(doubles).dtypes
    assert backend.capabilities(doubles).supports_atomic("add", "f64")


def test_code_needs_no_device() -> None:
    artifact = VulkanBackend().compile(parse_module(kernel()), targets.LEAST)
    assert artifact.format == "spirv" and artifact.code[:4] == b"\x03\x02\x23\x07"
    assert artifact == VulkanBackend().compile(parse_module(kernel()), targets.LEAST)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (kernel(body="  %x = const 1.0 : f64"), "float64"),
        (kernel(body="  grid.barrier"), "grid.barrier: Vulkan does not say that all blocks run at once"),
        (kernel(body="  poll"), "poll: it asks the interpreter on the host"),
        (
            kernel(body="  %a = shared.array {shape=[9000], type=array<f32, 1, C, shared>} : array<f32, 1, C, shared>"),
            "a block with 36000 bytes of shared memory: it has 16384",
        ),
        (
            kernel(body='  %n = const 1 : i32\n  %v = shuffle %n, %n {mode="xor"}'),
            "shuffle: it has no such operations of subgroups",
        ),
    ],
)
def test_what_a_device_lacks_is_named(text: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        VulkanBackend().compile(parse_module(text), targets.LEAST)
    assert caught.value.code is Code.UNSUPPORTED_CAPABILITY
    assert message in str(caught.value) and caught.value.hint


def test_every_operation_is_run_or_refused_with_a_reason() -> None:
    assert set(EMITTERS) & set(UNSUPPORTED) == set()
    assert set(EMITTERS) | set(UNSUPPORTED) | set(softmath.WRITERS) == set(OPS)
    assert all(reason and hint for reason, hint in UNSUPPORTED.values())


def test_recursion_names_the_cycle() -> None:
    text = kernel(body='  call {callee="odd", result_types=[]}') + "".join(
        f"""
func @{name}() -> () from "k.py" "{name}" 1 with {{level="device"}} {{
  call {{callee="{other}", result_types=[]}}
  return
}}
"""
        for name, other in (("odd", "even"), ("even", "odd"))
    )
    with pytest.raises(CompileError, match="odd -> even -> odd") as caught:
        VulkanBackend().compile(parse_module(text), targets.LEAST)
    assert caught.value.code is Code.RECURSION_ON_TARGET


def test_launches_beyond_the_device_are_refused(device: Bench) -> None:
    _, executable = device.load(kernel())
    most = executable.device.limits["max_threads"]
    with pytest.raises(BackendError, match=f"a block of {most + 1} threads: it has at most {most}") as caught:
        executable.launch("k", b"", LaunchShape((1, 1, 1), (most + 1, 1, 1)))
    assert caught.value.code is Code.BAD_LAUNCH
    shared = executable.device.limits["shared_bytes"]
    with pytest.raises(BackendError, match="bytes of shared memory"):
        executable.launch("k", b"", LaunchShape((1, 1, 1), (1, 1, 1), shared + 4))
    device.check()


COUNT = kernel(
    "%out: array<i32, 1, C>",
    """  %zero = const 0 : i64
  %one = const 1 : i32
  %old = atomic %one, %out, %zero {checked=false, op="add", wrap=false}""",
)


@pytest.mark.parametrize("grid", [(1, 1, 1), (0, 3, 1), (70_000, 1, 1), (1, 65_537, 1), (1, 1, 70_000), (3, 2, 5)])
def test_grids_of_every_size(device: Bench, grid: tuple[int, int, int]) -> None:
    out = np.zeros(1, np.int32)
    device.run(COUNT, [out], grid, (2, 1, 1))
    assert out[0] == 2 * np.prod(grid)


CHECKED = kernel(
    "%x: array<i32, 1, C>",
    """  %t32 = thread.index {axis=0} : i32
  %t = cast %t32 {type=i64}
  %three = const 3 : i64
  %far = add %t, %three
  %v = load %x, %far
  store %v, %x, %t""",
)


def test_errors_name_the_index_and_the_thread(device: Bench) -> None:
    with pytest.raises(IndexError) as caught:
        device.run(CHECKED, [np.arange(8, dtype=np.int32)], block=(6, 1, 1))
    assert "index 8 is out of bounds for axis 0 with size 8" in str(caught.value)
    assert "in block (0, 0, 0), thread (5, 0, 0) of k()" in str(caught.value)
    device.backend.instance.messages.clear()
    x = np.arange(8, dtype=np.int32)
    device.run(CHECKED, [x], block=(5, 1, 1))  # the device goes on
    assert x.tolist() == [3, 4, 5, 6, 7, 5, 6, 7]


RAISES = kernel(
    "%n: i32, %x: f32, %d: bool",
    """  %zero = const 0 : i32
  %good = cmp %n, %zero {pred="ge"}
  check %good, %n, %x, %d {args=tuple<i32, f32, bool>, exc="builtins:ValueError"}""",
)


def test_exceptions_have_their_arguments(device: Bench) -> None:
    device.run(RAISES, [1, 0.0, False])
    with pytest.raises(ValueError) as caught:
        device.run(RAISES, [-7, 2.5, True])
    assert caught.value.args == (-7, 2.5, True)
    assert caught.value.__notes__ == ["in block (0, 0, 0), thread (0, 0, 0) of k()"]


def test_memory_is_used_again(device: Bench) -> None:
    memory = device.backend.memory(device.device)
    first = memory.allocate(1000)
    memory.free(first)
    assert memory.allocate(900) == first
    memory.free(first)
    with pytest.raises(ValueError, match="is not the address of a block"):
        memory.free(12345)
    with pytest.raises(ValueError, match="are not memory of"):
        memory.copy_in(64, memoryview(b"abc"))
    with pytest.raises(MemoryError, match="has no room"):
        memory.allocate(1 << 45)
    device.check()


def test_copies_follow_launches(device: Bench) -> None:
    """What is copied in while a kernel is pending comes after it."""
    module, executable = device.load(COUNT)
    memory = device.backend.memory(device.device)
    address = memory.allocate(4)
    memory.copy_in(address, memoryview(np.zeros(1, np.int32)))
    from quadrants.backend.arguments import DeviceArray, pack

    block = pack([module.functions["k"].params[0].type], [DeviceArray(address, (1,), (1,))])
    executable.launch("k", block, LaunchShape((5, 1, 1), (1, 1, 1)))
    memory.copy_in(address, memoryview(np.full(1, 100, np.int32)))
    executable.launch("k", block, LaunchShape((5, 1, 1), (1, 1, 1)))
    back = np.zeros(1, np.int32)
    memory.copy_out(memoryview(back), address)
    assert back[0] == 105
    memory.free(address)
    device.check()


def test_many_launches_in_one_batch(device: Bench) -> None:
    module, executable = device.load(COUNT)
    memory = device.backend.memory(device.device)
    from quadrants.backend.arguments import DeviceArray, pack

    address = memory.allocate(4)
    memory.copy_in(address, memoryview(np.zeros(1, np.int32)))
    block = pack([module.functions["k"].params[0].type], [DeviceArray(address, (1,), (1,))])
    for _ in range(3000):
        executable.launch("k", block, LaunchShape((1, 1, 1), (1, 1, 1)))
    back = np.zeros(1, np.int32)
    memory.copy_out(memoryview(back), address)
    assert back[0] == 3000
    memory.free(address)
    device.check()


def test_code_that_nobody_holds_is_given_back(device: Bench) -> None:
    _, executable = device.load(COUNT)
    recorder = executable.device.recorder
    device.launch(executable, [parse_module(COUNT).functions["k"].params[0].type], [np.zeros(1, np.int32)], ONE, ONE)
    del executable
    gc.collect()
    assert [name for name, _ in recorder.retired].count("vkDestroyPipeline") >= 1
    recorder.wait()
    assert not recorder.retired
    device.check()


def test_events_measure(device: Bench) -> None:
    stream, first, last = (
        device.backend.stream(device.device),
        device.backend.event(device.device),
        device.backend.event(device.device),
    )
    with pytest.raises(ValueError, match="has not been recorded"):
        first.wait(stream)
    first.record(stream)
    device.run(COUNT, [np.zeros(1, np.int32)], (50, 1, 1))
    last.record(stream)
    last.wait(stream)
    assert first.elapsed_ms(last) >= 0
    device.check()
