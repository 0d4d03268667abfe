"""A module of QIR to the LLVM IR of a kernel, and what a launch has to know of it.

Takes a module whose entry is a device function that gives nothing. The kernel takes the words of the argument block, each as a
parameter, so that a driver copies the block as it is; behind them the words of the launch (`launch_words`). A block of more words
than a kernel can take stays in memory, and its address is the only word.
"""

from __future__ import annotations

import base64
import json
import pickle
import struct
from collections.abc import Iterator
from dataclasses import asdict

from quadrants._frozen import frozen
from quadrants.ir import Function, Module
from quadrants.lower import runtime
from quadrants.lower.abi import CTX_NEXT_RECORD, CTX_TB_LEN, Lowered, Site, SiteKind, scalar_text, symbol
from quadrants.lower.context import LowerOptions
from quadrants.lower.gpu import context
from quadrants.lower.gpu.legalise import legalise, shared_bytes
from quadrants.lower.gpu.primitives import Primitives
from quadrants.lower.gpu.refusals import refuse
from quadrants.lower.gpu.reporting import reporting
from quadrants.lower.gpu.table import emitters
from quadrants.lower.gpu.threads import DYNAMIC
from quadrants.lower.module import lower_module
from quadrants.types import ArrayType, Scalar, Type

Box = tuple[int, int, int]

#: The symbol of every kernel.
ENTRY = "qd_kernel"
#: Behind the argument block: the address of the report; blocks of the grid and threads of a block along x, y and z; the first
#: block of this launch; bytes of dynamic shared memory.
_LAUNCH = struct.Struct("<Q3I3I3II")
LAUNCH_BYTES = _LAUNCH.size
_LAUNCH_PARAMS = (
    ("i64", "%report", context.REPORT),
    *(("i32", f"%grid.{axis}", context.GRID + 4 * place) for place, axis in enumerate("xyz")),
    *(("i32", f"%block.{axis}", context.BLOCK + 4 * place) for place, axis in enumerate("xyz")),
    *(("i32", f"%first.{axis}", context.FIRST + 4 * place) for place, axis in enumerate("xyz")),
    ("i32", "%dynamic", context.DYNAMIC),
)
_EMPTY = ("qd_retain", "qd_release")


@frozen
class Facts:
    """What a launch has to know of a kernel.

    Args:
        kernel: the qualified name of the Python function.
        words: of the argument block.
        indirect: whether the block stays in memory.
        raises: whether a thread may report an exception.
        prints: whether the report needs room for what is printed.
        dynamic: whether it uses dynamic shared memory.
        shared_bytes: of static shared memory.
        tables: the sites and the classes of exceptions, pickled.
    """

    kernel: str = ""
    words: int = 0
    indirect: bool = False
    raises: bool = False
    prints: bool = False
    dynamic: bool = False
    shared_bytes: int = 0
    tables: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Facts:
        return cls(**json.loads(text))

    def sites_and_classes(self) -> tuple[tuple[Site, ...], tuple[str, ...]]:
        """The sites, and the classes by number - 1."""
        sites, classes = pickle.loads(base64.b64decode(self.tables))
        return sites, classes


def launch_words(grid: Box, block: Box, first: Box, shared_bytes: int, report: int) -> bytes:
    """What follows the argument block: the whole grid, a block, the first block of this launch."""
    return _LAUNCH.pack(report, *grid, *block, *first, shared_bytes)


def _words(type: Type) -> int:
    """How many words of the argument block a parameter takes: an array its address, sizes and strides."""
    return 1 + 2 * type.ndim if isinstance(type, ArrayType) else 1


def lower(module: Module, primitives: Primitives) -> tuple[str, Facts]:
    """The LLVM IR, without a target, and the facts. The module is changed."""
    table = emitters(primitives)
    legalise(module, table, primitives.title)
    kernel = module.functions[module.entry]
    options = LowerOptions(
        emitters=table,
        interpreter=False,
        atomic_scope=primitives.scopes["device"].strip() + " ",
        attributes=" convergent",
    )
    lowered = lower_module(module, options)
    defined = _definitions(kernel, lowered, primitives)
    facts = _facts(module, kernel, lowered, primitives)
    return "\n".join((*defined, lowered.text, _entry(kernel, facts, lowered, primitives), "")), facts


