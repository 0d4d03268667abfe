"""Explicit tree -> the tree that people expect: jumps to where control goes anyway vanish.

Takes the list of `protect`; changes it in place. In tail position of a block its `Exit` is dropped, in tail position of
a loop its `Continue`; blocks without exits dissolve; what follows an `If` moves into the arm that reaches it where the
other arm ends where the whole sequence ends. Legal because each rewrite keeps where every path goes.
"""

from __future__ import annotations

from .structure import X, XBlock, XCode, XFor, XIf, XJump, XLoop, XTry

Jump = tuple[int, bool]
NESTING = 40  # an elif chain longer than this stays a sequence, so that no walk over the tree recurses too deep
NO_TAIL: frozenset[Jump] = frozenset()


def simplify(items: list[X]) -> list[X]:
    """The simplified sequence."""
    s = _Simplifier()
    s.count(items, 0)
    return s.sequence(items, NO_TAIL)


class _Simplifier:
    def __init__(self) -> None:
        self.uses: dict[Jump, int] = {}
        self.level: dict[int, int] = {}  # block label -> loops around it
        self.from_loops: set[int] = set()  # labels of blocks that are left from a loop inside
        self.alias: dict[int, Jump] = {}

    def count(self, items: list[X], loops: int) -> None:
        """Counts the uses of every label."""
        for item in items:
            match item:
                case XJump(label, back):
                    self.uses[label, back] = self.uses.get((label, back), 0) + 1
                    if not back and self.level.get(label, loops) < loops:
                        self.from_loops.add(label)
                case XIf(_, _, first, second) | XTry(_, _, _, first, second):
                    self.count(first, loops)
                    self.count(second, loops)
                case XBlock(label, body):
                    self.level[label] = loops
                    self.count(body, loops)
                case XLoop(_, body) | XFor(_, _, _, body):
                    self.count(body, loops + 1)

    def resolve(self, jump: XJump) -> Jump:
        """Where a jump goes, blocks that were merged with an outer one taken into account."""
        target = (jump.label, jump.back)
        while not target[1] and target[0] in self.alias:
            target = self.alias[target[0]]
        jump.label, jump.back = target
        return target

    def sequence(self, items: list[X], tail: frozenset[Jump]) -> list[X]:
        """Simplifies a sequence; the jumps in `tail` go to where its end goes."""
        rest: list[X] = []
        nested = 0
        for item in reversed(items):
            at_end = tail if not rest else NO_TAIL
            match item:
                case XJump():
                    target = self.resolve(item)
                    rest = [item]  # what follows a jump is never reached
                    if target in tail:
                        self.uses[target] -= 1
                        rest = []
                    nested = 0
                case XIf():
                    where = self.nest(item, tail) if rest and nested < NESTING else None
                    if where is None:
                        item.then = self.sequence(item.then, at_end)
                        item.orelse = self.sequence(item.orelse, at_end)
                        rest.insert(0, item)
                    else:
                        nested += 1
                        item.then = rest if where else self.sequence(item.then, tail)
                        item.orelse = self.sequence(item.orelse, tail) if where else rest
                        rest = [item]
                case XBlock():
                    rest = self.block(item, rest, tail)
                case XLoop(label, body) | XFor(label, _, _, body):
                    item.body = self.sequence(body, frozenset({(label, True)}))
                    if isinstance(item, XLoop):
                        _nest_test(item)
                    rest.insert(0, item)
                case XTry():
                    item.body = self.sequence(item.body, at_end)
                    item.handler = self.sequence(item.handler, at_end)
                    rest.insert(0, item)
                case _:
                    rest.insert(0, item)
        return rest

    def block(self, item: XBlock, rest: list[X], tail: frozenset[Jump]) -> list[X]:
        label = item.label
        if not rest and tail and label not in self.from_loops:
            target = self.alias[label] = min(tail)
            self.uses[target] = self.uses.get(target, 0) + self.uses.pop((label, False), 0)
            return self.sequence(item.body, tail)
        body = self.sequence(item.body, frozenset({(label, False)}) | (NO_TAIL if rest else tail))
        if not self.uses.get((label, False)):
            return body + rest
        item.body = body
        return [item, *rest]

    def nest(self, item: XIf, tail: frozenset[Jump]) -> bool | None:
        """Which arm takes what follows the If (true: `then`), where the other arm may end at the end of the sequence.
        None if neither: then the If stands alone, with an arm that leaves."""
        if not item.then and item.orelse and self.reaches(item.orelse, tail):
            return True
        if not item.orelse and item.then and self.reaches(item.then, tail):
            return False
        return None

    def reaches(self, items: list[X], tail: frozenset[Jump]) -> bool:
        """Whether a path through the sequence ends in one of the jumps, in tail position."""
        if not items:
            return False
        match items[-1]:
            case XJump() as jump:
                return self.resolve(jump) in tail
            case XIf(_, _, first, second) | XTry(_, _, _, first, second):
                return self.reaches(first, tail) or self.reaches(second, tail)
            case XBlock(_, body):
                return self.reaches(body, tail)
        return False


def _nest_test(loop: XLoop) -> None:
    """Gives a loop that starts with its test the form "if test: body, else: leave"."""
    for i, item in enumerate(loop.body):
        if isinstance(item, XCode):
            continue
        if isinstance(item, XIf):
            arms = (item.then, item.orelse)
            for empty, leaving in (arms, arms[::-1]):
                if not empty and len(leaving) == 1 and isinstance(leaving[0], XJump) and not leaving[0].back:
                    empty += loop.body[i + 1 :]
                    del loop.body[i + 1 :]
                    return
        return
