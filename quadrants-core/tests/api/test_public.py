from __future__ import annotations

import subprocess
import sys

import pytest

import quadrants as qd
from quadrants.diagnostics import BackendUnavailable


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_import_is_light() -> None:
    rooms = [f"quadrants.{room}" for room in ("infer", "lower.module", "passes.pipeline", "bytecode")]
    heavy = ["llvmlite", "importlib_metadata", "cffi", *rooms]
    program = f"import sys, quadrants; print([name for name in {heavy!r} if name in sys.modules])"
    assert run(program).strip() == "[]"


#: What the first call of a simple loop has no use for.
_NOT_FOR_A_LOOP = """
    fractions quadrants.api.pickling quadrants.diagnostics.excerpt quadrants.host.fallback quadrants.host.hostcall
    quadrants.host.traceback quadrants.infer.numpy_arrays quadrants.infer.rawops quadrants.infer.ufuncs quadrants.ir.interp
    quadrants.ir.parser quadrants.ir.spec quadrants.ir.text quadrants.lower.vectormath.catalogue quadrants.passes.spmd.select
""".split()

_FIRST_CALL = """
import os
os.environ["QUADRANTS_CACHE"] = "0"
import sys
import numpy as np
import quadrants as qd

@qd.njit
def saxpy(a, x, y):
    for i in range(len(x)):
        y[i] += a * x[i]

saxpy(2.0, np.ones(4), np.ones(4))
"""


def test_a_first_call_loads_little() -> None:
    program = f"{_FIRST_CALL}\nprint([name for name in {_NOT_FOR_A_LOOP!r} if name in sys.modules])"
    assert run(program).strip() == "[]"


def test_classes_that_a_first_call_defines_are_quick_to_define() -> None:
    """`dataclasses.dataclass` compiles source text for each class: `quadrants._frozen` has what takes its place."""
    found = """
modules = [module for name, module in sys.modules.items() if name.startswith("quadrants")]
classes = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
print([cls for cls in classes if "__dataclass_params__" in vars(cls) and cls.__module__.startswith("quadrants")])
"""
    assert run(_FIRST_CALL + found).strip() == "[]"


@pytest.mark.parametrize("name", qd.__all__)
def test_every_public_name(name: str) -> None:
    assert getattr(qd, name) is not None
    assert name in dir(qd)


def test_types_and_errors() -> None:
    assert str(qd.float64) == "float64" and str(qd.f32[:, ::1]) == "float32[:, ::1]"
    assert issubclass(qd.CompileTypeError, (qd.QuadrantsError, TypeError))
    assert {"float32", "i32", "cuda", "CompileError"} <= set(dir(qd))


def test_a_backend_is_its_namespace() -> None:
    assert qd.cpu.__name__
    for name in ("cuda", "amdgpu", "vulkan", "metal"):
        try:
            found = getattr(qd, name)
        except BackendUnavailable as error:
            assert error.hint
        else:
            assert found.__name__
    assert {"cpu", "cuda"} <= {info.name for info in qd.backends()}


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="Did you mean: 'njit'"):
        qd.njti
    assert not hasattr(qd, "__wrapped__") and not hasattr(qd, "_nothing")


def test_prange_in_the_interpreter() -> None:
    assert list(qd.prange(2, 8, 3)) == [2, 5] and qd.prange(3) == range(3)


def test_unknown_settings_warn() -> None:
    program = "import os; os.environ['QUADRANTS_CACHEDIR'] = 'x'\nimport warnings; warnings.simplefilter('error')\nimport quadrants"
    failed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "did you mean QUADRANTS_CACHE_DIR?" in failed.stderr