def _definitions(kernel: Function, lowered: Lowered, p: Primitives) -> list[str]:
    """What the text calls of the runtime: what counts references has nothing to do."""
    recording = runtime.recording() + reporting(p) if lowered.entry_raises else ""
    known = {name for name in runtime.DECLARATIONS if name.startswith("qd_raise")} | {"qd_traceback", *_EMPTY}
    missing = [name for name in lowered.declarations if name not in known]
    if missing:
        hint = "call it before or after the launch"
        raise refuse(p.title, kernel, None, f"a kernel that needs {', '.join(missing)}", hint)
    if any(name not in _EMPTY for name in lowered.declarations) and not recording:
        recording = runtime.recording()
    empty = [name for name in _EMPTY if name in lowered.declarations]
    return [
        recording,
        *(f"define internal void @{name}(ptr %owner) alwaysinline {{\n  ret void\n}}\n" for name in empty),
    ]


def _facts(module: Module, kernel: Function, lowered: Lowered, p: Primitives) -> Facts:
    words = sum(_words(value.type) for value in kernel.params)
    return Facts(
        kernel=kernel.scope.qualname,
        words=words,
        indirect=p.most_words is not None and words > p.most_words,
        raises=lowered.entry_raises,
        prints=any(site.kind is SiteKind.HOST for site in lowered.sites),
        dynamic=f"@{DYNAMIC} = " in lowered.text,
        shared_bytes=shared_bytes(module),
        tables=base64.b64encode(pickle.dumps((lowered.sites, lowered.classes))).decode(),
    )


class _Lines:
    """The lines of the entry, and fresh names."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def let(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")


def _entry(kernel: Function, facts: Facts, lowered: Lowered, p: Primitives) -> str:
    """The kernel itself: it makes the context, unpacks the argument block and calls the function."""
    code = _Lines()
    code.line(f"%ctx = alloca [{context.context_bytes(bool(lowered.sites))} x i8], align 16")
    for offset in (CTX_NEXT_RECORD, CTX_TB_LEN):
        code.line(f"store i32 0, ptr {code.let(f'getelementptr i8, ptr %ctx, i64 {offset}')}, align 4")
    for text, name, offset in _LAUNCH_PARAMS:
        code.line(f"store {text} {name}, ptr {code.let(f'getelementptr i8, ptr %ctx, i64 {offset}')}, align 4")
    direct = ["%w0"] if facts.indirect else [f"%w{position}" for position in range(facts.words)]
    words = _loaded(code, facts) if facts.indirect else iter(direct)
    given = ["ptr %ctx"]
    for value in kernel.params:
        take = _array if isinstance(value.type, ArrayType) else _scalar
        given += take(code, value.type, words)
    status = code.let(f"call i32 {symbol(lowered.entry_symbol)}({', '.join(given)})")
    end = "  ret void"
    if lowered.entry_raises:
        fine = code.let(f"icmp eq i32 {status}, 0")
        end = (
            f"  br i1 {fine}, label %done, label %failed\n"
            f"failed:\n  call void @qd_report(ptr %ctx, i32 {status})\n  br label %done\n"
            "done:\n  ret void"
        )
    params = [f"i64 {name}" for name in direct]
    params += [f"{text} {name}" for text, name, _ in _LAUNCH_PARAMS]
    body = "\n".join(code.lines)
    return f"\ndefine {p.convention} void @{ENTRY}({', '.join(params)}) convergent nounwind {{\nentry:\n{body}\n{end}\n}}\n"


def _loaded(code: _Lines, facts: Facts) -> Iterator[str]:
    """The words of a block in memory."""
    block = code.let("inttoptr i64 %w0 to ptr addrspace(1)")
    for position in range(facts.words):
        at = code.let(f"getelementptr i64, ptr addrspace(1) {block}, i64 {position}")
        yield code.let(f"load i64, ptr addrspace(1) {at}, align 8")


def _array(code: _Lines, type: object, words: Iterator[str]) -> list[str]:
    """The components of an array; its strides come in elements."""
    assert isinstance(type, ArrayType)
    pointer = code.let(f"inttoptr i64 {next(words)} to ptr addrspace(1)")
    base = code.let(f"addrspacecast ptr addrspace(1) {pointer} to ptr")
    sizes = [next(words) for _ in range(type.ndim)]
    strides = [code.let(f"mul i64 {next(words)}, {type.dtype.itemsize}") for _ in range(type.ndim)]
    return [f"ptr {base}", "ptr null", *(f"i64 {word}" for word in (*sizes, *strides))]


def _scalar(code: _Lines, type: object, words: Iterator[str]) -> list[str]:
    assert isinstance(type, Scalar)
    word, text = next(words), scalar_text(type)
    if type.is_bool:
        return [f"i1 {code.let(f'icmp ne i64 {word}, 0')}"]
    bits = f"i{type.bits}"
    low = word if type.bits == 64 else code.let(f"trunc i64 {word} to {bits}")
    return [f"{text} {code.let(f'bitcast {bits} {low} to {text}') if type.is_float else low}"]
