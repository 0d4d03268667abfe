"""The canonical stack operations, one method each; `INSTRUCTIONS` is the table."""

from __future__ import annotations

import sys
import types as pytypes
from collections.abc import Callable, Sequence
from typing import Any

from quadrants.bytecode import nodes
from quadrants.bytecode.opcode import Inst, Opcode
from quadrants.diagnostics import Code
from quadrants.infer import (
    attributes,
    calls,
    dicts,
    elementwise,
    habits,
    indexing,
    lists,
    operators,
    raising,
    sequences,
    special,
    texts,
)
from quadrants.infer.closures import leaving
from quadrants.infer.dicts import DictDisplay
from quadrants.infer.emitter import NeverReturns, describe, fail
from quadrants.infer.ends import Return
from quadrants.infer.modes import load_special
from quadrants.infer.names import Cell, ScopeWalk, located
from quadrants.infer.portable import dispatch
from quadrants.infer.unsupported import refuse
from quadrants.infer.values import (
    Abstract,
    Arr,
    Closure,
    Conflict,
    Const,
    Generator,
    List,
    ListDisplay,
    Method,
    Num,
    Sequence_,
    SliceValue,
    Text,
    Tup,
)
from quadrants.ir import Value
from quadrants.types import PYINT, FormatHole, FormatType

_NOT_ITERABLE = "cannot unpack non-iterable NoneType object"

#: The local that collects the items of a generator expression.
YIELDED = "@yielded"


