"""What users touch: the decorators, the names of types, and the slow path of a call.

Takes Python functions and arguments; gives dispatchers. Heavy rooms (inference, lowering, LLVM) load when something is
compiled, never on import and never for a function that the cache holds.
"""

from __future__ import annotations
