"""The table of implementations: complete, consistent, lazy."""

from __future__ import annotations

import cmath
import importlib
import inspect
import math
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import quadrants.infer
from quadrants.library import registry

HOLDERS = {
    "numpy": np,
    "numpy.linalg": np.linalg,
    "numpy.lib.stride_tricks": np.lib.stride_tricks,
    "numpy.random": np.random,
    "random": random,
    "math": math,
    "cmath": cmath,
}
#: Functions that are newer than the oldest Python and NumPy that are supported.
NEWER = ("math:cbrt", "math:exp2", "math:fma", "math:sumprod", "numpy:astype", "numpy:matvec", "numpy:vecmat")
NEWER += ("numpy:cumulative_sum", "numpy:cumulative_prod")


def original(key):
    """The callable with a key; None where this Python or NumPy does not have it."""
    if key.startswith("ndarray."):
        return getattr(np.ndarray, key.removeprefix("ndarray."), None)
    module, _, path = key.partition(":")
    found = HOLDERS[module]
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


@pytest.mark.parametrize("key", sorted(registry.TABLE))
def test_entry(key):
    implementation = registry.lookup(key)
    assert inspect.isfunction(implementation)
    function = original(key)
    if function is None:
        assert key in NEWER, key
        return
    assert registry.key_of(function) == key


def parameters(function):
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        return None


@pytest.mark.parametrize("key", sorted(key for key in registry.TABLE if key.startswith(("numpy:", "numpy.linalg:"))))
def test_parameters_are_the_original_ones(key):
    """What is positional in NumPy is positional here, under the same name, as far as the implementation goes."""
    theirs = parameters(original(key)) if original(key) is not None else None
    if theirs is None or "." in key.partition(":")[2]:
        return
    if key == "numpy:arange":
        return  # its names differ between versions of NumPy
    ours = parameters(registry.lookup(key))
    positional = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    names = [p.name for p in theirs if p.kind in positional and p.name not in ("like",)]
    mine = [p.name for p in ours if p.kind in positional]
    assert mine == names[: len(mine)], (mine, names)


def test_bound_methods_and_others():
    assert registry.key_of(np.ones(3).sum) == "ndarray.sum"
    assert registry.key_of(np.sin) == "numpy:sin"
    assert registry.key_of(np.add.reduce) == "numpy:add.reduce"
    assert registry.key_of(sum) == "builtins:sum"
    assert registry.key_of((3).bit_length) is None
    assert registry.key_of(3) is None
    assert registry.lookup("numpy:no_such_function") is None


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        registry.TABLE["numpy:sum"] = "x:y"


def test_modules_load_on_first_use():
    code = (
        "import sys; from quadrants.library import registry; before = 'quadrants.library.linalg' in sys.modules;"
        "registry.lookup('numpy.linalg:det'); print(before, 'quadrants.library.linalg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_what_inference_calls_exists():
    """Every library function that `quadrants.infer` names is there."""
    sources = Path(quadrants.infer.__file__).parent.glob("*.py")
    found = {
        name for path in sources for name in re.findall(r'call_library\((?:w, )?"([a-z_]+:[a-z_]+)"', path.read_text())
    }
    assert found
    for name in found:
        module, _, function = name.partition(":")
        assert callable(getattr(importlib.import_module(f"quadrants.library.{module}"), function, None)), name
