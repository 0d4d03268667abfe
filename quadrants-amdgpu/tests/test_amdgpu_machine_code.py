"""Golden programs as machine code of gfx1100, executed by an emulator of the processor."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from amdgpu_emulator import CodeObject, Unknown
from amdgpu_harness import SimulatedBackend

from quadrants.backend import registry
from quadrants.backend.conformance.golden import GOLDEN
from quadrants.backend.conformance.running import missing, run
from quadrants_amdgpu.driver import linking

#: Programs that the emulator does not run, and why.
LEFT_OUT = {
    **dict.fromkeys((name for name in GOLDEN if name.startswith("many_")), "takes minutes"),
    "floor_division": "takes minutes",
    "flags": "has instructions on halves of registers",
    "bits": "has instructions that saturate",
}
DTYPES = ("f32", "i32", "f64", "i64", "u32", "u64")
TOOL = next((path for suffix in ("-22", "-21", "-20", "") if (path := shutil.which(f"llvm-objdump{suffix}"))), None)

pytestmark = pytest.mark.skipif(
    TOOL is None or not linking.linkers(),
    reason="LLVM's disassembler and linker are not installed (Debian: apt-get install llvm lld)",
)


class Emulated:
    """A kernel on the emulator: in the place of a simulated one."""

    def __init__(self, code: CodeObject) -> None:
        self.code = code
        self.launch = code.launch


class EmulatedBackend(SimulatedBackend):
    """The backend on a device that executes machine code."""

    def __init__(self, folder: Path) -> None:
        super().__init__("gfx1100")
        self.folder = folder
        self.standin.make = self.make  # type: ignore[method-assign]
        self.made = 0

    def make(self, code: bytes) -> Any:
        self.made += 1
        assert TOOL is not None
        return Emulated(CodeObject(code, self.folder, TOOL))


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatedBackend]:
    """The emulator in the place of `qd.amdgpu`."""
    instances = registry._REGISTRY._instances
    before = instances.get("amdgpu")
    found = instances["amdgpu"] = EmulatedBackend(tmp_path_factory.mktemp("amdgpu"))
    yield found
    del instances["amdgpu"]
    if before is not None:
        instances["amdgpu"] = before


def programs() -> Iterator[Any]:
    """Each with the types of whole registers; one of them is quick."""
    for position, (name, golden) in enumerate(GOLDEN.items()):
        known = [dtype for dtype in DTYPES if dtype in golden.dtypes]
        for place, dtype in enumerate(known if name not in LEFT_OUT else ()):
            quick = place == position % len(known)
            yield pytest.param(name, dtype, marks=() if quick else pytest.mark.slow, id=f"{name}-{dtype}")


@pytest.mark.parametrize(("program", "dtype"), list(programs()))
def test_golden_program(program: str, dtype: str, emulated: EmulatedBackend) -> None:
    golden = GOLDEN[program]
    device = emulated.devices()[0]
    if missing(golden, dtype, emulated.capabilities(emulated.target_of(device))):
        pytest.skip("the device has no cg")
    made = emulated.made
    run(golden, emulated.namespace, dtype)
    assert emulated.made == made + 1


def test_what_the_emulator_does_not_know_is_an_error(emulated: EmulatedBackend) -> None:
    with pytest.raises(Unknown, match="saturates"):
        run(GOLDEN["bits"], emulated.namespace, "i64")
