"""The Metal backend against the contract, what it says of machines, what it refuses, and launches."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import metal_standin
import numpy as np
import pytest
from metal_harness import Bench, StandInBackend

from quadrants.backend.contract import Availability, Device, LaunchShape, Target, missing_members
from quadrants.diagnostics import BackendError, BackendUnavailable, Code, CompileError
from quadrants.ir.ops import OPS
from quadrants.ir.parser import parse_module
from quadrants.lower import softmath
from quadrants_metal import MetalBackend
from quadrants_metal import target as targets
from quadrants_metal.host.framework import Framework, framework
from quadrants_metal.lower.prelude import PRELUDE
from quadrants_metal.lower.table import EMITTERS, UNSUPPORTED

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
    assert missing_members(MetalBackend()) == []
    assert MetalBackend().name == "metal"


@pytest.mark.parametrize("platform", ["linux", "win32", "plan9"])
def test_elsewhere_it_says_that_metal_is_of_macos(platform: str) -> None:
    backend = MetalBackend(platform)
    state = backend.availability()
    assert not state.ok and state.reason == f"Metal exists on macOS only, and this is {platform}"
    assert "qd.vulkan" in state.fix
    assert list(backend.devices()) == []
    with pytest.raises(BackendUnavailable, match="there is no Metal device 0: Metal exists on macOS only") as caught:
        backend.memory(Device("metal", 0, "none"))
    assert caught.value.code is Code.BACKEND_UNAVAILABLE and caught.value.hint == state.fix


def test_without_the_bindings_it_says_what_to_install() -> None:
    def load(name: str) -> None:
        raise ImportError(f"No module named '{name}'")

    state = framework("darwin", load)
    assert isinstance(state, Availability)
    assert state.reason == "the bindings of Metal are not installed: No module named 'Metal'"
    assert state.fix == "pip install pyobjc-framework-Metal"


def test_an_older_macos_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quadrants_metal.host.framework.mac_ver", lambda: ("14.6.1", ("", "", ""), "arm64"))
    assert framework("darwin") == Availability(False, "this is macOS 14.6.1", "update to macOS 15 or later")


def test_a_machine_without_a_device_that_will_do() -> None:
    def having(devices: list[object]) -> Availability | Framework:
        found = SimpleNamespace(MTLCopyAllDevices=lambda: devices, MTLGPUFamilyMetal3=5001)
        return framework("darwin", lambda name: found)

    assert having([]) == Availability(False, "Metal finds no device", "run it on a Mac with a GPU, logged in")
    old = SimpleNamespace(supportsFamily_=lambda family: False, name=lambda: "Old GPU")
    state = having([old])
    assert isinstance(state, Availability) and state.reason == "no device has Metal 3: Old GPU"


def test_a_device_is_there() -> None:
    backend = StandInBackend()
    assert backend.availability() == Availability(True, "CPU")
    (device,) = backend.devices()
    assert (device.name, device.memory_bytes) == ("CPU", 1 << 32)
    assert targets.limits(backend.target_of(device)) == targets.limits(targets.COMMON)
    with pytest.raises(BackendUnavailable, match="there is no Metal device 1: there are 1 devices"):
        backend.memory(Device("metal", 1, "none"))


def test_targets_keep_what_they_say() -> None:
    for target in MetalBackend().targets():
        assert Target.from_json(target.to_json()) == target
    small = targets.target({"shared_bytes": 16384, "max_threads": 512})
    has = MetalBackend().capabilities(small)
    assert has.shared_bytes == 16384 and has.max_threads_per_block == 512
    assert "f64" not in has.dtypes and not has.supports_atomic("add", "i64") and has.supports_atomic("add", "f32")


def test_code_needs_no_device() -> None:
    artifact = MetalBackend("plan9").compile(parse_module(kernel()), targets.COMMON)
    assert artifact.format == "msl" and artifact.code.decode().startswith(PRELUDE)
    assert artifact.text["msl"] == artifact.code.decode()
    assert artifact == MetalBackend().compile(parse_module(kernel()), targets.COMMON)
    assert "Metal" not in sys.modules


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (kernel("%x: f64", "  %y = add %x, %x"), "float64"),
        (
            kernel(
                "%x: array<f64, 1, C>", "  %zero = const 0 : i64\n  %y = load %x, %zero {checked=false, wrap=false}"
            ),
            "float64",
        ),
        (kernel(body="  grid.barrier"), "grid.barrier: Metal does not say that all blocks run at once"),
        (kernel(body="  poll"), "poll: it asks the interpreter on the host"),
        (
            kernel(body="  %a = shared.array {shape=[9000], type=array<f32, 1, C, shared>} : array<f32, 1, C, shared>"),
            "a block with 36000 bytes of shared memory: it has 32768",
        ),
        (
            kernel(
                "%x: array<i64, 1, C>",
                '  %zero = const 0 : i64\n  %y = atomic %zero, %x, %zero {checked=false, op="add", wrap=false}',
            ),
            "atomic operations on i64",
        ),
    ],
)
def test_what_a_device_lacks_is_named(text: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        MetalBackend().compile(parse_module(text), targets.COMMON)
    assert caught.value.code is Code.UNSUPPORTED_CAPABILITY
    assert message in str(caught.value) and caught.value.hint


def test_control_flow_that_is_nested_too_deeply_is_refused() -> None:
    def nested(depth: int) -> str:
        return kernel(
            "%c: bool",
            "if %c {\n" * depth + "yield\n" + "} else {\nyield\n}\nyield\n" * (depth - 1) + "} else {\nyield\n}",
        )

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(4000)
    try:
        assert MetalBackend().compile(parse_module(nested(200)), targets.COMMON).code
        with pytest.raises(CompileError, match="control flow that is nested more than 250 levels deep"):
            MetalBackend().compile(parse_module(nested(300)), targets.COMMON)
    finally:
        sys.setrecursionlimit(limit)


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
        MetalBackend().compile(parse_module(text), targets.COMMON)
    assert caught.value.code is Code.RECURSION_ON_TARGET


def test_launches_beyond_the_device_are_refused(device: Bench) -> None:
    _, executable = device.load(kernel())
    with pytest.raises(BackendError, match="a block of 1025 threads: it has at most 1024") as caught:
        executable.launch("k", b"", LaunchShape((1, 1, 1), (1025, 1, 1)))
    assert caught.value.code is Code.BAD_LAUNCH
    with pytest.raises(BackendError, match="bytes of shared memory"):
        executable.launch("k", b"", LaunchShape((1, 1, 1), (1, 1, 1), 32772))


COUNT = kernel(
    "%out: array<i32, 1, C>",
    """  %zero = const 0 : i64
  %one = const 1 : i32
  %old = atomic %one, %out, %zero {checked=false, op="add", wrap=false}""",
)


@pytest.mark.parametrize("grid", [(1, 1, 1), (0, 3, 1), (70_000, 1, 1), (1, 65_537, 1), (3, 2, 5)])
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
    x = np.arange(8, dtype=np.int32)
    device.run(CHECKED, [x], block=(5, 1, 1))  # the device goes on
    assert x.tolist() == [3, 4, 5, 6, 7, 5, 6, 7]


RAISES = kernel(
    "%n: i32, %x: f32, %d: bool, %y: f64",
    """  %zero = const 0 : i32
  %good = cmp %n, %zero {pred="ge"}
  check %good, %n, %x, %d, %y {args=tuple<i32, f32, bool, f64>, exc="builtins:ValueError"}""",
)


def test_exceptions_have_their_arguments(device: Bench) -> None:
    device.run(RAISES, [1, 0.0, False, 0.0])
    with pytest.raises(ValueError) as caught:
        device.run(RAISES, [-7, 2.5, True, 1e300])
    assert caught.value.args == (-7, 2.5, True, 1e300)
    assert caught.value.__notes__ == ["in block (0, 0, 0), thread (0, 0, 0) of k()"]


def test_python_floats_are_rounded_once(device: Bench) -> None:
    text = kernel(
        "%x: f64, %out: array<f32, 1, C>",
        "  %zero = const 0 : i64\n  %y = cast %x {type=f32}\n  store %y, %out, %zero {checked=false, wrap=false}",
    )
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 1 << 64, 60, dtype=np.uint64).view(np.float64)
    near = rng.standard_normal(80) * 2.0 ** np.arange(-160, 160, 4)
    ties = np.array([1 + 2.0**-24, 1 + 3 * 2.0**-24, 2.0**-150, 3 * 2.0**-150, 1.5 * 2.0**-149, 3.4028235677973366e38])
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e39, -1e-60, 2.0**-126 * (1 - 2.0**-25)])
    module, executable = device.load(text)
    memory = device.backend.memory(device.device)
    from quadrants.backend.arguments import DeviceArray, pack

    types = [p.type for p in module.functions["k"].params]
    address = memory.allocate(4)
    for x in (*bits, *near, *ties, *special):
        executable.launch("k", pack(types, [x, DeviceArray(address, (1,), (1,))]), LaunchShape((1, 1, 1), (1, 1, 1)))
        found = np.zeros(1, np.float32)
        memory.copy_out(memoryview(found), address)
        with np.errstate(all="ignore"):
            expected = np.float32(x)
        assert found[0].tobytes() == expected.tobytes() or (x != x and found[0] != found[0]), x
    memory.free(address)


def test_barriers_that_not_all_reach_are_an_error_of_the_stand_in(device: Bench) -> None:
    text = kernel(
        body="""  %t = thread.index {axis=0} : i32
  %zero = const 0 : i32
  %first = cmp %t, %zero {pred="eq"}
  if %first {
    barrier
    yield
  } else {
    barrier
    yield
  }"""
    )
    with pytest.raises(BackendError, match="CPU stopped a launch: threads of a block wait at different barriers"):
        device.run(text, [], block=(4, 1, 1))


def test_a_text_that_the_driver_does_not_take(device: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        metal_standin.Device,
        "newLibraryWithSource_options_error_",
        lambda *given: (None, metal_standin.Failure("program_source:1: error")),
    )
    with pytest.raises(BackendError, match="does not take the kernel k: program_source:1: error") as caught:
        device.load(kernel())
    assert caught.value.code is Code.CODEGEN_FAILED


def test_memory(device: Bench) -> None:
    memory = device.backend.memory(device.device)
    with pytest.raises(ValueError, match="is not the address of a block"):
        memory.free(12345)
    with pytest.raises(ValueError, match="are not memory of"):
        memory.copy_in(64, memoryview(b"abc"))
    with pytest.raises(MemoryError, match="has no room"):
        memory.allocate(1 << 45)
    address = memory.allocate(100)
    memory.copy_in(address + 10, memoryview(b"abc"))
    back = bytearray(3)
    memory.copy_out(memoryview(back), address + 10)
    assert back == b"abc"
    with pytest.raises(ValueError, match="91 bytes"):
        memory.copy_in(address + 10, memoryview(bytes(91)))
    memory.free(address)


def test_many_arguments_take_a_buffer(device: Bench) -> None:
    count = 600
    params = ", ".join(f"%p{i}: i32" for i in range(count))
    text = kernel(
        f"%out: array<i32, 1, C>, {params}",
        f"  %zero = const 0 : i64\n  store %p{count - 1}, %out, %zero {{checked=false, wrap=false}}",
    )
    out = np.zeros(1, np.int32)
    device.run(text, [out, *range(count)])
    assert out[0] == count - 1


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
