"""The AMDGPU backend: what it says of itself, its host code on a stand-in for HIP, errors and prints of kernels."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
from amdgpu_harness import SimulatedBackend, backend

from quadrants.backend import registry
from quadrants.backend.contract import Device, LaunchShape, Target, missing_members
from quadrants.diagnostics import BackendError, BackendUnavailable, Code, CompileError
from quadrants_amdgpu import AmdgpuBackend
from quadrants_amdgpu.device import _finish
from quadrants_amdgpu.driver import library, linking
from quadrants_amdgpu.executable import parts
from quadrants_amdgpu.target import ARCHES, arch_of

needs_linker = pytest.mark.skipif(
    not linking.linkers(), reason="there is no linker for AMD GPUs (Debian: apt-get install lld)"
)


@pytest.fixture
def simulated() -> Iterator[SimulatedBackend]:
    """A simulated device in the place of `qd.amdgpu`."""
    instances = registry._REGISTRY._instances
    before = instances.get("amdgpu")
    instances["amdgpu"] = backend("gfx1100")
    yield backend("gfx1100")
    del instances["amdgpu"]
    if before is not None:
        instances["amdgpu"] = before


class _NoDevice:
    """HIP on a machine whose driver does not start."""

    def hipInit(self, flags: int) -> int:
        return 100

    def hipGetErrorString(self, error: int) -> object:
        return backend("gfx1100").standin.ffi.new("char[]", b"no ROCm-capable device is detected")


class _Unknown:
    """HIP with a device that no code is made for."""

    def __getattr__(self, name: str) -> object:
        return getattr(backend("gfx1100").standin, name)

    def hipGetDevicePropertiesR0600(self, properties: object, device: int) -> int:
        view = backend("gfx1100").standin.ffi.buffer(properties)
        view[:4], view[800:806] = b"Old\0", b"gfx803"
        return 0


def test_meets_the_contract() -> None:
    assert missing_members(AmdgpuBackend()) == []
    assert AmdgpuBackend().name == "amdgpu"


def test_says_why_it_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quadrants_amdgpu.backend.library", lambda: None)
    monkeypatch.setattr("sys.platform", "linux")
    state = AmdgpuBackend().availability()
    assert (state.ok, state.reason) == (False, "ROCm's library HIP (libamdhip64) is not installed")
    assert "install ROCm" in state.fix
    monkeypatch.setattr("sys.platform", "darwin")
    assert AmdgpuBackend().availability().reason == "ROCm does not exist on darwin"


@pytest.mark.parametrize(
    ("lib", "reason"),
    [
        (_NoDevice(), "HIP cannot be started: hipInit failed: no ROCm-capable device is detected (100)"),
        (_Unknown(), "no code is made for Old (gfx803)"),
    ],
)
def test_says_what_hip_says(lib: object, reason: str) -> None:
    found = AmdgpuBackend(library.Hip(backend("gfx1100").standin.ffi, lib))
    state = found.availability()
    assert (state.ok, state.reason) == (False, reason)
    assert state.fix and not found.devices()
    with pytest.raises(BackendUnavailable, match=re.escape(reason)) as caught:
        found.memory(Device("amdgpu", 0, "none"))
    assert caught.value.code is Code.BACKEND_UNAVAILABLE


def test_without_a_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "linkers", lambda: ())
    state = AmdgpuBackend(library.Hip(backend("gfx1100").standin.ffi, backend("gfx1100").standin)).availability()
    assert (state.ok, state.reason) == (False, "there is no linker: neither ROCm's comgr nor a program ld.lld")
    with pytest.raises(BackendUnavailable, match="apt-get install lld"):
        linking.link(b"", "gfx90a")


@needs_linker
def test_a_linker_says_what_is_wrong() -> None:
    with pytest.raises(BackendError, match="no linker takes the code for gfx90a: .*ld.lld") as caught:
        linking.link(b"not an object", "gfx90a")
    assert caught.value.code is Code.CODEGEN_FAILED


def test_the_next_linker_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def old(data: bytes, arch: str) -> bytes:
        raise linking.LinkError(f"it does not know {arch}")

    monkeypatch.setattr(linking, "linkers", lambda: (old, lambda data, arch: data + arch.encode()))
    assert linking.link(b"code for ", "gfx1201") == b"code for gfx1201"
    monkeypatch.setattr(linking, "linkers", lambda: (old,))
    with pytest.raises(BackendError, match="it does not know gfx1201"):
        linking.link(b"", "gfx1201")


def test_processors_by_the_names_that_hip_has() -> None:
    assert arch_of("gfx90a:sramecc+:xnack-") is ARCHES["gfx90a"]
    assert arch_of("gfx803") is None
    assert {name: ARCHES[name].wave for name in ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")} == {
        "gfx90a": 64,
        "gfx942": 64,
        "gfx1030": 32,
        "gfx1100": 32,
        "gfx1201": 32,
    }


def test_a_target_that_no_code_is_made_for() -> None:
    with pytest.raises(BackendError, match="no code is made for gfx803"):
        AmdgpuBackend().compile(None, Target("amdgpu", "gfx803"))  # type: ignore[arg-type]


def test_large_grids_are_several_launches() -> None:
    found = list(parts(LaunchShape((3, 70_000, 1), (64, 1, 1))))
    assert found == [((0, 0, 0), (3, 65_535, 1)), ((0, 65_535, 0), (3, 4_465, 1))]
    most = (1 << 32) - 1
    wide = list(parts(LaunchShape((1 << 30, 1, 1), (1024, 1, 1))))
    assert sum(blocks[0] for _, blocks in wide) == 1 << 30
    assert all(blocks[0] * 1024 <= most for _, blocks in wide)


# Kernels


@needs_linker
def test_saxpy(simulated: SimulatedBackend) -> None:
    ns = simulated.namespace

    @ns.kernel
    def saxpy(a, x, y):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.shape[0]:
            y[i] += a * x[i]

    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    saxpy[8, 128](2.5, x, y)
    assert np.array_equal(y, 2.5 * x + 1)


@needs_linker
def test_an_exception_names_block_and_thread(simulated: SimulatedBackend) -> None:
    ns = simulated.namespace

    def check(v, i):  # type: ignore[no-untyped-def]
        if v[i] < 0:
            raise ValueError("negative")

    @ns.kernel
    def checking(v):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        check(v, i)
        v[i] = 1

    v = np.zeros(64, np.int32)
    v[37] = -1
    with pytest.raises(
        ValueError, match=r"negative \(in block \(1, 0, 0\), thread \(5, 0, 0\) of .*checking\(\)\)"
    ) as caught:
        checking[2, 32](v)
    frames = [frame.name for frame in caught.traceback]
    assert frames[-2:] == ["checking", "check"]
    assert v[37] == -1
    checking[1, 32](v)  # the error is over


@needs_linker
def test_an_exception_that_the_kernel_handles(simulated: SimulatedBackend) -> None:
    ns = simulated.namespace

    @ns.kernel
    def handling(v):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        try:
            if v[i] < 0:
                raise ValueError("negative")
            v[i] = 1
        except ValueError:
            v[i] = 7

    v = np.array([3, -1, 4, -1], np.int32)
    handling[1, 4](v)
    assert v.tolist() == [1, 7, 1, 7]


@needs_linker
def test_prints(simulated: SimulatedBackend, capsys: pytest.CaptureFixture[str]) -> None:
    ns = simulated.namespace

    @ns.kernel
    def telling(x):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        print("x", i, x[i], x[i] > 0, sep="|")

    telling[1, 2](np.array([1.5, -2.0], np.float32))
    ns.synchronize()
    assert capsys.readouterr().out == "x|0|1.5|True\nx|1|-2.0|False\n"


@needs_linker
def test_launches_that_nobody_waits_for(simulated: SimulatedBackend, capsys: pytest.CaptureFixture[str]) -> None:
    """Their reports are looked at when there are many, and when the process ends."""
    ns = simulated.namespace

    @ns.kernel
    def telling(n):  # type: ignore[no-untyped-def]
        print(n)

    for n in range(65):
        telling[1, 1](n)
    assert capsys.readouterr().out.split() == [str(n) for n in range(64)]
    _finish(weakref.ref(simulated.open(simulated.devices()[0])))
    assert capsys.readouterr().out == "64\n"


@needs_linker
def test_more_prints_than_there_is_room_for(simulated: SimulatedBackend, capsys: pytest.CaptureFixture[str]) -> None:
    ns = simulated.namespace

    @ns.kernel
    def telling(x):  # type: ignore[no-untyped-def]
        print(ns.grid(1))

    telling[10, 128](np.zeros(1))
    ns.synchronize()
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["0", "1", "2"] and len(lines) == 1025
    assert lines[-1].startswith("... and 256 lines more of ")


@needs_linker
def test_what_a_device_does_not_run(simulated: SimulatedBackend) -> None:
    ns = simulated.namespace

    @ns.kernel
    def allocating(x, n):  # type: ignore[no-untyped-def]
        x[0] = np.zeros(n)[0]

    with pytest.raises(CompileError, match="an array that is made while the kernel runs .* cannot run on an AMD GPU"):
        allocating[1, 1](np.zeros(1), 3)

    def down(n):  # type: ignore[no-untyped-def]
        return 1 if n < 1 else n * down(n - 1)

    @ns.kernel
    def recursive(x):  # type: ignore[no-untyped-def]
        x[0] = down(x[0])

    with pytest.raises(CompileError, match="recursion cannot run on an AMD GPU"):
        recursive[1, 1](np.ones(1, np.int64))


@needs_linker
def test_a_block_with_too_much_shared_memory(simulated: SimulatedBackend) -> None:
    ns = simulated.namespace

    @ns.kernel
    def sharing(x):  # type: ignore[no-untyped-def]
        tile = ns.shared.array(8192, np.float32)
        more = ns.shared.array(0, np.float32)
        tile[0] = x[0]
        more[0] = tile[0]
        x[0] = more[0]

    x = np.ones(1, np.float32)
    sharing[1, 1, 0, 4096](x)
    with pytest.raises(BackendError, match="73728 bytes of shared memory") as caught:
        sharing[1, 1, 0, 40960](x)
    assert caught.value.code is Code.BAD_LAUNCH


@needs_linker
def test_memory_is_given_back(simulated: SimulatedBackend) -> None:
    ns = simulated.namespace
    standin = simulated.standin
    before = len(standin.blocks)
    array = ns.to_device(np.arange(10))
    assert len(standin.blocks) == before + 1
    assert array.copy_to_host().tolist() == list(range(10))
    del array
    assert len(standin.blocks) == before
    with pytest.raises(MemoryError, match="Simulated device has no"):
        ns.device_array(1 << 40, np.float64)
