"""The canonical operations: the same names, arguments and stack effects on every Python version.

Takes nothing; gives `Opcode`, its effect table, and `Inst` with its source location. The evaluation stack holds plain
values only: the NULL and `self` slots of calls, the saved instruction index and the saved exception of CPython's
handlers do not exist here. In the table below the stack grows to the right.
"""

from __future__ import annotations

import enum
from collections.abc import Callable

# Instructions and their places are made by the thousand: plain classes, not to be changed all the same.


class Loc:
    """A source range (1-based lines, 0-based UTF-8 columns) and the byte offset of the instruction."""

    __slots__ = ("col", "end_col", "end_line", "line", "offset")

    def __init__(
        self, line: int | None, col: int | None, end_line: int | None, end_col: int | None, offset: int
    ) -> None:
        self.line = line
        self.col = col
        self.end_line = end_line
        self.end_col = end_col
        self.offset = offset


class Opcode(enum.Enum):
    """A canonical operation; the comment gives its argument and stack effect."""

    # Constants, variables. A "slot" is a local variable's place; it holds a value, a cell or nothing.
    PUSH = "push"  # const                -> const
    LOAD_LOCAL = "load_local"  # name     -> value                    UnboundLocalError if the slot is empty
    LOAD_LOCAL_OR_UNDEF = "load_local_or_undef"  # name  -> value, or UNDEF if the slot is empty; empties the slot
    STORE_LOCAL = "store_local"  # name   value ->                    storing UNDEF empties the slot
    DELETE_LOCAL = "delete_local"  # name  ->                         UnboundLocalError if the slot is empty
    MAKE_CELL = "make_cell"  # name       ->                          the slot becomes a cell holding what it held
    LOAD_CELL = "load_cell"  # name       -> what the slot holds      (the cell itself, to build closures)
    LOAD_DEREF = "load_deref"  # name     -> contents of the cell     NameError/UnboundLocalError if empty
    STORE_DEREF = "store_deref"  # name   value ->
    DELETE_DEREF = "delete_deref"  # name  ->
    LOAD_GLOBAL = "load_global"  # name   -> value                    globals, then builtins
    STORE_GLOBAL = "store_global"  # name  value ->
    DELETE_GLOBAL = "delete_global"  # name  ->
    LOAD_NAME = "load_name"  # name       -> value                    class and module bodies: locals, globals, builtins
    STORE_NAME = "store_name"  # name     value ->
    DELETE_NAME = "delete_name"  # name   ->
    LOAD_LOCALS = "load_locals"  #        -> the mapping of locals
    LOAD_FROM_DICT_OR_DEREF = "load_from_dict_or_deref"  # name   mapping -> value
    LOAD_FROM_DICT_OR_GLOBALS = "load_from_dict_or_globals"  # name   mapping -> value
    LOAD_BUILD_CLASS = "load_build_class"  # -> builtins.__build_class__
    SETUP_ANNOTATIONS = "setup_annotations"  # ->

    # Attributes, items
    LOAD_ATTR = "load_attr"  # name       object -> value             (also the bound method of a method call)
    LOAD_SPECIAL = "load_special"  # name  object -> method of type(object), bound
    STORE_ATTR = "store_attr"  # name     value, object ->
    DELETE_ATTR = "delete_attr"  # name   object ->
    SUBSCR = "subscr"  #                  container, key -> value
    STORE_SUBSCR = "store_subscr"  #      value, container, key ->
    DELETE_SUBSCR = "delete_subscr"  #    container, key ->

    # Operators
    UNARY = "unary"  # '-' '+' '~' 'not' 'bool'    value -> value
    BINARY = "binary"  # symbol           left, right -> value
    INPLACE = "inplace"  # symbol without '='      left, right -> value
    COMPARE = "compare"  # '<' '<=' '==' '!=' '>' '>='   left, right -> value
    IS_OP = "is_op"  # invert: bool       left, right -> bool
    CONTAINS_OP = "contains_op"  # invert: bool    item, container -> bool

    # Building
    BUILD_SLICE = "build_slice"  # n=2,3  start, stop(, step) -> slice
    BUILD_TUPLE = "build_tuple"  # n      n values -> tuple
    BUILD_LIST = "build_list"  # n        n values -> list
    BUILD_SET = "build_set"  # n          n values -> set
    BUILD_MAP = "build_map"  # n          n times (key, value) -> dict
    BUILD_CONST_MAP = "build_const_map"  # keys: tuple    a value a key -> dict
    BUILD_STRING = "build_string"  # n    n strings -> str
    CONVERT = "convert"  # 'str' 'repr' 'ascii'    value -> str
    FORMAT = "format"  # has_spec: bool   value(, spec) -> str
    BUILD_TEMPLATE = "build_template"  #  strings, interpolations -> Template
    BUILD_INTERPOLATION = "build_interpolation"  # (conversion, has_spec)   value, str(, spec) -> Interpolation
    LIST_EXTEND = "list_extend"  # n      iterable ->                 into the list n below (1 = the new top)
    LIST_APPEND = "list_append"  # n      value ->                    into the list n below
    LIST_TO_TUPLE = "list_to_tuple"  #    list -> tuple
    SET_ADD = "set_add"  # n              value ->
    SET_UPDATE = "set_update"  # n        iterable ->
    MAP_ADD = "map_add"  # n              key, value ->
    DICT_UPDATE = "dict_update"  # n      mapping ->
    DICT_MERGE = "dict_merge"  # n        mapping ->                  TypeError on a repeated key
    UNPACK = "unpack"  # n                sequence -> nth, ..., first (first on top)
    UNPACK_EX = "unpack_ex"  # (before, after)     sequence -> after..., list, before... (first on top)
    GET_LEN = "get_len"  #                value -> value, len(value)

    # Calls
    CALL = "call"  # (npos, kwnames)      callable, npos values, a value a keyword -> result
    CALL_EX = "call_ex"  # has_kwargs: bool        callable, iterable(, mapping) -> result
    MAKE_FUNCTION = "make_function"  # frozenset of 'defaults' 'kwdefaults' 'annotations' 'annotate' 'closure';
    #                                     (defaults,) (kwdefaults,) (annotate,) (annotations,) (closure,) code -> function
    IMPORT_NAME = "import_name"  # name   level, fromlist -> module
    IMPORT_FROM = "import_from"  # name   module -> module, value
    INTRINSIC = "intrinsic"  # (name, n)  n values -> value           rare helpers, by CPython's name

    # Stack
    POP_TOP = "pop_top"  #                value ->
    COPY = "copy"  # n                    copies the nth from the top (1 = top) to the top
    SWAP = "swap"  # n                    swaps the top with the nth from the top (n >= 2)

    # Iteration
    GET_ITER = "get_iter"  #              iterable -> iterator
    FOR_NEXT = "for_next"  #              iterator -> iterator, item, True; or iterator, UNDEF, False at the end

    # Exceptions. "Handled exceptions" form a stack of their own, beside the value stack.
    PUSH_EXC = "push_exc"  #              exc -> exc                  exc becomes the exception being handled
    POP_EXCEPT = "pop_except"  #          ->                          the previous one is handled again
    CHECK_EXC_MATCH = "check_exc_match"  # exc, type -> exc, bool
    CHECK_EG_MATCH = "check_eg_match"  #  exc, type -> rest, match
    WITH_EXCEPT_START = "with_except_start"  #   exit, exc -> exit, exc, exit(type(exc), exc, traceback)

    # Structural pattern matching
    MATCH_CLASS = "match_class"  # n      subject, class, names -> tuple of attributes, or None
    MATCH_MAPPING = "match_mapping"  #    subject -> subject, bool
    MATCH_SEQUENCE = "match_sequence"  #  subject -> subject, bool
    MATCH_KEYS = "match_keys"  #          subject, keys -> subject, keys, tuple of values or None

    # Generators and coroutines
    YIELD = "yield"  #                    value -> what is sent
    SEND = "send"  #                      receiver, value -> receiver, what it yields, False; or receiver, result, True
    GET_YIELD_FROM_ITER = "get_yield_from_iter"  # iterable -> iterator
    GET_AWAITABLE = "get_awaitable"  #    value -> awaitable
    GET_AITER = "get_aiter"  #            value -> async iterator
    GET_ANEXT = "get_anext"  #            async iterator -> async iterator, awaitable
    END_ASYNC_FOR = "end_async_for"  #    async iterator, exc ->      raises exc unless it is StopAsyncIteration
    CLEANUP_THROW = "cleanup_throw"  #    receiver, sent, exc -> None, value      raises exc unless it is StopIteration
    ASYNC_GEN_WRAP = "async_gen_wrap"  #  value -> wrapped value

    __hash__ = object.__hash__  # members are single objects; the default of Enum hashes the name in Python

    def __repr__(self) -> str:
        return self.name


