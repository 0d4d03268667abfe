"""Sums of products over named axes: what `np.einsum` is made of; products of vectors and matrices in stacks."""

from __future__ import annotations

import numpy as np

from quadrants.library.products import matmul
from quadrants.library.support import as_array


def product_at(views, at, dtype):
    if len(views) == 1:
        return dtype.type(views[0][at])
    return dtype.type(views[0][at]) * product_at(views[1:], at, dtype)


def contract(views, rank, dtype):
    """The products of views of one shape, summed over their axes from `rank` on."""
    shape = views[0].shape
    out = np.empty(shape[:rank], dtype)
    for at in np.ndindex(shape[:rank]):
        total = dtype.type(0)
        for inner in np.ndindex(shape[rank:]):
            total += product_at(views, at + inner, dtype)
        out[at] = total
    if rank == 0:
        return out[()]
    return out


def tensordot(x1, x2, /, *, axes=2):
    """`np.linalg.tensordot`."""
    return np.tensordot(x1, x2, axes)


def vecdot(x1, x2, /, *, axis=-1):
    a = np.moveaxis(as_array(x1), axis, -1)
    b = np.moveaxis(as_array(x2), axis, -1)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(
            "vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->() "
            f"(size {b.shape[-1]} is different from {a.shape[-1]})"
        )
    return (np.conj(a) * b).sum(axis=-1)


def matvec(x1, x2, /):
    return matmul(as_array(x1), as_array(x2)[..., None])[..., 0]


def vecmat(x1, x2, /):
    return matmul(np.conj(as_array(x1))[..., None, :], as_array(x2))[..., 0, :]
