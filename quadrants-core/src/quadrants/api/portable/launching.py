"""Portable kernels on a device: from a function and argument types to a program of launches, and calls of it.

Takes a function, the settings of `qd.init` and arguments; gives results as the CPU does. Arguments on the host are copied in, and
back if a kernel writes them, before the call returns; tensors in the device's memory are used where they are. Code is compiled at
the first call with new types.
"""

from __future__ import annotations

import functools
import inspect
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quadrants._frozen import frozen
from quadrants.api.coerce import coerce
from quadrants.api.devicearrays import first_device
from quadrants.api.kernelcode import leaves_of
from quadrants.api.kernelstore import Request
from quadrants.api.placement import in_host_memory, staged
from quadrants.api.portable import keeping
from quadrants.api.portable.keeping import Parts
from quadrants.api.portable.program import Program
from quadrants.api.portable.residents import RESIDENTS, Resident
from quadrants.api.typeof import typeof
from quadrants.backend.arguments import DeviceArray, packer
from quadrants.backend.contract import Backend, KernelExecutable, LaunchShape
from quadrants.backend.registry import get_backend
from quadrants.cache.dependencies import Ref
from quadrants.host import traceback
from quadrants.host.raising import resolve_class
from quadrants.ir import Function
from quadrants.ir.boxing import box
from quadrants.ir.values import Raised, canonical
from quadrants.options import Options
from quadrants.types import ArrayType, NamedTupleType, OptionalType, Scalar, TupleType, Type, UnionType
from quadrants.types.dtypes import dtype_of
from quadrants.types.names import Signature, TypeName
from quadrants.types.promotion import weak_version

if TYPE_CHECKING:
    from quadrants.api.inspection import Explanation
    from quadrants.api.portable.compiling import Result

HiddenAt = tuple[int, tuple[int, ...]]


@frozen(eq=False)
class Kernel:
    """One compiled kernel of a program: its code, its name there, and what makes its argument block."""

    executable: KernelExecutable
    entry: str
    pack: Callable[[Iterable[object]], bytes]


@frozen(eq=False)
class Compiled:
    """What a function is for argument types.

    Args:
        host: the function of the host.
        kernels: what it launches.
        machine: the types of the leaves of its arguments and of its hidden ones, read-only where nothing writes.
        scratch: the arrays that it takes at its end: types and sizes.
        result: the type of what it returns.
        refs: the globals and cells that are part of the code.
        hidden: which of them are arguments, and the way to each through tuples.
    """

    host: Function
    kernels: Mapping[str, Kernel]
    machine: tuple[Type, ...]
    scratch: tuple[tuple[Scalar, int], ...]
    result: Type
    refs: tuple[Ref, ...]
    hidden: tuple[HiddenAt, ...]

    @staticmethod
    def of(parts: Parts, host: Function, refs: tuple[Ref, ...], backend: Backend) -> Compiled:
        """A program of its parts, its kernels loaded on the device."""
        kernels = {}
        for name, machine, artifact in parts.kernels:
            executable = backend.load(artifact, first_device(backend))
            assert isinstance(executable, KernelExecutable)
            kernels[name] = Kernel(executable, name, packer(machine))
        return Compiled(host, kernels, parts.machine, parts.scratch, parts.result, refs, parts.hidden)


