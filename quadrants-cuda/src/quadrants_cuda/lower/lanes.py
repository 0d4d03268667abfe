"""What the lanes of a subgroup do together.

Lanes that arrive together are found when they do (`activemask`), and named to each instruction. Where every lane of the
block must come by, which is where nothing of the kernel is around the op, lanes that went apart are first brought
together. Values move as words of 32 bits.
"""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants.ir.ops.subgroup import identity
from quadrants.lower.abi import scalar_text
from quadrants.lower.atomics import instruction
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.literal import scalar_parts
from quadrants.types import Scalar
from quadrants_cuda.lower.threads import special

_ALL = "-1"
#: One bit for every lane of a class: the lanes that are equal modulo the key.
_CLASSES = {32: 1, 16: 0x00010001, 8: 0x01010101, 4: 0x11111111, 2: 0x55555555}


def _active(e: FunctionEmitter, op: Op) -> Text:
    """The lanes that are here together."""
    if e.function.attrs.get("kernel") and any(each is op for each in e.function.body.ops):
        e.line(f"call void @llvm.nvvm.bar.warp.sync(i32 {_ALL})")
    return e.let("call i32 @llvm.nvvm.activemask()")


def _lane(e: FunctionEmitter) -> Text:
    """The threads of a block are numbered with x fastest, which is how the device numbers lanes."""
    return special(e, "laneid")


def _type(op: Op) -> Scalar:
    type = op.operands[0].type
    assert isinstance(type, Scalar)
    return type


def _to_words(e: FunctionEmitter, type: Scalar, value: Text) -> list[Text]:
    """The bits of a value as words."""
    text, bits = scalar_text(type), f"i{type.bits if not type.is_bool else 1}"
    whole = e.let(f"bitcast {text} {value} to {bits}") if type.is_float else value
    if bits == "i64":
        high = e.let(f"lshr i64 {whole}, 32")
        return [e.let(f"trunc i64 {whole} to i32"), e.let(f"trunc i64 {high} to i32")]
    return [whole if bits == "i32" else e.let(f"zext {bits} {whole} to i32")]


def _from_words(e: FunctionEmitter, type: Scalar, words: list[Text]) -> Text:
    text, bits = scalar_text(type), f"i{type.bits if not type.is_bool else 1}"
    if bits == "i64":
        low, high = (e.let(f"zext i32 {word} to i64") for word in words)
        whole = e.let(f"or i64 {low}, {e.let(f'shl i64 {high}, 32')}")
    else:
        whole = words[0] if bits == "i32" else e.let(f"trunc i32 {words[0]} to {bits}")
    return e.let(f"bitcast {bits} {whole} to {text}") if type.is_float else whole


def _read(e: FunctionEmitter, type: Scalar, value: Text, mask: Text, lane: Text) -> Text:
    """The value of a lane, which is one of the mask."""
    words = [
        e.let(f"call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 {mask}, i32 {word}, i32 {lane}, i32 31)")
        for word in _to_words(e, type, value)
    ]
    return _from_words(e, type, words)


def _read_if(e: FunctionEmitter, type: Scalar, value: Text, mask: Text, lane: Text) -> tuple[Text, Text]:
    """The value of a lane, and whether that lane is there."""
    inside = e.let(f"icmp ult i32 {lane}, 32")
    place = e.let(f"and i32 {lane}, 31")
    bit = e.let(f"and i32 {e.let(f'lshr i32 {mask}, {place}')}, 1")
    there = e.let(f"and i1 {inside}, {e.let(f'icmp ne i32 {bit}, 0')}")
    return _read(e, type, value, mask, place), there


def _shuffle(e: FunctionEmitter, op: Op) -> None:
    type, text = _type(op), scalar_text(_type(op))
    value, n = e.one(op.operands[0]), e.one(op.operands[1])
    mask, mode = _active(e, op), str(op.attrs["mode"])
    if mode == "index":
        lane = e.let(f"and i32 {n}, 31")
    else:
        lane = e.let(f"{ {'up': 'sub', 'down': 'add', 'xor': 'xor'}[mode] } i32 {_lane(e)}, {n}")
    other, there = _read_if(e, type, value, mask, lane)
    e.set(op, e.let(f"select i1 {there}, {text} {other}, {text} {value}"))


def _first(e: FunctionEmitter, mask: Text) -> Text:
    return e.let(f"call i32 @llvm.cttz.i32(i32 {mask}, i1 true)")


def _vote(e: FunctionEmitter, op: Op) -> None:
    mode, value = str(op.attrs["mode"]), e.one(op.operands[0])
    mask = _active(e, op)
    if mode == "equal":
        own = _to_words(e, _type(op), value)
        first = _to_words(e, _type(op), _read(e, _type(op), value, mask, _first(e, mask)))
        value = "true"
        for a, b in zip(own, first):
            value = e.let(f"and i1 {value}, {e.let(f'icmp eq i32 {a}, {b}')}")
        mode = "all"
    e.set(op, e.let(f"call i1 @llvm.nvvm.vote.{mode}.sync(i32 {mask}, i1 {value})"))


def _as_mask(e: FunctionEmitter, op: Op, word: Text) -> None:
    e.set(op, e.let(f"zext i32 {word} to i64"))


