"""The CPU backend: what it says of itself, and QIR modules compiled, loaded and called through the contract."""

from __future__ import annotations

import ctypes
import dataclasses
import json

import pytest

from quadrants.backend.contract import Artifact, Device, LaunchAbi, Target, missing_members
from quadrants.diagnostics import BackendError, Code, SettingError
from quadrants.ir import Function, Module, Region, Scope, Value
from quadrants.ir.builder import Builder
from quadrants.lower.abi import CTX_BYTES
from quadrants.options import Options
from quadrants.types import F64, I64
from quadrants_cpu import CpuBackend
from quadrants_cpu.codegen import ENTRY

CPU = Device("cpu", 0, "")
OPTIONS = Options()


def module(name: str = "f") -> Module:
    """f(a: f64, n: i64) = a * float(n) + 1.0"""
    a, n = Value(F64, "a"), Value(I64, "n")
    build = Builder(Region())
    product = build.value("mul", a, build.value("cast", n, type=F64))
    build.op("return", build.value("add", product, build.f64(1.0)))
    function = Function(name, [a, n], (F64,), build.region, Scope("<test>", name, 1))
    return Module({name: function}, name)


def call(address: int, a: float, n: int) -> tuple[int, float]:
    """Call the C function at an address; gives status and result."""
    function = ctypes.CFUNCTYPE(
        ctypes.c_int32, ctypes.c_void_p, ctypes.c_double, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)
    )(address)
    context, result = ctypes.create_string_buffer(CTX_BYTES), ctypes.c_double()
    return function(ctypes.addressof(context), a, n, ctypes.byref(result)), result.value


@pytest.mark.parametrize("name", ["f", 'odd "name" é'])
def test_compile_load_call(name: str) -> None:
    cpu = CpuBackend()
    (device,) = cpu.devices()
    artifact = cpu.compile(module(name), cpu.target_of(device), OPTIONS)
    assert (artifact.format, artifact.entries) == ("elf-object", (ENTRY,))
    assert json.loads(dict(artifact.metadata)["classes"]) == []
    executable = cpu.load(artifact, device)
    assert executable.launch_abi is LaunchAbi.HOST_FUNCTION
    assert call(executable.address(ENTRY), 2.5, 4) == (0, 11.0)


def test_compiling_is_pure() -> None:
    cpu = CpuBackend()
    first, second = (cpu.compile(module(), cpu.targets()[0], OPTIONS) for _ in range(2))
    assert first == second


def test_an_artifact_survives_as_bytes() -> None:
    cpu = CpuBackend()
    made = cpu.compile(module(), cpu.targets()[0], OPTIONS)
    again = Artifact(
        Target.from_json(made.target.to_json()), made.format, bytes(made.code), made.entries, made.metadata
    )
    assert call(cpu.load(again, CPU).address(ENTRY), 1.0, 1) == (0, 2.0)


@pytest.mark.parametrize("cut", [0, 10, 63, 200, -1])
def test_damaged_code_is_an_error(cut: int) -> None:
    cpu = CpuBackend()
    artifact = cpu.compile(module(), cpu.targets()[0], OPTIONS)
    with pytest.raises(BackendError) as caught:
        cpu.load(dataclasses.replace(artifact, code=artifact.code[:cut]), CPU)
    assert caught.value.code is Code.CODEGEN_FAILED


def test_code_for_another_cpu_is_not_loaded() -> None:
    cpu = CpuBackend()
    artifact = cpu.compile(module(), cpu.targets()[0], OPTIONS)
    with pytest.raises(BackendError, match="another kind of CPU"):
        cpu.load(dataclasses.replace(artifact, metadata=(("fingerprint", "x86_64:other"),)), CPU)


@pytest.mark.parametrize("target", [Target("cuda", "sm_90"), Target("cpu", "mips")])
def test_another_target_is_refused(target: Target) -> None:
    cpu = CpuBackend()
    for use in (lambda: cpu.compile(module(), target, OPTIONS), lambda: cpu.capabilities(target)):
        with pytest.raises(BackendError) as caught:
            use()
        assert caught.value.code is Code.BAD_TARGET


def test_an_unknown_entry() -> None:
    cpu = CpuBackend()
    executable = cpu.load(cpu.compile(module(), cpu.targets()[0], OPTIONS), CPU)
    with pytest.raises(BackendError, match="no entry 'g'; it has qd_entry"):
        executable.address("g")


@pytest.mark.parametrize("device", [Device("cpu", 1, ""), Device("cuda", 0, "")])
def test_unknown_devices(device: Device) -> None:
    cpu = CpuBackend()
    for use in (cpu.memory, cpu.stream, cpu.event, cpu.target_of):
        with pytest.raises(BackendError) as caught:
            use(device)
        assert caught.value.code is Code.UNKNOWN_DEVICE


def test_it_describes_itself() -> None:
    cpu = CpuBackend()
    assert missing_members(cpu) == []
    assert cpu.availability().ok
    capabilities = cpu.capabilities(cpu.targets()[0])
    assert capabilities.recursion and capabilities.host_code
    assert {"f64", "i8", "u64", "c128", "bool"} <= capabilities.dtypes
    (device,) = cpu.devices()
    assert device.index == 0 and device.name
    assert cpu.namespace.__name__ == "quadrants.cpu"


def test_the_isa_can_be_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = CpuBackend()
    if cpu.targets()[0].arch != "x86_64":
        pinned = "armv8-a"
    else:
        pinned = "x86-64-v2"
    monkeypatch.setenv("QUADRANTS_ISA", pinned)
    (target,) = cpu.targets()
    assert target.cpu == pinned
    artifact = cpu.compile(module(), target, OPTIONS)
    assert call(cpu.load(artifact, CPU).address(ENTRY), 0.5, 2) == (0, 2.0)


def test_an_unknown_isa_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUADRANTS_ISA", "x86-64-v9")
    state = CpuBackend().availability()
    assert not state.ok and "x86-64-v9" in state.reason and "QUADRANTS_ISA" in state.fix
    with pytest.raises(SettingError):
        CpuBackend().compile(module(), CpuBackend().targets()[0], OPTIONS)
