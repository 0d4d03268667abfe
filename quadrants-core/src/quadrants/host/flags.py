"""Numbers that entries, the native support functions and Python agree on."""

from __future__ import annotations

# The `nargsf` word of a vectorcall: bits besides CPython's own.

#: The arguments are in canonical order, with the defaults filled in: set by the permuter and by retries.
CANONICAL = 1 << 61
#: The call is a repetition after the Python side made a specialisation; a second miss is reported as such.
RETRIED = 1 << 62
#: CPython's: the word before the arguments may be used by the callee.
ARGUMENTS_OFFSET = 1 << 63
#: The number of arguments.
COUNT_MASK = CANONICAL - 1

# Dispatchers, and the data of the support functions.

#: Offset of tp_vectorcall_offset in a type; checked when the first dispatcher type is made.
TYPE_VECTORCALL_OFFSET = 56
#: Where the dispatcher's word with its permutations is, from its vectorcall word.
PERMUTATIONS = 8
#: A permutation: next, kwnames, positional count, total count, then the argument numbers or addresses of defaults.
PERM_NEXT, PERM_NAMES, PERM_COUNT, PERM_TOTAL, PERM_VALUES = 0, 8, 16, 24, 32
#: Values of a permutation below this are argument numbers, the others addresses.
MAX_ARGUMENTS = 256
#: The domain under which tracemalloc sees array memory ("QD").
TRACE_DOMAIN = 0x5144
#: The watch table: a mask (slots - 1), then slots: dict (0: free), hash of the key, address of the valid word.
WATCH_SLOT = 24
