"""Builtins, `math`, `cmath` and NumPy, written in the compiled language itself.

Takes: arrays, scalars and tuples. Gives: what the original function gives. Every function here is ordinary Python that
the compiler types, optimises and compiles like user code, once a signature; it also runs in the interpreter.
`registry` says which original each one implements.
"""

from __future__ import annotations