class Inst:
    """One canonical operation with its argument and source location."""

    __slots__ = ("arg", "loc", "op")

    def __init__(self, op: Opcode, arg: object, loc: Loc) -> None:
        self.op = op
        self.arg = arg
        self.loc = loc

    def __repr__(self) -> str:
        return f"{self.op.name} {self.arg!r}" if self.arg is not None else self.op.name


Effect = tuple[int, int]  # values popped, values pushed
_O = Opcode

# Values popped and pushed. Operations that leave a value in place pop it and push it again here.
FIXED: dict[Opcode, Effect] = {
    _O.PUSH: (0, 1),
    _O.LOAD_LOCAL: (0, 1),
    _O.LOAD_LOCAL_OR_UNDEF: (0, 1),
    _O.STORE_LOCAL: (1, 0),
    _O.DELETE_LOCAL: (0, 0),
    _O.MAKE_CELL: (0, 0),
    _O.LOAD_CELL: (0, 1),
    _O.LOAD_DEREF: (0, 1),
    _O.STORE_DEREF: (1, 0),
    _O.DELETE_DEREF: (0, 0),
    _O.LOAD_GLOBAL: (0, 1),
    _O.STORE_GLOBAL: (1, 0),
    _O.DELETE_GLOBAL: (0, 0),
    _O.LOAD_NAME: (0, 1),
    _O.STORE_NAME: (1, 0),
    _O.DELETE_NAME: (0, 0),
    _O.LOAD_LOCALS: (0, 1),
    _O.LOAD_FROM_DICT_OR_DEREF: (1, 1),
    _O.LOAD_FROM_DICT_OR_GLOBALS: (1, 1),
    _O.LOAD_BUILD_CLASS: (0, 1),
    _O.SETUP_ANNOTATIONS: (0, 0),
    _O.LOAD_ATTR: (1, 1),
    _O.LOAD_SPECIAL: (1, 1),
    _O.STORE_ATTR: (2, 0),
    _O.DELETE_ATTR: (1, 0),
    _O.SUBSCR: (2, 1),
    _O.STORE_SUBSCR: (3, 0),
    _O.DELETE_SUBSCR: (2, 0),
    _O.UNARY: (1, 1),
    _O.BINARY: (2, 1),
    _O.INPLACE: (2, 1),
    _O.COMPARE: (2, 1),
    _O.IS_OP: (2, 1),
    _O.CONTAINS_OP: (2, 1),
    _O.CONVERT: (1, 1),
    _O.BUILD_TEMPLATE: (2, 1),
    _O.LIST_EXTEND: (1, 0),
    _O.LIST_APPEND: (1, 0),
    _O.LIST_TO_TUPLE: (1, 1),
    _O.SET_ADD: (1, 0),
    _O.SET_UPDATE: (1, 0),
    _O.MAP_ADD: (2, 0),
    _O.DICT_UPDATE: (1, 0),
    _O.DICT_MERGE: (1, 0),
    _O.GET_LEN: (1, 2),
    _O.IMPORT_NAME: (2, 1),
    _O.IMPORT_FROM: (1, 2),
    _O.POP_TOP: (1, 0),
    _O.GET_ITER: (1, 1),
    _O.FOR_NEXT: (1, 3),
    _O.PUSH_EXC: (1, 1),
    _O.POP_EXCEPT: (0, 0),
    _O.CHECK_EXC_MATCH: (2, 2),
    _O.CHECK_EG_MATCH: (2, 2),
    _O.WITH_EXCEPT_START: (2, 3),
    _O.MATCH_CLASS: (3, 1),
    _O.MATCH_MAPPING: (1, 2),
    _O.MATCH_SEQUENCE: (1, 2),
    _O.MATCH_KEYS: (2, 3),
    _O.YIELD: (1, 1),
    _O.SEND: (2, 3),
    _O.GET_YIELD_FROM_ITER: (1, 1),
    _O.GET_AWAITABLE: (1, 1),
    _O.GET_AITER: (1, 1),
    _O.GET_ANEXT: (1, 2),
    _O.END_ASYNC_FOR: (2, 0),
    _O.CLEANUP_THROW: (3, 2),
    _O.ASYNC_GEN_WRAP: (1, 1),
}