class Loaded:
    """A program on a device. One call at a time runs it: its calls share the scratch arrays.

    Args:
        compiled: the program.
        arg_types: the types of its arguments.
        backend: where it runs.
    """

    def __init__(self, compiled: Compiled, arg_types: tuple[Type, ...], backend: Backend) -> None:
        self.compiled = compiled
        self.arg_types = arg_types
        device = first_device(backend)
        self.host_memory = backend.capabilities(backend.target_of(device)).host_memory
        self.memory = backend.memory(device)
        self.values = tuple(ref.value for ref in compiled.refs)
        self.result = _of_python(compiled.result)
        self._program = Program(compiled.host, self._launch, self._read)
        self._flat = all(isinstance(type, (Scalar, ArrayType)) for type in arg_types) and not compiled.hidden
        self._numbers = [isinstance(type, Scalar) for type in compiled.machine]
        self._writes = [isinstance(type, ArrayType) and not type.readonly for type in compiled.machine]
        self._shapes: dict[tuple[int, int], LaunchShape] = {}
        self.kinds: list[tuple[Any, ...]] = []  # of arguments that it is known to take
        self._scratch = [self._array(dtype, size) for dtype, size in compiled.scratch]
        self._lock = threading.RLock()

    def _array(self, dtype: Scalar, size: int) -> DeviceArray:
        """A scratch array, which lives as long as the program."""
        address = self.memory.allocate(size * dtype_of(dtype).itemsize)
        return DeviceArray(address, (size,), (dtype_of(dtype).itemsize if self.host_memory else 1,))

    def fits(self) -> bool:
        """Whether the globals that are part of the code have the values that they had."""
        from quadrants.api.kernelcode import _same

        for ref, value in zip(self.compiled.refs, self.values):
            now = ref.value
            if now is not value and not _same(now, value):
                return False
        return True

    def call(self, values: Sequence[Any]) -> Any:
        """Run it with the values of the parameters."""
        leaves = list(values) if self._flat else self._leaves(values)
        with self._lock:
            residents = [RESIDENTS.get(id(leaf)) if type(leaf) is np.ndarray else None for leaf in leaves]
            if all(number or resident is not None for number, resident in zip(self._numbers, residents)):
                found = self._run(
                    [
                        _number(kind, leaf) if resident is None else resident.placed()
                        for kind, leaf, resident in zip(self.compiled.machine, leaves, residents)
                    ]
                )
            else:
                with self._placed(leaves, residents) as placed:
                    found = self._run(placed)
            for writes, resident in zip(self._writes, residents):
                if writes and resident is not None:
                    resident.written()
        return box(self.result, iter(found)) if found else None

    def _leaves(self, values: Sequence[Any]) -> list[Any]:
        leaves = [leaf for type, value in zip(self.arg_types, values) for leaf in leaves_of(type, value)]
        return leaves + [functools.reduce(_item_at, path, _taken(self.values[at])) for at, path in self.compiled.hidden]

    def _run(self, placed: list[Any]) -> tuple[Any, ...]:
        try:
            return self._program.run([*placed, *self._scratch])
        except Raised as problem:
            raise _exception(problem, self.compiled.host) from None

    @contextmanager
    def _placed(self, leaves: list[Any], residents: list[Resident | None]) -> Iterator[list[Any]]:
        """The leaves as launches take them, some of them arrays of the host."""
        machine = self.compiled.machine
        ready = [
            _number(kind, leaf) if resident is None else _InMemory(resident)
            for kind, leaf, resident in zip(machine, leaves, residents)
        ]
        with in_host_memory(ready) if self.host_memory else staged(machine, ready, self.memory) as placed:
            yield [one.array if isinstance(one, _InMemory) else one for one in placed]

    def _launch(self, blocks: int, block: int, name: str, given: Sequence[Any]) -> None:
        kernel = self.compiled.kernels[name]
        shape = self._shapes.get((blocks, block))
        if shape is None:
            shape = self._shapes[blocks, block] = LaunchShape((blocks, 1, 1), (block, 1, 1))
        kernel.executable.launch(kernel.entry, kernel.pack(given), shape, None)

    def _read(self, array: DeviceArray, index: int) -> Any:
        place = next(k for k, scratch in enumerate(self._scratch) if scratch is array)
        dtype = self.compiled.scratch[place][0]
        target = np.empty(1, dtype_of(dtype))
        self.memory.copy_out(target.view(np.uint8).data, array.address + index * target.itemsize)
        return canonical(dtype, target[0])


#: Classes all of whose objects have one type, for which a kernel is compiled once. Ints are not: a large one is an error.
_PLAIN = frozenset({float, bool})


class _InMemory:
    """A tensor in the device's memory, on its way through what places arguments."""

    def __init__(self, resident: Resident) -> None:
        self.array = resident.placed()


def _exception(problem: Raised, host: Function) -> BaseException:
    """What the host's part of a kernel raises, with the line in its traceback."""
    made = resolve_class(problem.cls)(*problem.values)
    return made.with_traceback(traceback.build([(host.scope, problem.loc)]))


def _number(type: Type, leaf: Any) -> Any:
    return canonical(type.machine, leaf) if isinstance(type, Scalar) else leaf


def _taken(value: Any) -> Any:
    return getattr(value, "__quadrants_argument__", value)


def _item_at(value: Any, index: int) -> Any:
    return _taken(value[index])


def _of_python(type: Type) -> Type:
    """The type of a result with Python's numbers in the place of sized ones."""
    if isinstance(type, Scalar):
        return weak_version(type)
    if isinstance(type, (TupleType, NamedTupleType, UnionType)):
        return replace(type, items=tuple(map(_of_python, type.items)))
    return replace(type, item=_of_python(type.item)) if isinstance(type, OptionalType) else type


