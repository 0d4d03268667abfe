"""What the lanes of a subgroup (MSL: simdgroup) do together.

MSL's functions take words; other numbers go through them by their bits. A value of a lane that does not take part is undefined in
MSL: such lanes are told apart by the mask of active ones. Reductions and scans are a butterfly of shuffles where all lanes take
part, else lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.types import Scalar
from quadrants_metal.lower import scalars
from quadrants_metal.lower.device import ALL_MEMORY
from quadrants_metal.lower.emit import Emitter, FunctionEmitter, scalar
from quadrants_metal.lower.names import bits_type, number, register

_ACTIVE = "ulong((simd_vote::vote_t)simd_active_threads_mask())"


def _bits(type: Scalar, value: str) -> str:
    """The bits of a number, as a word or a long."""
    if type.is_bool:
        return f"uint({value})"
    wide = "ulong" if type.itemsize == 8 else "uint"
    return f"{wide}(as_type<{bits_type(type)}>({value}))"


def _number(type: Scalar, bits: str) -> str:
    """The number of bits."""
    return f"{bits} != 0u" if type.is_bool else f"as_type<{register(type)}>({bits_type(type)}({bits}))"


def _moved(e: FunctionEmitter, type: Scalar, value: str, move: Callable[[str], str]) -> str:
    """What a function of MSL on words gives for a number."""
    bits = e.let("ulong" if type.itemsize == 8 else "uint", _bits(type, value))
    if type.itemsize < 8:
        return e.let(register(type), _number(type, e.let("uint", move(bits))))
    low, high = e.let("uint", move(f"uint({bits})")), e.let("uint", move(f"uint({bits} >> 32)"))
    return e.let(register(type), _number(type, f"(ulong({low}) | ulong({high}) << 32)"))


def shuffled(e: FunctionEmitter, type: Scalar, value: str, lane: str) -> str:
    """The number of a lane that takes part."""
    return _moved(e, type, value, lambda word: f"simd_shuffle({word}, ushort({lane}))")


# One at a time


def _index(e: FunctionEmitter, op: Op) -> None:
    e.set(op, "int(here.lane)")


def _count(e: FunctionEmitter, op: Op) -> None:
    e.set(op, "int(here.lanes)")


def _ballot(e: FunctionEmitter, op: Op) -> None:
    e.set(op, f"ulong((simd_vote::vote_t)simd_ballot({e.one(op.operands[0])}))")


def _active(e: FunctionEmitter, op: Op) -> None:
    e.set(op, _ACTIVE)


def _elect(e: FunctionEmitter, op: Op) -> None:
    e.set(op, "simd_is_first()")


def _first(e: FunctionEmitter, op: Op) -> None:
    type = scalar(op.result)
    e.same(op, _moved(e, type, e.one(op.operands[0]), lambda word: f"simd_broadcast_first({word})"))


def _vote(e: FunctionEmitter, op: Op) -> None:
    mode, value = str(op.attrs["mode"]), e.one(op.operands[0])
    if mode != "equal":
        e.set(op, f"simd_{mode}({value})")
        return
    type = scalar(op.operands[0])
    first = _moved(e, type, value, lambda word: f"simd_broadcast_first({word})")
    e.set(op, f"simd_all({_bits(type, first)} == {_bits(type, value)})")


def _shuffle(e: FunctionEmitter, op: Op) -> None:
    """From a lane that takes part; else the value stays."""
    value, operand = e.all(op.operands)
    source = {
        "index": f"uint({operand}) & (here.lanes - 1u)",  # modulo the size, which is a power of 2
        "up": f"here.lane - uint({operand})",
        "down": f"here.lane + uint({operand})",
        "xor": f"here.lane ^ uint({operand})",
    }[str(op.attrs["mode"])]
    lane = e.let("uint", source)
    mask = e.let("ulong", _ACTIVE)
    here = e.let("uint", f"{lane} < here.lanes && (({mask} >> {lane}) & 1ul) != 0ul ? {lane} : here.lane")
    e.same(op, shuffled(e, scalar(op.result), value, here))


def _barrier(e: FunctionEmitter, op: Op) -> None:
    e.do(f"simdgroup_barrier({ALL_MEMORY});")


# Made of the others


def _combined(type: Scalar, what: str, a: str, b: str) -> str:
    if what in ("min", "max"):
        return f"f{what}({a}, {b})" if type.is_float else f"{a} {'<' if what == 'min' else '>'} {b} ? {a} : {b}"
    write = scalars.bitwise if what in ("and", "or", "xor") else scalars.arithmetic
    return write(type, what, a, b)


def _identity(what: str, type: Scalar) -> str:
    """What leaves every other value as it is."""
    least = -(1 << (type.bits - 1)) if type.is_signed and type.is_integer else 0
    if what in ("min", "max"):
        if type.is_float:
            value: complex = float("inf") if what == "min" else float("-inf")
        else:
            value = least + (1 << type.bits) - 1 if what == "min" else least
    elif what == "and":
        value = -1 if type.is_signed else (1 << type.bits) - 1
    else:
        value = int(what == "mul")
    return number(type, value)[0]


def _by_lane(e: FunctionEmitter, type: Scalar, mask: str, value: str, visit: Callable[[str, str], None]) -> None:
    """Visit the lanes of a mask in order, each with its number and its value."""
    rest = e.let("ulong", mask)
    with e.nested(f"while ({rest} != 0ul)"):
        lane = e.let("uint", f"uint(qd_ctz({rest}))")
        visit(lane, shuffled(e, type, value, lane))
        e.do(f"{rest} &= {rest} - 1ul;")


def _together(e: FunctionEmitter, type: Scalar, value: str) -> tuple[str, str, str]:
    """The active lanes, whether these are all, and a variable that holds the value."""
    mask = e.let("ulong", _ACTIVE)
    return mask, f"{mask} == (~0ul >> (64u - here.lanes))", e.let(register(type), value)


def _reduce(e: FunctionEmitter, op: Op) -> None:
    type, what, value = scalar(op.result), str(op.attrs["op"]), e.one(op.operands[0])
    mask, full, held = _together(e, type, value)
    with e.nested(f"if ({full})"), e.nested("for (uint step = here.lanes / 2u; step > 0u; step /= 2u)"):
        other = shuffled(e, type, held, "here.lane ^ step")
        e.do(f"{held} = {_combined(type, what, held, other)};")
    with e.nested("else"):
        some = e.let("bool", "false")

        def visit(lane: str, other: str) -> None:
            e.do(f"{held} = {some} ? {_combined(type, what, held, other)} : {other};")
            e.do(f"{some} = true;")

        _by_lane(e, type, mask, value, visit)
    e.same(op, held)


def _scan(e: FunctionEmitter, op: Op) -> None:
    type, what, value = scalar(op.result), str(op.attrs["op"]), e.one(op.operands[0])
    inclusive = bool(op.attrs["inclusive"])
    mask, full, held = _together(e, type, value)
    with e.nested(f"if ({full})"):
        with e.nested("for (uint step = 1u; step < here.lanes; step *= 2u)"):
            other = shuffled(e, type, held, "here.lane < step ? here.lane : here.lane - step")
            e.do(f"if (here.lane >= step) {held} = {_combined(type, what, other, held)};")
        if not inclusive:
            before = shuffled(e, type, held, "here.lane == 0u ? 0u : here.lane - 1u")
            e.do(f"{held} = here.lane == 0u ? {_identity(what, type)} : {before};")
    with e.nested("else"):
        some = e.let("bool", "false")
        e.do(f"{held} = {_identity(what, type)};")

        def visit(lane: str, other: str) -> None:
            with e.nested(f"if ({lane} {'<=' if inclusive else '<'} here.lane)"):
                e.do(f"{held} = {some} ? {_combined(type, what, held, other)} : {other};")
                e.do(f"{some} = true;")

        _by_lane(e, type, mask, value, visit)
    e.same(op, held)


def _match(e: FunctionEmitter, op: Op) -> None:
    type, value = scalar(op.operands[0]), e.one(op.operands[0])
    found = e.let("ulong", "0ul")

    def visit(lane: str, other: str) -> None:
        e.do(f"if ({_bits(type, other)} == {_bits(type, value)}) {found} |= 1ul << {lane};")

    _by_lane(e, type, _ACTIVE, value, visit)
    e.same(op, found)


EMITTERS: dict[str, Emitter] = {
    "lane.index": _index,
    "lane.count": _count,
    "lane.active": _active,
    "lane.elect": _elect,
    "lane.first": _first,
    "lane.match": _match,
    "ballot": _ballot,
    "vote": _vote,
    "shuffle": _shuffle,
    "subgroup.reduce": _reduce,
    "subgroup.scan": _scan,
    "subgroup.barrier": _barrier,
}