# The same for operations whose effect depends on the argument.
VARIABLE: dict[Opcode, Callable[..., Effect]] = {
    _O.BUILD_SLICE: lambda n: (n, 1),
    _O.BUILD_TUPLE: lambda n: (n, 1),
    _O.BUILD_LIST: lambda n: (n, 1),
    _O.BUILD_SET: lambda n: (n, 1),
    _O.BUILD_MAP: lambda n: (2 * n, 1),
    _O.BUILD_CONST_MAP: lambda keys: (len(keys), 1),
    _O.BUILD_STRING: lambda n: (n, 1),
    _O.FORMAT: lambda has_spec: (1 + has_spec, 1),
    _O.BUILD_INTERPOLATION: lambda arg: (2 + arg[1], 1),
    _O.UNPACK: lambda n: (1, n),
    _O.UNPACK_EX: lambda arg: (1, arg[0] + 1 + arg[1]),
    _O.CALL: lambda arg: (1 + arg[0] + len(arg[1]), 1),
    _O.CALL_EX: lambda has_kwargs: (2 + has_kwargs, 1),
    _O.MAKE_FUNCTION: lambda flags: (1 + len(flags), 1),
    _O.INTRINSIC: lambda arg: (arg[1], 1),
    _O.COPY: lambda n: (n, n + 1),
    _O.SWAP: lambda n: (n, n),
}