class Launcher:
    """A portable kernel for a device: call it with its arguments.

    Args:
        function: the Python function.
        options: how it is compiled.
        device: the name of the backend.
    """

    def __init__(self, function: types.FunctionType, options: Options, device: str) -> None:
        self.py_func = function
        self.options = options
        self.device = device
        self._signature = inspect.signature(function)
        self._plain = all(
            p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in self._signature.parameters.values()
        )
        self._known: dict[tuple[Type, ...], Loaded] = {}
        self._made: dict[tuple[Type, ...], Result] = {}  # those that were compiled in this process
        self._quick: dict[tuple[int, ...], Loaded] = {}  # by the identity of types of tensors, and of classes
        self._lock = threading.RLock()

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        bound = self._bind(args, keywords)
        residents = [RESIDENTS.get(id(value)) if type(value) is np.ndarray else None for value in bound]
        kinds = tuple([type(value) if found is None else found.type for value, found in zip(bound, residents)])
        known = self._quick.get(tuple(map(id, kinds)))
        if known is not None and known.fits():
            return known.call(bound)
        where = [f"argument {name!r} of {self.py_func.__qualname__}()" for name in self._signature.parameters]
        values = tuple(coerce(value, text) for value, text in zip(bound, where, strict=True))
        found = tuple(typeof(value, text) for value, text in zip(values, where, strict=True))
        code = self._code(found)
        if all(one is not None or kind in _PLAIN for one, kind in zip(residents, kinds)):
            code.kinds.append(kinds)  # which keeps them, so that what they are known by stays theirs
            self._quick[tuple(map(id, kinds))] = code
        return code.call(values)

    def _bind(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the parameters, defaults filled in, those of `*args` last."""
        if self._plain and not keywords and len(args) == len(self._signature.parameters):
            return args
        bound = self._signature.bind(*args, **keywords)
        bound.apply_defaults()
        parameters = self._signature.parameters.values()
        fixed = [bound.arguments[p.name] for p in parameters if p.kind is not p.VAR_POSITIONAL]
        return (*fixed, *(bound.arguments[p.name] for p in parameters if p.kind is p.VAR_POSITIONAL))

    def _code(self, found: tuple[Type, ...]) -> Loaded:
        """The program for the types, valid for the present values of globals."""
        known = self._known.get(found)
        if known is not None and known.fits():
            return known
        with self._lock:
            known = self._known.get(found)
            if known is None or not known.fits():
                known = self._known[found] = self._make(found)
            return known

    def _request(self, found: tuple[Type, ...], options: Options) -> Request:
        backend = get_backend(self.device)
        return Request(self.py_func, found, options, backend.target_of(first_device(backend)))

    def _make(self, found: tuple[Type, ...]) -> Loaded:
        """The program for the types, out of the cache if it can."""
        backend = get_backend(self.device)
        request = self._request(found, self.options)
        stored = keeping.load(request)
        if stored is not None:
            from quadrants.ir.parser import parse_module  # loaded where a program comes out of the cache

            parts, refs = stored
            self._made.pop(found, None)
            module = parse_module(parts.host)
            host = module.functions[module.entry]
            host.scope = replace(host.scope, filename=self.py_func.__code__.co_filename)
        else:
            from quadrants.api.portable.compiling import compile_portable  # loaded when something is compiled

            made = compile_portable(request, backend)
            parts, refs, host = made.parts, made.refs, made.host
            keeping.save(request, parts, refs)
            self._made[found] = made
        return Loaded(Compiled.of(parts, host, refs, backend), found, backend)

    def _details(self) -> dict[tuple[Type, ...], Result]:
        """What compiling has given for each program, those out of the cache compiled again."""
        from quadrants.api.portable.compiling import compile_portable

        for found in self._known:
            if found not in self._made:
                request = self._request(found, self.options.replace(cache=False))
                self._made[found] = compile_portable(request, get_backend(self.device))
        return {found: self._made[found] for found in self._known}

    @property
    def signatures(self) -> list[tuple[TypeName, ...]]:
        """The types of the arguments of each program, in the order of compilation."""
        return [tuple(map(TypeName, found)) for found in self._known]

    def explain(self) -> Explanation:
        """What the compiler decided, and why."""
        from quadrants.api.inspection import Explanation  # with the compiler

        known = {Signature(t, self._known[t].result): made.decisions for t, made in self._details().items()}
        lines = [line for _, _, line in self.py_func.__code__.co_lines() if line]
        return Explanation(self.py_func.__qualname__, known, (min(lines), max(lines)) if lines else None)

    def inspect_ir(self) -> dict[tuple[TypeName, ...], str]:
        """The host's function and its kernels as text, for each program."""
        from quadrants.ir.text import print_module  # only who looks at it needs the printer

        return {tuple(map(TypeName, t)): print_module(made.module) for t, made in self._details().items()}
