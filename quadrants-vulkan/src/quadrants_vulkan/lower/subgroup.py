"""What the lanes of a subgroup do together. Values of 64 bits go as two words."""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.types import Scalar
from quadrants_vulkan.lower.emit import Emitter, FunctionEmitter, scalar
from quadrants_vulkan.lower.parts import Part, scalar_parts
from quadrants_vulkan.spirv.assembler import Id
from quadrants_vulkan.spirv.grammar import BuiltIn, Capability, Scope
from quadrants_vulkan.spirv.grammar import Op as Code
from quadrants_vulkan.target import Feature

_ALTERNATIVE = "use shared memory and a barrier, or another device"


def _need(e: FunctionEmitter, op: Op, feature: Feature, capability: Capability) -> None:
    e.module.need(e, op, feature, f"{op.name}: it has no such operations of subgroups", _ALTERNATIVE)
    e.asm.capability(Capability.GROUP_NON_UNIFORM)
    e.asm.capability(capability)


def _scope(e: FunctionEmitter) -> Id:
    return e.word(Scope.SUBGROUP)


def _built_in(e: FunctionEmitter, which: BuiltIn) -> Id:
    e.asm.capability(Capability.GROUP_NON_UNIFORM)
    return e.let(Code.LOAD, e.word_type, e.asm.built_in(which, e.word_type))


def _lane(e: FunctionEmitter) -> Id:
    return _built_in(e, BuiltIn.SUBGROUP_LOCAL_INVOCATION_ID)


def _size(e: FunctionEmitter) -> Id:
    return _built_in(e, BuiltIn.SUBGROUP_SIZE)


def _index(e: FunctionEmitter, op: Op) -> None:
    e.set(op, _lane(e))


def _count(e: FunctionEmitter, op: Op) -> None:
    e.set(op, _size(e))


def on_words(e: FunctionEmitter, type: Scalar, value: Id, function: Callable[[Id], Id]) -> Id:
    """Apply a function of a word, that gives a word, to the words of a number."""
    (part,) = scalar_parts(type)
    if part is Part.TRUTH:
        word = function(e.select(value, Part.WORD, e.word(1), e.word(0)))
        return e.test(Code.I_NOT_EQUAL, word, e.word(0))
    if part is Part.WORD:
        return function(value)
    if part is Part.SINGLE:
        return e.let(Code.BITCAST, e.single_type, function(e.let(Code.BITCAST, e.word_type, value)))
    long = value if part is Part.LONG else e.let(Code.BITCAST, e.type(Part.LONG), value)
    moved = e.longs.join(function(e.longs.low(long)), function(e.longs.high(long)))
    return moved if part is Part.LONG else e.let(Code.BITCAST, e.type(part), moved)


# Ballots


def _ballot_words(e: FunctionEmitter, condition: Id) -> Id:
    """The lanes where the condition holds, as a vector of four words."""
    e.asm.capability(Capability.GROUP_NON_UNIFORM_BALLOT)
    return e.let(Code.GROUP_NON_UNIFORM_BALLOT, e.asm.vector(e.word_type, 4), _scope(e), condition)


def _ballot_long(e: FunctionEmitter, condition: Id) -> Id:
    words = _ballot_words(e, condition)
    low, high = (e.let(Code.COMPOSITE_EXTRACT, e.word_type, words, index) for index in (0, 1))
    return e.longs.join(low, high)


def _ballot(e: FunctionEmitter, op: Op) -> None:
    _need(e, op, Feature.SUBGROUP_BALLOT, Capability.GROUP_NON_UNIFORM_BALLOT)
    e.set(op, _ballot_long(e, e.one(op.operands[0])))


def _active(e: FunctionEmitter, op: Op) -> None:
    _need(e, op, Feature.SUBGROUP_BALLOT, Capability.GROUP_NON_UNIFORM_BALLOT)
    e.set(op, _ballot_long(e, e.truth(True)))


def _elect(e: FunctionEmitter, op: Op) -> None:
    e.asm.capability(Capability.GROUP_NON_UNIFORM)
    e.set(op, e.test(Code.GROUP_NON_UNIFORM_ELECT, _scope(e)))


