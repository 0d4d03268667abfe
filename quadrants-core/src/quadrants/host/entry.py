"""The entry of a specialisation: the native function between CPython's vectorcall and the kernel.

Takes an `EntrySpec`; gives LLVM text to stand beside the lowered module. The entry tests `valid`, the number of arguments and each
argument; any that does not fit leaves, by a tail call, to the next entry of the chain. Else it unboxes, calls the kernel with
a context on its stack, and boxes the result, or has the exception raised. Its exported data: `<name>.next` (the next entry),
`<name>.valid` (0: the code is out of date), `<name>.permutation` (the form of calls by keywords that it takes itself),
`<name>.objects` (see `Slots`; 0 until the loader fills it), `<name>.cells` and `<name>.dicts` (what it depends on).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from quadrants._frozen import frozen
from quadrants.host import layout
from quadrants.host.box import Boxer, Results, from_word, to_word
from quadrants.host.flags import CANONICAL, COUNT_MASK, MAX_ARGUMENTS, PERM_COUNT, PERM_NAMES, PERM_VALUES
from quadrants.host.spec import EntrySpec, Hidden, Source, has_permutation, slots_of, uses_dict_versions
from quadrants.host.text import METADATA, Text
from quadrants.host.unbox import Unboxer
from quadrants.lower import abi
from quadrants.lower.abi import all_components, symbol


@frozen
class Entry:
    """The text of an entry.

    Args:
        text: definitions, for `Lowered.full_text`.
        declarations: external symbol -> its declaration line.
    """

    text: str
    declarations: dict[str, str] = field(default_factory=dict)


def emit_entry(spec: EntrySpec, quick: bool = False) -> Entry:
    """The entry of a specialisation: a vectorcall function, or (`native=False`) the one that the ctypes path calls.

    `quick`: LLVM is to select its instructions fast rather than well, a third of the time for half a nanosecond a call. Not
    for an entry that its kernel is inlined into.
    """
    attributes = " noinline optnone" if quick else ""
    return _Native(spec).emit(attributes) if spec.native else _plain_entry(spec, attributes)


def compared_words(spec: EntrySpec) -> int:
    """How many words the entry compares: what the cells hold, and on 3.11 the parts of functions."""
    return spec.cells + len(layout.FUNCTION_PARTS) * (spec.functions if layout.VERSION_TAGS else 0)


class _Native:
    """The emission of one vectorcall entry."""

    def __init__(self, spec: EntrySpec) -> None:
        self.spec = spec
        self.slots = slots_of(spec)
        self.text = Text()
        self.unboxer = Unboxer(self.text, self.slots, self._data("objects"), spec.exact)
        self.held: list[str] = []

    def _data(self, suffix: str) -> str:
        return symbol(f"{self.spec.name}.{suffix}")

    def emit(self, attributes: str) -> Entry:
        text = self.text
        self._check_validity()
        arguments = self._check_count()
        objects = [text.load("ptr", arguments, 8 * index) for index in range(len(self.spec.params))]
        values = self.unboxer.unbox(zip(self.spec.params, objects, strict=True))
        self._check_sizes(values)
        hidden = [(h.type, self._hidden(h, slot)) for h, slot in zip(self.spec.hidden, self.slots.hidden, strict=True)]
        values += self.unboxer.unbox(hidden)
        self._hold()
        self._call(values)
        text.begin("miss")
        following = text.load("ptr", self._data("next"))
        parameters = "ptr %self, ptr %args, i64 %nargsf, ptr %names"
        missed = text.let(f"musttail call ptr {following}({parameters})")
        text.do(f"ret ptr {missed}")
        head = f"define ptr {symbol(self.spec.name)}({parameters}){attributes} {{\nentry:"
        body = "\n".join((*self._globals(), head, *text.allocas, *text.lines, "}", METADATA))
        return Entry(body, text.declarations)

    def _globals(self) -> Iterator[str]:
        self.text.declarations.setdefault("qd_tail", "declare ptr @qd_tail(ptr, ptr, i64, ptr)")
        yield f"{self._data('next')} = dso_local global ptr @qd_tail"
        yield f"{self._data('valid')} = dso_local global i64 1"
        yield f"{self._data('objects')} = dso_local global [{self.slots.count} x ptr] zeroinitializer"
        if has_permutation(self.spec):
            yield f"{self._data('permutation')} = dso_local global ptr null"
        if compared_words(self.spec):
            yield f"{self._data('cells')} = dso_local global [{2 * compared_words(self.spec)} x ptr] zeroinitializer"
        if uses_dict_versions(self.spec):
            yield f"{self._data('dicts')} = dso_local global ptr null"

    def _check_validity(self) -> None:
        """Leave if the code is out of date."""
        text = self.text
        text.guard(text.let(f"icmp ne i64 {text.load('i64', self._data('valid'))}, 0"))
        for index in range(compared_words(self.spec)):
            cell = text.load("ptr", self._data("cells"), 16 * index)
            expected = text.load("ptr", self._data("cells"), 16 * index + 8)
            text.guard(text.equal("ptr", text.load("ptr", cell, layout.CELL_CONTENT), expected))
        if uses_dict_versions(self.spec):
            self._check_versions()

    def _check_sizes(self, values: list[str]) -> None:
        """Leave if an array does not have the sizes that the code is for."""
        text = self.text
        if not self.spec.sizes:
            return
        begins, at = [], 0
        for leaf in (leaf for type in self.spec.params for leaf in type.leaves()):
            begins.append(at)
            at += len(abi.components(leaf))
        right = [text.equal("i64", values[begins[number] + 2 + axis], size) for number, axis, size in self.spec.sizes]
        same = right[0]
        for other in right[1:]:
            same = text.let(f"and i1 {same}, {other}")
        text.guard(same)

    def _check_versions(self) -> None:
        """3.11: every dict has the version that it had, or the names in question have the values that they had."""
        text = self.text
        table = text.load("ptr", self._data("dicts"))
        same = []
        for index in range(self.spec.dicts):
            version = text.load("i64", text.load("ptr", table, 16 * index), layout.DICT_VERSION)
            same.append(text.equal("i64", version, text.load("i64", table, 16 * index + 8)))
        changed, go = text.fresh("changed"), text.fresh("unchanged")
        all_same = same[0]
        for condition in same[1:]:
            all_same = text.let(f"and i1 {all_same}, {condition}")
        text.branch(all_same, go, changed)
        text.begin(changed)
        fine = text.call("i32", "qd_revalidate", ("ptr", table), ("i64", str(self.spec.dicts)))
        text.branch(text.let(f"icmp ne i32 {fine}, 0"), go, "miss")
        text.begin(go)

    def _check_count(self) -> str:
        """The arguments in canonical order; leave if the call has other ones."""
        text = self.text
        count = len(self.spec.params)
        mask = COUNT_MASK if self.spec.direct else COUNT_MASK | CANONICAL
        given = text.let(f"and i64 %nargsf, {mask}")
        no_names = text.equal("ptr", "%names", "null")
        fits = text.equal("i64", given, count if self.spec.direct else count | CANONICAL)
        in_order = text.let(f"and i1 {no_names}, {fits}")
        if not has_permutation(self.spec):
            text.guard(in_order)
            return "%args"
        before, permute, go = text.block, text.fresh("permute"), text.fresh("arguments")
        text.branch(in_order, go, permute)
        text.begin(permute)
        buffer = self._permuted(count)
        last = text.block
        text.jump(go)
        text.begin(go)
        return text.let(f"phi ptr [%args, %{before}], [{buffer}, %{last}]")

    def _permuted(self, count: int) -> str:
        """The arguments of a call by keywords or defaults, if it has the form of the one permutation that the entry knows."""
        text = self.text
        known = text.load("ptr", self._data("permutation"))
        text.guard(text.let(f"icmp ne ptr {known}, null"))
        same_names = text.equal("ptr", text.load("ptr", known, PERM_NAMES), "%names")
        given = text.let(f"and i64 %nargsf, {COUNT_MASK | CANONICAL}")
        same_count = text.equal("i64", given, text.load("i64", known, PERM_COUNT))
        text.guard(text.let(f"and i1 {same_names}, {same_count}"))
        buffer = text.alloca(f"[{count} x ptr]")
        for index in range(count):
            place = text.at(known, PERM_VALUES + 8 * index)
            value = text.load("i64", place)
            is_number = text.let(f"icmp ult i64 {value}, {MAX_ARGUMENTS}")
            argument = text.let(f"getelementptr ptr, ptr %args, i64 {value}")
            source = text.let(f"select i1 {is_number}, ptr {argument}, ptr {place}")
            text.store("ptr", text.load("ptr", source), buffer, 8 * index)
        return buffer

    def _hidden(self, hidden: Hidden, slot: int) -> str:
        """The object of a hidden argument."""
        text = self.text
        obj = self.unboxer.slot(slot)
        if hidden.source is Source.CELL:
            obj = text.load("ptr", obj, layout.CELL_CONTENT)
        elif hidden.source is Source.GLOBAL:
            obj = text.call("ptr", "PyDict_GetItemWithError", ("ptr", obj), ("ptr", self.unboxer.slot(slot + 1)))
        if hidden.source is not Source.OBJECT:
            text.guard(text.let(f"icmp ne ptr {obj}, null"))
        self.held.append(obj)
        return obj

    def _hold(self) -> None:
        """Own the hidden objects while Python code may drop them; keep arrays from being resized while any code may run."""
        lock_free = self.spec.nogil or self.spec.parallel
        if not (self.spec.calls_python or lock_free):
            self.held.clear()
        for obj in self.held:
            self.text.call("void", "Py_IncRef", ("ptr", obj))
        if self.spec.pin or lock_free:
            self.held += [self.text.call("ptr", "qd_pin", ("ptr", array)) for array in self.unboxer.arrays]

    def _let_go(self) -> None:
        if self.spec.calls_python:
            self.text.call("void", "Py_DecRef", ("ptr", self.text.load("ptr", self.context, abi.CTX_KEPT)))
        for obj in self.held:
            self.text.call("void", "Py_DecRef", ("ptr", obj))

    def _call(self, values: list[str]) -> None:
        """Run the kernel; box the result or raise."""
        text, spec = self.text, self.spec
        self.context = context = self._context()
        results = Results(text, spec.result)
        if spec.nogil:
            text.store("ptr", text.call("ptr", "PyEval_SaveThread"), context, abi.CTX_THREAD)
        status = _call_kernel(text, spec, context, values, results)
        if spec.nogil:
            text.call("void", "qd_attach", ("ptr", context))
        if spec.parallel:
            text.call("void", "qd_pool_done", ("ptr", context), ("ptr", context))
        text.require(text.equal("i32", status, 0), "raise")
        boxer = Boxer(text, self.slots, self._data("objects"), results)
        boxed = boxer.box(spec.result)
        boxer.release_lists()
        self._let_go()
        text.do(f"ret ptr {boxed}")
        boxer.finish(self._fail)
        text.begin("raise")
        handler = text.load("ptr", self._data("objects"))
        text.call("void", "qd_raise", ("ptr", handler), ("i32", status), ("ptr", context))
        self._fail()

    def _fail(self) -> None:
        self._let_go()
        self.text.do("ret ptr null")

    def _context(self) -> str:
        """The kernel's context, its header set."""
        text = self.text
        context = text.alloca(f"[{abi.CTX_BYTES} x i8]")
        text.store("i64", "0", context, abi.CTX_NEXT_RECORD)
        text.store("ptr", "%self", context, abi.CTX_SELF)
        limit = text.call("i64", "qd_stack_limit", ("ptr", context)) if self.spec.recursive else "0"
        text.store("i64", limit, context, abi.CTX_STACK_LIMIT)
        if self.spec.recursive:
            text.store("i64", limit, context, abi.CTX_STACK_LOWEST)
        if self.spec.nogil or self.spec.parallel:
            text.store("ptr", "null", context, abi.CTX_THREAD)
            text.store("ptr", "null", context, abi.CTX_STOP)
            text.store("i32", "0", context, abi.CTX_WORKER)
            text.store("i64", "0", context, abi.CTX_LIVE)
        if self.spec.calls_python:
            text.declarations.setdefault("qd_hostcall", "declare i32 @qd_hostcall(ptr, i32, ptr)")
            text.store("ptr", "@qd_hostcall", context, abi.CTX_HOSTCALL)
            text.store("ptr", "null", context, abi.CTX_KEPT)
            text.store("ptr", text.load("ptr", self._data("objects")), context, abi.CTX_HANDLER)
        return context


