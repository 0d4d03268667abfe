"""What the lanes of a subgroup do together, made of three primitives: who is here, a ballot, and a word of another lane.

Values move as words of 32 bits. A lane of the mask is read only by lanes that are here with it, so nothing depends on what an
instruction gives for others.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.ir.ops.subgroup import identity
from quadrants.lower.abi import scalar_text
from quadrants.lower.atomics import instruction
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.gpu.primitives import LANES, Primitives
from quadrants.lower.literal import scalar_parts
from quadrants.types import Scalar

#: Size of a class -> the lanes that are equal modulo it to lane 0, as bits.
_CLASSES = {32: 1, 16: 0x00010001, 8: 0x01010101, 4: 0x11111111, 2: 0x55555555}
_SHIFTED = {"up": "sub", "down": "add", "xor": "xor"}


def _type(op: Op) -> Scalar:
    type = op.operands[0].type
    assert isinstance(type, Scalar)
    return type


def _bits(type: Scalar) -> str:
    return "i1" if type.is_bool else f"i{type.bits}"


def to_words(e: FunctionEmitter, type: Scalar, value: Text) -> list[Text]:
    """The bits of a value as words."""
    bits = _bits(type)
    whole = e.let(f"bitcast {scalar_text(type)} {value} to {bits}") if type.is_float else value
    if bits == "i64":
        high = e.let(f"lshr i64 {whole}, 32")
        return [e.let(f"trunc i64 {whole} to i32"), e.let(f"trunc i64 {high} to i32")]
    return [whole if bits == "i32" else e.let(f"zext {bits} {whole} to i32")]


def from_words(e: FunctionEmitter, type: Scalar, words: list[Text]) -> Text:
    """The value of some words."""
    bits = _bits(type)
    if bits == "i64":
        low, high = (e.let(f"zext i32 {word} to i64") for word in words)
        whole = e.let(f"or i64 {low}, {e.let(f'shl i64 {high}, 32')}")
    else:
        whole = words[0] if bits == "i32" else e.let(f"trunc i32 {words[0]} to {bits}")
    return e.let(f"bitcast {bits} {whole} to {scalar_text(type)}") if type.is_float else whole


def _first(e: FunctionEmitter, mask: Text) -> Text:
    return e.let(f"call i32 @llvm.cttz.i32(i32 {mask}, i1 false)")


class _Lanes:
    """The emitters of one kind of GPU."""

    def __init__(self, p: Primitives) -> None:
        self.p = p

    def read(self, e: FunctionEmitter, type: Scalar, value: Text, mask: Text, lane: Text) -> Text:
        """The value of a lane of the mask."""
        return from_words(e, type, [self.p.read(e, mask, word, lane) for word in to_words(e, type, value)])

    def read_if(self, e: FunctionEmitter, type: Scalar, value: Text, mask: Text, lane: Text) -> tuple[Text, Text]:
        """The value of a lane, and whether that lane is there."""
        inside = e.let(f"icmp ult i32 {lane}, {LANES}")
        place = e.let(f"and i32 {lane}, {LANES - 1}")
        bit = e.let(f"and i32 {e.let(f'lshr i32 {mask}, {place}')}, 1")
        there = e.let(f"and i1 {inside}, {e.let(f'icmp ne i32 {bit}, 0')}")
        return self.read(e, type, value, mask, place), there

    def shuffle(self, e: FunctionEmitter, op: Op) -> None:
        """From a lane that is here; else the value stays."""
        type, text = _type(op), scalar_text(_type(op))
        value, n = e.one(op.operands[0]), e.one(op.operands[1])
        mask, mode = self.p.active(e, op), str(op.attrs["mode"])
        if mode == "index":
            lane = e.let(f"and i32 {n}, {LANES - 1}")
        else:
            lane = e.let(f"{_SHIFTED[mode]} i32 {self.p.lane(e)}, {n}")
        other, there = self.read_if(e, type, value, mask, lane)
        e.set(op, e.let(f"select i1 {there}, {text} {other}, {text} {value}"))

    def vote(self, e: FunctionEmitter, op: Op) -> None:
        mode, value = str(op.attrs["mode"]), e.one(op.operands[0])
        mask = self.p.active(e, op)
        if mode == "equal":
            own = to_words(e, _type(op), value)
            first = to_words(e, _type(op), self.read(e, _type(op), value, mask, _first(e, mask)))
            value = "true"
            for a, b in zip(own, first):
                value = e.let(f"and i1 {value}, {e.let(f'icmp eq i32 {a}, {b}')}")
        found = self.p.ballot(e, mask, value)
        e.set(op, e.let(f"icmp ne i32 {found}, 0" if mode == "any" else f"icmp eq i32 {found}, {mask}"))

    def ballot(self, e: FunctionEmitter, op: Op) -> None:
        mask = self.p.active(e, op)
        e.set(op, e.let(f"zext i32 {self.p.ballot(e, mask, e.one(op.operands[0]))} to i64"))

    def active(self, e: FunctionEmitter, op: Op) -> None:
        e.set(op, e.let(f"zext i32 {self.p.active(e, op)} to i64"))

    def elect(self, e: FunctionEmitter, op: Op) -> None:
        mask = self.p.active(e, op)
        e.set(op, e.let(f"icmp eq i32 {self.p.lane(e)}, {_first(e, mask)}"))

    def first(self, e: FunctionEmitter, op: Op) -> None:
        mask = self.p.active(e, op)
        e.set(op, self.read(e, _type(op), e.one(op.operands[0]), mask, _first(e, mask)))

    def match(self, e: FunctionEmitter, op: Op) -> None:
        """Every lane in turn shows its value to the others."""
        own = to_words(e, _type(op), e.one(op.operands[0]))
        mask = self.p.active(e, op)
        found = "0"
        for lane in range(LANES):
            equal = e.let(f"icmp ne i32 {e.let(f'and i32 {mask}, {1 << lane}')}, 0")
            for word in own:
                other = self.p.read(e, mask, word, str(lane))
                equal = e.let(f"and i1 {equal}, {e.let(f'icmp eq i32 {other}, {word}')}")
            found = e.let(f"or i32 {found}, {e.let(f'select i1 {equal}, i32 {1 << lane}, i32 0')}")
        e.set(op, e.let(f"zext i32 {found} to i64"))

    def reduce(self, e: FunctionEmitter, op: Op) -> None:
        """As a butterfly: in each step lanes hold the value of their class, which any of them can give."""
        type, text = _type(op), scalar_text(_type(op))
        value = e.one(op.operands[0])
        mask, lane = self.p.active(e, op), self.p.lane(e)
        for size, pattern in _CLASSES.items():
            wanted = e.let(f"and i32 {e.let(f'xor i32 {lane}, {size // 2}')}, {size - 1}")
            members = e.let(f"and i32 {mask}, {e.let(f'shl i32 {pattern}, {wanted}')}")
            there = e.let(f"icmp ne i32 {members}, 0")
            source = e.let(f"select i1 {there}, i32 {_first(e, members)}, i32 {lane}")
            both = _combined(e, op, value, self.read(e, type, value, mask, source))
            value = e.let(f"select i1 {there}, {text} {both}, {text} {value}")
        e.set(op, value)

    def scan(self, e: FunctionEmitter, op: Op) -> None:
        """Each lane follows the active lane before it, then the one that this one followed, and so on."""
        type, text = _type(op), scalar_text(_type(op))
        value = e.one(op.operands[0])
        mask = self.p.active(e, op)
        under = e.let(f"sub i32 {e.let(f'shl i32 1, {self.p.lane(e)}')}, 1")
        below = e.let(f"and i32 {mask}, {under}")
        before = e.let(f"sub i32 31, {e.let(f'call i32 @llvm.ctlz.i32(i32 {below}, i1 false)')}")  # -1: none
        link = before
        for step in range(5):
            other, there = self.read_if(e, type, value, mask, link)
            both = _combined(e, op, other, value)
            value = e.let(f"select i1 {there}, {text} {both}, {text} {value}")
            if step < 4:
                onward = self.p.read(e, mask, link, e.let(f"and i32 {link}, {LANES - 1}"))
                link = e.let(f"select i1 {there}, i32 {onward}, i32 -1")
        if not op.attrs["inclusive"]:
            other, there = self.read_if(e, type, value, mask, before)
            least = identity(op)
            (nothing,) = scalar_parts(float(least) if type.is_float else least, type)
            value = e.let(f"select i1 {there}, {text} {other}, {text} {nothing}")
        e.set(op, value)

    def barrier(self, e: FunctionEmitter, op: Op) -> None:
        """Lanes that are together run in step; what they wrote has to be seen."""
        self.p.active(e, op)
        e.line(f"fence{self.p.scopes['block']} seq_cst")

    def index(self, e: FunctionEmitter, op: Op) -> None:
        e.set(op, self.p.lane(e))

    def count(self, e: FunctionEmitter, op: Op) -> None:
        e.set(op, str(LANES))


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
        name = instruction(what, type) or what
        return e.let(f"call {text} @llvm.{name if name[0] == 'u' else 's' + name}.{text}({text} {a}, {text} {b})")
    return e.let(f"{what} {text} {a}, {b}")


def emitters(p: Primitives) -> dict[str, Callable[[FunctionEmitter, Op], None]]:
    """By op name."""
    lanes = _Lanes(p)
    table: dict[str, Emitter] = {
        "lane.index": lanes.index,
        "lane.count": lanes.count,
        "shuffle": lanes.shuffle,
        "vote": lanes.vote,
        "ballot": lanes.ballot,
        "lane.match": lanes.match,
        "lane.active": lanes.active,
        "lane.elect": lanes.elect,
        "lane.first": lanes.first,
        "subgroup.reduce": lanes.reduce,
        "subgroup.scan": lanes.scan,
        "subgroup.barrier": lanes.barrier,
    }
    return table
