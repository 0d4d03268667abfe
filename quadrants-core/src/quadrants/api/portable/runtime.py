"""The settings of the portable language: what `qd.init` sets, and kernels are compiled with.

Takes keyword arguments of `init`; gives a frozen `Settings`. `init` is optional and may be called again: kernels that were
compiled with other settings are compiled anew at their next call.
"""

from __future__ import annotations

import warnings
from typing import Any

from quadrants._frozen import frozen
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError, QuadrantsWarning
from quadrants.types import F16, F32, F64, I32, I64, Scalar
from quadrants.types.names import as_type


@frozen
class Settings:
    """What `init` sets.

    Args:
        default_ip: the type that `int` means in kernels.
        default_fp: the type that `float` means, and that Python's floats have in variables.
        debug: exact state at errors; integer overflow raises.
        boundscheck: whether an index out of bounds raises.
        fast_math: whether floats may be treated as real numbers.
        random_seed: where `qd.random` begins.
        generation: counts the calls of `init`.
        device: the name of the backend that kernels run on; empty for the CPU.
    """

    default_ip: Scalar = I32
    default_fp: Scalar = F32
    debug: bool = False
    boundscheck: bool = True
    fast_math: bool = False
    random_seed: int = 0
    generation: int = 0
    device: str = ""


#: Options of other implementations of the language that change nothing here.
_WITHOUT_EFFECT = frozenset(
    "require_version print_non_pure src_ll_cache force_scalarize_matrix advanced_optimization"
    " cfg_optimization ad_stack_sparse_threshold_bytes ad_stack_experimental_enabled offline_cache"
    " offline_cache_max_size_of_files offline_cache_file_path offline_cache_cleaning_policy log_level print_ir"
    " kernel_profiler device_memory_GB device_memory_fraction flatten_if default_cpu_block_dim default_gpu_block_dim"
    " verbose dynamic_index opt_level external_optimization_level excepthook packed ad_stack_size".split()
)
_INTEGERS, _FLOATS = (I32, I64), (F16, F32, F64)


#: Names of devices beside those of the backends.
gpu, x64, x86_64, arm64 = "gpu", "x64", "x86_64", "arm64"
#: What `qd.gpu` may be, the first that there is.
GPUS = ("cuda", "metal", "amdgpu", "vulkan")


class _Runtime:
    """The one state of the language in this process."""

    settings = Settings()


STATE = _Runtime()


def settings() -> Settings:
    """The present settings."""
    return STATE.settings


def init(
    arch: Any = None,
    *,
    default_ip: Any = None,
    default_fp: Any = None,
    debug: bool = False,
    check_out_of_bound: bool | None = None,
    fast_math: bool = False,
    random_seed: int = 0,
    cpu_max_num_threads: int | None = None,
    enable_fallback: bool = True,
    **others: Any,
) -> None:
    """Choose the device and the defaults of kernels. Optional; may be called again, which begins anew.

    Args:
        arch: the device: `qd.cpu`, `qd.gpu` (the first that there is), `qd.cuda`, ... Tensors that are made from then on are in
            its memory.
        default_ip: what `int` means: `qd.i32` or `qd.i64`.
        default_fp: what `float` means: `qd.f32` or `qd.f64`.
        debug: exact state at errors; integer overflow raises.
        check_out_of_bound: whether an index out of bounds raises IndexError (default: True).
        fast_math: floats may be treated as real numbers.
        random_seed: where `qd.random` begins.
        cpu_max_num_threads: how many threads run parallel loops.
        enable_fallback: whether the CPU, with a warning, does for a device that cannot run kernels; else that is an error.

    >>> import quadrants as qd
    >>> qd.init(arch=qd.cpu, default_fp=qd.f32)
    """
    for name in others:
        if name not in _WITHOUT_EFFECT:
            _unknown(name)
    device = _device(arch, enable_fallback)
    _leave()
    from quadrants.library import parallel_random  # holds where the sequence is

    parallel_random.STATE[0] = int(random_seed) << 32
    if cpu_max_num_threads:
        from quadrants.host.threads import get_num_threads, set_num_threads  # starts nothing, but needs the host

        set_num_threads(max(1, min(cpu_max_num_threads, get_num_threads())))
    STATE.settings = Settings(
        default_ip=_number("default_ip", default_ip, I32, _INTEGERS),
        default_fp=_number("default_fp", default_fp, F32, _FLOATS),
        debug=bool(debug),
        boundscheck=check_out_of_bound is not False,
        fast_math=bool(fast_math),
        random_seed=int(random_seed),
        generation=STATE.settings.generation + 1,
        device=device,
    )


def _leave() -> None:
    """Have the tensors of a device in the host's memory, before another one is chosen."""
    if STATE.settings.device:
        from quadrants.api.portable import residents  # only a device needs it

        residents.bring_home()


def reset() -> None:
    """Forget what `init` has set."""
    _leave()
    STATE.settings = Settings(generation=STATE.settings.generation + 1)


def sync() -> None:
    """Wait for all kernels. On the CPU a kernel has run when its call returns; on a device its errors are raised here."""
    if STATE.settings.device:
        from quadrants.api.devicearrays import HostSide  # only a device needs it

        HostSide(STATE.settings.device).synchronize()


def _number(name: str, given: Any, default: Scalar, known: tuple[Scalar, ...]) -> Scalar:
    if given is None:
        return default
    try:
        found = as_type(given)
    except TypeError:
        found = None  # type: ignore[assignment]
    if not isinstance(found, Scalar) or found not in known:
        names = ", ".join(f"qd.{scalar}" for scalar in known)
        raise QuadrantsError(Code.BAD_OPTION, f"init({name}={given!r}): it is one of {names}")
    return found


def _device(arch: Any, enable_fallback: bool) -> str:
    """The name of the backend for `arch`; empty for the CPU."""
    name = arch if isinstance(arch, str) else getattr(arch, "__quadrants_backend__", None)
    if arch is None or name in ("cpu", "x64", "x86_64", "arm64"):
        return ""
    if name is None:
        raise QuadrantsError(
            Code.BAD_OPTION,
            f"init(arch={arch!r}): it is a backend",
            hint="qd.init(arch=qd.cpu), qd.cuda, qd.vulkan, ...",
        )
    problems = []
    for candidate in GPUS if name == gpu else (name,):
        problem = _unavailable(candidate)
        if not problem:
            return candidate
        problems.append(f"{candidate}: {problem}")
    text = f"qd.init(arch={name}): there is no such device here ({'; '.join(problems)})"
    if not enable_fallback:
        raise QuadrantsError(Code.BACKEND_UNAVAILABLE, text, hint="qd.init(arch=qd.cpu)")
    warnings.warn(f"{text}; kernels run on the CPU", QuadrantsWarning, stacklevel=3)
    return ""


def _unavailable(name: str) -> str:
    """Why a backend cannot run kernels here; empty if it can."""
    from quadrants.backend.registry import get_backend  # reads the metadata of packages

    try:
        found = get_backend(name).availability()
    except QuadrantsError as problem:
        return problem.message
    return "" if found.ok else found.reason


def _unknown(name: str) -> None:
    warnings.warn(f"qd.init() has no option {name!r}: it changes nothing", QuadrantsWarning, stacklevel=3)
