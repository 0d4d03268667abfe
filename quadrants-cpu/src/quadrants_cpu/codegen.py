"""QIR modules to objects, and objects to addresses, through `quadrants.host`.

Takes a module in which maps are expanded and ownership is explicit; gives an `Artifact` with one exported C function, `ENTRY`:
`int32 (context*, components of the parameters..., pointers to the components of the result...)`, as `quadrants.lower.abi`
describes. LLVM is imported when something is compiled; loading an artifact does without.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from quadrants.backend.contract import Artifact, LaunchAbi, Target
from quadrants.diagnostics import BackendError, Code
from quadrants.host import loader, symbols
from quadrants.host.target import Target as HostTarget
from quadrants.host.target import architecture, target_for
from quadrants.ir import Module
from quadrants.lower.abi import Lowered, all_components, symbol
from quadrants.options import Options

FORMAT = "elf-object"
ENTRY = "qd_entry"
NATIVE = "native"  # the name of this machine's own CPU in a target


def host_target_of(target: Target) -> HostTarget:
    """The host's description of a target of this backend."""
    if target.backend != "cpu" or target.arch != architecture():
        raise BackendError(
            Code.BAD_TARGET,
            f"the target {target.backend}:{target.arch} cannot be compiled for on this machine",
            hint=f"the CPU backend compiles for cpu:{architecture()}",
        )
    return target_for("" if target.cpu == NATIVE else target.cpu)


def compile_module(module: Module, target: Target, options: Options) -> Artifact:
    """Lower and compile a module."""
    from quadrants.host.codegen import compile_ir
    from quadrants.lower.module import LowerOptions, lower_module

    host = host_target_of(target)
    lowered = lower_module(module, LowerOptions(native_f16=host.native_f16, holds_gil=not options.nogil))
    text = lowered.full_text(_export(module, lowered))
    return Artifact(
        target,
        FORMAT,
        compile_ir(text, target=host).object_bytes,
        (ENTRY,),
        metadata=(("classes", json.dumps(lowered.classes)), ("fingerprint", host.fingerprint)),
        text={"llvm": text},
    )


def _export(module: Module, lowered: Lowered) -> str:
    """A function that the linker sees, around the entry function, which it does not."""
    entry = module.functions[module.entry]
    params = all_components(param.type for param in entry.params)
    texts = ("ptr", *params, *("ptr" for _ in all_components(entry.result_types)))
    named = ", ".join(f"{text} %a{i}" for i, text in enumerate(texts))
    return (
        f"define i32 @{ENTRY}({named}) {{\n"
        f"  %status = call i32 {symbol(lowered.entry_symbol)}({named})\n"
        f"  ret i32 %status\n"
        f"}}\n"
    )


class HostExecutable:
    """An object in this process's memory. Code is never unloaded: a call may be running in another thread."""

    def __init__(self, addresses: Mapping[str, int]) -> None:
        self._addresses = addresses

    @property
    def launch_abi(self) -> LaunchAbi:
        return LaunchAbi.HOST_FUNCTION

    def address(self, entry: str) -> int:
        """The address of an entry of the artifact."""
        if entry not in self._addresses:
            known = ", ".join(self._addresses)
            raise BackendError(Code.UNDEFINED_SYMBOL, f"the object has no entry {entry!r}; it has {known}")
        return self._addresses[entry]


def load_artifact(artifact: Artifact) -> HostExecutable:
    """Load an artifact into this process. Code for another CPU, or damaged code, is an error, never a crash."""
    host = host_target_of(artifact.target)
    if artifact.format != FORMAT or dict(artifact.metadata).get("fingerprint") != host.fingerprint:
        raise BackendError(
            Code.BAD_TARGET,
            "the artifact was compiled for another kind of CPU or by another backend",
            hint="compile the module again on this machine, or pin QUADRANTS_ISA to a level that both machines have",
        )
    try:
        exported = loader.load(artifact.code, symbols.resolve)
    except loader.BadObject as problem:
        raise BackendError(Code.CODEGEN_FAILED, f"the artifact cannot be loaded: {problem}") from None
    except symbols.UndefinedSymbol as problem:
        raise BackendError(Code.UNDEFINED_SYMBOL, str(problem)) from None
    return HostExecutable({name: exported[name] for name in artifact.entries if name in exported})
