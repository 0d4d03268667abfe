"""Which function of the library implements a Python or NumPy callable.

Takes a key, "module:qualname" of the callable as its package exposes it ("numpy:median", "numpy.linalg:det",
"ndarray.mean" for methods); gives the implementation. Modules of the library load on first use.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

#: (prefix of the keys, library module, names; `name=function` where the function has another name).
_GROUPS: tuple[tuple[str, str, str], ...] = (
    (
        "numpy:",
        "reductions",
        "sum=sum_ prod mean var std min=min_ max=max_ amin=min_ amax=max_ ptp argmin argmax any=any_ all=all_"
        " count_nonzero cumsum cumprod cumulative_sum cumulative_prod",
    ),
    (
        "ndarray.",
        "reductions",
        "sum=sum_ prod mean var std min=min_ max=max_ argmin argmax any=any_ all=all_ cumsum cumprod",
    ),
    ("numpy:", "statistics", "median percentile quantile average cov corrcoef"),
    (
        "numpy:",
        "creation",
        "arange linspace logspace geomspace indices eye identity"
        " array asarray asanyarray=asarray ascontiguousarray asfortranarray copy",
    ),
    ("numpy:", "products", "dot matmul=matmul_into vdot inner outer cross kron trace diagonal tensordot"),
    ("ndarray.", "products", "dot trace diagonal"),
    ("numpy:", "sorting", "sort argsort"),
    ("ndarray.", "sorting", "sort=sort_in_place argsort"),
    ("numpy:", "rounding", "round=round_ around=round_"),
    ("ndarray.", "rounding", "round=round_"),
    ("ndarray.", "sequences", "tolist"),
    (
        "numpy:",
        "searching",
        "nonzero argwhere flatnonzero searchsorted digitize bincount histogram take take_along_axis unique isin",
    ),
    ("ndarray.", "searching", "nonzero searchsorted take"),
    (
        "numpy:",
        "shaping",
        "concatenate stack hstack vstack dstack column_stack append repeat tile roll flip fliplr flipud rot90 expand_dims"
        " squeeze swapaxes moveaxis atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes meshgrid resize block",
    ),
    ("ndarray.", "shaping", "repeat swapaxes squeeze"),
    (
        "numpy:",
        "splitting",
        "split array_split hsplit vsplit dsplit delete insert compress extract select put copyto putmask place=place_values"
        " trim_zeros pad unravel_index ravel_multi_index diag_indices put_along_axis choose piecewise",
    ),
    ("ndarray.", "splitting", "compress=compress_method put"),
    ("numpy:", "sets", "union1d intersect1d setdiff1d setxor1d lexsort partition argpartition"),
    ("ndarray.", "sets", "partition=partition_in_place argpartition"),
    (
        "numpy:",
        "polynomials",
        "polyadd polysub polymul polydiv polyder polyint poly polyfit hamming hanning blackman bartlett kaiser",
    ),
    (
        "numpy:",
        "elementwise",
        "gcd lcm ldexp divmod=divmod_ modf logaddexp2 sinc isposinf isneginf iscomplex isreal iscomplexobj isrealobj unwrap"
        " apply_along_axis astype spacing frexp i0",
    ),
    (
        "numpy:",
        "ufunc_methods",
        " ".join(
            f"{name}.{method}={name}_{method}"
            for method, names in (
                ("reduce", "add multiply maximum minimum logical_and logical_or"),
                ("accumulate", "add multiply maximum minimum"),
                ("outer", "add subtract multiply divide power maximum minimum"),
                ("at", "add subtract multiply divide maximum minimum"),
            )
            for name in names.split()
        ),
    ),
    (
        "numpy:",
        "diagonals",
        "diag diagflat fill_diagonal tri tril triu tril_indices triu_indices vander tril_indices_from triu_indices_from"
        " diag_indices_from",
    ),
    ("numpy:", "signals", "diff ediff1d convolve correlate interp trapezoid polyval gradient"),
    ("numpy:", "comparing", "isclose allclose array_equal array_equiv nan_to_num angle"),
    (
        "numpy:",
        "nanreductions",
        "nansum nanprod nanmean nanvar nanstd nanmin nanmax nanmedian nanquantile nanpercentile nanargmin nanargmax"
        " nancumsum nancumprod",
    ),
    ("numpy.lib.stride_tricks:", "reshaping", "as_strided sliding_window_view"),
    ("numpy.linalg:", "linalg", "det solve inv cholesky matrix_power"),
    ("numpy.linalg:", "spectral", "norm lstsq"),
    (
        "numpy.linalg:",
        "stacks",
        "svd svdvals qr eigh eigvalsh slogdet pinv cond matrix_rank vector_norm matrix_norm trace diagonal cross outer"
        " multi_dot",
    ),
    ("numpy.linalg:", "products", "matmul"),
    ("numpy.linalg:", "contractions", "tensordot vecdot"),
    ("numpy.linalg:", "eigen", "eig eigvals"),
    ("numpy:", "eigen", "roots"),
    ("numpy:", "contractions", "vecdot matvec vecmat"),
    ("numpy:", "grids", "ix_"),
    ("numpy:", "histograms", "histogram_bin_edges histogram2d"),
    (
        "numpy.random:",
        "randoms",
        "seed random=random_sample random_sample ranf=random_sample sample=random_sample rand randn standard_normal uniform"
        " normal lognormal exponential standard_exponential weibull pareto laplace logistic gumbel poisson randint shuffle"
        " permutation choice",
    ),
    (
        "random:",
        "pyrandom",
        "seed random getrandbits randrange randint uniform gauss normalvariate expovariate choice shuffle",
    ),
    ("math:", "integers", "gcd lcm factorial comb perm isqrt"),
    (
        "math:",
        "pymath",
        "sqrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p cbrt"
        " erf erfc gamma lgamma fabs copysign nextafter ulp fmod remainder pow fma hypot dist isclose isnan isinf isfinite"
        " floor ceil trunc degrees radians modf frexp ldexp prod sumprod fsum",
    ),
    (
        "cmath:",
        "complexes",
        "sqrt exp log log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh phase polar rect isnan isinf"
        " isfinite isclose",
    ),
)


def _entries() -> dict[str, str]:
    table = {}
    for prefix, module, names in _GROUPS:
        for name in names.split():
            original, _, function = name.partition("=")
            table[prefix + original] = f"quadrants.library.{module}:{function or original}"
    return table


#: Key of the original -> "module:function" of the implementation.
TABLE: Mapping[str, str] = MappingProxyType(_entries())


#: Modules of random generators -> the module whose functions are methods of one generator that everybody shares.
_GENERATORS = {"random": "random", "numpy.random.mtrand": "numpy.random"}


def lookup(key: str) -> types.FunctionType | None:
    """The implementation of a key, or None."""
    target = TABLE.get(key)
    if target is None:
        return None
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def key_of(function: Callable[..., object]) -> str | None:
    """The key of a callable: a function, builtin, ufunc, or method of ndarray (bound or not); None for anything else."""
    if isinstance(function, np.ufunc):
        return f"numpy:{function.__name__}"
    generator = _GENERATORS.get(type(getattr(function, "__self__", None)).__module__)
    if generator is not None:
        name = getattr(function, "__name__", "")
        shared = getattr(sys.modules[generator], name, None)
        return f"{generator}:{name}" if shared == function else None
    owner = getattr(function, "__objclass__", None)
    if owner is None and isinstance(function, types.BuiltinMethodType):
        if isinstance(function.__self__, np.ufunc):
            return f"numpy:{function.__self__.__name__}.{function.__name__}"
        owner = type(function.__self__) if isinstance(function.__self__, np.ndarray) else None
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if not isinstance(name, str):
        return None
    if owner is not None:
        return (
            f"ndarray.{function.__name__}" if issubclass(owner, np.ndarray) else f"{owner.__name__}.{function.__name__}"
        )
    module = getattr(function, "__module__", None)
    return f"{module}:{name}" if isinstance(module, str) else None
