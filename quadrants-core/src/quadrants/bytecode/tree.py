"""A code object as a region tree: its parameters, its local slots, its body."""

from __future__ import annotations

import types
from dataclasses import field

from quadrants._frozen import frozen

from .format import format_body
from .nodes import Seq


@frozen
class Params:
    """The parameters of a function, as in its code object."""

    argcount: int
    posonly: int
    kwonly: int
    varargs: bool
    varkw: bool


@frozen
class Function:
    """A code object as a region tree. `names` are all local slots: variables, then cells, then free variables."""

    code: types.CodeType | None = field(repr=False)
    params: Params
    names: tuple[str, ...]
    body: Seq
    is_generator: bool
    name: str
    filename: str

    def __str__(self) -> str:
        return f"function {self.name}({', '.join(self._parameters())})\n{format_body(self.body)}"

    def _parameters(self) -> list[str]:
        """The parameters in the order of a `def` line; `*args` and `**kwargs` come last in the slots."""
        p = self.params
        names = list(self.names)
        out = names[: p.argcount]
        if p.posonly:
            out.insert(p.posonly, "/")
        keyword = names[p.argcount : p.argcount + p.kwonly]
        rest = names[p.argcount + p.kwonly :]
        if p.varargs:
            out.append("*" + rest.pop(0))
        elif keyword:
            out.append("*")
        out += keyword
        if p.varkw:
            out.append("**" + rest.pop(0))
        return out
