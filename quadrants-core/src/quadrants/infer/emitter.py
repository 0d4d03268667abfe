"""What every part of the walk needs to emit code: constants, conversions, checks, calls of the library.

`Emitter` knows nothing about bytecode or control flow; the walk derives from it.
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Callable, Sequence
from typing import NoReturn

from quadrants._frozen import frozen
from quadrants.diagnostics import Code, CompileError, Decision
from quadrants.infer.describe import type_name, type_names
from quadrants.infer.merge import Number, cast_value, to_num
from quadrants.infer.values import Abstract, Const, Maybe, Num, Opt
from quadrants.ir import Value
from quadrants.ir.builder import Builder
from quadrants.ir.core import Region
from quadrants.types import F32, I32, I64, U64, LiteralType, Scalar, TupleType, Type
from quadrants.types.promotion import integer_range, weak_of

#: The attribute of an error on its way to the walk: the value that it is about.
ABOUT = "_about"

#: The start, stop and step of a loop.
Bounds = tuple[Value, Value, Value]


@frozen
class Options:
    """How a call tree is compiled; part of its signature.

    Args:
        fp: "default" (contraction, reassociated reductions), "strict" or "fast".
        boundscheck: whether out-of-range indices raise.
        debug: extra checks (integer overflow).
        division: of Python's numbers by zero: "python" raises, "ieee" gives inf or nan (integers: 0).
        kernel: whether numbers follow the rules of kernels: nothing raises for them, and integers do not widen floats.
        portable: whether outermost loops are parallel by declaration, and vectors are values.
        default_ip: what `int` means in the portable language.
        default_fp: what `float` means there, and what variables hold that Python's floats are put into.
        device: the backend whose device the code is for; empty for code that the interpreter calls. In the portable language
            the entry, and what it calls outside of loops, are the host's part of it.
        lacks: names of the explicit language that the device has not, each with what to use instead.
    """

    fp: str = "default"
    boundscheck: bool = True
    debug: bool = False
    division: str = "python"
    kernel: bool = False
    portable: bool = False
    default_ip: Scalar = I32
    default_fp: Scalar = F32
    device: str = ""
    lacks: tuple[tuple[str, str], ...] = ()


#: How the engine compiles and calls: (emitter, function, positional, keywords, internal) -> result.
Caller = Callable[["Emitter", object, Sequence[Abstract], "dict[str, Abstract]"], Abstract]


class NeverReturns(Exception):
    """What was emitted does not come back: what follows is unreachable."""


class Emitter:
    """Emits QIR through `b`.

    Args:
        builder: appends ops.
        options: the compile options.
        call_library: compiles a function of the library for the arguments and emits the call.
    """

    #: Whether this is the portable language.
    portable = False
    #: How many threads of a device the turns of the next loop are given to at once (see `loop_config`); 0: any number.
    block_next = 0

    def __init__(self, builder: Builder, options: Options) -> None:
        self.b = builder
        self.options = options
        self.decisions: list[Decision] = []

    @property
    def floats(self) -> Scalar | None:
        """What registers hold instead of Python's floats; None where they hold those."""
        return self.options.default_fp if self.portable else None

    @property
    def fp(self) -> str:
        """The floating-point mode of what is emitted now."""
        return self.b.mode or self.options.fp

    def call_library(self, target: str, *args: Abstract, **kwargs: Abstract) -> Abstract:
        """Call the library function `module:name` (below `quadrants.library`). The walk provides it."""
        raise AssertionError("the walk provides calls")

    # constants and conversions

    def num(self, value: Abstract) -> Num:
        """A number in a register. Raises CompileError if the value is no number."""
        if isinstance(value, Opt):
            value = self.unwrap(value)
        if isinstance(value, Const) and isinstance(value.value, Number):
            if isinstance(value.value, int) and not -(2**63) <= value.value < 2**63:
                fail(
                    Code.CONSTANT_OVERFLOW,
                    f"the integer {value.value} does not fit in 64 bits",
                    hint="Use a float, or np.uint64(...) for values up to 2**64 - 1.",
                )
            return to_num(self.b, value)
        if isinstance(value, Num):
            return value
        fail(Code.TYPE_MISMATCH, f"a number is needed here, not {describe(value)}", at=value)

    def cast(self, value: Abstract, to: Scalar) -> Value:
        """The register of a number converted to `to`."""
        if isinstance(value, Const) and isinstance(value.value, Number):
            folded = fold_cast(value.value, to.machine)
            if folded is not None:
                return self.b.const(folded, to.machine)
        return cast_value(self.b, self.num(value), to)

    def integer(self, value: Abstract, what: str = "an index") -> Value:
        """An int64 register of an integer (booleans are not taken)."""
        if isinstance(value, Opt):
            value = self.unwrap(value)
        scalar = scalar_type(value)
        if scalar is None or not scalar.is_integer:
            hint = "Convert it with int(...)." if scalar is not None and scalar.is_float else None
            fail(Code.TYPE_MISMATCH, f"{what} has to be an integer, not {describe(value)}", hint=hint, at=value)
        register = self.cast(value, I64)
        if scalar == U64:
            fits = self.b.value("cmp", register, self.b.i64(0), pred="ge")
            self.check(fits, OverflowError, "Python int too large to convert to C long")
        return register

    def truth(self, value: Abstract) -> Value:
        """The truth of a number as a register."""
        num = self.num(value)
        if num.scalar.is_bool:
            return num.value
        if num.scalar.is_complex:
            zero = self.b.const(0.0, num.scalar.machine.part)
            real = self.b.value("cmp", self.b.value("real", num.value), zero, pred="ne")
            return self.b.value("or", real, self.b.value("cmp", self.b.value("imag", num.value), zero, pred="ne"))
        return self.b.value("cmp", num.value, self.b.const(0, num.scalar.machine), pred="ne")

    # checks and errors

    def check(self, condition: Value, exc: type, *args: Abstract | str, note: str = "") -> None:
        """Raise `exc(*args)` at run time, with a note for people, unless the condition holds."""
        values = [Const(arg) if isinstance(arg, str) else arg for arg in args]
        leaves = [leaf for value in values for leaf in value.leaves]
        more = {"note": note} if note else {}
        args_ = TupleType(tuple(v.type for v in values))
        self.b.op("check", condition, *leaves, regions=(), exc=class_name(exc), args=args_, **more)

    def unless(self, condition: Value, body: Callable[[], None]) -> None:
        """Run code without results where the condition does not hold."""
        regions = [Region(), Region()]
        with self.b.into(regions[0]):
            self.b.op("yield")
        with self.b.into(regions[1]):
            try:
                body()
                self.b.op("yield")
            except NeverReturns:
                self.b.op("unreachable")
        self.b.op("if", condition, regions=regions)

    def fails(self, exc: type, *args: Abstract | str, note: str = "") -> NoReturn:
        """Raise `exc(*args)` at run time; nothing after it is reached."""
        self.check(self.b.bool(False), exc, *args, note=note)
        raise NeverReturns

    def wrong(
        self,
        exc: type,
        message: Abstract | str,
        code: Code,
        *,
        hint: str | None = None,
        types: Sequence[tuple[str, Type]] = (),
    ) -> NoReturn:
        """What is certain to raise `exc(message)` where the interpreter gets there: so does compiled code, and only there.

        A note of the exception has the types and the hint. In kernels, which raise nothing by themselves, it is the error
        `code` when compiling.
        """
        if self.options.kernel or self.options.device:
            fail(code, message if isinstance(message, str) else f"this raises {exc.__name__}", hint=hint, types=types)
        self.note_raise(f"always raises {exc.__name__}" + (f": {message}" if isinstance(message, str) else ""), hint)
        self.fails(exc, message, note=_note(code, hint, types))

    def note_raise(self, text: str, hint: str | None) -> None:
        """Record for `explain()` what is certain to raise at the present place. The walk provides it."""

    def unwrap(self, value: Abstract, text: str = "None where a value is needed", exc: type = TypeError) -> Abstract:
        """The item of an optional, with an exception at run time where it is None."""
        if isinstance(value, Opt):
            self.check(value.flag, exc, text)
            return value.item
        return value

    def bound(self, value: Abstract | None, name: str) -> Abstract:
        """The value of a local, with an UnboundLocalError at run time where it is not bound."""
        text = f"cannot access local variable '{name}' where it is not associated with a value"
        if value is None:
            self.fails(UnboundLocalError, text)
        if isinstance(value, Maybe):
            self.check(value.flag, UnboundLocalError, text)
            return value.item
        return value

    def new_region(self, arg_types: Sequence[Type] = ()) -> Region:
        return Region([Value(type_) for type_ in arg_types])