def _call_kernel(text: Text, spec: EntrySpec, context: str, values: list[str], results: Results) -> str:
    """The call of the lowered function; its status."""
    types = (*spec.params, *(hidden.type for hidden in spec.hidden))
    arguments = [f"ptr {context}"]
    arguments += [f"{kind} {value}" for kind, value in zip(all_components(types), values, strict=True)]
    arguments += [f"ptr {pointer}" for pointer in results.pointers]
    return text.let(f"call i32 {symbol(spec.kernel)}({', '.join(arguments)})")


def _plain_entry(spec: EntrySpec, attributes: str) -> Entry:
    """`i32 name(ptr context, ptr in, ptr out)`: components as 64-bit words, in and out. It touches no object."""
    text = Text()
    types = (*spec.params, *(hidden.type for hidden in spec.hidden))
    values = []
    for index, kind in enumerate(all_components(types)):
        values.append(from_word(text, kind, text.load("i64", "%in", 8 * index)))
    results = Results(text, spec.result)
    status = _call_kernel(text, spec, "%context", values, results)
    text.require(text.equal("i32", status, 0), "failed")
    pointers = iter(results.pointers)
    at = 0
    for leaf in spec.result.leaves():
        for kind in abi.components(leaf):
            stored = text.load("i8" if kind == "i1" else kind, next(pointers))
            text.store("i64", to_word(text, leaf, kind, stored), "%out", 8 * at)
            at += 1
    text.do("ret i32 0")
    text.begin("failed")
    text.do(f"ret i32 {status}")
    head = f"define i32 {symbol(spec.name)}(ptr %context, ptr %in, ptr %out){attributes} {{\nentry:"
    return Entry("\n".join((head, *text.allocas, *text.lines, "}", METADATA)), text.declarations)
