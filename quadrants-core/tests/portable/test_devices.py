"""Portable kernels on a device, here one that works in the host's memory: what they find, and where tensors are."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import traceback
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import quadrants as qd
from quadrants.api.portable import residents, runtime
from quadrants.backend.conformance.portable import PROGRAMS
from quadrants.backend.conformance.running import compare


@pytest.fixture
def device() -> Iterator[None]:
    """Kernels are launched on the CPU's own device, as on any other."""
    runtime.STATE.settings = runtime.Settings(generation=runtime.STATE.settings.generation + 1, device="cpu")
    yield
    qd.reset()


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_programs(name: str, device: None) -> None:
    program = PROGRAMS[name]
    pairs = program.run(qd, np.random.default_rng(zlib.crc32(name.encode())))
    for position, (found, expected) in enumerate(pairs):
        compare(f"{name}, result {position}", np.asarray(found), np.asarray(expected), program.rtol)


def test_names_of_devices() -> None:
    try:
        with pytest.warns(qd.QuadrantsWarning, match="there is no such device here .*; kernels run on the CPU"):
            qd.init(arch="nothing")
        with pytest.raises(qd.QuadrantsError, match="there is no such device here") as error:
            qd.init(arch="nothing", enable_fallback=False)
        assert error.value.hint == "qd.init(arch=qd.cpu)"
        with pytest.raises(qd.QuadrantsError, match="it is a backend"):
            qd.init(arch=3)
        qd.init(arch=qd.x64, random_seed=3)
        assert not runtime.settings().device
    finally:
        qd.reset()


def test_tensors_are_in_one_place_at_a_time(device: None) -> None:
    x = qd.field(float, (3, 4))
    y = qd.tensor(qd.i32, (3, 4, 5), layout=(2, 0, 1))
    assert isinstance(x, qd.Field) and type(x) is residents.DeviceField

    @qd.kernel
    def add(y: qd.Tensor):
        for i, j in x:
            x[i, j] += i
            for k in range(5):
                y[i, j, k] = 100 * i + 10 * j + k

    x[1, 2] = 5
    add(y)
    add(y)
    i, j, k = np.mgrid[0:3, 0:4, 0:5]
    assert np.array_equal(y.to_numpy(), 100 * i + 10 * j + k)
    assert x[1, 2] == 7 and x[2, 0] == 4
    x[2, 0] = 1
    add(y)
    assert x[2, 0] == 3 and x.to_numpy().sum() == 5 + 3 * (4 + 8) - 4 + 1
    z = qd.field(float, (3, 4))
    z.copy_from(x)
    assert np.array_equal(z.to_numpy(), x.to_numpy()) and np.array_equal(
        pickle.loads(pickle.dumps(z)).to_numpy(), z.to_numpy()
    )
    with pytest.raises(qd.QuadrantsError, match="cannot be shared without a copy"):
        x.to_numpy(copy=False)


def test_tensors_come_home_when_another_device_is_chosen(device: None) -> None:
    x = qd.field(float, 4)

    @qd.kernel
    def add():
        for i in x:
            x[i] += i

    add()
    qd.init(arch=qd.cpu)
    assert type(x) is qd.Field and x.to_numpy().tolist() == [0, 1, 2, 3]
    add()
    assert x.to_numpy().tolist() == [0, 2, 4, 6] and x.to_numpy(copy=False)[1] == 2


def test_memory_goes_with_its_tensor(device: None) -> None:
    x = qd.ndarray(float, 4)

    @qd.kernel
    def one(x: qd.Tensor):
        for i in x:
            x[i] = 1

    one(x)
    gc.collect()
    before = len(residents.RESIDENTS)
    del x
    gc.collect()
    assert len(residents.RESIDENTS) == before - 1


def test_exceptions_of_the_hosts_part_name_the_line(device: None) -> None:
    @qd.kernel
    def run(x, k: int):
        v = qd.Vector([1.0, 2.0])
        v[k] = 3
        for i in range(x.shape[0]):
            x[i] = v[0]

    run(np.zeros(3, np.float32), 1)
    with pytest.raises(IndexError, match="tuple index out of range") as error:
        run(np.zeros(3, np.float32), 2)
    frame = traceback.extract_tb(error.value.__traceback__)[-1]
    assert frame.name == "run" and frame.lineno == run.py_func.__code__.co_firstlineno + 3


