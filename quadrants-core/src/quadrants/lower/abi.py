"""The binary interface between compiled functions and the host: pure data, no LLVM.

Takes QIR types; gives the machine components of a value, the layout of the context and of memory blocks, the coding of
exception values, and the tables that lowering hands to the host (`Site`, `Lowered`). A lowered function is

    define internal i32 @"name"(ptr %ctx, <components of the parameters>, <one pointer a component of the results>)

and returns a status: 0 when the results are stored through the pointers (a boolean as i8), else an exception value.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import field

from quadrants._frozen import frozen
from quadrants.ir.origin import Loc, Scope
from quadrants.types import ArrayType, CellsType, ExcType, LanesType, ObjectType, Scalar, StrType, Type

# The context: made by the caller of the entry function on its stack, `CTX_HEADER_BYTES` of it zeroed.
CTX_NEXT_RECORD = 0  # i32: how many records were written; the next slot is this modulo RECORDS
CTX_TB_LEN = 4  # i32: how many of tb_sites are filled
CTX_SELF = 8  # ptr: the dispatcher object (borrowed)
CTX_HOSTCALL = 16  # ptr: i32 (*)(ptr ctx, i32 site, ptr buffer)
CTX_STACK_LIMIT = 24  # i64: recursive functions look closer when their frame is below; they raise it with each call
CTX_HANDLER = 32  # ptr: what answers calls into Python, for the hostcall
CTX_STACK_LOWEST = 40  # i64: the lowest frame address a recursive function may have; 0 for no limit
CTX_THREAD = 48  # ptr: the thread state while the GIL is released; null while it is held; NO_POLLS: never ask for it
CTX_STOP = 56  # ptr: an i32 that is not 0 when the chunk of a parallel region should end early; null for none
CTX_WORKER = 64  # i32: the number of the thread in its parallel region; 0 outside of the pool
CTX_KEPT = 72  # ptr: a list that owns the Python objects that the code has got from Python; null while there are none
CTX_LIVE = (
    80  # i64: how many more blocks are alive than when the context was made, as code with parallel regions counts
)
CTX_HEADER_BYTES = 88
CTX_TB_SITES = 88  # TB_SITES x i32: call sites, innermost first
TB_SITES = 64
CTX_RECORDS = CTX_TB_SITES + 4 * TB_SITES
RECORDS = 8
NO_POLLS = 1

# A record: what an exception carries.
RECORD_SITE = 0  # i32: index into the module's sites
RECORD_LEAVES = 4  # i32: how many payload words are filled
RECORD_PAYLOAD = 8  # PAYLOAD_WORDS x i64: the components of the exception's arguments, 8 bytes each
PAYLOAD_WORDS = 16
RECORD_BYTES = RECORD_PAYLOAD + 8 * PAYLOAD_WORDS
CTX_BYTES = CTX_RECORDS + RECORDS * RECORD_BYTES

# An exception value (i32, not 0): class number in the low 16 bits, record number above.
CLASS_MASK = 0xFFFF
RECORD_SHIFT = 16
#: The class number that says: a Python error is set already (an interrupt, or an error in a call back into Python).
PYTHON_ERROR = 0xFFFF
#: The class number that says: a worker was told to stop; no error is set in the interpreter.
STOPPED = 0xFFFE

# The frame of a parallel region, on the stack of the thread that began it. What the chunks share follows the header.
REGION_STOP = 0  # i32: not 0 when chunks should end early (the pool sets it)
REGION_LOCK = 4  # i32: taken while an error is recorded
REGION_CONTEXT = 8  # ptr: the context of the thread that began the region
REGION_WORKER = 16  # i32: its number
REGION_STATUS = 20  # i32: the exception value of the first failing chunk; 0 while there is none
REGION_FIRST = 24  # i64: where that chunk begins
REGION_TB = 32  # its traceback: i32 length, then as in a context
REGION_RECORD = REGION_TB + 8 + 4 * TB_SITES
REGION_BYTES = REGION_RECORD + RECORD_BYTES

# A block of array memory: a header directly before the data, both aligned.
BLOCK_REFCOUNT = 0  # i64
BLOCK_NBYTES = 8  # i64: size of the data
BLOCK_RAW = 16  # ptr: what to pass to free
BLOCK_SHARED = 24  # i64: whether several threads may refer to it, so that references are counted atomically
BLOCK_HEADER = 64  # bytes from the header to the data
BLOCK_ALIGN = 64
BLOCK_EXTRA = BLOCK_HEADER + BLOCK_ALIGN  # allocated beyond nbytes

# The memory of a list: a block with this data. Its cells are the data of another block, which is replaced when they get too many.
LIST_CELLS = BLOCK_HEADER  # ptr: the block of the cells; null while there are none
LIST_SIZE = BLOCK_HEADER + 8  # i64: how many cells are used
LIST_NESTED = BLOCK_HEADER + 16  # i64: whether the cells are pointers to lists, to which they count references
LIST_BYTES = 24

#: An owner with this bit set is a borrowed Python object (address + 1); null is memory that nobody frees.
OWNER_PYTHON_TAG = 1

#: External variable (i64): how many blocks are alive.
LIVE_BLOCKS = "qd_live_blocks"

#: Other LLVM text of the same module numbers its metadata from here.
FIRST_FREE_METADATA = 1_000_000

_FLOATS = {16: "half", 32: "float", 64: "double"}


def scalar_text(scalar: Scalar) -> str:
    """The LLVM type of a bool, an integer or a float in a register."""
    return _FLOATS[scalar.bits] if scalar.is_float else f"i{scalar.bits}"


def memory_text(scalar: Scalar) -> str:
    """The LLVM type of a bool, an integer or a float in memory."""
    return "i8" if scalar.is_bool else scalar_text(scalar)


def components(type: Type) -> tuple[str, ...]:
    """The LLVM types that one leaf is made of. An array: data, owner, dims, strides in bytes."""
    if isinstance(type, Scalar):
        text = scalar_text(type.machine.part)
        return (text, text) if type.is_complex else (text,)
    if isinstance(type, ArrayType):
        return ("ptr", "ptr") + ("i64",) * (2 * type.ndim)
    if isinstance(type, ExcType):
        return ("i32",)
    if isinstance(type, (StrType, ObjectType, CellsType)):
        return ("ptr",)
    if isinstance(type, LanesType):
        return tuple(f"<{type.count} x {text}>" for text in components(type.item))
    raise TypeError(f"{type} is not a machine type: flatten it with leaves()")


def all_components(types: Iterable[Type]) -> tuple[str, ...]:
    """The components of several types, tuples and other compounds flattened."""
    return tuple(text for type in types for leaf in type.leaves() for text in components(leaf))


def symbol(name: str) -> str:
    """A name as an LLVM global, quoted."""
    plain = "".join(c if c.isascii() and c.isprintable() and c not in '"\\' else _escape(c) for c in name)
    return f'@"{plain}"'


def _escape(char: str) -> str:
    return "".join(f"\\{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def signature(name: str, params: Iterable[Type], results: Iterable[Type]) -> str:
    """The declaration of a lowered function without the keyword: `i32 @"name"(ptr, ...)`."""
    texts = ["ptr", *all_components(params), *("ptr" for _ in all_components(results))]
    return f"i32 {symbol(name)}({', '.join(texts)})"


class SiteKind(enum.Enum):
    """What happens at a site."""

    RAISE = "raise"  # an exception of the class `exc` with arguments `args` starts here
    CALL = "call"  # an exception passes through this call
    HOST = "host"  # a call back into Python: `target(*args) -> result`; or a poll (no target)
    MATCH = "match"  # a question to Python: whether the error that is set is of one of `classes`


@frozen
class Site:
    """A place from which an exception may leave, or a call back into Python.

    Args:
        kind: see `SiteKind`.
        loc: the source range.
        scope: the Python function.
        exc: the class number (1-based index into `Lowered.classes`), for RAISE.
        args: the type of the exception's arguments, or of the call's; its leaves are the payload.
        target: "module:qualname", for HOST.
        result: the type of the call's result, for HOST.
        chain: for RAISE, what the exception that is being handled is to this one: "" (there is none), "context", "cause" or
            "none" (context of an exception raised `from None`). It is the first word of the payload then.
        note: for RAISE, what is added to the exception for people.
        classes: for MATCH, their class numbers.
    """

    kind: SiteKind
    loc: Loc | None
    scope: Scope
    exc: int = 0
    args: Type | None = None
    target: str = ""
    result: Type | None = None
    chain: str = ""
    note: str = ""
    classes: tuple[int, ...] = ()


@frozen
class Lowered:
    """A lowered module.

    Args:
        text: LLVM IR without the declarations of externals.
        declarations: external symbol -> its declaration line.
        sites: by number, from 0.
        classes: exception classes "module:qualname" by number - 1.
        entry_symbol: the name of the entry function, unquoted.
        entry_raises: whether the entry function can return anything but 0.
        entry_inlines: whether the entry function gains from being in one module with what calls it.
    """

    text: str
    declarations: dict[str, str] = field(default_factory=dict)
    sites: tuple[Site, ...] = ()
    classes: tuple[str, ...] = ()
    entry_symbol: str = ""
    entry_raises: bool = True
    entry_inlines: bool = True

    @property
    def externals(self) -> tuple[str, ...]:
        """The external symbols that the text may use."""
        return tuple(self.declarations)

    def full_text(self, more: str = "", more_declarations: dict[str, str] | None = None) -> str:
        """The whole LLVM module, with another text and its declarations beside it."""
        return module_text({**self.declarations, **(more_declarations or {})}, self.text, more)


def module_text(declarations: Mapping[str, str], *texts: str) -> str:
    """An LLVM module: the declarations of its externals and its definitions."""
    return "\n".join((*declarations.values(), *texts, ""))


def class_number(value: int) -> int:
    """The class number of an exception value."""
    return value & CLASS_MASK


def record_number(value: int) -> int:
    """The record number of an exception value: a slot of the context's ring."""
    return (value & 0xFFFFFFFF) >> RECORD_SHIFT


def record_offset(number: int) -> int:
    """Where in the context a record is."""
    return CTX_RECORDS + number * RECORD_BYTES
