"""Compiles the declarations of Vulkan for cffi, so that a process need not parse them.

Takes `quadrants_vulkan.driver.declarations`; writes `quadrants_vulkan/driver/compiled.py`. `--check` says whether that is current.
"""

from __future__ import annotations

import ast
import pprint
import sys
import tempfile
from pathlib import Path

import cffi

from quadrants_vulkan.driver.declarations import FUNCTIONS, TYPES

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "quadrants-vulkan" / "src" / "quadrants_vulkan" / "driver" / "compiled.py"
HEAD = '''"""The declarations in the form that cffi loads. Made from `declarations` by `tools/vulkan_declarations.py`."""

from __future__ import annotations

import _cffi_backend

# fmt: off
'''


def compiled() -> str:
    """The text of the module."""
    ffi = cffi.FFI()
    ffi.cdef(TYPES + FUNCTIONS)
    ffi.set_source("vulkan", None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vulkan.py")
        ffi.emit_python_code(str(path))
        tree = ast.parse(path.read_text())
    call = next(node.value for node in ast.walk(tree) if isinstance(node, ast.Assign))
    assert isinstance(call, ast.Call)
    tables = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    names = [f"{name} = {pprint.pformat(value, width=116)}\n" for name, value in tables.items()]
    arguments = ",\n    ".join(f"{name}={name}" for name in tables)
    return HEAD + "".join(names) + f'ffi = _cffi_backend.FFI(\n    "vulkan",\n    {arguments},\n)\n# fmt: on\n'


def main() -> int:
    text = compiled()
    if "--check" in sys.argv:
        current = TARGET.exists() and TARGET.read_text() == text
        print("current" if current else f"{TARGET} is not current: run tools/vulkan_declarations.py")
        return 0 if current else 1
    TARGET.write_text(text)
    print(TARGET)
    return 0


if __name__ == "__main__":
    sys.exit(main())
