"""Every code object of the standard library structures, without copying code and without fallbacks."""

from __future__ import annotations

import sysconfig
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from quadrants.bytecode import Code, Continue, Exit, For, Function, Loop, Node, Opcode, Try
from quadrants.bytecode.blocks import build
from quadrants.bytecode.decode import function_of, table_for
from quadrants.bytecode.graph import make
from quadrants.bytecode.raw import read

STDLIB = Path(sysconfig.get_paths()["stdlib"])
SAMPLE = """
abc argparse ast asyncio/base_events asyncio/tasks bisect calendar cmd codecs collections/__init__ configparser contextlib
copy csv dataclasses datetime decimal difflib dis email/_header_value_parser enum fractions functools heapq inspect
json/decoder locale logging/__init__ mailbox numbers optparse pathlib pickle random shutil statistics string subprocess
tarfile textwrap tokenize typing unittest/mock weakref xml/etree/ElementTree zipfile
""".split()


def code_objects(path: Path) -> Iterator[types.CodeType]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            todo = [compile(path.read_bytes(), str(path), "exec")]
        except (SyntaxError, ValueError):  # the standard library's tests hold some bad source on purpose
            return
    while todo:
        code = todo.pop()
        yield code
        todo += [const for const in code.co_consts if isinstance(const, types.CodeType)]


def children(node: Node, field: str) -> tuple[Node, ...]:
    below = getattr(node, field, ())
    return below if isinstance(below, tuple) else (below,)


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for field in ("items", "then", "orelse", "body", "exhausted", "handler"):
        for child in children(node, field):
            yield from nodes(child)


def continues_inner(node: Node, label: int | None) -> bool:
    """Whether every Continue is of the innermost loop."""
    if isinstance(node, Continue):
        return node.label == label
    if isinstance(node, For) and not continues_inner(node.exhausted, label):
        return False
    inner = node.label if isinstance(node, Loop | For) else label
    below = [child for field in ("items", "then", "orelse", "body", "handler") for child in children(node, field)]
    return all(continues_inner(child, inner) for child in below)


def is_plain(function: Function) -> bool:
    """Whether no handler had to stay apart from its body, no `for` had to become a plain loop, no loop is left sideways."""
    if not continues_inner(function.body, None):
        return False
    for node in nodes(function.body):
        if isinstance(node, Try) and len(node.handler.items) == 1 and isinstance(node.handler.items[0], Exit):
            return False
        if isinstance(node, Code) and any(inst.op is Opcode.FOR_NEXT for inst in node.insts):
            return False
    return True


def check(path: Path) -> tuple[int, list[str]]:
    """Structures all code of a file; gives the number of code objects and the names of those that needed a fallback."""
    table = table_for()
    count, odd = 0, []
    for code in code_objects(path):
        raw = read(code)
        assert make(build(raw, table)).splits == 0, f"{path}:{code.co_firstlineno} {code.co_name}"
        count += 1
        if not is_plain(function_of(raw, table, code)):
            odd.append(f"{path}:{code.co_firstlineno} {code.co_name}")
    return count, odd


def existing(names: list[str]) -> list[Path]:
    """Some modules became packages over time."""
    found = [STDLIB / f"{name}.py" for name in names] + [STDLIB / name / "__init__.py" for name in names]
    return [path for path in found if path.exists()]


def test_sample():
    paths = existing(SAMPLE)
    assert len(paths) >= 40
    results = [check(path) for path in paths]
    assert sum(count for count, _ in results) > 2000
    assert [name for _, odd in results for name in odd] == []


@pytest.mark.slow
def test_whole_standard_library():
    total, odd = 0, []
    for path in sorted(STDLIB.rglob("*.py")):
        if "site-packages" not in path.parts:
            count, names = check(path)
            total += count
            odd += names
    assert total > 20_000
    assert odd == []
