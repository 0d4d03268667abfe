"""Compiled code from one process to the next."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import numpy as np
import other
import quadrants as qd

FACTOR = 2.0
TABLE = np.arange(4.0)
LIMITS = (1, 2.5)

@qd.njit
def helper(x):
    return x * FACTOR + LIMITS[1]

def apply(f, x):
    return f(x)

@qd.njit
def kernel(x, n=3):
    s = 0.0
    for i in range(n):
        s += helper(x) + TABLE[i] + other.shift(x) + other.OFFSET
    return s

@qd.njit
def with_function(f, x):
    return apply(f, x)

@qd.njit
def fails(a, i):
    return a[i]
"""

OTHER = """
OFFSET = 0.25
DEEP = 1.5

def deeper(x):
    return x + DEEP

def shift(x):
    return deeper(x) - 1
"""

MAIN = """
import sys
import program
print(program.kernel(1.5), program.kernel(1.5, 2), program.with_function(program.helper, 2.0))
hits = sum(sum(f.stats.cache_hits.values()) for f in (program.kernel, program.with_function))
misses = sum(sum(f.stats.cache_misses.values()) for f in (program.kernel, program.with_function))
making = ("quadrants.infer", "quadrants.ir.core", "quadrants.host.entry", "quadrants.host.support_ir", "quadrants.lower.runtime")
print(hits, misses, "llvmlite" in sys.modules, any(name.startswith(making) for name in sys.modules))
"""


#: The compiler of all processes of a test is the same, also while its source is being edited.
PREAMBLE = """
from quadrants.api import compile as driver
from quadrants.cache import fingerprint
driver.compiler_key = fingerprint.compiler_key = lambda: "fixed"
"""


class Project:
    """Two modules in a folder, a cache, and processes that use them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.write("program", PROGRAM)
        self.write("other", OTHER)

    def write(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(text)

    def run(self, main: str = MAIN, **settings: str) -> list[str]:
        """The lines that a fresh process prints."""
        environment = {**os.environ, "QUADRANTS_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1", **settings}
        command = [sys.executable, "-c", PREAMBLE + main]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


COLD, WARM = "0 2 True True", "2 0 False False"


def interpreted(program: str = PROGRAM, other: str = OTHER) -> str:
    """What the interpreter gives for the first line of `MAIN`."""
    helper_module = types.ModuleType("other")
    exec(other, helper_module.__dict__)
    space: dict[str, Any] = {"other": helper_module}
    lines = [line for line in program.splitlines() if not line.startswith(("@qd", "import other", "import quadrants"))]
    exec("\n".join(lines), space)
    kernel, with_function = space["kernel"], space["with_function"]
    return f"{kernel(1.5)} {kernel(1.5, 2)} {with_function(space['helper'], 2.0)}"


FIRST = interpreted()


def test_the_next_process_compiles_nothing_and_never_loads_the_compiler(project: Project) -> None:
    assert project.run() == [FIRST, COLD]
    assert project.run() == [FIRST, WARM]
    assert project.run(QUADRANTS_CACHE="0") == [FIRST, COLD]
    assert project.run() == [FIRST, WARM]


CHANGES = [
    ("program", "FACTOR = 2.0", "FACTOR = 3.0"),
    ("program", "LIMITS = (1, 2.5)", "LIMITS = (1, 3.5)"),
    ("program", "return x * FACTOR", "return x + FACTOR"),
    ("other", "OFFSET = 0.25", "OFFSET = 0.5"),
    ("other", "DEEP = 1.5", "DEEP = 2.5"),
    ("other", "return x + DEEP", "return x - DEEP"),
    ("other", "return deeper(x) - 1", "return deeper(x) - 2"),
]


def test_every_change_of_what_code_depends_on_is_noticed(project: Project) -> None:
    """Constants, tuples, callees, and the globals and callees of callees, in this and in another module."""
    project.run()
    for name, old, new in CHANGES:
        texts = {"program": PROGRAM, "other": OTHER}
        original = texts[name]
        texts[name] = original.replace(old, new)
        project.write(name, texts[name])
        result, counts = project.run()
        assert result == interpreted(**texts) != FIRST, (old, new)
        assert counts.split()[1] != "0", (old, new)
        assert project.run()[1] == WARM, (old, new)
        project.write(name, original)
    assert project.run() == [FIRST, WARM]  # the first entries are still there


def test_the_elements_of_global_arrays_are_not_part_of_it(project: Project) -> None:
    project.run()
    changed = PROGRAM.replace("TABLE = np.arange(4.0)", "TABLE = np.full(9, 1.5)")
    project.write("program", changed)
    assert project.run() == [interpreted(changed), WARM]
    project.write("program", PROGRAM.replace("TABLE = np.arange(4.0)", "TABLE = np.arange(4)"))
    result, counts = project.run()
    assert result == FIRST and counts == "1 1 True True"


def test_other_types_and_options_are_other_code(project: Project) -> None:
    project.run()
    for changed in ("@qd.njit(fp='strict')\ndef kernel", "@qd.njit(boundscheck=False)\ndef kernel"):
        project.write("program", PROGRAM.replace("@qd.njit\ndef kernel", changed))
        assert project.run()[1] == "1 1 True True"
    project.write("program", PROGRAM)
    assert project.run(MAIN.replace("kernel(1.5)", "kernel(1)"))[1].split()[:2] == ["2", "1"]


REPORT = """
import sys, traceback
import numpy as np
import program
try:
    program.fails(np.zeros(3), 7)
