"""Write the lists in `docs/` that come from the compiler's tables: builtins, modules, NumPy functions, options.

A list stands between `<!-- name -->` and `<!-- end -->`. With `--check`, say which pages are not current and fail.
"""

from __future__ import annotations

import importlib
import re
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

from quadrants.api.settings import OPTIONS
from quadrants.backend.contract import Capabilities
from quadrants.infer import attributes, builtins, numpy_arrays, ufuncs
from quadrants.library.registry import TABLE
from quadrants.simt.names import FUNCTIONS, VALUES

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = ("language.md", "arrays.md", "kernels.md", "portable.md")
_LIST = re.compile(r"<!-- (?P<name>\w+) -->\n.*?<!-- end -->", re.DOTALL)

#: Modules of the library -> what their functions are about.
TOPICS = {
    "contractions": "Products",
    "eigen": "Polynomials, windows",
    "grids": "Shape, joining",
    "histograms": "Searching, counting, sets",
    "creation": "Creation",
    "shaping": "Shape, joining",
    "diagonals": "Diagonals, triangles",
    "reductions": "Reductions, scans",
    "nanreductions": "Reductions without nan",
    "statistics": "Statistics",
    "sorting": "Sorting",
    "searching": "Searching, counting, sets",
    "indexing": "Indexing",
    "products": "Products",
    "signals": "Differences, convolution, interpolation",
    "comparing": "Comparison",
    "rounding": "Rounding",
    "splitting": "Splitting, inserting, copying",
    "sets": "Sets, partitions",
    "polynomials": "Polynomials, windows",
    "elementwise": "More element-wise functions",
    "ufunc_methods": "Methods of ufuncs",
}


def words(names: Iterable[str], title: str = "") -> str:
    """Names as code, in order, wrapped, behind a title in bold."""
    head = f"**{title}**: " if title else ""
    return textwrap.fill(head + ", ".join(f"`{name}`" for name in sorted(set(names))), 130, break_on_hyphens=False)


def named(prefix: str) -> dict[str, list[str]]:
    """The library's names under a prefix, by the module that has them."""
    found: dict[str, list[str]] = {}
    for key, target in TABLE.items():
        if key.startswith(prefix):
            found.setdefault(target.split(":")[0].rpartition(".")[2], []).append(key.removeprefix(prefix))
    return found


def numpy_list() -> str:
    """NumPy's functions, by topic."""
    native = {getattr(function, "__name__", str(function)) for function in numpy_arrays.NUMPY}
    topics = {"Creation, conversion (in the compiler)": native}
    topics["Element-wise, with `out=` and `dtype=`"] = {
        getattr(function, "__name__", str(function)) for function in ufuncs.UFUNCS
    }
    for module, names in named("numpy:").items():
        topics.setdefault(TOPICS.get(module, module.capitalize().replace("_", " ")), set()).update(names)
    topics["`np.linalg`"] = {name for names in named("numpy.linalg:").values() for name in names}
    topics["`np.lib.stride_tricks`"] = {name for names in named("numpy.lib.stride_tricks:").values() for name in names}
    count = sum(map(len, topics.values()))
    parts = [words(names, topic) for topic, names in topics.items()]
    return f"{count} functions of NumPy:\n\n" + "\n\n".join(parts)


def methods_list() -> str:
    return words([*numpy_arrays.METHODS, *(name for names in named("ndarray.").values() for name in names)])


def modules_list() -> str:
    """The functions of `math`, `cmath` and so on."""
    names = sorted(
        {key.partition(":")[0] for key in TABLE} - {"numpy", "numpy.linalg", "numpy.lib.stride_tricks", "builtins"}
    )
    parts = []
    for module in names:
        if not module.startswith("ndarray"):
            parts.append(words((n for found in named(f"{module}:").values() for n in found), f"`{module}`"))
    operator = {f.__name__.strip("_") for f in builtins.BUILTINS if getattr(f, "__module__", "") == "_operator"}
    if operator:
        parts.append(words(operator, "`operator`"))
    return "\n\n".join(parts)


