"""Write the API reference from docstrings: `docs/api/`, one page a module. `--out FOLDER` writes elsewhere.

A name is public if its module's `__all__` has it. A public function or class without a docstring is an error.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
import types
from enum import Enum
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "api"

MODULES = (
    "quadrants",
    "quadrants.backend",
    "quadrants.backend.contract",
    "quadrants.config",
    "quadrants.diagnostics",
    "quadrants.ir",
    "quadrants.types",
)


def public_names(module: types.ModuleType) -> list[str]:
    """The names a module offers: its `__all__` and what it loads when it is named, or what it defines itself."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted({*listed, *getattr(module, "_HOMES", ())})
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__)
    return sorted(name for name in own if not name.startswith("_"))


def signature(value: Any) -> str:
    """A signature as text, annotations without quotes; empty where there is none to tell."""
    if inspect.isclass(value) and issubclass(value, BaseException | Enum):
        return ""
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)


def entry(module: types.ModuleType, name: str) -> list[str]:
    """The lines of one public name."""
    value = getattr(module, name)
    if isinstance(value, types.ModuleType) or not callable(value):
        text = inspect.getdoc(value) if isinstance(value, types.ModuleType) else f"`{value!r}`"
        return [f"## `{name}`", "", (text or "").partition("\n\n")[0], ""]
    doc = inspect.getdoc(value)
    if not doc:
        raise SystemExit(f"{module.__name__}.{name} is public and has no docstring")
    is_class = inspect.isclass(value)
    head = f"## {'class ' if is_class else ''}`{name}{signature(value)}`"
    return [head, "", doc, "", *(members(value) if is_class else [])]


def members(cls: type) -> list[str]:
    """A list of the documented public members that a class defines itself."""
    if issubclass(cls, Enum):
        return ["Members: " + ", ".join(f"`{name}`" for name in cls.__members__) + ".", ""]
    rows = []
    for name, value in vars(cls).items():
        target = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        doc = inspect.getdoc(target) if callable(target) else None
        if not name.startswith("_") and doc:
            text = "" if isinstance(value, property) else signature(target)
            rows.append(f"- `{name}{text}`: {doc.partition(chr(10) * 2)[0]}".replace("\n", " "))
    return [*rows, ""] if rows else []


def dispatcher_page() -> str:
    """The page of compiled functions: what `@njit` makes has its methods on several classes."""
    cls = importlib.import_module("quadrants.api.dispatcher").Dispatcher
    rows = {row for base in cls.__mro__ if base.__module__.startswith("quadrants") for row in members(base) if row}
    text = (
        "What `@quadrants.njit` makes. It is called like the function; keywords, defaults, `__name__`, `__doc__` and the "
        "signature are the function's own. It pickles, works as a method, and `py_func` is the function itself."
    )
    return "\n".join(["# Compiled functions", "", text, "", *sorted(rows, key=str.lower)]) + "\n"


def page(name: str) -> str:
    """The page of one module."""
    module = importlib.import_module(name)
    lines = [f"# `{name}`", "", inspect.getdoc(module) or "", ""]
    for public in public_names(module):
        lines += entry(module, public)
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER)
    out: Path = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    for name in MODULES:
        (out / f"{name}.md").write_text(page(name), encoding="utf-8")
    (out / "compiled-functions.md").write_text(dispatcher_page(), encoding="utf-8")
    rows = "- [Compiled functions](compiled-functions.md)\n" + "".join(f"- [`{name}`]({name}.md)\n" for name in MODULES)
    (out / "index.md").write_text(
        f"# API reference\n\nWritten by `make docs` from the docstrings.\n\n{rows}", encoding="utf-8"
    )
    print(f"{out}: {len(MODULES)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