def _ballot(e: FunctionEmitter, op: Op) -> None:
    mask = _active(e, op)
    _as_mask(e, op, e.let(f"call i32 @llvm.nvvm.vote.ballot.sync(i32 {mask}, i1 {e.one(op.operands[0])})"))


def _match(e: FunctionEmitter, op: Op) -> None:
    """A value of 64 bits is matched by both of its words."""
    words = _to_words(e, _type(op), e.one(op.operands[0]))
    mask = _active(e, op)
    found = [e.let(f"call i32 @llvm.nvvm.match.any.sync.i32(i32 {mask}, i32 {word})") for word in words]
    _as_mask(e, op, found[0] if len(found) == 1 else e.let(f"and i32 {found[0]}, {found[1]}"))


def _lane_active(e: FunctionEmitter, op: Op) -> None:
    _as_mask(e, op, _active(e, op))


def _elect(e: FunctionEmitter, op: Op) -> None:
    mask = _active(e, op)
    e.set(op, e.let(f"icmp eq i32 {_lane(e)}, {_first(e, mask)}"))


def _lane_first(e: FunctionEmitter, op: Op) -> None:
    mask = _active(e, op)
    e.set(op, _read(e, _type(op), e.one(op.operands[0]), mask, _first(e, mask)))


def _combined(e: FunctionEmitter, op: Op, a: Text, b: Text) -> Text:
    """Two values combined; float16 by way of float32, as everywhere."""
    type, what = _type(op), str(op.attrs["op"])
    text = scalar_text(type)
    if type.is_float:
        wide = "float" if type.bits == 16 else text
        if type.bits == 16:
            a, b = (e.let(f"fpext half {x} to float") for x in (a, b))
        if what in ("min", "max"):
            suffix = "f64" if wide == "double" else "f32"
            result = e.let(f"call {wide} @llvm.{what}num.{suffix}({wide} {a}, {wide} {b})")
        else:
            result = e.let(f"{ {'add': 'fadd', 'mul': 'fmul'}[what] } {wide} {a}, {b}")
        return e.let(f"fptrunc float {result} to half") if type.bits == 16 else result
    if what in ("min", "max"):
        name = instruction(what, type)
        sign = name if name and name[0] == "u" else f"s{name}"
        return e.let(f"call {text} @llvm.{sign}.{text}({text} {a}, {text} {b})")
    return e.let(f"{what} {text} {a}, {b}")


def _reduce(e: FunctionEmitter, op: Op) -> None:
    """As a butterfly: in each step lanes hold the value of their class, which any of them can give."""
    type, text = _type(op), scalar_text(_type(op))
    value = e.one(op.operands[0])
    mask, lane = _active(e, op), _lane(e)
    for size, pattern in _CLASSES.items():
        wanted = e.let(f"and i32 {e.let(f'xor i32 {lane}, {size // 2}')}, {size - 1}")
        members = e.let(f"and i32 {mask}, {e.let(f'shl i32 {pattern}, {wanted}')}")
        any_there = e.let(f"icmp ne i32 {members}, 0")
        source = e.let(f"select i1 {any_there}, i32 {_first(e, members)}, i32 {lane}")
        other = _read(e, type, value, mask, source)
        both = _combined(e, op, value, other)
        value = e.let(f"select i1 {any_there}, {text} {both}, {text} {value}")
    e.set(op, value)


def _scan(e: FunctionEmitter, op: Op) -> None:
    """Each lane follows the active lane before it, then the one that this one followed, and so on."""
    type, text = _type(op), scalar_text(_type(op))
    value = e.one(op.operands[0])
    mask = _active(e, op)
    below = e.let(f"and i32 {mask}, {special(e, 'lanemask.lt')}")
    before = e.let(f"sub i32 31, {e.let(f'call i32 @llvm.ctlz.i32(i32 {below}, i1 false)')}")  # -1: none
    link = before
    for step in range(5):
        other, there = _read_if(e, type, value, mask, link)
        both = _combined(e, op, other, value)
        value = e.let(f"select i1 {there}, {text} {both}, {text} {value}")
        if step < 4:
            place = e.let(f"and i32 {link}, 31")
            onward = e.let(f"call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 {mask}, i32 {link}, i32 {place}, i32 31)")
            link = e.let(f"select i1 {there}, i32 {onward}, i32 -1")
    if not op.attrs["inclusive"]:
        other, there = _read_if(e, type, value, mask, before)
        neutral = identity(op)
        (nothing,) = scalar_parts(float(neutral) if type.is_float else neutral, type)
        value = e.let(f"select i1 {there}, {text} {other}, {text} {nothing}")
    e.set(op, value)


def _barrier(e: FunctionEmitter, op: Op) -> None:
    e.line(f"call void @llvm.nvvm.bar.warp.sync(i32 {_active(e, op)})")


def _lane_index(e: FunctionEmitter, op: Op) -> None:
    e.set(op, _lane(e))


def _lane_count(e: FunctionEmitter, op: Op) -> None:
    e.set(op, "32")


EMITTERS: dict[str, Emitter] = {
    "lane.index": _lane_index,
    "lane.count": _lane_count,
    "shuffle": _shuffle,
    "vote": _vote,
    "ballot": _ballot,
    "lane.match": _match,
    "lane.active": _lane_active,
    "lane.elect": _elect,
    "lane.first": _lane_first,
    "subgroup.reduce": _reduce,
    "subgroup.scan": _scan,
    "subgroup.barrier": _barrier,
}