except IndexError:
    traceback.print_exc(file=sys.stdout)
print(sum(program.fails.stats.cache_hits.values()))
"""


def test_a_file_that_moved_finds_its_code_and_reports_its_new_place(project: Project) -> None:
    elsewhere = project.folder / "elsewhere"
    elsewhere.mkdir()
    moved = Project(elsewhere)
    moved.cache = project.cache
    before, after = project.run(REPORT), moved.run(REPORT)
    assert before[-1] == "0" and after[-1] == "1"
    assert any(str(elsewhere / "program.py") in line for line in after)
    assert not any(str(project.folder / "program.py") in line for line in after)


def _truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _lengthened(data: bytes) -> bytes:
    return data + b"x"


def _emptied(data: bytes) -> bytes:
    return b""


def _reversed(data: bytes) -> bytes:
    return data[::-1]


def test_damaged_entries_are_rebuilt(project: Project) -> None:
    project.run()
    files = [path for path in project.cache.rglob("*") if path.is_file() and path.name != "usage"]
    assert files
    for damage in (_truncated, _lengthened, _emptied, _reversed):
        for path in files:
            path.write_bytes(damage(path.read_bytes()))
        assert project.run() == [FIRST, COLD]
        assert project.run() == [FIRST, WARM]


def test_a_folder_that_cannot_be_written_gives_a_warning_and_a_result(project: Project) -> None:
    project.cache.write_text("not a folder")
    assert project.run() == [FIRST, COLD]


def test_processes_share_it(project: Project) -> None:
    environment = {**os.environ, "QUADRANTS_CACHE_DIR": str(project.cache)}
    command = [sys.executable, "-c", PREAMBLE + MAIN]
    running = [
        subprocess.Popen(command, cwd=project.folder, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    outputs = [process.communicate(timeout=240)[0].splitlines()[0] for process in running]
    assert outputs == [FIRST] * 4
    assert project.run() == [FIRST, WARM]


def test_functions_without_a_file(project: Project) -> None:
    main = """
import quadrants as qd
space = {}
exec("def f(x, k=2):\\n    return [x * k, x + k][0] if False else x * k", space)
f = qd.njit(space["f"])
g = qd.njit(lambda x: x + 1)
print(f(3), g(4), sum(f.stats.cache_hits.values()), sum(g.stats.cache_hits.values()))
"""
    main = main.replace("[x * k, x + k][0] if False else ", "")
    assert project.run(main) == ["6 5 0 0"]
    assert project.run(main) == ["6 5 1 1"]


def test_a_builtin_hidden_by_a_global_is_noticed(project: Project) -> None:
    text = "import quadrants as qd\n{}\n@qd.njit\ndef f(x): return abs(x)\nprint(f(-3))"
    assert project.run(text.format("")) == ["3"]
    assert project.run(text.format("")) == ["3"]
    assert project.run(text.format("abs = float")) == ["-3.0"]


def test_results_and_errors_of_every_kind(project: Project) -> None:
    """Named tuples, optionals, nested tuples, text, and exceptions of the user's own classes, out of the cache."""
    text = """
import numpy as np, quadrants as qd
from collections import namedtuple
from typing import NamedTuple
Point = namedtuple("Point", "x y")
class Typed(NamedTuple):
    a: float
    p: Point
class Mine(ValueError):
    pass
@qd.njit
def move(t, d):
    return Typed(t.a + d, Point(t.p.x + 1, t.p.y)), (None, (d, 2), True), np.zeros(2, np.int8)
@qd.njit
def maybe(x):
    if x > 0:
        return x
    return None
@qd.njit
def fails(n):
    if n > 2:
        raise Mine(f"too many: {n}", n)
    if n > 1:
        raise KeyError("two")
    return (0, 1)[n]
print(move(Typed(1.0, Point(2, 3)), 0.5), maybe(1.5), maybe(-1.5))
for n in (1, 2, 3):
    try:
        print(fails(n))
    except Exception as error:
        print(repr(error), type(error).__module__)
hits = [sum(f.stats.cache_hits.values()) for f in (move, maybe, fails)]
print(hits)
"""
    first, second = project.run(text), project.run(text)
    assert first[:-1] == second[:-1] and first[-1] == "[0, 0, 0]" and second[-1] == "[1, 1, 1]"
    assert "Typed(a=1.5, p=Point(x=3, y=3))" in first[0] and first[0].endswith("1.5 None")
    assert first[1:4] == ["1", "KeyError('two') builtins", "Mine('too many: 3', 3) __main__"]


