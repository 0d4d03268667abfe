"""Quadrants: ordinary Python to machine code at run time.

`@quadrants.njit` compiles a function when it is called. The call path is loaded here, the compiler and LLVM when something is
compiled, everything else when it is first named: backends (`quadrants.cpu`, ...), errors, types (`quadrants.float64`, ...).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from quadrants import config as _config
from quadrants._version import __version__
from quadrants.api.decorate import jit, njit

if TYPE_CHECKING:
    from quadrants.api.functions import func
    from quadrants.api.intrinsics import fp, prange
    from quadrants.api.overload import overload
    from quadrants.backend import backends
    from quadrants.diagnostics import CompileError, QuadrantsError, QuadrantsWarning
    from quadrants.host.threads import get_num_threads, set_num_threads

#: public name -> the module that has it under the same name.
_HOMES: dict[str, str] = {
    **dict.fromkeys(("prange", "fp"), "quadrants.api.intrinsics"),
    "overload": "quadrants.api.overload",
    **dict.fromkeys(("cache_info", "clear_cache"), "quadrants.api.caching"),
    "backends": "quadrants.backend",
    "func": "quadrants.api.functions",
    **dict.fromkeys(("kernel", "data_oriented"), "quadrants.api.portable.kernels"),
    **dict.fromkeys(("init", "reset", "sync", "gpu", "x64", "x86_64", "arm64"), "quadrants.api.portable.runtime"),
    "dataclass": "quadrants.api.portable.structs",
    **dict.fromkeys("root axes i j k l ij ik il jk jl kl ijk ijl ikl jkl ijkl".split(), "quadrants.api.portable.root"),
    **dict.fromkeys(("Vector", "Matrix"), "quadrants.api.portable.values"),
    **dict.fromkeys(
        ("field", "ndarray", "tensor", "Backend", "Layout", "Field", "Ndarray", "Tensor"),
        "quadrants.api.portable.tensors",
    ),
    **dict.fromkeys(("template", "Template"), "quadrants.types.annotations"),
    **dict.fromkeys(
        (
            "static static_assert static_print ndrange grouped loop_config select cast bit_cast bit_shr random randn zero"
            " one outer atomic_add atomic_sub atomic_mul atomic_min atomic_max atomic_and atomic_or atomic_xor"
            " atomic_exchange atomic_cas sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt rsqrt floor ceil"
            " round abs pow raw_div raw_mod min max"
        ).split(),
        "quadrants.api.portable.names",
    ),
    **dict.fromkeys(("get_num_threads", "set_num_threads"), "quadrants.host.threads"),
    **dict.fromkeys(("Signature", "TypeName"), "quadrants.types.names"),
    **dict.fromkeys(
        (
            "BackendError",
            "BackendUnavailable",
            "CacheError",
            "CompileAttributeError",
            "CompileError",
            "CompileNameError",
            "CompileSyntaxError",
            "CompileTypeError",
            "CompileValueError",
            "DeviceError",
            "EnvironmentProblem",
            "InternalError",
            "QuadrantsError",
            "QuadrantsWarning",
            "SettingError",
            "UnsupportedPlatform",
        ),
        "quadrants.diagnostics",
    ),
}

#: Packages of the compiler: an import of one asks for the attribute first.
_ROOMS = frozenset(
    "api backend bytecode cache diagnostics host infer ir library lower passes simt types config options".split()
)
#: Names of modules, loaded when they are first used.
_MODULES = {"math": "quadrants.math"}
_BACKENDS = ("cpu", "cuda", "amdgpu", "metal", "vulkan")

__all__ = [
    "__version__",
    "backends",
    "fp",
    "func",
    "get_num_threads",
    "jit",
    "njit",
    "overload",
    "prange",
    "set_num_threads",
    "CompileError",
    "QuadrantsError",
    "QuadrantsWarning",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    home = _HOMES.get(name)
    if home is not None:
        value = getattr(importlib.import_module(home), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    elif name in _BACKENDS:
        return importlib.import_module("quadrants.backend").get_backend(name).namespace
    else:
        value = _other(name)
    globals()[name] = value
    return value


def _other(name: str) -> Any:
    """The type of a name such as `float64`, or the namespace of a backend from another distribution."""
    if name in _ROOMS:  # asked for by an import inside of the room, while it is loaded
        raise AttributeError(f"module 'quadrants' has no attribute {name!r} yet", name=name)
    if not name.startswith("_"):
        found = importlib.import_module("quadrants.types.names").PUBLIC.get(name)
        if found is not None:
            return found
        if name in _installed_backends():
            return importlib.import_module("quadrants.backend").get_backend(name).namespace
    raise AttributeError(_no_attribute(name), name=name)


def _installed_backends() -> set[str]:
    """The backends of all installed distributions: a scan, made for unknown names only."""
    return {info.name for info in importlib.import_module("quadrants.backend").backends() if info.installed}


def _no_attribute(name: str) -> str:
    import difflib  # only a mistake needs it

    close = difflib.get_close_matches(name, __dir__(), n=1)
    return f"module 'quadrants' has no attribute {name!r}" + (f". Did you mean: {close[0]!r}?" if close else "")


def __dir__() -> list[str]:
    types = importlib.import_module("quadrants.types.names").PUBLIC
    return sorted({*globals(), *_HOMES, *_MODULES, *_BACKENDS, *types})


_config.warn_unknown()
