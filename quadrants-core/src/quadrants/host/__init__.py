"""The native call path: from a Python call to machine code and back.

Takes LLVM text of a lowered module and the description of its interface; gives dispatcher objects that check, unbox, run and
box natively. Nothing here imports LLVM except `host.codegen` and `host.target`, which are loaded when something is compiled.

The parts, and how they are used:

    spec = EntrySpec(name, kernel=lowered.entry_symbol, params=(F64, ...), result=F64, ...)      # host.spec
    entry = emit_entry(spec)                      # host.entry:  Entry(text, declarations)
    text = lowered.full_text(entry.text, entry.declarations)
    data = compile_ir(text)                       # host.codegen (LLVM); `data` and `spec` may be cached
    loaded = load_specialisation(data, spec, lowered.sites, lowered.classes, hidden=[...], dependencies=[...])
                                                  # host.specialisation: Loaded
    install(dispatcher, loaded)                   # host.native_type: from now on calls that fit run natively

    class Base(DispatcherBase):                   # host.native_type
        __slots__ = ()
        def _miss(self, arguments, retried): ...  # no specialisation fits: compile, install, `return Retry(arguments)`
    Dispatcher = make_dispatcher_type(Base)       # leaf type with a native vectorcall; subclasses are fine

`DispatcherBase` (slots `_parameters`, `_entries`, `_permutations`, `__dict__`, `__weakref__`):
    - `self._parameters = Parameters.of(py_func)` must be set by `__init__`; it gives Python's own TypeError for bad calls.
    - `_miss(self, arguments: tuple, retried: bool)` is called with the arguments in canonical order (defaults filled in;
      positional, keyword-only, then the items of `*args`). It returns `Retry(arguments)` to dispatch again (with these
      or converted arguments, as when a DLPack object becomes an ndarray), or any other object as the result of the call.
      `retried` is True when a `Retry` missed again: do not return `Retry` then (raise InternalError, or run the Python function).
      QuadrantsError raised from it reaches the user without frames of ours; so do errors of argument binding.
    - `_entries` is the list of `Loaded`, newest first. `install`, `uninstall(dispatcher, loaded)` keep it and the chain.

`Loaded`: `.spec`, `.entry` (address), `.valid` (bool), `.invalidate()`, `.revalidate() -> bool` (compares every dependency with
    the live process; if all hold, arms the entry again), `.set_hidden(i, object)`, `.arm(dependencies)`.

`native_call_supported() -> bool` (host.layout): False on builds whose object layout is unknown, or with
    QUADRANTS_NATIVE_CALL=0: then make specs with `native=False`, and everything else works the same, through ctypes.
`fingerprint() -> str` (host.layout): what cached objects depend on besides the compiler: Python, NumPy, object layout.
`live_blocks() -> int` (host.symbols): array blocks alive, for leak checks.
"""

from __future__ import annotations
