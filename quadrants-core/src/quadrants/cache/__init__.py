"""The on-disk cache of compiled code.

Takes what identifies a compilation (the function's code, its signature and options, this compiler, this machine) and gives the
object code that an earlier process made, if what that code depends on (globals, closure cells, callees) is the same here.

Two levels, as in ccache. The first key names a *manifest*: the lists of dependencies that compilations under this key have had.
The dependencies' present values, together with the first key, name the *entry*: the object code and the tables that go with it.
Nothing here imports the compiler or LLVM, and nothing is unpickled: contents are plain data, checked against a checksum first.
"""

from __future__ import annotations
