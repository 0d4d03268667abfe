"""The declared type of a result.

Takes a typed module and the type that a signature declares; gives the module with an entry that converts, and the type of its
result. Numbers convert where no value is lost; anything else has to fit as it is, or it is `QD218`.
"""

from __future__ import annotations

from quadrants.api import matching
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.diagnostics.location import SourceLocation
from quadrants.ir import Function, Module, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.types import Scalar, Type
from quadrants.types.names import type_text
from quadrants.types.promotion import promote, weak_version

_SUFFIX = ".declared"


def convert_result(module: Module, actual: Type, declared: Type) -> Type:
    """Make the entry of the module return the declared type; the type that it then returns."""
    if matching.accepts(declared, actual):
        return actual
    if not (isinstance(declared, Scalar) and isinstance(actual, Scalar) and _widens(actual, declared)):
        raise _bad_result(module.functions[module.entry], actual, declared)
    result = weak_version(declared) if actual.weak and matching.primary(declared) != declared else declared
    _wrap(module, result)
    return result


def _widens(actual: Scalar, declared: Scalar) -> bool:
    if actual.weak:
        return actual.kind.value <= declared.kind.value or (actual.is_integer and declared.is_integer)
    return promote(actual, declared) == declared


def _wrap(module: Module, result: Scalar) -> None:
    """A new entry that calls the old one and converts."""
    inner = module.functions[module.entry]
    body = region_with_args(param.type for param in inner.params)
    build = Builder(body)
    call = build.op("call", *body.args, callee=inner.name, result_types=inner.result_types)
    build.op("return", _cast(build, call.result, result.machine))
    name = inner.name + _SUFFIX
    module.functions[name] = Function(name, body.args, (result.machine,), body, inner.scope, dict(inner.attrs))
    module.entry = name


def _cast(build: Builder, value: Value, target: Scalar) -> Value:
    source = value.type
    assert isinstance(source, Scalar)
    if target.is_complex and not source.is_complex:
        real = build.value("cast", value, type=target.part)
        return build.value("complex", real, build.const(0.0, target.part))
    return build.value("cast", value, type=target)


def _bad_result(function: Function, actual: Type, declared: Type) -> QuadrantsError:
    scope = function.scope
    return QuadrantsError(
        Code.BAD_RETURN,
        f"{scope.qualname}() returns {type_text(actual)}, its signature declares {type_text(declared)}",
        SourceLocation(scope.filename, scope.firstlineno, function=scope.qualname),
        hint="correct the signature, or leave the type of the result out: (float64[:], int64)",
    )
