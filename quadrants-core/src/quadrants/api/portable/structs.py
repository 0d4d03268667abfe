"""`qd.types.struct`, `qd.dataclass`, and fields of structs.

Takes the members of a struct with their types; gives a `StructType`: called, it makes a value, and `field` makes a field of such
values, a tensor for each member.
"""

from __future__ import annotations

import itertools
from typing import Any

from quadrants.api.portable.tensors import Field, Tensor, make
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.types.structs import struct_class


class StructType:
    """The type of a struct: its members by name, and its methods.

    >>> import quadrants as qd
    >>> Ball = qd.types.struct(center=qd.math.vec3, radius=float)
    >>> Ball(center=[0, 0, 1], radius=2.0).radius
    2.0
    """

    __quadrants_literal__ = True

    def __init__(self, name: str, members: dict[str, Any], methods: dict[str, Any] | None = None) -> None:
        self.__name__ = name
        self.members = members
        self.methods = methods or {}
        self.value_class, self.field_class = struct_class(name, tuple(members), self.methods)

    def __quadrants_key__(self) -> tuple[object, ...]:
        return (self.__name__, tuple(self.members), *self.members.values(), self.value_class)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        given = dict(zip(self.members, args)) | keywords
        for name in given:
            if name not in self.members:
                raise QuadrantsError(
                    Code.BAD_ARGUMENTS,
                    f"{self.__name__} has no member {name!r}",
                    hint=f"its members are {', '.join(self.members)}",
                )
        return self.value_class(*(_value(kind, given.get(name)) for name, kind in self.members.items()))

    def field(self, shape: Any = None, *, needs_grad: bool = False, layout: Any = None, **others: Any) -> StructField:
        """A field of such structs."""
        return StructField(self, shape, needs_grad, layout)

    def __repr__(self) -> str:
        return f"struct {self.__name__}({', '.join(self.members)})"


def _value(kind: Any, given: Any) -> Any:
    if isinstance(kind, StructType):
        return kind() if given is None else given
    if hasattr(kind, "element_shape"):
        return kind(0) if given is None else kind(given)
    return kind(0 if given is None else given)


class StructField:
    """A field of structs: the tensors of its members are its attributes."""

    __quadrants_tensor__ = True

    def __init__(self, kind: StructType, shape: Any, needs_grad: bool, layout: Any) -> None:
        self.struct = kind
        self.members: dict[str, Any] = {
            name: member.field(shape, needs_grad=needs_grad)
            if isinstance(member, StructType)
            else make(Field, member, shape, (), None, needs_grad)
            for name, member in kind.members.items()
        }
        self.__dict__.update(self.members)
        self.__quadrants_argument__ = kind.field_class(*(m.__quadrants_argument__ for m in self.members.values()))
        self.shape: tuple[int, ...] = next(iter(self.members.values())).shape
        self.layout = layout

    @property
    def grad(self) -> Any:
        """The gradients of the members, by name."""
        return {name: member.grad for name, member in self.members.items()}

    def keys(self) -> tuple[str, ...]:
        """The names of the members."""
        return tuple(self.members)

    def get_member_field(self, name: str) -> Tensor:
        """The tensor of a member."""
        found: Tensor = self.members[name]
        return found

    def fill(self, value: Any) -> None:
        """Give every number the value."""
        for member in self.members.values():
            member.fill(value)

    def to_numpy(self) -> dict[str, Any]:
        """The members as arrays, by name."""
        return {name: member.to_numpy() for name, member in self.members.items()}

    def from_numpy(self, arrays: dict[str, Any]) -> None:
        """Copy the members from arrays, by name."""
        for name, array in arrays.items():
            self.members[name].from_numpy(array)

    def __getitem__(self, index: Any) -> StructView:
        return StructView(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        for name, item in zip(self.struct.members, value):
            self.members[name][index] = item

    def __iter__(self) -> Any:
        return iter(itertools.product(*map(range, self.shape)))


class StructView:
    """A struct in a field, as the host sees it: members are read and assigned in place."""

    __slots__ = ("_field", "_index")

    def __init__(self, field: StructField, index: Any) -> None:
        object.__setattr__(self, "_field", field)
        object.__setattr__(self, "_index", index)

    def __getattr__(self, name: str) -> Any:
        members = self._field.members
        if name not in members:
            raise AttributeError(f"{self._field.struct!r} has no member {name!r}", name=name)
        return members[name][self._index]

    def __setattr__(self, name: str, value: Any) -> None:
        self._field.members[name][self._index] = value

    def __iter__(self) -> Any:
        return iter([member[self._index] for member in self._field.members.values()])

    def __repr__(self) -> str:
        return repr(self._field.struct.value_class(*self))


def struct(**members: Any) -> StructType:
    """The type of structs with the members.

    >>> import quadrants as qd
    >>> Ball = qd.types.struct(center=qd.math.vec3, radius=float)
    >>> balls = Ball.field(shape=4)
    >>> balls[1].radius = 3.0
    >>> balls.radius.to_numpy().tolist()
    [0.0, 3.0, 0.0, 0.0]
    """
    methods = members.pop("__struct_methods", {})
    return StructType("Struct", members, methods)


def dataclass(cls: Any) -> StructType:
    """The type of structs with the annotated members of a class, and its methods.

    >>> import quadrants as qd
    >>> @qd.dataclass
    ... class Ball:
    ...     center: qd.math.vec3
    ...     radius: float
    ...     @qd.func
    ...     def area(self):
    ...         return 4 * qd.math.pi * self.radius ** 2
    >>> @qd.kernel
    ... def area(radius: float) -> float:
    ...     return Ball(radius=radius).area()
    >>> round(area(1.0), 3)
    12.566
    """
    from quadrants.types.annotations import annotations_of_class

    methods = {name: value for name, value in vars(cls).items() if callable(value) and not name.startswith("__")}
    return StructType(cls.__name__, annotations_of_class(cls), methods)
