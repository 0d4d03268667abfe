"""Lowers a module: the entry point of this package.

Takes a verified QIR module in which maps are expanded and ownership is explicit; gives `abi.Lowered`. Writes text only: fast, and
without LLVM.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice

from quadrants.ir.core import Function, Module, Region
from quadrants.lower import table
from quadrants.lower.abi import Lowered, all_components, symbol
from quadrants.lower.analysis import analyse
from quadrants.lower.calls import body_name, finish, param_list, result_text, return_by_value, unpack
from quadrants.lower.context import LowerOptions, ModuleContext
from quadrants.lower.emit import FunctionEmitter, Parts, Text
from quadrants.lower.errors import guard_stack

__all__ = ["LowerOptions", "lower_module"]

_LOOPS = ("for", "loop")
#: A function of more ops is large; of fewer, tiny.
_LARGE = 48
_TINY = 12
_INLINE = {"always": " alwaysinline", "never": " noinline"}


def lower_module(module: Module, options: LowerOptions | None = None) -> Lowered:
    """Lower every function of the module."""
    options = options or LowerOptions()
    exceptions = analyse(module)
    exceptions.python_errors &= options.interpreter
    context = ModuleContext(module, options, exceptions)
    calls = _calls(module)
    texts = []
    for name, function in module.functions.items():
        if name != module.entry:
            texts.append(_function(context, function, name, calls[name]))
        elif name in context.exceptions.called:  # it calls itself: by value, like the others
            texts.append(_function(context, function, body_name(name, name), calls[name]))
            texts.append(_entry_wrapper(context, function))
        else:
            texts.append(_entry(context, function))
    entry = module.functions[module.entry]
    return Lowered(
        text="\n".join((*texts, *context.helpers.values(), context.nodes.text())),
        declarations=context.declarations,
        sites=tuple(context.sites),
        classes=tuple(context.exceptions.classes),
        entry_symbol=module.entry,
        entry_raises=module.entry in context.exceptions.raising,
        entry_inlines=_inline(module, entry) != "never",
    )


def _names(function: Function, context: ModuleContext) -> list[Parts]:
    """Names for the components of the parameters."""
    return [
        tuple(f"%a{position}.{part}" for part in range(context.width(param.type)))
        for position, param in enumerate(function.params)
    ]


def _calls(module: Module) -> Counter[str]:
    """How often each function is called in the text of the module."""
    ops = (op for function in module.functions.values() for op in function.body.walk())
    found: Counter[str] = Counter()
    for op in ops:
        if op.name in ("call", "fork"):
            found[str(op.attrs["callee"])] += (
                1 if op.name == "call" else 2
            )  # from here, and from the function of a chunk
    return found


def _inline(module: Module, function: Function, calls: int | None = None) -> str:
    """Whether a function is inlined "always", "never", or as LLVM sees fit (""). `calls`: how often the module calls it; None for
    the entry, which stays apart from Python's side of the call where anything loops.

    A function with loops is not inlined if that would gain little: it is large, or loops in loops are called from several places.
    LLVM would optimise it more than once, by itself and in place. What is tiny, or called once, is inlined before everything else:
    LLVM would do it too, but function by function from the leaves up, optimising the same code anew at each level.
    """
    inline = function.attrs.get("inline")
    if inline is not None:
        return str(inline)
    if calls is None:
        return "never" if any(_has_loop(each.body) for each in module.functions.values()) else ""
    if _has_loop(function.body) and (_has_more(function, _LARGE) or (calls > 1 and _nests(module, function.body))):
        return "never"
    if function.attrs.get("recursive"):
        return ""
    return "always" if not _has_more(function, _LARGE if calls == 1 else _TINY) else ""


def _attributes(context: ModuleContext, function: Function, calls: int | None = None) -> str:
    simd = "" if context.options.simd else " noimplicitfloat"  # LLVM's vectorisers leave such functions alone
    inline = _INLINE.get(_inline(context.module, function, calls), "")
    return f"{inline} nounwind{simd}{context.options.attributes}"


def _has_loop(region: Region) -> bool:
    return any(op.name in _LOOPS or any(map(_has_loop, op.regions)) for op in region.ops)


def _nests(module: Module, region: Region, inside: bool = False) -> bool:
    """Whether a loop holds another, or a call of a function with loops."""
    for op in region.ops:
        loop = op.name in _LOOPS
        if inside and (loop or (op.name == "call" and _has_loop(module.functions[str(op.attrs["callee"])].body))):
            return True
        if any(_nests(module, nested, inside or loop) for nested in op.regions):
            return True
    return False


def _has_more(function: Function, ops: int) -> bool:
    return next(islice(function.body.walk(), ops, None), None) is not None


def _emitter(context: ModuleContext, function: Function) -> FunctionEmitter:
    return FunctionEmitter(context, function, context.options.emitters or table.EMITTERS)


def _body(e: FunctionEmitter, function: Function, names: list[Parts]) -> None:
    """The blocks of a function."""
    for number, (param, parts) in enumerate(zip(function.params, names)):
        e.parts[param] = _sized(function, number, parts)
        e.aliasing.parameter(param)
    if function.attrs.get("recursive") and e.module.options.interpreter:
        guard_stack(e)
    e.region(function.body)


def _sized(function: Function, number: int, parts: Parts) -> Parts:
    """The components of a parameter, with the sizes that are known as numbers."""
    found = list(parts)
    for param, axis, size in function.sizes:
        if param == number:
            found[2 + axis] = str(size)
    return tuple(found)


def _function(context: ModuleContext, function: Function, name: str, calls: int) -> str:
    """A function in the form that is called by value, `calls` times in the module."""
    e = _emitter(context, function)
    raising = function.name in context.exceptions.raising
    results = all_components(function.result_types)
    e.return_values = lambda parts: return_by_value(e, parts, results, raising)
    names = _names(function, context)
    _body(e, function, names)
    text = result_text(function.result_types, raising)
    header = (
        f"define internal {text} {symbol(name)}({param_list(function, names)}){_attributes(context, function, calls)}"
    )
    return finish(e, header, text)


def _outs(function: Function) -> tuple[tuple[str, ...], list[Text]]:
    """The types of the components of the results, and the pointers to store them through."""
    results = all_components(function.result_types)
    return results, [f"%out{position}" for position in range(len(results))]


def _store_results(e: FunctionEmitter, results: tuple[str, ...], outs: list[Text], parts: Parts) -> None:
    for type, out, part in zip(results, outs, parts):
        if type == "i1":
            type, part = "i8", e.let(f"zext i1 {part} to i8")
        e.line(f"store {type} {part}, ptr {out}")
    e.line("ret i32 0")


def _entry_header(context: ModuleContext, function: Function, names: list[Parts], outs: list[Text]) -> str:
    """Not to be inlined, it may be in another module than what calls it."""
    params = ", ".join((param_list(function, names), *(f"ptr noalias noundef {out}" for out in outs)))
    linkage = "hidden" if _inline(context.module, function) == "never" else "internal"
    return f"define {linkage} i32 {symbol(function.name)}({params}){_attributes(context, function)}"


def _entry(context: ModuleContext, function: Function) -> str:
    """The entry function, in the host's form."""
    e = _emitter(context, function)
    names = _names(function, context)
    results, outs = _outs(function)
    e.return_values = lambda parts: _store_results(e, results, outs, tuple(parts))
    _body(e, function, names)
    return finish(e, _entry_header(context, function, names, outs), "i32")


def _entry_wrapper(context: ModuleContext, function: Function) -> str:
    """The host's form of an entry function that is also called inside the module: calls the other form."""
    e = _emitter(context, function)
    names = _names(function, context)
    results, outs = _outs(function)
    raising = function.name in context.exceptions.raising
    text = result_text(function.result_types, raising)
    given = ", ".join(param_list(function, names).replace(" noalias", "").split(", "))
    call = f"call {text} {symbol(body_name(function.name, function.name))}({given})"
    if text == "void":
        e.line(call)
        parts: list[Text] = []
    else:
        parts = unpack(e, e.let(call), text, len(results) + raising)
    if raising:
        fine = e.let(f"icmp eq i32 {parts[0]}, 0")
        failed = e.branch(fine, "raised")
        with e.cold_block(failed):
            e.line(f"ret i32 {parts[0]}")
        parts = parts[1:]
    _store_results(e, results, outs, tuple(parts))
    return finish(e, _entry_header(context, function, names, outs), "i32")
