"""`np.einsum`: the subscripts are read when compiling.

Two operands become a matrix product where they can (`tensordot`, `matmul`); one operand without a sum becomes a view; everything
else a nest of loops over views that have all axes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from quadrants._frozen import frozen
from quadrants.diagnostics import Code
from quadrants.infer import attributes, indexing
from quadrants.infer.allocation import Args, Keywords
from quadrants.infer.elementwise import assign_into
from quadrants.infer.emitter import Emitter, fail
from quadrants.infer.values import Abstract, Arr, Const, Tup
from quadrants.ir import Value
from quadrants.types.dtypes import dtype_of

#: Names of the axes that an ellipsis stands for, the last first.
_ELLIPSIS = "zyxwvutsrqponmlkjihgfedcba".upper()


@frozen
class Spec:
    """The axes of each operand and of the result, a letter each."""

    inputs: tuple[str, ...]
    output: str

    @property
    def summed(self) -> str:
        """The letters that the result lacks, in order of appearance."""
        return "".join(dict.fromkeys(letter for letter in "".join(self.inputs) if letter not in self.output))


class BadSubscripts(ValueError):
    """Subscripts that do not fit the operands."""


def parse(subscripts: str, ranks: list[int]) -> Spec:
    """The axes that a text of subscripts names for operands of the ranks. Raises BadSubscripts."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        count = "fewer" if len(inputs) < len(ranks) else "more"
        text = "operands provided to einstein sum function than specified in the subscripts string"
        raise BadSubscripts(f"{count} {text}")
    used = set(text)
    free = [letter for letter in _ELLIPSIS if letter not in used]
    most = 0
    expanded = []
    for k, (part, rank) in enumerate(zip(inputs, ranks)):
        extra = rank - len(part.replace("...", ""))
        if extra < 0 or (extra and "..." not in part):
            raise BadSubscripts(
                f"einstein sum subscripts string contains too many subscripts for operand {k}"
                if extra < 0
                else "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to "
                "broadcast the extra dimensions."
            )
        most = max(most, extra)
        expanded.append(part.replace("...", "".join(reversed(free[:extra]))))
    dots = "".join(reversed(free[:most]))
    letters = "".join(expanded)
    if not arrow:
        once = sorted(letter for letter in set(letters) if letters.count(letter) == 1 and letter not in dots)
        right = dots + "".join(once)
    output = right.replace("...", dots)
    if not all(letter.isalpha() for letter in letters + output):
        raise BadSubscripts(f"invalid subscript in einstein sum subscripts string '{subscripts}'")
    for letter in output:
        if output.count(letter) > 1:
            text = "einstein sum subscripts string includes output subscript '{}' multiple times"
            raise BadSubscripts(text.format(letter))
        if letter not in letters:
            text = "einstein sum subscripts string included output subscript '{}' which never appeared in an input"
            raise BadSubscripts(text.format(letter))
    return Spec(tuple(expanded), output)


def _sizes(w: Emitter, spec: Spec, operands: list[Arr]) -> dict[str, Value]:
    """The length of each axis. Lengths of 1 are repeated."""
    v, one = w.b.value, w.b.i64(1)
    sizes: dict[str, Value] = {}
    for letters, operand in zip(spec.inputs, operands):
        for letter, dim in zip(letters, attributes.dims(w, operand)):
            if letter not in sizes:
                sizes[letter] = dim
                continue
            known = sizes[letter]
            single = v("or", v("cmp", dim, one, pred="eq"), v("cmp", known, one, pred="eq"))
            fits = v("or", single, v("cmp", dim, known, pred="eq"))
            w.check(fits, ValueError, f"einsum: the operands have different lengths on the axis '{letter}'")
            sizes[letter] = v("select", v("cmp", known, one, pred="eq"), dim, known)
    return sizes


def _spread(w: Emitter, operand: Arr, letters: str, axes: str, sizes: dict[str, Value]) -> Arr:
    """The view with the given axes: those that the operand lacks are repeated, those that it has twice are a diagonal."""
    v, zero, one = w.b.value, w.b.i64(0), w.b.i64(1)
    dims, strides = attributes.dims(w, operand), attributes.strides(w, operand)
    steps = []
    for axis in axes:
        total = zero
        for letter, dim, stride in zip(letters, dims, strides):
            if letter == axis:
                repeated = v("cmp", dim, one, pred="eq")
                total = v("add", total, v("select", repeated, zero, stride))
        steps.append(total)
    array = replace(operand.array, ndim=len(axes), layout="A" if axes else "C")
    operands = [*(sizes[axis] for axis in axes), *steps]
    return Arr(array, v("view", operand.value, zero, *operands, type=array))


