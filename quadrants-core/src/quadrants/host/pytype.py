"""Makes heap types through CPython's stable interface, by ctypes.

`PyType_Spec` and what it points to are kept for ever: types refer to them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

TPFLAGS_DEFAULT = 1 << 18
TPFLAGS_BASETYPE = 1 << 10
TPFLAGS_HAVE_VECTORCALL = 1 << 11
TPFLAGS_DISALLOW_INSTANTIATION = 1 << 7
TPFLAGS_IMMUTABLETYPE = 1 << 8

SLOT_DEALLOC = 52  # Py_tp_dealloc
_SLOT_MEMBERS = 72  # Py_tp_members
_T_PYSSIZET = 19
_READONLY = 1

Pointer = ctypes.c_void_p


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("function", Pointer))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


_kept: list[object] = []  # CPython refers to these without owning them


def make_type(
    name: str,
    size: int,
    flags: int,
    *,
    base: type | None = None,
    vectorcall_offset: int | None = None,
    slots: Sequence[tuple[int, int]] = (),
) -> type:
    """A heap type.

    Args:
        name: "module.name".
        size: bytes of an instance.
        flags: TPFLAGS_*.
        base: the base class, `object` if None.
        vectorcall_offset: where in an instance its vectorcall function is, if it has one.
        slots: (slot number, function address).
    """
    rows = (
        []
        if vectorcall_offset is None
        else [(b"__vectorcalloffset__", _T_PYSSIZET, vectorcall_offset, _READONLY, None)]
    )
    members = (_Member * (len(rows) + 1))(*(_Member(*row) for row in rows))
    table = [*slots, (_SLOT_MEMBERS, ctypes.addressof(members))]
    slot_array = (_Slot * (len(table) + 1))(*(_Slot(slot, function) for slot, function in table))
    spec = _Spec(name.encode(), size, 0, flags, slot_array)
    _kept.append((members, slot_array, spec))
    create = ctypes.pythonapi["PyType_FromSpecWithBases"]
    create.restype = ctypes.py_object
    create.argtypes = (ctypes.POINTER(_Spec), ctypes.py_object)
    made: type = create(ctypes.byref(spec), (base or object,))
    return made
