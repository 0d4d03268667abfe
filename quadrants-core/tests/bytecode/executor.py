"""A reference executor of region trees: plain Python, canonical operations on real objects.

`run(function, py_func, *args)` does what calling `py_func` would do. It is the meaning of every operation and node, and
the tests compare it with the interpreter.
"""

from __future__ import annotations

import builtins
import operator
import types
from collections.abc import Callable

from quadrants import bytecode as b
from quadrants.bytecode.blocks import Block
from quadrants.bytecode.rules import Flow

UNDEF = object()
BINARY: dict[str, Callable[[object, object], object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
INPLACE: dict[str, Callable[[object, object], object]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "@": operator.imatmul,
    "<<": operator.ilshift,
    ">>": operator.irshift,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
}
COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
UNARY = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "not": operator.not_,
    "bool": bool,
}
LIMIT = 50_000


class Broken(BaseException):
    """The tree breaks a rule; no handler of the program catches this."""


def check(condition: bool, message: object) -> None:
    if not condition:
        raise Broken(message)


class Left:
    """Control has left a node: for a label, or with a value to return."""

    def __init__(self, node: object, value: object = None) -> None:
        self.node = node
        self.value = value


def run(function: b.Function, py_func: types.FunctionType, *args: object, strict: bool = True) -> object:
    """Calls the function with positional arguments, on the region tree. Strict: the stacks are clean at the end."""
    return Frame(function, py_func, args, strict).run()


def run_blocks(blocks: list[Block], function: b.Function, py_func: types.FunctionType, *args: object) -> object:
    """The same on basic blocks, before they are structured."""
    frame = Frame(function, py_func, args, strict=False)
    current = blocks[0]
    while True:
        frame.steps += 1
        check(frame.steps < LIMIT, "does not end")
        try:
            step = frame.block(current)
        except Broken:
            raise
        except BaseException as exc:
            if current.handler < 0:
                raise
            del frame.stack[current.depth :]
            frame.stack.append(exc)
            step = current.handler
        if isinstance(step, Left):
            return step.value
        current = blocks[step]


class Frame:
    def __init__(
        self, function: b.Function, py_func: types.FunctionType, args: tuple[object, ...], strict: bool
    ) -> None:
        self.strict = strict
        self.function = function
        self.globals = py_func.__globals__
        self.slots: dict[str, object] = dict.fromkeys(function.names, UNDEF)
        self.slots.update(zip(function.names, args))
        code = function.code or py_func.__code__
        self.slots.update(zip(code.co_freevars, py_func.__closure__ or ()))
        self.stack: list = []
        self.handled: list[BaseException] = []
        self.steps = 0

    def run(self) -> object:
        left = self.node(self.function.body)
        if not isinstance(left, Left) or not isinstance(left.node, b.Return):
            raise Broken("control fell off the end")
        check(not self.handled or not self.strict, "an exception is still being handled")
        return left.value

    def pop(self) -> object:
        return self.stack.pop()

    def popn(self, n: int) -> list:
        if n == 0:
            return []
        assert len(self.stack) >= n
        values = self.stack[-n:]
        del self.stack[-n:]
        return values

    # Control

    def node(self, node: b.Node) -> Left | None:
        self.steps += 1
        check(self.steps < LIMIT, "does not end")
        return getattr(self, "do_" + type(node).__name__)(node)

    def do_Seq(self, node: b.Seq) -> Left | None:
        for item in node.items:
            left = self.node(item)
            if left is not None:
                return left
        return None

    def do_Code(self, node: b.Code) -> None:
        for inst in node.insts:
            before = len(self.stack)
            getattr(self, inst.op.name)(inst.arg)
            pops, pushes = b.effect(inst.op, inst.arg)
            check(before >= pops and len(self.stack) == before - pops + pushes, inst)

    def do_If(self, node: b.If) -> Left | None:
        return self.node(node.then if self.pop() else node.orelse)

    def do_Block(self, node: b.Block) -> Left | None:
        left = self.node(node.body)
        if left is not None and isinstance(left.node, b.Exit) and left.node.label == node.label:
            return None
        return left

    def again(self, label: int, left: Left | None) -> bool:
        return left is None or (isinstance(left.node, b.Continue) and left.node.label == label)

    def do_Loop(self, node: b.Loop) -> Left:
        depth = len(self.stack)
        while True:
            left = self.node(node.body)
            if not self.again(node.label, left):
                assert left is not None
                return left
            check(len(self.stack) == depth, "a loop changes the stack depth")
            self.steps += 1

    def do_For(self, node: b.For) -> Left | None:
        depth = len(self.stack)
        while True:
            try:
                item = self.next(self.stack[-1])
            except StopIteration:
                break
            self.stack.append(item)
            left = self.node(node.body)
            if not self.again(node.label, left):
                return left
            check(len(self.stack) == depth, "a loop changes the stack depth")
        self.pop()
        return self.node(node.exhausted)

    def next(self, iterator: object) -> object:
        return next(iterator)  # type: ignore[call-overload]

    def do_Try(self, node: b.Try) -> Left | None:
        try:
            return self.node(node.body)
        except Broken:
            raise
        except BaseException as exc:  # noqa: BLE001 - a handler of the program gets everything
            caught = exc
        check(len(self.stack) >= node.depth, "the stack is too low for a handler")
        del self.stack[node.depth :]
        self.stack.append(caught)
        return self.node(node.handler)

    def do_Exit(self, node: b.Exit) -> Left:
        return Left(node)

    do_Continue = do_Exit

    def do_Return(self, node: b.Return) -> Left:
        value = self.pop()
        check(not self.stack or not self.strict, "values are left on the stack at a return")
        return Left(node, value)

    def do_Raise(self, node: b.Raise) -> None:
        if node.argc == 0:
            if not self.handled:
                raise RuntimeError("No active exception to reraise")
            raise self.handled[-1]
        cause = self.pop() if node.argc == 2 else UNDEF
        exc = self.pop()
        if cause is UNDEF:
            raise exc  # type: ignore[misc]
        raise exc from cause  # type: ignore[misc]

    def block(self, block: Block) -> Left | int:
        """Runs a basic block; gives the next one, or the result."""
        self.do_Code(b.Code(tuple(block.insts)))
        match block.flow:
            case Flow.BRANCH:
                return block.succs[0 if self.pop() else 1]
            case Flow.FOR:
                try:
                    self.stack.append(self.next(self.stack[-1]))
                except StopIteration:
                    self.pop()
                    return block.succs[1]
                return block.succs[0]
            case Flow.RETURN:
                return self.do_Return(b.Return(block.loc))
            case Flow.RAISE:
                self.do_Raise(b.Raise(block.argc, block.loc))
            case Flow.RERAISE:
                self.do_Reraise(b.Reraise(block.loc))
        return block.succs[0]

    def do_Reraise(self, node: b.Reraise) -> None:
        raise self.pop()  # type: ignore[misc]

    # Variables

    def PUSH(self, value: object) -> None:
        self.stack.append(value)

    def LOAD_LOCAL(self, name: str) -> None:
        value = self.slots[name]
        if value is UNDEF:
            text = f"cannot access local variable '{name}' where it is not associated with a value"
            raise UnboundLocalError(text)
        self.stack.append(value)

    def LOAD_LOCAL_OR_UNDEF(self, name: str) -> None:
        self.stack.append(self.slots[name])
        self.slots[name] = UNDEF

    def STORE_LOCAL(self, name: str) -> None:
        self.slots[name] = self.pop()

    def DELETE_LOCAL(self, name: str) -> None:
        self.LOAD_LOCAL(name)
        self.pop()
        self.slots[name] = UNDEF

    def MAKE_CELL(self, name: str) -> None:
        value = self.slots[name]
        self.slots[name] = types.CellType() if value is UNDEF else types.CellType(value)

    def LOAD_CELL(self, name: str) -> None:
        self.stack.append(self.slots[name])

    def LOAD_DEREF(self, name: str) -> None:
        cell = self.slots[name]
        assert isinstance(cell, types.CellType)
        try:
            self.stack.append(cell.cell_contents)
        except ValueError:
            code = self.function.code
            if code is not None and name in code.co_freevars:
                text = (
                    f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
                )
                raise NameError(text) from None
            text = f"cannot access local variable '{name}' where it is not associated with a value"
            raise UnboundLocalError(text) from None

    def STORE_DEREF(self, name: str) -> None:
        cell = self.slots[name]
        assert isinstance(cell, types.CellType)
        cell.cell_contents = self.pop()

    def DELETE_DEREF(self, name: str) -> None:
        self.LOAD_DEREF(name)
        self.pop()
        del self.slots[name].cell_contents  # type: ignore[attr-defined]

    def LOAD_GLOBAL(self, name: str) -> None:
        if name in self.globals:
            self.stack.append(self.globals[name])
        elif hasattr(builtins, name):
            self.stack.append(getattr(builtins, name))
        else:
            raise NameError(f"name '{name}' is not defined")

    def STORE_GLOBAL(self, name: str) -> None:
        self.globals[name] = self.pop()

    def LOAD_BUILD_CLASS(self, _: None) -> None:
        self.stack.append(builtins.__build_class__)

    # Attributes, items, operators

    def LOAD_ATTR(self, name: str) -> None:
        self.stack.append(getattr(self.pop(), name))

    def LOAD_SPECIAL(self, name: str) -> None:
        value = self.pop()
        try:
            method = getattr(type(value), name)
        except AttributeError:
            text = f"'{type(value).__name__}' object does not support the context manager protocol"
            raise TypeError(text) from None
        self.stack.append(method.__get__(value, type(value)))

    def STORE_ATTR(self, name: str) -> None:
        value, target = self.popn(2)
        setattr(target, name, value)

    def DELETE_ATTR(self, name: str) -> None:
        delattr(self.pop(), name)

    def SUBSCR(self, _: None) -> None:
        container, key = self.popn(2)
        self.stack.append(container[key])

    def STORE_SUBSCR(self, _: None) -> None:
        value, container, key = self.popn(3)
        container[key] = value

    def DELETE_SUBSCR(self, _: None) -> None:
        container, key = self.popn(2)
        del container[key]

    def UNARY(self, symbol: str) -> None:
        self.stack.append(UNARY[symbol](self.pop()))

    def BINARY(self, symbol: str) -> None:
        self.stack.append(BINARY[symbol](*self.popn(2)))

    def INPLACE(self, symbol: str) -> None:
        self.stack.append(INPLACE[symbol](*self.popn(2)))

    def COMPARE(self, symbol: str) -> None:
        self.stack.append(COMPARE[symbol](*self.popn(2)))

    def IS_OP(self, invert: bool) -> None:
        left, right = self.popn(2)
        self.stack.append((left is right) != invert)

    def CONTAINS_OP(self, invert: bool) -> None:
        item, container = self.popn(2)
        self.stack.append((item in container) != invert)

    # Building

    def BUILD_SLICE(self, n: int) -> None:
        self.stack.append(slice(*self.popn(n)))

    def BUILD_TUPLE(self, n: int) -> None:
        self.stack.append(tuple(self.popn(n)))

    def BUILD_LIST(self, n: int) -> None:
        self.stack.append(self.popn(n))

    def BUILD_SET(self, n: int) -> None:
        self.stack.append(set(self.popn(n)))

    def BUILD_MAP(self, n: int) -> None:
        items = self.popn(2 * n)
        self.stack.append(dict(zip(items[::2], items[1::2])))

    def BUILD_CONST_MAP(self, keys: tuple) -> None:
        self.stack.append(dict(zip(keys, self.popn(len(keys)))))

    def BUILD_STRING(self, n: int) -> None:
        self.stack.append("".join(self.popn(n)))

    def CONVERT(self, kind: str) -> None:
        self.stack.append({"str": str, "repr": repr, "ascii": ascii}[kind](self.pop()))

    def FORMAT(self, has_spec: bool) -> None:
        spec = self.pop() if has_spec else ""
        self.stack.append(format(self.pop(), spec))  # type: ignore[call-overload]

    def LIST_EXTEND(self, n: int) -> None:
        value = self.pop()
        self.stack[-n].extend(value)

    def LIST_APPEND(self, n: int) -> None:
        value = self.pop()
        self.stack[-n].append(value)

    def LIST_TO_TUPLE(self, _: None) -> None:
        self.stack.append(tuple(self.pop()))  # type: ignore[call-overload]

    def SET_ADD(self, n: int) -> None:
        value = self.pop()
        self.stack[-n].add(value)

    def SET_UPDATE(self, n: int) -> None:
        value = self.pop()
        self.stack[-n].update(value)

    def MAP_ADD(self, n: int) -> None:
        key, value = self.popn(2)
        self.stack[-n][key] = value

    def DICT_UPDATE(self, n: int) -> None:
        value = self.pop()
        self.stack[-n].update(value)

    DICT_MERGE = DICT_UPDATE

    def UNPACK(self, n: int) -> None:
        values = list(self.pop())  # type: ignore[call-overload]
        if len(values) < n:
            raise ValueError(f"not enough values to unpack (expected {n}, got {len(values)})")
        if len(values) > n:
            raise ValueError(f"too many values to unpack (expected {n})")
        self.stack.extend(reversed(values))

    def UNPACK_EX(self, arg: tuple[int, int]) -> None:
        before, after = arg
        values = list(self.pop())  # type: ignore[call-overload]
        if len(values) < before + after:
            raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(values)})")
        end = len(values) - after
        self.stack.extend(reversed([*values[:before], values[before:end], *values[end:]]))

    def GET_LEN(self, _: None) -> None:
        self.stack.append(len(self.stack[-1]))

    # Calls

    def CALL(self, arg: tuple[int, tuple[str, ...]]) -> None:
        npos, names = arg
        function, *values = self.popn(1 + npos + len(names))
        self.stack.append(function(*values[:npos], **dict(zip(names, values[npos:]))))

    def CALL_EX(self, has_kwargs: bool) -> None:
        function, args, *kwargs = self.popn(2 + has_kwargs)
        self.stack.append(function(*args, **(kwargs[0] if has_kwargs else {})))

    def MAKE_FUNCTION(self, flags: frozenset[str]) -> None:
        code = self.pop()
        assert isinstance(code, types.CodeType)
        closure = self.pop() if "closure" in flags else None
        function = types.FunctionType(code, self.globals, code.co_name, None, closure)  # type: ignore[arg-type]
        if "annotations" in flags:
            items = self.pop()
            assert isinstance(items, tuple)
            function.__annotations__ = dict(zip(items[::2], items[1::2]))
        if "annotate" in flags:
            self.pop()
        if "kwdefaults" in flags:
            function.__kwdefaults__ = self.pop()  # type: ignore[assignment]
        if "defaults" in flags:
            function.__defaults__ = self.pop()  # type: ignore[assignment]
        self.stack.append(function)

    def IMPORT_NAME(self, name: str) -> None:
        level, fromlist = self.popn(2)
        self.stack.append(__import__(name, self.globals, None, fromlist, level))

    def IMPORT_FROM(self, name: str) -> None:
        self.stack.append(getattr(self.stack[-1], name))

    # Stack, iteration

    def POP_TOP(self, _: None) -> None:
        self.pop()

    def COPY(self, n: int) -> None:
        self.stack.append(self.stack[-n])

    def SWAP(self, n: int) -> None:
        self.stack[-1], self.stack[-n] = self.stack[-n], self.stack[-1]

    def GET_ITER(self, _: None) -> None:
        self.stack.append(iter(self.pop()))  # type: ignore[call-overload]

    def FOR_NEXT(self, _: None) -> None:
        try:
            item, more = self.next(self.stack[-1]), True
        except StopIteration:
            item, more = UNDEF, False
        self.stack += [item, more]

    # Exceptions

    def PUSH_EXC(self, _: None) -> None:
        self.handled.append(self.stack[-1])

    def POP_EXCEPT(self, _: None) -> None:
        self.handled.pop()

    def CHECK_EXC_MATCH(self, _: None) -> None:
        kind = self.pop()
        try:
            raise self.stack[-1]
        except kind:  # type: ignore[misc]
            matched = True
        except BaseException:  # noqa: BLE001 - whatever the exception is, it did not match
            matched = False
        self.stack.append(matched)

    def WITH_EXCEPT_START(self, _: None) -> None:
        leave, exc = self.stack[-2:]
        self.stack.append(leave(type(exc), exc, exc.__traceback__))

    # Matching

    def MATCH_SEQUENCE(self, _: None) -> None:
        self.stack.append(isinstance(self.stack[-1], list | tuple))

    def MATCH_MAPPING(self, _: None) -> None:
        self.stack.append(isinstance(self.stack[-1], dict))

    def MATCH_KEYS(self, _: None) -> None:
        subject, keys = self.stack[-2:]
        found = all(key in subject for key in keys)
        self.stack.append(tuple(subject[key] for key in keys) if found else None)

    def MATCH_CLASS(self, n: int) -> None:
        subject, kind, names = self.popn(3)
        if not isinstance(subject, kind):
            self.stack.append(None)
            return
        positional = (subject,) if n and kind in (int, float, str, list) else None
        if positional is None:
            positional = tuple(getattr(subject, kind.__match_args__[i]) for i in range(n))
        self.stack.append(positional + tuple(getattr(subject, name) for name in names))