def _order(spec: Spec, letters: str) -> tuple[int, ...]:
    return tuple(letters.index(letter) for letter in spec.output)


def _as_product(w: Emitter, spec: Spec, operands: list[Arr]) -> Abstract | None:
    """The contraction as a matrix product, if it is one."""
    if len(operands) != 2 or any(len(set(letters)) < len(letters) for letters in spec.inputs):
        return None
    left, right = spec.inputs
    shared = [letter for letter in left if letter in right]
    inner = [letter for letter in shared if letter not in spec.output]
    batch = [letter for letter in shared if letter in spec.output]
    rows = [letter for letter in left if letter not in shared]
    columns = [letter for letter in right if letter not in shared]
    if not inner or any(letter not in spec.output for letter in (*rows, *columns)):
        return None
    if not batch:
        places = [Tup(tuple(Const(letters.index(letter)) for letter in inner)) for letters in spec.inputs]
        result = w.call_library("products:tensordot", *operands, Tup(tuple(places)))
        letters = "".join((*rows, *columns))
    elif len(inner) == len(rows) == len(columns) == 1:
        orders = [(*batch, *rows, *inner), (*batch, *inner, *columns)]
        views = [
            attributes.transposed(w, operand, tuple(letters.index(letter) for letter in order))
            for operand, letters, order in zip(operands, spec.inputs, orders)
        ]
        result = w.call_library("products:matmul", *views)
        letters = "".join((*batch, *rows, *columns))
    else:
        return None
    if isinstance(result, Arr) and not result.array.ndim:
        return indexing.load(w, result, [])
    return attributes.transposed(w, result, _order(spec, letters)) if isinstance(result, Arr) else result


def _operands(w: Emitter, args: Args) -> list[Arr]:
    operands = []
    for arg in args:
        value = w.unwrap(arg)
        if not isinstance(value, Arr):
            value = w.call_library("creation:array", value)
        assert isinstance(value, Arr)
        operands.append(value)
    return operands


def _computed(w: Emitter, spec: Spec, operands: list[Arr]) -> Abstract:
    if not (len(operands) == 1 and not spec.summed):
        product = _as_product(w, spec, operands)
        if product is not None:
            return product
    sizes = _sizes(w, spec, operands)
    axes = spec.output + spec.summed
    views = tuple(
        _spread(w, operand, letters, axes, sizes) for operand, letters in zip(operands, spec.inputs, strict=True)
    )
    if len(operands) == 1 and not spec.summed:
        return views[0]
    dtype = np.result_type(*(dtype_of(operand.array.dtype) for operand in operands))
    return w.call_library("contractions:contract", Tup(views), Const(len(spec.output)), Const(dtype))


def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    """`np.einsum(subscripts, *operands)`."""
    keywords.pop("optimize", None)
    out = keywords.pop("out", Const(None))
    if keywords:
        fail(Code.BAD_ARGUMENTS, f"einsum: the keyword {next(iter(keywords))!r} is not supported")
    first = args[0] if args else Const(None)
    if not (isinstance(first, Const) and isinstance(first.value, str)):
        fail(Code.NOT_CONSTANT, "the subscripts of einsum have to be a constant text, such as 'ij,jk->ik'")
    operands = _operands(w, args[1:])
    if not operands:
        w.wrong(ValueError, "not enough arguments provided to einsum", Code.BAD_ARGUMENTS)
    try:
        spec = parse(first.value, [operand.array.ndim for operand in operands])
    except BadSubscripts as error:
        types = [(f"operand {k}", operand.type) for k, operand in enumerate(operands, 1)]
        w.wrong(ValueError, str(error), Code.BAD_ARGUMENTS, types=types)
    result = _computed(w, spec, operands)
    if isinstance(out, Arr):
        assign_into(w, out, result)
        return out
    return result
