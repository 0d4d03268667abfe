"""Inlines into a kernel the functions that ask which thread runs them, or that threads run together.

Takes the module and its kernel; changes the kernel. What is left of the calls is to functions that do neither. Refuses recursion
among the functions to inline.
"""

from __future__ import annotations

from quadrants.ir import Function, Module, Op, Region, Value
from quadrants.ir.ops import OPS, device, subgroup
from quadrants.ir.rewrite import clone_region, fresh_labels, max_label
from quadrants.passes.blocks.structure import Refused
from quadrants.passes.modes import keep_mode, mode_of

_PLAIN = frozenset(("atomic", "atomic.cas", "fence"))
#: Ops that only mean something inside of a kernel.
OF_KERNELS = frozenset(defn.name for defn in (*device.DEFS, *subgroup.DEFS)) - _PLAIN


def inline(module: Module, kernel: Function) -> None:
    """Inline what has to be, calls inside of what was inlined too."""
    needed = _needing(module)
    while True:
        found = [(op, region) for region in _regions(kernel.body) for op in region.ops if _callee(op) in needed]
        if not found:
            return
        for op, region in found:
            name = _callee(op)
            assert name is not None
            if name in _reachable(module, name) or name == kernel.name:
                raise Refused(f"{name} calls itself and uses barriers or thread indices", op.loc)
            _inline_call(kernel, region, op, module.functions[name])


def _callee(op: Op) -> str | None:
    return str(op.attrs["callee"]) if op.name == "call" else None


def _regions(region: Region) -> list[Region]:
    found = [region]
    for op in region.ops:
        for inner in op.regions:
            found += _regions(inner)
    return found


def _needing(module: Module) -> set[str]:
    """The functions with an op of kernels, in them or in what they call."""
    needed = {
        name for name, function in module.functions.items() if any(op.name in OF_KERNELS for op in function.body.walk())
    }
    while True:
        more = {
            name
            for name, function in module.functions.items()
            if name not in needed and any(_callee(op) in needed for op in function.body.walk())
        }
        if not more:
            return needed
        needed |= more


def _reachable(module: Module, name: str) -> set[str]:
    """The functions that a function calls, directly or not."""
    found: set[str] = set()
    pending = [name]
    while pending:
        for op in module.functions[pending.pop()].body.walk():
            callee = _callee(op)
            if callee is not None and callee not in found:
                found.add(callee)
                pending.append(callee)
    return found


def _inline_call(kernel: Function, region: Region, call: Op, callee: Function) -> None:
    """Put the body of a function in the place of a call: its returns become breaks out of a block."""
    values: dict[Value, Value] = dict(zip(callee.params, call.operands))
    label = max_label(kernel.body) + 1
    body = clone_region(callee.body, values, fresh_labels(callee.body, [label]))
    keep_mode(body.walk(), mode_of(callee), mode_of(kernel))
    for inside in _regions(body):
        last = inside.ops[-1]
        if last.name == "return":
            inside.ops[-1] = Op(OPS["break"], last.operands, [], {"label": label}, [], last.loc)
    block = Op(OPS["block"], [], call.results, {"label": label}, [body], call.loc)
    if "result_types" in {attr.name for attr in OPS["block"].attrs}:
        block.attrs["result_types"] = tuple(value.type for value in call.results)
    region.ops[next(k for k, op in enumerate(region.ops) if op is call)] = block