def test_closures_and_literal_arguments(project: Project) -> None:
    text = """
import numpy as np, quadrants as qd
def outer(k, table):
    def helper(x):
        return x * k + table[0]
    @qd.njit
    def inner(x):
        return helper(x) + k
    return inner
@qd.njit
def apply(f, cls, x):
    return cls(f(x))
one, two, three = outer(2, np.ones(3)), outer(2, np.full(5, 4.0)), outer(3, np.ones(3))
print(float(one(5)), float(two(5)), float(three(5)), float(apply(lambda x: x + 0.5, np.float32, 1)), float(apply(abs, float, -2)))
print(*(sum(f.stats.cache_hits.values()) for f in (one, two, three, apply)))
"""
    assert project.run(text) == ["13.0 16.0 19.0 1.5 2.0", "0 1 0 0"]
    assert project.run(text) == ["13.0 16.0 19.0 1.5 2.0", "1 1 1 2"]


def test_objects_without_a_fingerprint_work_and_are_not_kept(project: Project) -> None:
    text = """
import quadrants as qd
class Config:
    depth = 3
class Holder:
    cls = Config
@qd.njit
def f(x):
    return x * Config.depth
print(f(2), sum(f.stats.cache_hits.values()))
"""
    for _ in range(2):
        assert project.run(text)[0].split()[0] == "6"


def test_a_changed_class_attribute(project: Project) -> None:
    text = """
import quadrants as qd
class Config:
    depth = {}
@qd.njit
def f(x):
    return x * Config.depth
print(f(2))
"""
    assert project.run(text.format(3)) == ["6"]
    assert project.run(text.format(4)) == ["8"]


def test_numbers_that_keep_changing(project: Project) -> None:
    text = """
import quadrants as qd
K = 0.0
@qd.njit
def f(x):
    return x * K
for turn in range(10):
    K = turn + {}
    assert f(2.0) == 2 * (turn + {})
print(sum(f.stats.cache_misses.values()), sum(f.stats.cache_hits.values()))
"""
    assert project.run(text.format(0.5, 0.5)) == ["3 0"]
    assert project.run(text.format(0.5, 0.5)) == ["0 3"]
    assert project.run(text.format(0.25, 0.25)) == ["2 1"]  # the code that takes it as an argument is the same


def test_two_names_of_one_array(project: Project) -> None:
    text = """
import numpy as np, quadrants as qd
A = np.zeros(3)
B = {}
@qd.njit
def f():
    A[0] = 5.0
    return B[0]
print(f())
"""
    assert project.run(text.format("A")) == ["5.0"]
    assert project.run(text.format("np.zeros(3)")) == ["0.0"]
    assert project.run(text.format("A")) == ["5.0"]


def test_recursive_and_mutual_functions(project: Project) -> None:
    text = """
import quadrants as qd
@qd.njit
def even(n):
    return True if n == 0 else odd(n - 1)
@qd.njit
def odd(n):
    return False if n == 0 else even(n - 1)
print(even(10), odd(7), even(7), sum(even.stats.cache_hits.values()))
"""
    assert project.run(text) == ["True True False 0"]
    assert project.run(text) == ["True True False 1"]


def test_cache_information(project: Project) -> None:
    text = """
import quadrants as qd
before = qd.cache_info()
qd.njit(lambda x: x)(1)
after = qd.cache_info()
print(before.files, after.files > 0, after.enabled)
qd.clear_cache()
print(qd.cache_info().files)
"""
    assert project.run(text) == ["0 True True", "0"]
