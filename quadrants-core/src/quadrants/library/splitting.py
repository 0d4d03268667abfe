"""Taking arrays apart and changing parts of them: `split`, `insert`, `delete`, `pad`, `compress`, `put`, `copyto`, ..."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.searching import place
from quadrants.library.shaping import concatenate, full_slices, leading
from quadrants.library.support import along, as_array, checked_axis, deliver, drop, iota


def array_split(ary, indices_or_sections, axis=0):
    """Views of parts, as a tuple: of a number of sections (a constant), or between indices."""
    a = as_array(ary)
    front = checked_axis(axis, a.ndim)
    if not raw.known(axis):
        return along(split_along, front, a.ndim, 0, a, indices_or_sections)
    if isinstance(indices_or_sections, (tuple, list)):
        return between(a, front, 0, indices_or_sections)
    if indices_or_sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    return sections(a, front, 0, indices_or_sections)


def split_along(a, axis, indices_or_sections):
    return array_split(a, indices_or_sections, axis)


def between(a, axis, start, indices):
    if len(indices) == 0:
        return (part(a, axis, start, a.shape[axis]),)
    return (part(a, axis, start, indices[0]),) + between(a, axis, indices[0], indices[1:])


def sections(a, axis, k, count):
    if k == count:
        return ()
    size = a.shape[axis] // count
    more = a.shape[axis] % count
    start = k * size + min(k, more)
    stop = start + size + (1 if k < more else 0)
    return (part(a, axis, start, stop),) + sections(a, axis, k + 1, count)


def part(a, axis, start, stop):
    return a[full_slices(axis) + (slice(start, stop),)]


def split(ary, indices_or_sections, axis=0):
    a = as_array(ary)
    if not isinstance(indices_or_sections, (tuple, list)):
        if a.shape[checked_axis(axis, a.ndim)] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
    return array_split(a, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    a = as_array(ary)
    if a.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(a, indices_or_sections, 0 if a.ndim == 1 else 1)


def vsplit(ary, indices_or_sections):
    a = as_array(ary)
    if a.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(a, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    a = as_array(ary)
    if a.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(a, indices_or_sections, 2)


def delete(arr, obj, axis=None):
    """The array without some places along an axis."""
    a = as_array(arr)
    if axis is None:
        return without_places(a.reshape(-1), obj, 0)
    if not raw.known(axis):
        return along(delete_along, checked_axis(axis, a.ndim), a.ndim, 0, a, obj)
    return without_places(a, obj, checked_axis(axis, a.ndim))


def delete_along(a, axis, obj):
    return without_places(a, obj, axis)


def without_places(a, obj, axis):
    n = a.shape[axis]
    keep = np.ones(n, np.bool_)
    if isinstance(obj, (np.ndarray, tuple, list)):
        places = as_array(obj)
        if places.dtype.kind == "b":
            keep[:] = ~places
        else:
            for i in range(places.shape[0]):
                keep[int(places[i])] = False
    elif isinstance(obj, slice):
        keep[obj] = False
    else:
        if obj < -n or obj >= n:
            raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {n}")
        keep[obj] = False
    return kept_places(a, keep, axis)


def kept_places(a, keep, axis):
    """The layers along an axis where `keep`, which may be shorter than the axis, is true."""
    count = 0
    for i in range(keep.shape[0]):
        count += int(keep[i])
    out = np.empty(a.shape[:axis] + (count,) + a.shape[axis + 1 :], a.dtype)
    source = a.transpose(leading(axis, a.ndim))
    target = out.transpose(leading(axis, a.ndim))
    k = 0
    for i in range(keep.shape[0]):
        if keep[i]:
            target[k] = source[i]
            k += 1
    return out


def insert(arr, obj, values, axis=None):
    """The array with values put in before a place along an axis."""
    a = as_array(arr)
    if axis is None:
        return inserted(a.reshape(-1), obj, values, 0)
    return inserted(a, obj, values, checked_axis(axis, a.ndim))


def inserted_each(a, places, values, axis):
    """`insert` before several places: the values go in the order of the places as they are given."""
    n = a.shape[axis]
    count = places.shape[0]
    at = np.empty(count, np.int64)
    for i in range(count):
        if places[i] < -n or places[i] > n:
            raise IndexError(f"index {places[i]} is out of bounds for axis {axis} with size {n}")
        at[i] = places[i] + n if places[i] < 0 else places[i]
    order = np.argsort(at, kind="stable")
    for k in range(count):
        at[order[k]] += k
    shape = a.shape[:axis] + (n + count,) + a.shape[axis + 1 :]
    out = np.empty(shape, a.dtype)
    target = out.transpose(leading(axis, a.ndim))
    source = a.transpose(leading(axis, a.ndim))
    middle = np.broadcast_to(as_array(values), a.shape[:axis] + (count,) + a.shape[axis + 1 :]).transpose(
        leading(axis, a.ndim)
    )
    old = np.ones(n + count, np.bool_)
    for i in range(count):
        old[at[i]] = False
        target[at[i]] = middle[i]
    k = 0
    for i in range(n + count):
        if old[i]:
            target[i] = source[k]
            k += 1
    return out


def inserted(a, obj, values, axis):
    n = a.shape[axis]
    if isinstance(obj, (np.ndarray, tuple, list)):
        return inserted_each(a, as_array(obj), values, axis)
    if obj < -n or obj > n:
        raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {n}")
    at = obj + n if obj < 0 else obj
    v = as_array(values)
    count = v.shape[0] if v.ndim > 0 and a.ndim == 1 else 1
    layer = a.shape[:axis] + (count,) + a.shape[axis + 1 :]
    if v.ndim > 0 and a.ndim > 1 and v.ndim < a.ndim:
        middle = np.broadcast_to(v, drop(a.shape, axis)).reshape(layer)
    else:
        middle = np.broadcast_to(v, layer)
    return concatenate((part(a, axis, 0, at), middle.astype(a.dtype), part(a, axis, at, n)), axis)


def compress(condition, a, axis=None, out=None):
    x = as_array(a)
    keep = as_array(condition)
    if axis is None:
        return deliver(kept_places(x.reshape(-1), keep, 0), out)
    return deliver(kept_places(x, keep, checked_axis(axis, x.ndim)), out)


def compress_method(a, condition, axis=None, out=None):
    """The method `ndarray.compress`."""
    return compress(condition, a, axis, out)


def extract(condition, arr):
    return kept_places(as_array(arr).reshape(-1), as_array(condition).reshape(-1) != 0, 0)


def select(condlist, choicelist, default=0):
    """For each element the first choice whose condition holds."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 1:
        return np.where(condlist[0], choicelist[0], default)
    return np.where(condlist[0], choicelist[0], select(condlist[1:], choicelist[1:], default))