# Operations that cannot raise (running out of memory aside).
SILENT: frozenset[Opcode] = frozenset(
    {
        _O.PUSH,
        _O.LOAD_LOCAL_OR_UNDEF,
        _O.STORE_LOCAL,
        _O.MAKE_CELL,
        _O.LOAD_CELL,
        _O.STORE_DEREF,
        _O.IS_OP,
        _O.BUILD_SLICE,
        _O.BUILD_TUPLE,
        _O.BUILD_LIST,
        _O.BUILD_STRING,
        _O.LIST_APPEND,
        _O.LIST_TO_TUPLE,
        _O.MAKE_FUNCTION,
        _O.POP_TOP,
        _O.COPY,
        _O.SWAP,
        _O.PUSH_EXC,
        _O.POP_EXCEPT,
        _O.MATCH_MAPPING,
        _O.MATCH_SEQUENCE,
    }
)


# Operations that leave in place some of the values that the table lets them pop and push again.
PEEKS: frozenset[Opcode] = frozenset(
    {
        _O.COPY,
        _O.SWAP,
        _O.GET_LEN,
        _O.IMPORT_FROM,
        _O.FOR_NEXT,
        _O.PUSH_EXC,
        _O.CHECK_EXC_MATCH,
        _O.WITH_EXCEPT_START,
        _O.MATCH_MAPPING,
        _O.MATCH_SEQUENCE,
        _O.MATCH_KEYS,
        _O.GET_ANEXT,
        _O.SEND,
        _O.YIELD,  # what is sent is there when an exception is thrown in
    }
)


def effect(op: Opcode, arg: object) -> Effect:
    """How many values the operation pops and pushes."""
    fixed = FIXED.get(op)
    return fixed if fixed is not None else VARIABLE[op](arg)
