"""A module of QIR to the LLVM IR of a kernel, and what a launch has to know of it.

Takes a module whose entry is a device function that gives nothing, after `legalise`. The kernel takes the words of the
argument block, each as a parameter, so that a driver copies the block as it is; then, where they are used, the address
of the report and the place of the launch in its grid. A block of more words than a kernel can take stays in memory, and
its address is the only word.
"""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Iterator
from dataclasses import asdict

from quadrants._frozen import frozen
from quadrants.backend.arguments import words_of
from quadrants.ir import Function, Module
from quadrants.lower.abi import Lowered, Site, SiteKind, scalar_text, symbol
from quadrants.lower.context import LowerOptions
from quadrants.lower.module import lower_module
from quadrants.types import ArrayType, Scalar
from quadrants_cuda.lower import context, runtime
from quadrants_cuda.lower.legalise import legalise, shared_bytes
from quadrants_cuda.lower.prints import refuse
from quadrants_cuda.lower.table import EMITTERS
from quadrants_cuda.lower.threads import DYNAMIC

#: The symbol of every kernel.
ENTRY = "qd_kernel"
#: The most words that come as parameters: a kernel has 4096 bytes of them, four words of which are not the block's.
MOST_WORDS = 4096 // 8 - 4

_OPTIONS = LowerOptions(
    emitters=EMITTERS,
    interpreter=False,
    atomic_scope='syncscope("device") ',
    attributes=" convergent",
)


@frozen
class Facts:
    """What a launch has to know of a kernel.

    Args:
        kernel: the qualified name of the Python function.
        words: of the argument block.
        indirect: whether the block stays in memory.
        reports: whether it takes the address of a report.
        prints: whether the report needs room for what is printed.
        placed: whether it takes the place of the launch in its grid.
        dynamic: whether it uses dynamic shared memory.
        shared_bytes: of static shared memory.
        sites: the places that may raise or print, and the classes, pickled.
    """

    kernel: str = ""
    words: int = 0
    indirect: bool = False
    reports: bool = False
    prints: bool = False
    placed: bool = False
    dynamic: bool = False
    shared_bytes: int = 0
    sites: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Facts:
        return cls(**json.loads(text))

    def tables(self) -> tuple[tuple[Site, ...], tuple[str, ...]]:
        """The sites, and the classes of exceptions by number - 1."""
        sites, classes = pickle.loads(base64.b64decode(self.sites))
        return sites, classes


def lower(module: Module) -> tuple[str, Facts]:
    """The LLVM IR, without a target, and the facts. The module is changed."""
    legalise(module)
    kernel = module.functions[module.entry]
    handles = any(op.name == "try" for function in module.functions.values() for op in function.body.walk())
    placed = any(
        op.name in ("block.index", "grid.size") and op.attrs["axis"]
        for function in module.functions.values()
        for op in function.body.walk()
    )
    lowered = lower_module(module, _OPTIONS)
    records = context.MOST_RECORDS if handles else 1
    defined, missing = runtime.definitions(lowered.declarations, records)
    if missing:
        raise refuse(kernel, None, f"a kernel that needs {', '.join(missing)}", "call it before or after the launch")
    facts = _facts(module, kernel, lowered, placed)
    texts = [*defined, runtime.REPORTING if lowered.entry_raises else "", lowered.text]
    texts += [_entry(kernel, facts, lowered, records)]
    return "\n".join([*texts, ""]), facts


def _facts(module: Module, kernel: Function, lowered: Lowered, placed: bool) -> Facts:
    words = sum(words_of(value.type) for value in kernel.params)
    prints = any(site.kind is SiteKind.HOST for site in lowered.sites)
    return Facts(
        kernel=kernel.scope.qualname,
        words=words,
        indirect=words > MOST_WORDS,
        reports=prints or lowered.entry_raises,
        prints=prints,
        placed=placed,
        dynamic=f"@{DYNAMIC} = " in lowered.text,
        shared_bytes=shared_bytes(module),
        sites=base64.b64encode(pickle.dumps((lowered.sites, lowered.classes))).decode(),
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


def _entry(kernel: Function, facts: Facts, lowered: Lowered, records: int) -> str:
    """The kernel itself: it unpacks the argument block and calls the function."""
    code = _Lines()
    names = ["%block"] if facts.indirect else [f"%w{i}" for i in range(facts.words)]
    more = ["%report"] * facts.reports + ["%first", "%grid"] * facts.placed
    _make_context(code, facts, records if lowered.entry_raises else 0)
    words = _words(code, facts) if facts.indirect else iter(names)
    given = ["ptr %ctx"]
    for value in kernel.params:
        given += (
            _array(code, value.type, words) if isinstance(value.type, ArrayType) else [_scalar(code, value.type, words)]
        )
    status = code.let(f"call i32 {symbol(lowered.entry_symbol)}({', '.join(given)})")
    params = ", ".join(f"i64 {name}" for name in (*names, *more))
    end = "  ret void"
    if lowered.entry_raises:
        fine = code.let(f"icmp eq i32 {status}, 0")
        end = (
            f"  br i1 {fine}, label %done, label %failed\n"
            f"failed:\n  call void @qd_report(ptr %ctx, i32 {status})\n  br label %done\n"
            "done:\n  ret void"
        )
    body = "\n".join(code.lines)
    return f"\ndefine ptx_kernel void @{ENTRY}({params}) convergent nounwind {{\n{body}\n{end}\n}}\n"


def _make_context(code: _Lines, facts: Facts, records: int) -> None:
    code.line(f"%ctx = alloca [{context.context_bytes(records)} x i8], align 8")
    code.line("store i32 0, ptr %ctx, align 8")
    if facts.reports:
        at = code.let(f"getelementptr i8, ptr %ctx, i64 {context.REPORT}")
        code.line(f"store i64 %report, ptr {at}, align 8")
    for name, offset in (("%first", context.FIRST), ("%grid", context.GRID)):
        at = code.let(f"getelementptr i8, ptr %ctx, i64 {offset}")
        code.line(f"store i64 {name if facts.placed else '0'}, ptr {at}, align 8")


def _words(code: _Lines, facts: Facts) -> Iterator[str]:
    """The words of a block in memory."""
    block = code.let("inttoptr i64 %block to ptr addrspace(1)")
    for position in range(facts.words):
        at = code.let(f"getelementptr i64, ptr addrspace(1) {block}, i64 {position}")
        yield code.let(f"load i64, ptr addrspace(1) {at}, align 8")


def _array(code: _Lines, type: ArrayType, words: Iterator[str]) -> list[str]:
    """The components of an array; its strides come in elements."""
    pointer = code.let(f"inttoptr i64 {next(words)} to ptr addrspace(1)")
    base = code.let(f"addrspacecast ptr addrspace(1) {pointer} to ptr")
    sizes = [next(words) for _ in range(type.ndim)]
    strides = [code.let(f"mul i64 {next(words)}, {type.dtype.itemsize}") for _ in range(type.ndim)]
    return [f"ptr {base}", "ptr null", *(f"i64 {word}" for word in (*sizes, *strides))]


def _scalar(code: _Lines, type: object, words: Iterator[str]) -> str:
    assert isinstance(type, Scalar)
    word, text = next(words), scalar_text(type)
    if type.is_bool:
        return f"i1 {code.let(f'icmp ne i64 {word}, 0')}"
    if type.is_integer and type.bits == 64:
        return f"i64 {word}"
    bits = f"i{type.bits}"
    low = word if type.bits == 64 else code.let(f"trunc i64 {word} to {bits}")
    return f"{text} {code.let(f'bitcast {bits} {low} to {text}') if type.is_float else low}"