def test_results_are_numbers(device: None) -> None:
    @qd.kernel
    def run(x):
        return x

    with pytest.raises(qd.CompileError, match=r"the kernel run\(\) returns what is not made of numbers"):
        run(np.zeros(3, np.float32))


def test_arguments_of_many_kinds(device: None) -> None:
    @qd.kernel
    def run(x, y, a=2.0, *rest, shift: int = 1):
        for i in range(x.shape[0]):
            x[i] = (0 if y is None else y[i]) * a + shift + len(rest)

    x = np.zeros(4, np.float32)
    run(x, None)
    assert x.tolist() == [1] * 4
    run(x, np.arange(8)[::2], 0.5, 1, 2, shift=3)
    assert x.tolist() == [5, 6, 7, 8]
    z = qd.ndarray(float, 4)
    for a in (1.0, 2.0, 3, True):
        run(z, z, a)
    assert z.to_numpy().tolist() == [11] * 4
    for factor in (1.0, 2.0):
        run(z, x, factor, shift=0)
    assert z.to_numpy().tolist() == [10, 12, 14, 16] and x.tolist() == [5, 6, 7, 8]
    with pytest.raises(OverflowError):
        run(z, z, 1 << 70)


def test_debug_names_the_line_and_the_thread() -> None:
    runtime.STATE.settings = runtime.Settings(
        generation=runtime.STATE.settings.generation + 1, device="cpu", debug=True
    )

    @qd.kernel
    def run(x, n: int):
        for i in range(n):
            x[i] = 1

    try:
        run(np.zeros(4, np.float32), 4)
        with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4") as error:
            run(np.zeros(4, np.float32), 6)
        frame = traceback.extract_tb(error.value.__traceback__)[-1]
        assert frame.name == "run" and frame.lineno == run.py_func.__code__.co_firstlineno + 3
    finally:
        qd.reset()


def test_what_is_explained(device: None) -> None:
    @qd.kernel
    def run(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i]
        return total

    assert run(np.ones(10, np.float32)) == 10
    text = str(run.explain())
    assert "a kernel over its turns, 128 threads a block; what its threads find is combined behind it" in text
    assert "the host waits for a value that a kernel computes" in text
    assert [str(*found) for found in run.dispatcher.signatures] == ["float32[::1]"]
    assert "launch" in "".join(run.dispatcher.inspect_ir().values())


PROGRAM = """
import sys
import numpy as np
import quadrants as qd
from quadrants.api.portable import runtime

runtime.STATE.settings = runtime.Settings(device="cpu")
FACTOR = int(sys.argv[1])
table = qd.field(qd.i32, 3)

@qd.kernel
def run(x, vec: qd.template()):
    total, k = 0, 0
    for i in range(x.shape[0]):
        x[i] += FACTOR * table[i % 3]
        total += x[i]
    v = qd.Vector([total, 1])
    v[x.shape[0] - 5] = 7
    return v if vec else v * 2

table.from_numpy(np.array([1, 2, 3], np.int32))
x = np.arange(5, dtype=np.int32)
print(run(x, True).to_list(), run(x, False).to_list(), x.tolist(), "quadrants.infer" in sys.modules)
if len(sys.argv) > 2:
    print("parallel" in str(run.explain()) or "a kernel over its turns" in str(run.explain()))
"""


def test_programs_are_kept_on_disk(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "QUADRANTS_CACHE_DIR": str(tmp_path / "cache")}

    def run(*arguments: str) -> list[str]:
        command = [sys.executable, str(tmp_path / "program.py"), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert run("2") == ["[7, 1] [14, 2] [4, 9, 14, 7, 12] True"]
    assert run("2") == ["[7, 1] [14, 2] [4, 9, 14, 7, 12] False"]
    assert run("2", "explain") == ["[7, 1] [14, 2] [4, 9, 14, 7, 12] False", "True"]
    assert run("1")[0].endswith("[2, 5, 8, 5, 8] True")


def test_a_changed_global_is_seen(device: None) -> None:
    @qd.kernel
    def run(x):
        for i in range(x.shape[0]):
            x[i] = FACTOR * i

    global FACTOR
    x = np.zeros(3, np.int32)
    FACTOR = 2
    run(x)
    first = x.tolist()
    FACTOR = 5
    run(x)
    assert first == [0, 2, 4] and x.tolist() == [0, 5, 10]


FACTOR = 1