class InstructionWalk(ScopeWalk):
    """The walk of one function with all its operations."""

    _insts: Sequence[object] = ()
    _position = 0

    def condition(self, value: Abstract) -> Value | bool:
        with located(self):
            return operators.truth(self, self._readable(value, "the condition"))

    def loop_over(self, node: nodes.For, iterable: Abstract) -> None:
        with located(self):
            if (
                self.portable
                and not sequences.pulls(iterable)
                and dispatch.loop_over(self, node, self.unwrap(iterable))
            ):
                return
            sequences.loop_over(self, node, iterable)

    def raise_value(self, argc: int) -> None:
        with located(self):
            raising.raise_value(self, argc)

    # code

    def run_code(self, insts: Sequence[object]) -> None:
        self._insts = insts
        with located(self):
            for position, inst in enumerate(insts):
                assert isinstance(inst, Inst)
                self._position = position
                self.at(inst.loc)
                handler = INSTRUCTIONS.get(inst.op)
                if handler is None:
                    refuse(inst)
                try:
                    handler(self, inst.arg)
                except NeverReturns:
                    self.b.op("unreachable")
                    self.env = None
                    return

    def _build_map(self, n: int) -> None:
        parts = self._take(2 * n)
        self._push_dict(parts[::2], parts[1::2])

    def _build_const_map(self, keys: tuple[object, ...]) -> None:
        self._push_dict(tuple(Const(key) for key in keys), self._take(len(keys)))

    def _push_dict(self, keys: tuple[Abstract, ...], items: tuple[Abstract, ...]) -> None:
        self.push(dicts.made([(dicts.constant_key(key), item) for key, item in zip(keys, items)]))

    def _dict_update(self, depth: int) -> None:
        """`{**known, "name": value}`."""
        more, stack = self.pop(), self.live_env.stack
        known = stack[-depth]
        if not isinstance(more, DictDisplay) or not isinstance(known, DictDisplay):
            dicts.refuse(f"** of {describe(more)}")
        stack[-depth] = dicts.made(dicts.pairs_of(known) + dicts.pairs_of(more))

    def _dict_merge(self, depth: int) -> None:
        """`f(*args, **{"name": value})`: the keywords are known if they are written out."""
        more, stack = self.pop(), self.live_env.stack
        known = stack[-depth]
        if not isinstance(more, DictDisplay) or not isinstance(known, DictDisplay):
            fail(
                Code.UNSUPPORTED_KWARGS,
                f"** of {describe(more)} in a call: only a dict whose keys are known names arguments",
            )
        for key in more.keys:
            if key in known.keys:
                fail(Code.BAD_ARGUMENTS, f"the call got multiple values for keyword argument '{key}'")
        stack[-depth] = DictDisplay((*known.keys, *more.keys), (*known.items, *more.items))

    def _push(self, value: object) -> None:
        self.push(self.from_python(value))

    def get_attr(self, value: Abstract, name: str) -> Abstract:
        return attributes.get_attr(self, value, name)

    def _store_attr(self, name: str) -> None:
        owner = self.pop()
        value = self.pop()
        if self.portable and dispatch.set_attr(self, owner, name, value):
            return
        part = attributes.get_attr(self, owner, name) if name in ("real", "imag") and isinstance(owner, Arr) else None
        if isinstance(part, Arr):
            elementwise.assign_into(self, part, value)
            return
        if name == "flat" and isinstance(owner, Arr):
            elementwise.check_writeable(self, owner, "array is read-only")
            self.call_library("sequences:set_flat", owner, SliceValue(Const(None), Const(None), Const(None)), value)
            return
        text = f"the attribute '{name}' of {describe(owner)} cannot be assigned"
        fail(Code.NOT_ASSIGNABLE, text, hint=habits.assignment_hint(owner, name))

    def _subscr(self, _: object) -> None:
        index = self.pop()
        self.push(self.get_item(self.pop(), index))

    def get_item(self, base: Abstract, index: Abstract) -> Abstract:
        base = self.unwrap(base, "'NoneType' object is not subscriptable")
        index = self.unwrap(index)
        if self.portable:
            found = dispatch.get_item(self, base, index)
            if found is not None:
                return found
        if isinstance(base, Arr):
            return indexing.get_item(self, base, operators.without_lists(self, index))
        if isinstance(base, Tup):
            return special.call(self, "__getitem__", base, index) or sequences.get_item(self, base.items, index, Tup)
        if isinstance(base, ListDisplay):
            if lists.is_open(base, index):
                lists.promote(self, base)
            return sequences.get_item(self, base.items, index, lambda items: operators.new_display(self, items), "list")
        if isinstance(base, List):
            item = lists.get_item(self, base, index)
            return operators.fresh(self, item) if isinstance(index, SliceValue) else item
        if isinstance(base, Method) and base.name == "flags" and isinstance(index, Const):
            return self.get_attr(base, attributes.FLAGS.get(str(index.value), str(index.value)))
        if isinstance(base, DictDisplay):
            key = dicts.constant_key(index)
            return base.find(key) or self.fails(KeyError, index)
        if isinstance(base, Sequence_) and base.kind == "range" and not isinstance(index, SliceValue):
            position = self.integer(index)
            length = sequences.range_length(self, base)
            return sequences.item(self, base, lists.checked(self, position, length, "range object index out of range"))
        flat = sequences.flat_of(base)
        if flat is not None:
            return sequences.get_flat(self, flat, index)
        if isinstance(base, Const) and type(base.value) in indexing.GRIDS:
            return self.call_library(indexing.GRIDS[type(base.value)], index)
        if isinstance(base, Const) and isinstance(index, Const) and not isinstance(base.value, str):
            return self._constant_item(base.value, index.value)
        if texts.is_text(base) or texts.is_foreign(base):
            return texts.item(self, texts.as_string(self, base), index)
        fail(Code.NOT_SUBSCRIPTABLE, f"{describe(base)} cannot be indexed")

    def _constant_item(self, base: object, index: object) -> Abstract:
        try:
            return self.from_python(base[index])  # type: ignore[index]
        except (TypeError, LookupError) as error:
            fail(Code.NOT_SUBSCRIPTABLE, str(error))

    def _store_subscr(self, _: object) -> None:
        index, base = self.pop(), self.unwrap(self.pop(), "'NoneType' object does not support item assignment")
        self.set_item(base, index, self.pop())

    def set_item(self, base: Abstract, index: Abstract, value: Abstract) -> None:
        if self.portable and dispatch.set_item(self, base, self.unwrap(index), value):
            return
        flat = sequences.flat_of(base)
        if flat is not None:
            self.call_library("sequences:set_flat", flat.parts[0], index, value)
            return
        if isinstance(base, ListDisplay):
            lists.promote(
                self, base, *(lists.item_types(self, (value,)) if isinstance(index, SliceValue) else (value.type,))
            )
        if isinstance(base, List):
            lists.set_item(self, base, self.unwrap(index), value)
            return
        if isinstance(base, DictDisplay):
            dicts.refuse("a dict that changes")
        if not isinstance(base, Arr):
            text = f"{describe(base)} does not support item assignment"
            fail(Code.NOT_ASSIGNABLE, text, hint=habits.item_hint(base))
        indexing.set_item(
            self, base, operators.without_lists(self, self.unwrap(index)), operators.without_lists(self, value)
        )

    def _unary(self, symbol: str) -> None:
        self.push(operators.unary(self, symbol, self.pop()))

    def _binary(self, symbol: str) -> None:
        right = self.pop()
        self.push(operators.binary(self, symbol, self.pop(), right))

    def _inplace(self, symbol: str) -> None:
        right = self.pop()
        if self.portable and dispatch.augment(self, symbol, right):
            return
        self.push(operators.inplace(self, symbol, self.pop(), right))

    def _compare(self, symbol: str) -> None:
        right = self.pop()
        self.push(operators.compare(self, symbol, self.pop(), right))

    def _is_op(self, invert: bool) -> None:
        right = self.pop()
        self.push(operators.is_(self, self.pop(), right, bool(invert)))

    def _contains(self, invert: bool) -> None:
        container = self.pop()
        self.push(operators.contains(self, self.pop(), container, bool(invert)))

    def _take(self, n: int) -> tuple[Abstract, ...]:
        stack = self.live_env.stack
        taken = tuple(self._readable(value, "the value") for value in stack[len(stack) - n :])
        del stack[len(stack) - n :]
        return taken

    def _build_list(self, n: int) -> None:
        items = self._take(n)
        assert self.b.loc is not None
        site = (self.ref.code, self.b.loc.offset)
        item = self.lists.get(site)
        display = ListDisplay(items, self.loop_depth, site)
        self.push(display if item is None else lists.make(self, item, items, site))

    def _match_sequence(self, _: object) -> None:
        subject = self.live_env.stack[-1]
        is_range = isinstance(subject, Sequence_) and subject.kind == "range"
        self.push(Const(is_range or isinstance(subject, (Tup, List, ListDisplay))))

    def _import_from(self, name: str) -> None:
        module = self.live_env.stack[-1]
        self.push(self.get_attr(module, name))

    def _intrinsic(self, arg: tuple[str, int]) -> None:
        if (
            arg[0] != "STOPITERATION_ERROR"
        ):  # in a generator expression: compiled code raises no StopIteration of its own
            fail(Code.UNSUPPORTED_SYNTAX, f"the operation {arg[0].lower()} cannot be compiled")

    def _delete_subscr(self, _: object) -> None:
        index, base = self.pop(), self.unwrap(self.pop())
        if isinstance(base, ListDisplay):
            lists.promote(self, base)
        if isinstance(base, Arr):
            self.wrong(ValueError, "cannot delete array elements", Code.UNSUPPORTED_DELETE)
        if not isinstance(base, List):
            fail(Code.UNSUPPORTED_DELETE, f"items of {describe(base)} cannot be deleted")
        lists.delete_item(self, base, self.unwrap(index))

    def _build_slice(self, n: int) -> None:
        parts = self._take(n)
        self.push(SliceValue(parts[0], parts[1], parts[2] if n == 3 else Const(None)))

    def _build_string(self, n: int) -> None:
        self.push(texts.concat(self, list(self._take(n))))

    def _convert(self, conversion: str) -> None:
        letter = {"str": "s", "repr": "r", "ascii": "a"}[conversion]
        self.push(texts.formatted(self, self.pop(), letter, ""))

    def _format(self, has_spec: bool) -> None:
        spec = self.pop() if has_spec else Const("")
        if not (isinstance(spec, Const) and isinstance(spec.value, str)):
            fail(Code.UNSUPPORTED_FORMAT, "a format spec has to be constant")
        value = self.pop()
        if isinstance(value, Text) and spec.value and len(value.format.parts) == 1:
            (part,) = value.format.parts
            if isinstance(part, FormatHole) and not part.spec:
                self.push(Text(FormatType((FormatHole(part.type, part.conversion, spec.value),)), value.values))
                return
        self.push(texts.formatted(self, value, "", spec.value))

    def _unpack(self, n: int) -> None:
        items = sequences.as_items(self, self.pop(), n)
        if len(items) != n:
            word = "too many" if len(items) > n else "not enough"
            got = "" if len(items) > n and sys.version_info < (3, 14) else f", got {len(items)}"
            self.wrong(ValueError, f"{word} values to unpack (expected {n}{got})", Code.BAD_UNPACK, hint=habits.UNPACK)
        for item in reversed(items):
            self.push(item)

    def _unpack_open(self, value: Abstract, before: int, after: int) -> None:
        """`a, *rest, b = value` where the run knows how many items there are."""
        xs = value if isinstance(value, List) else lists.of_items(self, value)
        assert isinstance(xs, List)
        total, needed = lists.size(self, xs), before + after
        text = FormatType(
            (f"not enough values to unpack (expected at least {needed}, got ", FormatHole(PYINT, "", ""), ")")
        )
        self.check(self.b.value("cmp", total, self.b.i64(needed), pred="ge"), ValueError, Text(text, (total,)))
        end = self.b.value("sub", total, self.b.i64(after))
        for k in reversed(range(after)):
            self.push(lists.get(self, xs, self.b.value("add", end, self.b.i64(k))))
        rest = self.call_library("lists:part", xs, Const(before), Num(PYINT, end), Const(None))
        self.push(operators.fresh(self, rest))
        for k in reversed(range(before)):
            self.push(lists.get(self, xs, self.b.i64(k)))

    def _unpack_ex(self, counts: tuple[int, int]) -> None:
        before, after = counts
        value = self.pop()
        items = None if sequences.pulls(value) else sequences.known_items(self, self.unwrap(value, _NOT_ITERABLE))
        if items is None:
            self._unpack_open(value, before, after)
            return
        if len(items) < before + after:
            text = f"not enough values to unpack (expected at least {before + after}, got {len(items)})"
            self.wrong(ValueError, text, Code.BAD_UNPACK, hint=habits.UNPACK)
        middle = len(items) - after
        for item in reversed(items[middle:]):
            self.push(item)
        self.push(operators.new_display(self, items[before:middle]))
        for item in reversed(items[:before]):
            self.push(item)

    def _list_extend(self, n: int) -> None:
        more = self.unwrap(self.pop())
        items = sequences.known_items(self, more)
        if items is not None:
            self._grow_list(n, items)
            return
        from quadrants.infer import spread  # which few programs need

        if spread.for_call(self._insts[self._position + 1 :], n - 1):
            self._grow_list(n, (Sequence_("spread", (more,)),))
        else:
            lists.method(self, self.live_env.stack[-n], "extend", (more,), {})

    def _list_append(self, n: int) -> None:
        self._grow_list(n, (self.pop(),))

    def _grow_list(self, n: int, items: tuple[Abstract, ...]) -> None:
        stack = self.live_env.stack
        grown = stack[-n]
        if isinstance(grown, List):
            for item in items:
                lists.append(self, grown, item)
            return
        if isinstance(grown, Conflict):  # of lists of several lengths
            lists.refuse_items(grown.kinds, items)
        assert isinstance(grown, ListDisplay)
        if grown.depth != self.loop_depth:
            lists.promote(self, grown, *(item.type for item in items), code=Code.UNSUPPORTED_COMPREHENSION)
        stack[-n] = ListDisplay((*grown.items, *items), grown.depth, grown.site)

    def _copy(self, n: int) -> None:
        stack = self.live_env.stack
        stack[-n] = self.lasting(None, stack[-n])
        self.push(stack[-n])

    def _swap(self, n: int) -> None:
        stack = self.live_env.stack
        stack[-1], stack[-n] = stack[-n], stack[-1]

    # calls

    def _call(self, arg: tuple[int, tuple[str, ...]]) -> None:
        positional, names = arg
        values = self._take(positional + len(names))
        callee = self.pop()
        keywords = dict(zip(names, values[positional:]))
        result = self.call_value(callee, values[:positional], keywords)
        self.push(operators.fresh(self, result) if isinstance(result, List) and lists.is_new(callee) else result)

    def _call_ex(self, has_keywords: bool) -> None:
        named = self.pop() if has_keywords else DictDisplay((), ())
        if not isinstance(named, DictDisplay):
            fail(
                Code.UNSUPPORTED_KWARGS,
                f"** of {describe(named)} in a call: only a dict whose keys are known names arguments",
            )
        if not all(isinstance(key, str) for key in named.keys):
            self.fails(TypeError, "keywords must be strings")
        keywords = {str(key): item for key, item in zip(named.keys, named.items)}
        packed, callee = self.unwrap(self.pop()), self.pop()
        items = sequences.known_items(self, packed)
        if items is None or any(isinstance(item, Sequence_) and item.kind == "spread" for item in items):
            from quadrants.infer import spread  # which few programs need

            self.push(spread.call(self, callee, packed, keywords))
            return
        self.push(self.call_value(callee, items, keywords))

    def unwrap(self, value: Abstract, text: str = "None where a value is needed", exc: type = TypeError) -> Abstract:
        """As `Emitter.unwrap`; generator expressions give their items."""
        return calls.consume(self, value, "list") if isinstance(value, Generator) else super().unwrap(value, text, exc)

    def consume(self, generator: Generator, consumer: str) -> Abstract:
        return calls.consume(self, generator, consumer)

    def _yield(self, _: object) -> None:
        if not self.ref.generator:
            fail(Code.UNSUPPORTED_YIELD, "a generator cannot be compiled")
        value, env = self.pop(), self.live_env
        self.push(Const(None))
        if self.ref.generator == "list":
            env.stack.append(env.locals[YIELDED])
            env.stack.append(value)
            self._list_append(1)
            env.locals[YIELDED] = self.pop()
            return
        if self.ref.generator == "next":
            self.branch(self.b.bool(True), lambda: self._finish_early(Tup((value,))), lambda: None)
            return
        stops = self.ref.generator == "any"
        test = operators.truth(self, value)
        self.branch(
            self.b.bool(test) if isinstance(test, bool) else test,
            lambda: self._finish_early(Const(True)) if stops else None,
            lambda: None if stops else self._finish_early(Const(False)),
        )

    def result_of(self, value: Abstract) -> Abstract:
        """A generator expression that has come to its end gives what its consumer wants."""
        if not self.ref.generator:
            return leaving(self, value)
        if self.ref.generator == "list":
            return leaving(self, self.live_env.locals[YIELDED])
        return Const(None if self.ref.generator == "next" else self.ref.generator == "all")

    def _finish_early(self, answer: Abstract) -> None:
        self.returns.append(Return(self.b.region, answer, self.b.loc))
        self.env = None

    def call_value(self, callee: Abstract, args: Sequence[Abstract], keywords: dict[str, Abstract]) -> Abstract:
        """Call any value."""
        return calls.call(self, callee, tuple(args), keywords)

    def portable_attribute(self, value: Abstract, name: str) -> Abstract | None:
        return dispatch.get_attr(self, value, name)

    def device_value(self, name: object) -> Abstract:
        from quadrants.infer import device  # its tables are loaded by the first kernel

        return device.value_of(self, name)

    def device_attribute(self, owner: object, name: str) -> Abstract:
        """An attribute of a name of the explicit language."""
        from quadrants.infer import device

        return device.attribute(self, owner, name)

    def call_library(self, target: str, *args: Abstract, **kwargs: Abstract) -> Abstract:
        return calls.call_library(self, target, args, kwargs)

    def _make_function(self, flags: frozenset[str]) -> None:
        code = self.pop()
        assert isinstance(code, Const) and isinstance(code.value, pytypes.CodeType)
        free: tuple[tuple[str, Abstract | None], ...] = ()
        if "closure" in flags:
            cells = self.pop()
            assert isinstance(cells, Tup)
            names = [cell.name for cell in cells.items if isinstance(cell, Cell)]
            free = tuple((name, self.cell_value(name)) for name in names)
        for flag in ("annotate", "annotations"):
            if flag in flags:
                self.pop()
        named = self.pop() if "kwdefaults" in flags else DictDisplay((), ())
        defaults = self.lasting(None, self.pop()) if "defaults" in flags else Tup(())
        assert isinstance(defaults, Tup) and isinstance(named, DictDisplay)
        kwdefaults = tuple((str(key), item) for key, item in zip(named.keys, named.items))
        self.push(Closure(code.value, self.ref.globals, defaults.items, kwdefaults, free))


