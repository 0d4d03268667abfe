"""The AMDGPU backend is installable and honest about what it cannot do."""

from __future__ import annotations

import pytest

from quadrants.backend.contract import Device, Target, missing_members
from quadrants.diagnostics import BackendUnavailable, Code
from quadrants_amdgpu import AmdgpuBackend
from quadrants_amdgpu.backend import DRIVER

DEVICE = Device("amdgpu", 0, "none")
TARGET = Target("amdgpu", "none")


def test_meets_the_contract() -> None:
    assert missing_members(AmdgpuBackend()) == []
    assert AmdgpuBackend().name == "amdgpu"


def test_availability_says_why_in_words() -> None:
    state = AmdgpuBackend().availability()
    assert not state.ok
    assert "AMDGPU code generator is not built yet" in state.reason
    assert "ROCm runtime (HIP)" in state.reason
    assert state.fix


@pytest.mark.parametrize("platform", ["linux", "win32", "darwin", "plan9"])
def test_the_driver_is_looked_for_on_every_platform(platform: str) -> None:
    reason = AmdgpuBackend(platform).availability().reason
    known = any(on == platform for on, _ in DRIVER.libraries)
    assert known or f"does not exist on {platform}" in reason


@pytest.mark.parametrize(
    "operation",
    [
        lambda b: b.compile(None, TARGET, None),
        lambda b: b.memory(DEVICE),
        lambda b: b.stream(DEVICE),
        lambda b: b.event(DEVICE),
        lambda b: b.load(None, DEVICE),
        lambda b: b.target_of(DEVICE),
        lambda b: b.capabilities(TARGET),
        lambda b: b.namespace,
    ],
)
def test_operations_raise_the_reason(operation) -> None:
    with pytest.raises(BackendUnavailable, match="not built yet") as caught:
        operation(AmdgpuBackend())
    assert caught.value.code is Code.BACKEND_UNAVAILABLE
    assert caught.value.hint


def test_it_has_no_devices_and_no_targets() -> None:
    assert list(AmdgpuBackend().devices()) == []
    assert list(AmdgpuBackend().targets()) == []