def builtins_list() -> str:
    own = {f.__name__ for f in builtins.BUILTINS if getattr(f, "__module__", "") == "builtins"}
    return words(own | {key.removeprefix("builtins:") for key in TABLE if key.startswith("builtins:")})


def options_list() -> str:
    rows = "\n".join(f"| `{name}` | {text} |" for name, text in OPTIONS.items())
    return f"| option of `@qd.njit` | |\n|---|---|\n{rows}"


def kernel_names() -> str:
    """The names of the explicit language."""
    rows = [f"| `ns.{path}` | {text} |" for path, text in {**VALUES, **FUNCTIONS}.items()]
    return "\n".join(["| name | |", "|---|---|", *rows])


#: Where the portable language runs: the title, and the backend.
DEVICES = {
    "CPU": "quadrants_cpu:CpuBackend",
    "CUDA": "quadrants_cuda:CudaBackend",
    "AMDGPU": "quadrants_amdgpu:AmdgpuBackend",
    "Metal": "quadrants_metal:MetalBackend",
    "Vulkan": "quadrants_vulkan:VulkanBackend",
}
#: What a device may lack, and how its capabilities say so.
FEATURES: dict[str, Callable[[Capabilities], bool]] = {
    "loops, functions, vectors, structs, reductions, random numbers": lambda c: {"i32", "f32", "bool"} <= c.dtypes,
    "`i8`, `i16`, `u8`, `u16`": lambda c: {"i8", "i16", "u8", "u16"} <= c.dtypes,
    "`i64`": lambda c: "i64" in c.dtypes,
    "`f64`": lambda c: "f64" in c.dtypes,
    "`f16`": lambda c: "f16" in c.dtypes,
    "`+=` and atomic steps on `i32`": lambda c: c.supports_atomic("add", "i32"),
    "`+=` and atomic steps on `f32`": lambda c: c.supports_atomic("add", "f32"),
    "`+=` and atomic steps on `i64`": lambda c: c.supports_atomic("add", "i64"),
    "`+=` and atomic steps on `f64`": lambda c: c.supports_atomic("add", "f64"),
    "recursion": lambda c: c.recursion,
    "arrays used where they are in host memory": lambda c: c.host_memory,
}


def portable_devices() -> str:
    """What of the portable language each device has."""
    columns = []
    for place in DEVICES.values():
        module, _, name = place.partition(":")
        backend = getattr(importlib.import_module(module), name)()
        targets = list(backend.targets())
        if backend.name == "vulkan":  # whose devices differ: one that has everything, too
            vulkan = importlib.import_module("quadrants_vulkan.target")
            targets.append(vulkan.target(frozenset(vulkan.Feature), dict.fromkeys(vulkan.LIMITS, 1)))
        columns.append([backend.capabilities(target) for target in targets])
    head = f"| | {' | '.join(DEVICES)} |\n|---|{'---|' * len(DEVICES)}"
    rows = []
    for text, has in FEATURES.items():
        found = [{has(capabilities) for capabilities in column} for column in columns]
        cells = ["if the device has it" if len(one) > 1 else "yes" if True in one else "no" for one in found]
        rows.append(f"| {text} | {' | '.join(cells)} |")
    return "\n".join([head, *rows])


LISTS: dict[str, Callable[[], str]] = {
    "builtins": builtins_list,
    "modules": modules_list,
    "options": options_list,
    "numpy": numpy_list,
    "methods": methods_list,
    "attributes": lambda: words(attributes._ARRAY),
    "kernel_names": kernel_names,
    "portable_devices": portable_devices,
}


def filled(text: str) -> str:
    """A page with its lists as they are now."""
    return _LIST.sub(lambda m: f"<!-- {m['name']} -->\n{LISTS[m['name']]()}\n<!-- end -->", text)


def main(arguments: list[str]) -> int:
    stale = []
    for name in PAGES:
        path = DOCS / name
        text = path.read_text(encoding="utf-8")
        if filled(text) != text:
            stale.append(name)
            if "--check" not in arguments:
                path.write_text(filled(text), encoding="utf-8")
    for name in stale:
        print(f"docs/{name}: lists {'are not current: run make docs' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
