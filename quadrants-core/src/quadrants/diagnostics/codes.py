"""The table of diagnostic codes.

Takes nothing; gives `Code`, one member for each kind of diagnostic. A number is never reused and
never changes its meaning; a code that is no longer raised keeps its place. The texts live in `diagnostics.catalogue`,
one module a family, and are loaded when a text is first asked for, so that importing this module stays cheap.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quadrants.diagnostics.catalogue.entry import Entry


class Family(Enum):
    """The leading digit of a code's number."""

    SYNTAX = 1
    TYPES = 2
    VALUES = 3
    BACKENDS = 4
    ENVIRONMENT = 5


class Code(Enum):
    """One member for each kind of diagnostic; the value is its number."""

    # QD1xx: syntax and bytecode
    UNSUPPORTED_SYNTAX = 101
    UNSUPPORTED_BYTECODE = 102
    UNSUPPORTED_GENERATOR = 104
    UNSUPPORTED_ASYNC = 105
    UNSUPPORTED_CLASS = 106
    UNSUPPORTED_IMPORT = 107
    UNSUPPORTED_WITH = 108
    UNSUPPORTED_YIELD = 109
    UNSUPPORTED_MATCH = 110
    UNSUPPORTED_SET = 111
    UNSUPPORTED_DICT = 112
    UNSUPPORTED_LIST = 113
    UNSUPPORTED_DELETE = 114
    UNSUPPORTED_FORMAT = 115
    UNSUPPORTED_GLOBAL_STORE = 116
    UNSUPPORTED_NONLOCAL = 117
    UNSUPPORTED_KWARGS = 118
    UNSUPPORTED_EXCEPT = 119
    UNSUPPORTED_COMPREHENSION = 120
    UNDEFINED_NAME = 121
    NO_BYTECODE = 124
    UNSUPPORTED_STAR = 126
    UNSUPPORTED_LAMBDA = 127
    UNSUPPORTED_RAISE = 128
    PARALLEL_EXIT = 129

    # QD2xx: types
    TYPE_MISMATCH = 201
    NO_ATTRIBUTE = 202
    NOT_CALLABLE = 203
    BAD_ARGUMENTS = 204
    CANNOT_UNIFY = 205
    UNSUPPORTED_TYPE = 206
    UNSUPPORTED_CALL = 207
    BAD_OPERAND = 208
    BAD_INDEX = 209
    NOT_ITERABLE = 210
    BAD_UNPACK = 211
    READONLY_ARRAY = 212
    BAD_DTYPE = 213
    BAD_SIGNATURE = 214
    RECURSION_TYPE = 215
    UNDETERMINED_TYPE = 216
    BAD_CONVERSION = 217
    BAD_RETURN = 218
    BAD_BROADCAST = 219
    LIST_KINDS = 220
    BAD_EXCEPTION = 221
    NOT_SUBSCRIPTABLE = 222
    NOT_ASSIGNABLE = 223
    BAD_OVERLOAD = 225
    NONE_OPERAND = 226
    BAD_CONDITION = 227
    TOO_MANY_SIGNATURES = 228
    ESCAPING_FUNCTION = 229
    BAD_LENGTH = 230

    # QD3xx: values and constants
    NOT_CONSTANT = 301
    BAD_VALUE = 302
    CONSTANT_OVERFLOW = 303
    BAD_AXIS = 304
    BAD_SHAPE = 305
    BAD_OPTION = 306
    CONSTANT_INDEX = 307
    UNSUPPORTED_CONSTANT = 309
    BAD_FORMAT_SPEC = 310
    TOO_LARGE = 311
    NO_FIXPOINT = 313
    BAD_IR = 314
    CARRIED_DEPENDENCE = 315

    # QD4xx: backends and capabilities
    BACKEND_MISSING = 401
    BACKEND_UNAVAILABLE = 402
    BACKEND_BROKEN = 403
    BACKEND_VERSION = 404
    UNSUPPORTED_CAPABILITY = 405
    UNSUPPORTED_ON_TARGET = 406
    RECURSION_ON_TARGET = 407
    DEVICE_MISMATCH = 408
    UNKNOWN_DEVICE = 409
    DEVICE_MEMORY = 410
    UNDEFINED_SYMBOL = 411
    BAD_LAUNCH = 412
    BAD_TARGET = 413
    CODEGEN_FAILED = 414
    OUTSIDE_KERNEL = 415
    DIVERGENT_BARRIER = 416
    DATA_RACE = 417
    UNINITIALISED_READ = 418
    DEVICE_FAULT = 419

    # QD5xx: cache and environment
    CACHE_DAMAGED = 501
    CACHE_FOLDER = 502
    CACHE_OWNER = 503
    CACHE_UNCACHEABLE = 504
    BAD_SETTING = 505
    UNKNOWN_SETTING = 506
    UNSUPPORTED_PYTHON = 507
    SUBINTERPRETER = 508
    UNSUPPORTED_PLATFORM = 509
    MISSING_DEPENDENCY = 510
    NATIVE_CALL_OFF = 511
    INTERNAL = 599

    def __str__(self) -> str:
        return f"QD{self.value}"

    @property
    def family(self) -> Family:
        return Family(self.value // 100)

    @property
    def entry(self) -> Entry:
        """This code's texts (loads the catalogue on first use)."""
        from quadrants.diagnostics.catalogue import entry_of

        return entry_of(self)

    @property
    def title(self) -> str:
        return self.entry.title


#: Codes that have their number and their texts, and that this version does not raise.
RESERVED = frozenset(
    {
        Code.UNSUPPORTED_STAR,
        Code.UNSUPPORTED_LAMBDA,
        Code.UNDETERMINED_TYPE,
        Code.LIST_KINDS,
        Code.NONE_OPERAND,
        Code.BAD_LENGTH,
        Code.UNSUPPORTED_ON_TARGET,
        Code.DEVICE_MEMORY,
        Code.CACHE_DAMAGED,
        Code.CACHE_UNCACHEABLE,
        Code.UNSUPPORTED_PYTHON,
        Code.UNSUPPORTED_PLATFORM,
        Code.MISSING_DEPENDENCY,
    }
)
