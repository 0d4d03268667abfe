"""What is raised, and which exceptions a handler takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quadrants.diagnostics import Code
from quadrants.infer import calls, texts
from quadrants.infer.emitter import class_name, describe, fail
from quadrants.infer.values import Abstract, Const, Exc, NewExc, Num, Object
from quadrants.types import TupleType
from quadrants.types.promotion import weak_of

if TYPE_CHECKING:
    from quadrants.infer.instructions import InstructionWalk


def raise_value(w: InstructionWalk, argc: int) -> None:
    """`raise`, `raise exception` and `raise exception from cause`, by the number of values."""
    cause = _cause(w.pop()) if argc == 2 else ""
    if argc:
        _raise_object(w, w.unwrap(w.pop()), cause)
    elif w.live_env.handling:
        w.b.op("reraise", w.live_env.handling[-1].value)
    else:
        w.check(w.b.bool(False), RuntimeError, "No active exception to reraise")
        w.b.op("unreachable")


def _cause(cause: Abstract) -> str:
    """What the exception that is being handled is to one that is raised `from` another; other causes are not kept."""
    known = cause.value if isinstance(cause, Const) else None
    if isinstance(cause, Exc):
        return "cause"
    if isinstance(cause, Const) and known is None:
        return "none"
    if isinstance(cause, (NewExc, Object)) or isinstance(known, (type, BaseException)):
        return ""
    fail(Code.BAD_EXCEPTION, f"exception causes must derive from BaseException, not {describe(cause)}")


def _raise_object(w: InstructionWalk, value: Abstract, cause: str) -> None:
    if isinstance(value, Const) and isinstance(value.value, type):
        value = NewExc(value.value, ())
    if isinstance(value, Const) and isinstance(value.value, BaseException):
        value = NewExc(type(value.value), tuple(Const(arg) for arg in value.value.args))
    if isinstance(value, Exc):
        w.b.op("reraise", value.value)
        return
    if isinstance(value, Object):
        texts.throw(w, value)
        w.b.op("unreachable")
        return
    if not isinstance(value, NewExc) or not issubclass(value.cls, BaseException):
        fail(Code.BAD_EXCEPTION, f"exceptions must derive from BaseException, not {describe(value)}")
    args = tuple(texts.given(w, _argument(w, arg)) for arg in value.args)
    leaves = [leaf for arg in args for leaf in arg.leaves]
    more: dict[str, Any] = {"cause": cause} if cause else {}
    if "<locals>" in value.cls.__qualname__:
        more["bases"] = tuple(class_name(cls) for cls in value.cls.__mro__[1:] if issubclass(cls, BaseException))
    types = TupleType(tuple(arg.type for arg in args))
    w.b.op("raise", *leaves, exc=class_name(value.cls), args=types, **more)


def _argument(w: InstructionWalk, value: Abstract) -> Abstract:
    """An argument of the exception that is raised."""
    if isinstance(value, Exc):
        return texts.kept(w, value)
    if any(leaf.heap for leaf in value.type.leaves()):
        fail(Code.UNSUPPORTED_RAISE, "an array cannot be the argument of an exception")
    return value


def push_exc(w: InstructionWalk, _: object) -> None:
    """A handler begins."""
    exc = w.live_env.stack[-1]
    assert isinstance(exc, Exc)
    w.live_env.handling = (*w.live_env.handling, exc)


def pop_except(w: InstructionWalk, _: object) -> None:
    """A handler ends."""
    w.live_env.handling = w.live_env.handling[:-1]


def check_exc_match(w: InstructionWalk, _: object) -> None:
    """Whether the exception is of one of the classes."""
    classes = w.pop()
    exc = w.live_env.stack[-1]
    assert isinstance(exc, Exc)
    wanted = [item.value if isinstance(item, Const) else None for item in calls.flatten(classes)]
    bad = [cls for cls in wanted if not (isinstance(cls, type) and issubclass(cls, BaseException))]
    if bad:
        fail(Code.UNSUPPORTED_EXCEPT, "an except clause needs exception classes that are constants")
    names = tuple(class_name(cls) for cls in wanted if isinstance(cls, type))
    w.push(Num(weak_of(True), w.b.value("exc.match", exc.value, classes=names)))