def put(a, ind, v, mode="raise"):
    """Writes values at places of the array counted in C order."""
    if not a.flags.writeable:
        raise ValueError("put: output array is read-only")
    places = as_array(ind).reshape(-1)
    values = as_array(v).reshape(-1)
    shape = a.shape
    for i in range(places.shape[0]):
        at = place(int(places[i]), a.size, 0, mode)
        at = at + a.size if at < 0 else at
        a[unravelled(at, shape)] = values[i % values.shape[0]]


def unravelled(at, shape):
    """The index tuple of a place in C order."""
    if len(shape) == 0:
        return ()
    last = shape[len(shape) - 1]
    return unravelled(at // last, shape[: len(shape) - 1]) + (at % last,)


def unravel_index(indices, shape):
    if isinstance(indices, (np.ndarray, tuple, list)):
        return unravelled(as_array(indices), shape)
    if indices < 0 or indices >= np.prod(shape):
        raise ValueError(f"index {indices} is out of bounds for array with size {np.prod(shape)}")
    return unravelled(np.int64(indices), shape)


def ravel_multi_index(multi_index, dims):
    """The place in C order of an index, or of an index of arrays."""
    if len(multi_index) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    return ravelled(multi_index, dims, np.int64(0))


def ravelled(index, dims, so_far):
    if len(index) == 0:
        return so_far
    if np.any(index[0] < 0) or np.any(index[0] >= dims[0]):
        raise ValueError("invalid entry in coordinates array")
    return ravelled(index[1:], dims[1:], so_far * dims[0] + index[0])


def copyto(dst, src, casting="same_kind", where=True):
    """Writes `src`, broadcast, into `dst` (where the mask is true)."""
    if isinstance(src, np.ndarray) and not np.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(
            f"Cannot cast array data from dtype('{src.dtype.name}') to dtype('{dst.dtype.name}') "
            f"according to the rule '{casting}'"
        )
    if isinstance(where, (np.ndarray, tuple, list)):
        source = np.broadcast_to(as_array(src), dst.shape)
        mask = np.broadcast_to(as_array(where), dst.shape)
        for index in np.ndindex(dst.shape):
            if mask[index]:
                dst[index] = source[index]
    elif where:
        dst[...] = src


def putmask(a, mask, values):
    """Writes values where the mask is true: the value at the same place of the endlessly repeated values."""
    if not a.flags.writeable:
        raise ValueError("putmask: output array is read-only")
    source = as_array(values).reshape(-1)
    holes = as_array(mask)
    k = 0
    for index in np.ndindex(a.shape):
        if holes[index]:
            a[index] = source[k % source.shape[0]]
        k += 1


def place_values(arr, mask, vals):
    """`np.place`: writes the values one after another where the mask is true."""
    source = as_array(vals).reshape(-1)
    holes = as_array(mask)
    k = 0
    for index in np.ndindex(arr.shape):
        if holes[index]:
            if source.shape[0] == 0:
                raise ValueError("Cannot insert from an empty array!")
            arr[index] = source[k % source.shape[0]]
            k += 1


def trim_zeros(filt, trim="fb"):
    line = as_array(filt)
    first = 0
    last = line.shape[0]
    if "f" in trim:
        while first < last and line[first] == 0:
            first += 1
    if "b" in trim:
        while last > first and line[last - 1] == 0:
            last -= 1
    return line[first:last]


def pad(array, pad_width, mode="constant", *, constant_values=0):
    """The array with a border: "constant", "edge", "wrap", "reflect" or "symmetric"."""
    a = as_array(array)
    widths = pad_pairs(pad_width, a.ndim, 0)
    if mode == "constant":
        out = np.full(padded_shape(a.shape, widths), constant_values, a.dtype)
        out[inner_slices(a.shape, widths)] = a
        return out
    out = np.empty(padded_shape(a.shape, widths), a.dtype)
    for index in np.ndindex(out.shape):
        out[index] = a[source_index(index, a.shape, widths, mode)]
    return out


def pad_pairs(width, ndim, k):
    """(before, after) for each axis."""
    if k == ndim:
        return ()
    if not isinstance(width, tuple):
        return ((width, width),) + pad_pairs(width, ndim, k + 1)
    if not isinstance(width[0], tuple):
        pair = (width[0], width[0]) if len(width) == 1 else (width[0], width[1])
        return (pair,) + pad_pairs(width, ndim, k + 1)
    pair = width[0] if len(width) == 1 else width[k]
    return (pair,) + pad_pairs(width, ndim, k + 1)


def padded_shape(shape, widths):
    if len(shape) == 0:
        return ()
    return (shape[0] + widths[0][0] + widths[0][1],) + padded_shape(shape[1:], widths[1:])


def inner_slices(shape, widths):
    if len(shape) == 0:
        return ()
    return (slice(widths[0][0], widths[0][0] + shape[0]),) + inner_slices(shape[1:], widths[1:])


def source_index(index, shape, widths, mode):
    if len(shape) == 0:
        return ()
    return (source_place(index[0] - widths[0][0], shape[0], mode),) + source_index(
        index[1:], shape[1:], widths[1:], mode
    )


def source_place(i, n, mode):
    """Where the element of the place i, perhaps outside of [0, n), comes from."""
    if mode == "edge":
        return min(max(i, 0), n - 1)
    if mode == "wrap":
        return i % n
    if mode == "symmetric":
        j = i % (2 * n)
        return j if j < n else 2 * n - 1 - j
    if mode == "reflect":
        if n == 1:
            return 0
        j = i % (2 * n - 2)
        return j if j < n else 2 * n - 2 - j
    raise ValueError(f"mode '{mode}' is not supported")


def diag_indices(n, ndim=2):
    return repeated_item(np.arange(n), ndim)


def repeated_item(x, count):
    if count == 0:
        return ()
    return (x,) + repeated_item(x, count - 1)


def put_along_axis(arr, indices, values, axis):
    """Writes values at the places that an index array names along an axis."""
    if axis is None:
        put_lines(arr.reshape(-1), as_array(indices).reshape(-1), as_array(values))
    else:
        front = checked_axis(axis, arr.ndim)
        places = as_array(indices)
        order = drop(iota(arr.ndim), front) + (front,)
        source = np.broadcast_to(as_array(values), places.shape)
        put_lines(arr.transpose(order), places.transpose(order), source.transpose(order))


def put_lines(a, places, values):
    wide = np.broadcast_to(places, a.shape[:-1] + places.shape[-1:])
    source = np.broadcast_to(values, wide.shape)
    for at in np.ndindex(wide.shape):
        a[at[:-1] + (int(wide[at]),)] = source[at]


def choose(a, choices, out=None, mode="raise"):
    """For each element the choice that it counts."""
    places = as_array(a)
    n = len(choices)
    for at in np.ndindex(places.shape):
        if mode == "raise" and (places[at] < 0 or places[at] >= n):
            raise ValueError("invalid entry in choice array")
    if mode == "wrap":
        places = places % n
    elif mode == "clip":
        places = np.clip(places, 0, n - 1)
    return deliver(chosen_from(places, choices, 0), out)


def chosen_from(places, choices, k):
    if k == len(choices) - 1:
        return choices[k] + places * 0
    return np.where(places == k, choices[k], chosen_from(places, choices, k + 1))


def piecewise(x, condlist, funclist):
    """Values or functions where conditions hold; one more than conditions for the rest."""
    a = as_array(x)
    out = np.zeros(a.shape, a.dtype)
    conditions = condlist if isinstance(condlist, (tuple, list)) else (condlist,)
    if len(funclist) != len(conditions) and len(funclist) != len(conditions) + 1:
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are expected"
        )
    rest = np.ones(a.shape, np.bool_)
    for condition in conditions:
        rest &= ~condition
    if len(funclist) > len(conditions):
        put_piece(out, a, rest, funclist[len(conditions)])
    put_pieces(out, a, conditions, funclist)
    return out


def put_pieces(out, a, conditions, functions):
    if len(conditions) > 0:
        put_piece(out, a, conditions[0], functions[0])
        put_pieces(out, a, conditions[1:], functions[1:])


def put_piece(out, a, where, function):
    if callable(function):
        out[where] = function(a[where])
    else:
        out[where] = function