_W = InstructionWalk
INSTRUCTIONS: dict[Opcode, Callable[..., Any]] = {
    Opcode.PUSH: _W._push,
    Opcode.LOAD_LOCAL: _W._load_local,
    Opcode.LOAD_LOCAL_OR_UNDEF: _W._load_or_undef,
    Opcode.STORE_LOCAL: _W._store_local,
    Opcode.DELETE_LOCAL: _W._delete_local,
    Opcode.MAKE_CELL: _W._make_cell,
    Opcode.LOAD_CELL: lambda w, name: w.push(Cell(str(name))),
    Opcode.LOAD_DEREF: _W._load_deref,
    Opcode.STORE_DEREF: _W._store_deref,
    Opcode.DELETE_DEREF: _W._delete_deref,
    Opcode.LOAD_GLOBAL: _W._load_global,
    Opcode.LOAD_ATTR: lambda w, name: w.push(w.get_attr(w.pop(), str(name))),
    Opcode.STORE_ATTR: _W._store_attr,
    Opcode.SUBSCR: _W._subscr,
    Opcode.STORE_SUBSCR: _W._store_subscr,
    Opcode.UNARY: _W._unary,
    Opcode.BINARY: _W._binary,
    Opcode.INPLACE: _W._inplace,
    Opcode.COMPARE: _W._compare,
    Opcode.IS_OP: _W._is_op,
    Opcode.CONTAINS_OP: _W._contains,
    Opcode.BUILD_SLICE: _W._build_slice,
    Opcode.BUILD_TUPLE: lambda w, n: w.push(Tup(w._take(n))),  # type: ignore[arg-type]
    Opcode.IMPORT_NAME: _W._import,
    Opcode.IMPORT_FROM: _W._import_from,
    Opcode.INTRINSIC: _W._intrinsic,
    Opcode.YIELD: _W._yield,
    Opcode.MATCH_SEQUENCE: _W._match_sequence,
    Opcode.BUILD_LIST: _W._build_list,
    Opcode.DELETE_SUBSCR: _W._delete_subscr,
    Opcode.BUILD_MAP: _W._build_map,
    Opcode.DICT_UPDATE: _W._dict_update,
    Opcode.DICT_MERGE: _W._dict_merge,
    Opcode.BUILD_CONST_MAP: _W._build_const_map,
    Opcode.BUILD_STRING: _W._build_string,
    Opcode.CONVERT: _W._convert,
    Opcode.FORMAT: _W._format,
    Opcode.LIST_EXTEND: _W._list_extend,
    Opcode.LIST_APPEND: _W._list_append,
    Opcode.LIST_TO_TUPLE: lambda w, _: w.push(Tup(sequences.as_items(w, w.pop()))),
    Opcode.UNPACK: _W._unpack,
    Opcode.UNPACK_EX: _W._unpack_ex,
    Opcode.GET_LEN: lambda w, _: w.push(sequences.length(w, w.live_env.stack[-1])),
    Opcode.CALL: _W._call,
    Opcode.CALL_EX: _W._call_ex,
    Opcode.MAKE_FUNCTION: _W._make_function,
    Opcode.POP_TOP: lambda w, _: w.live_env.stack.pop() and None,
    Opcode.COPY: _W._copy,
    Opcode.SWAP: _W._swap,
    Opcode.GET_ITER: lambda w, _: None,
    Opcode.LOAD_SPECIAL: load_special,
    Opcode.PUSH_EXC: raising.push_exc,
    Opcode.POP_EXCEPT: raising.pop_except,
    Opcode.CHECK_EXC_MATCH: raising.check_exc_match,
}