def _first(e: FunctionEmitter, op: Op) -> None:
    _need(e, op, Feature.SUBGROUP_BALLOT, Capability.GROUP_NON_UNIFORM_BALLOT)

    def first(word: Id) -> Id:
        return e.let(Code.GROUP_NON_UNIFORM_BROADCAST_FIRST, e.word_type, _scope(e), word)

    e.set(op, on_words(e, scalar(op.result), e.one(op.operands[0]), first))


# Votes


def _vote(e: FunctionEmitter, op: Op) -> None:
    _need(e, op, Feature.SUBGROUP_VOTE, Capability.GROUP_NON_UNIFORM_VOTE)
    mode, value = str(op.attrs["mode"]), e.one(op.operands[0])
    if mode != "equal":
        code = Code.GROUP_NON_UNIFORM_ALL if mode == "all" else Code.GROUP_NON_UNIFORM_ANY
        e.set(op, e.test(code, _scope(e), value))
        return
    answers: list[Id] = []

    def equal(word: Id) -> Id:
        answers.append(e.test(Code.GROUP_NON_UNIFORM_ALL_EQUAL, _scope(e), word))
        return word

    on_words(e, scalar(op.operands[0]), value, equal)
    e.set(op, answers[0] if len(answers) == 1 else e.test(Code.LOGICAL_AND, *answers))


# Shuffles


def _source(e: FunctionEmitter, mode: str, operand: Id, size: Id) -> Id:
    """The lane that is read; it may lie outside of the subgroup."""
    if mode == "index":  # modulo the size, which is a power of 2
        return e.w(Code.BITWISE_AND, operand, e.w(Code.I_SUB, size, e.word(1)))
    code = {"up": Code.I_SUB, "down": Code.I_ADD, "xor": Code.BITWISE_XOR}[mode]
    return e.w(code, _lane(e), operand)


def _shuffle(e: FunctionEmitter, op: Op) -> None:
    """From a lane that takes part; else the value stays."""
    _need(e, op, Feature.SUBGROUP_SHUFFLE, Capability.GROUP_NON_UNIFORM_SHUFFLE)
    _need(e, op, Feature.SUBGROUP_BALLOT, Capability.GROUP_NON_UNIFORM_BALLOT)
    value, operand = (e.one(x) for x in op.operands)
    size = _size(e)
    source = _source(e, str(op.attrs["mode"]), operand, size)
    inside = e.test(Code.U_LESS_THAN, source, size)
    safe = e.select(inside, Part.WORD, source, _lane(e))
    active = e.test(Code.GROUP_NON_UNIFORM_BALLOT_BIT_EXTRACT, _scope(e), _ballot_words(e, e.truth(True)), safe)
    lane = e.select(active, Part.WORD, safe, _lane(e))

    def shuffle(word: Id) -> Id:
        return e.let(Code.GROUP_NON_UNIFORM_SHUFFLE, e.word_type, _scope(e), word, lane)

    e.set(op, on_words(e, scalar(op.result), value, shuffle))


# Made of the others


def _helped(kind: Callable[[Op], str]) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        what = str(op.attrs.get("op", "lanes"))
        e.set(op, e.call_helper(f"{kind(op)}.{what}.{op.operands[0].type}", e.one(op.operands[0])))

    return emit


def _barrier(e: FunctionEmitter, op: Op) -> None:
    from quadrants_vulkan.lower.device import semantics

    e.asm.capability(Capability.GROUP_NON_UNIFORM)
    e.do(Code.CONTROL_BARRIER, _scope(e), _scope(e), semantics(e))


EMITTERS: dict[str, Emitter] = {
    "lane.index": _index,
    "lane.count": _count,
    "lane.active": _active,
    "lane.elect": _elect,
    "lane.first": _first,
    "lane.match": _helped(lambda op: "match"),
    "ballot": _ballot,
    "vote": _vote,
    "shuffle": _shuffle,
    "subgroup.reduce": _helped(lambda op: "reduce"),
    "subgroup.scan": _helped(lambda op: "inclusive" if op.attrs["inclusive"] else "exclusive"),
    "subgroup.barrier": _barrier,
}
