"""The bits of the `nargsf` word of a vectorcall that the native path uses besides CPython's own (bit 63)."""

from __future__ import annotations

#: The arguments are in canonical order, with the defaults filled in: set by the permuter and by retries.
CANONICAL = 1 << 61
#: The call is a repetition after the Python side made a specialisation; a second miss is reported as such.
RETRIED = 1 << 62
#: CPython's: the word before the arguments may be used by the callee.
ARGUMENTS_OFFSET = 1 << 63
#: The number of arguments.
COUNT_MASK = CANONICAL - 1
