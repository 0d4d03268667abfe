"""Inlines into the entry the functions that it calls outside of loops and that have parallel loops: those are launched by the host.

Takes a module, changes its entry. Legal for any call; a function that calls itself is refused.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import record
from quadrants.diagnostics import Code, CompileError
from quadrants.ir import Function, Module, Op, Region, Value
from quadrants.ir.ops import OPS
from quadrants.ir.rewrite import clone_region, fresh_labels, max_label, replace_uses, returns_break
from quadrants.passes.context import location_of
from quadrants.passes.structure import LOOPS


def inline(module: Module) -> None:
    """Inline calls, those in what was inlined too."""
    entry = module.functions[module.entry]
    wanted = _launching(module) - {module.entry}
    if wanted:
        inliner = _Inliner(module, entry, wanted, max_label(entry.body) + 1)
        inliner.region(entry.body, ())
        replace_uses(entry.body, inliner.replaced)


def _launching(module: Module) -> set[str]:
    """The functions with a parallel loop, in them or in what they call."""
    found = {
        name
        for name, function in module.functions.items()
        if any(op.name == "for" and op.attrs.get("parallel") for op in function.body.walk())
    }
    while True:
        more = {
            name
            for name, function in module.functions.items()
            if name not in found
            and any(op.name == "call" and op.attrs["callee"] in found for op in function.body.walk())
        }
        if not more:
            return found
        found |= more


@record
class _Inliner:
    """The work on one entry. `label`: the first that is not used yet; `replaced`: results of calls, by what stands for them."""

    module: Module
    entry: Function
    wanted: set[str]
    label: int
    replaced: dict[Value, Value] = field(default_factory=dict)

    def region(self, region: Region, chain: tuple[str, ...]) -> None:
        out: list[Op] = []
        for op in region.ops:
            name = str(op.attrs.get("callee"))
            if op.name == "call" and name in self.wanted:
                self.refuse_cycle(op, name, chain)
                made = Region([], self.body(op, self.module.functions[name]))
                self.region(made, (*chain, name))
                out += made.ops
                continue
            if op.name not in LOOPS:
                for nested in op.regions:
                    self.region(nested, chain)
            out.append(op)
        region.ops[:] = out

    def refuse_cycle(self, call: Op, name: str, chain: tuple[str, ...]) -> None:
        if name in chain:
            raise CompileError(
                Code.RECURSION_ON_TARGET,
                f"{self.module.functions[name].scope.qualname}() calls itself and has parallel loops",
                location_of(self.entry, call),
                hint="call it from a loop, where its own loops run in order",
            )

    def body(self, call: Op, callee: Function) -> list[Op]:
        """What stands for a call: the ops themselves where the end is the only way out, else a block that returns break out of."""
        label = self.label
        labels = fresh_labels(callee.body, [label])
        self.label = max((label, *labels.values())) + 1
        body = clone_region(callee.body, dict(zip(callee.params, call.operands)), labels)
        returns = [op for op in body.walk() if op.name == "return"]
        if len(returns) == 1 and body.ops[-1] is returns[0]:
            self.replaced.update(zip(call.results, returns[0].operands))
            return body.ops[:-1]
        returns_break(body, label)
        return [Op(OPS["block"], [], call.results, {"label": label}, [body], call.loc)]