def fold_cast(value: bool | int | float | complex, to: Scalar) -> bool | int | float | complex | None:
    """The constant converted to the machine type, when that needs no code; None when it is not that simple."""
    if to.is_complex:
        return complex(value)
    if isinstance(value, complex):
        return None
    if to.is_float:
        return float(value) if not isinstance(value, int) or abs(value) < 2**1023 else None
    if to.is_bool:
        return bool(value)
    if isinstance(value, float):
        return None
    low, high = integer_range(to)
    return int(value) if low <= int(value) <= high else None


def class_name(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def scalar_type(value: Abstract) -> Scalar | None:
    """The scalar type of a number, constants as their weak type; None for everything else."""
    if isinstance(value, Num):
        return value.scalar
    if isinstance(value, Const) and isinstance(value.value, Number):
        return weak_of(value.value)
    return None


def _note(code: Code, hint: str | None, types: Sequence[tuple[str, Type]]) -> str:
    """What an error says beside its message, for an exception at run time."""
    width = max((len(name) for name, _ in types), default=0)
    lines = [
        f"  {'where' if k == 0 else '     '} {name:<{width}} : {type_name(t)}" for k, (name, t) in enumerate(types)
    ]
    return "\n".join((*lines, f"  hint: {hint or code.entry.hint} ({code})"))


def describe(value: Abstract | Type) -> str:
    """A type as a user would say it."""
    type_ = value.type if isinstance(value, Abstract) else value
    if isinstance(type_, LiteralType) and not callable(type_.value) and not isinstance(type_.value, pytypes.ModuleType):
        return f"the constant {type_.value!r}"
    return type_name(type_)


def fail(
    code: Code,
    message: str,
    *,
    hint: str | None = None,
    types: Sequence[tuple[str, Type]] = (),
    notes: Sequence[str] = (),
    at: Abstract | None = None,
) -> NoReturn:
    """Raise a compile error; the walk adds where: the expression that gave the value `at`, else the present operation."""
    named = list(zip((name for name, _ in types), type_names([type_ for _, type_ in types])))
    error = CompileError(code, message, types=named, hint=hint, notes=notes)
    if at is not None:
        vars(error)[ABOUT] = at
    raise error
