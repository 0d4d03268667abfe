"""The PTX itself, interpreted: golden programs give what NumPy gives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import ptx_interpreter
import pytest
from cuda_harness import SimulatedBackend, needed

from quadrants.backend import registry
from quadrants.backend.conformance import GOLDEN
from quadrants.backend.conformance.running import make_case, run
from quadrants.backend.contract import LaunchShape, Stream
from quadrants.lower.gpu.kernel import launch_words
from quadrants_cuda import executable

#: The most threads of a launch that is interpreted.
MOST_THREADS = 4096


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedBackend]:
    """Launches are interpreted, instead of given to the driver."""

    def launch(
        self: executable.CudaExecutable, entry: str, arguments: bytes, shape: LaunchShape, stream: Stream | None = None
    ) -> None:
        given = arguments + launch_words(shape.grid, shape.block, (0, 0, 0), shape.shared_bytes, 0)
        text = self.artifact.code.decode()
        ptx_interpreter.launch(text, given, shape.grid, shape.block, shape.shared_bytes)

    found = needed()
    monkeypatch.setattr(executable.CudaExecutable, "launch", launch)
    instances = registry._REGISTRY._instances
    before, instances["cuda"] = instances.get("cuda"), found
    yield found
    del instances["cuda"]
    if before is not None:
        instances["cuda"] = before


def _programs() -> list[tuple[str, str]]:
    """One dtype a program, where the launch is small."""
    found = []
    for position, (name, golden) in enumerate(GOLDEN.items()):
        dtype = golden.dtypes[position % len(golden.dtypes)]
        if "cg" not in str(golden.needs):
            found.append((name, dtype))
    return found


@pytest.mark.parametrize(("name", "dtype"), _programs())
def test_golden_program(interpreted: SimulatedBackend, name: str, dtype: str) -> None:
    golden = GOLDEN[name]
    case = make_case(golden, dtype)
    threads = int(np.prod(case.grid)) * int(np.prod(case.block))
    if threads > MOST_THREADS:
        pytest.skip(f"{threads} threads would take too long")
    run(golden, interpreted.namespace, dtype)
