"""The exceptions of the compiler.

Takes a `Code`, a message and what is known about the place; gives an exception whose text has the code, the source line
with carets under the exact sub-expression, the types involved, the chain of calls that led there, and the way out.

`CompileError(Code.X, ...)` makes an instance of the class that fits the code (`CompileTypeError` for QD2xx and so on), so
users may catch either `quadrants.QuadrantsError` or the Python exception that fits: TypeError, NameError, SyntaxError.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from quadrants.diagnostics.codes import Code, Family
from quadrants.diagnostics.location import SourceLocation

TypeNote = tuple[str, str]  # (what it is called in the source, the type as text)


class QuadrantsError(Exception):
    """The base of every error that Quadrants itself raises. Its parts are attributes; `str()` is the full text."""

    __module__ = "quadrants"

    code: Code
    message: str
    location: SourceLocation | None
    types: list[TypeNote]
    call_chain: list[SourceLocation]
    hint: str | None
    notes: list[str]

    def __new__(cls, code: Code = Code.INTERNAL, *_args: Any, **_fields: Any) -> Self:
        """An instance of the most specific class for the code, when that is a subclass of the class called."""
        fitting = class_of(code)
        return super().__new__(fitting if issubclass(fitting, cls) else cls)

    def __init__(
        self,
        code: Code,
        message: str,
        location: SourceLocation | None = None,
        *,
        types: Iterable[TypeNote] = (),
        call_chain: Iterable[SourceLocation] = (),
        hint: str | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        # Not super().__init__: SyntaxError's would read the arguments as (message, (filename, line, ...)).
        BaseException.__init__(self, message)
        self.code = code
        self.message = message
        self.location = location
        self.types = list(types)
        self.call_chain = list(call_chain)
        self.hint = hint
        self.notes = list(notes)

    def add_caller(self, location: SourceLocation) -> None:
        """Record one more call that led here; callers are added from the inside out, the innermost stays last."""
        self.call_chain.insert(0, location)

    def __str__(self) -> str:
        from quadrants.diagnostics.render import render_error

        return render_error(self)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: self.__dict__[name] for name in _FIELDS}
        rest = {name: value for name, value in self.__dict__.items() if name not in _FIELDS}
        return (_rebuild, (type(self).__name__, fields), rest or None)


class CompileError(QuadrantsError):
    """A program that cannot be compiled."""

    __module__ = "quadrants"


class CompileSyntaxError(CompileError, SyntaxError):
    """QD1xx: a construct of Python that the compiler does not take."""

    __module__ = "quadrants"

    @property
    def msg(self) -> str:  # type: ignore[override]
        """The full text: the interpreter prints a SyntaxError by this attribute instead of by str()."""
        return str(self)


class CompileNameError(CompileError, NameError):
    """A name that is defined nowhere."""

    __module__ = "quadrants"


class CompileTypeError(CompileError, TypeError):
    """QD2xx: types that do not fit."""

    __module__ = "quadrants"


class CompileAttributeError(CompileTypeError, AttributeError):
    """An attribute that a type does not have."""

    __module__ = "quadrants"


class CompileValueError(CompileError, ValueError):
    """QD3xx: a value that has to be constant and is not, or that is out of its range."""

    __module__ = "quadrants"


class BackendError(CompileError):
    """QD4xx: something about a backend, a device or its capabilities."""

    __module__ = "quadrants"


class BackendUnavailable(BackendError):
    """A backend that is not installed, or cannot be used on this machine. The text says why and what to do."""

    __module__ = "quadrants"


class DeviceError(QuadrantsError, RuntimeError):
    """What a kernel did wrong while it ran: a race, a barrier that some threads never reach, a read of what was not written."""

    __module__ = "quadrants"


class EnvironmentProblem(QuadrantsError):
    """QD5xx: the cache, the settings or the platform."""

    __module__ = "quadrants"


class CacheError(EnvironmentProblem):
    """Something about the on-disk cache."""

    __module__ = "quadrants"


class SettingError(EnvironmentProblem, ValueError):
    """A setting whose value cannot be used."""

    __module__ = "quadrants"


class UnsupportedPlatform(EnvironmentProblem, ImportError):
    """This interpreter, or this machine, cannot run Quadrants."""

    __module__ = "quadrants"


class InternalError(EnvironmentProblem):
    """An invariant of the compiler does not hold: a bug of Quadrants, not of the program."""

    __module__ = "quadrants"


class QuadrantsWarning(UserWarning):
    """The category of every warning of Quadrants. The text starts with the code."""

    __module__ = "quadrants"


_BY_FAMILY: dict[Family, type[QuadrantsError]] = {
    Family.SYNTAX: CompileSyntaxError,
    Family.TYPES: CompileTypeError,
    Family.VALUES: CompileValueError,
    Family.BACKENDS: BackendError,
    Family.ENVIRONMENT: EnvironmentProblem,
}

_BY_CODE: dict[Code, type[QuadrantsError]] = {
    Code.UNDEFINED_NAME: CompileNameError,
    Code.NO_ATTRIBUTE: CompileAttributeError,
    Code.NO_BYTECODE: CompileTypeError,
    Code.BACKEND_MISSING: BackendUnavailable,
    Code.BACKEND_UNAVAILABLE: BackendUnavailable,
    Code.BACKEND_BROKEN: BackendUnavailable,
    Code.BACKEND_VERSION: BackendUnavailable,
    Code.DIVERGENT_BARRIER: DeviceError,
    Code.DATA_RACE: DeviceError,
    Code.UNINITIALISED_READ: DeviceError,
    Code.CACHE_DAMAGED: CacheError,
    Code.CACHE_FOLDER: CacheError,
    Code.CACHE_OWNER: CacheError,
    Code.CACHE_UNCACHEABLE: CacheError,
    Code.BAD_SETTING: SettingError,
    Code.UNKNOWN_SETTING: SettingError,
    Code.UNSUPPORTED_PYTHON: UnsupportedPlatform,
    Code.SUBINTERPRETER: UnsupportedPlatform,
    Code.UNSUPPORTED_PLATFORM: UnsupportedPlatform,
    Code.MISSING_DEPENDENCY: UnsupportedPlatform,
    Code.INTERNAL: InternalError,
}

_FIELDS = ("code", "message", "location", "types", "call_chain", "hint", "notes")


def class_of(code: Code) -> type[QuadrantsError]:
    """The exception class of a code."""
    return _BY_CODE.get(code) or _BY_FAMILY[code.family]


def _rebuild(class_name: str, fields: dict[str, Any]) -> QuadrantsError:
    """Make an error again from its pickled parts."""
    cls = globals()[class_name]
    error: QuadrantsError = cls.__new__(cls, fields["code"])
    error.__init__(fields.pop("code"), fields.pop("message"), fields.pop("location"), **fields)  # type: ignore[misc]
    return error
