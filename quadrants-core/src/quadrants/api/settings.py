"""The options of the decorators.

Takes keyword arguments as users write them (Numba's names included); gives `Options`. An unknown option is `QD306`, which
lists the known ones and the nearest name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quadrants import config
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.options import FP_MODES, Numerics, Options

_INLINE = {"auto": "auto", "never": "never", "always": "always", True: "always", False: "never"}
_DIVISION = {"python": "python", "numpy": "ieee"}

#: option -> what it does; the text of the error for an unknown one, and of the documentation.
OPTIONS: dict[str, str] = {
    "fp": 'floating-point arithmetic: "default", "strict" (as the interpreter, bit for bit) or "fast"',
    "fastmath": 'True is fp="fast"; a set of LLVM\'s flags is taken as True',
    "boundscheck": "check array indices (default: True)",
    "cache": "keep compiled code on disk (default: True)",
    "debug": "exact state at errors; integer overflow raises",
    "error_model": 'division of floats by zero: "python" raises, "numpy" gives inf or nan',
    "inline": '"auto", "never" or "always"',
    "nogil": "release the global lock while compiled code runs",
    "nopython": "accepted; there is no other mode",
    "simd": "let loops compute several elements at once in SIMD registers (default: True); False is for comparisons",
    "parallel": "run loops over qd.prange(), and those that are proven independent, on several threads",
}


def parse_options(given: Mapping[str, Any]) -> Options:
    """The options that a decorator was given; settings of the environment are the defaults."""
    for name in given:
        if name not in OPTIONS:
            raise _unknown(name)
    options = Options(
        boundscheck=config.get(config.Config.BOUNDS_CHECK),
        debug=config.get(config.Config.DEBUG),
        parallel_work=config.get(config.Config.PARALLEL_WORK),
    )
    changes: dict[str, Any] = {}
    for name, value in given.items():
        if value is not None or name in ("fp", "inline", "error_model"):
            changes |= _PARSERS[name](value)
    if "fp" in given and given.get("fastmath") and given["fp"] != "fast":
        raise _bad("fastmath", given["fastmath"], f"it contradicts fp={given['fp']!r}")
    if "division" in changes:
        changes["numerics"] = Numerics(division=changes.pop("division"))
    return options.replace(**changes)


def _flag(name: str) -> Callable[[Any], dict[str, Any]]:
    def parse(value: Any) -> dict[str, Any]:
        if not isinstance(value, (bool, int)) or value not in (0, 1):
            raise _bad(name, value, "it is True or False")
        return {name: bool(value)}

    return parse


def _choice(name: str, field: str, table: Mapping[Any, Any]) -> Callable[[Any], dict[str, Any]]:
    def parse(value: Any) -> dict[str, Any]:
        try:
            return {field: table[value]}
        except (KeyError, TypeError):
            names = ", ".join(repr(key) for key in table if isinstance(key, str))
            raise _bad(name, value, f"it is one of {names}") from None

    return parse


def _fastmath(value: Any) -> dict[str, Any]:
    if not isinstance(value, (bool, set, frozenset, dict, list, tuple)):
        raise _bad("fastmath", value, "it is True, False or a set of flags")
    return {"fp": "fast"} if value else {}


def _parallel(value: Any) -> dict[str, Any]:
    if not isinstance(value, (bool, dict)):
        raise _bad("parallel", value, "it is True or False")
    return {"parallel": bool(value)}


def _nopython(value: Any) -> dict[str, Any]:
    _flag("nopython")(value)
    return {}


_PARSERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "fp": _choice("fp", "fp", dict(zip(FP_MODES, FP_MODES))),
    "fastmath": _fastmath,
    "boundscheck": _flag("boundscheck"),
    "cache": _flag("cache"),
    "debug": _flag("debug"),
    "error_model": _choice("error_model", "division", _DIVISION),
    "inline": _choice("inline", "inline", _INLINE),
    "nogil": _flag("nogil"),
    "nopython": _nopython,
    "simd": _flag("simd"),
    "parallel": _parallel,
}


def _unknown(name: str) -> QuadrantsError:
    import difflib  # only a mistake needs it

    close = difflib.get_close_matches(name, OPTIONS, n=1)
    hint = f"did you mean {close[0]}?" if close else "remove it"
    return QuadrantsError(
        Code.BAD_OPTION, f"there is no option {name!r}", hint=hint, notes=[f"the options are {', '.join(OPTIONS)}"]
    )


def _bad(name: str, value: object, reason: str) -> QuadrantsError:
    return QuadrantsError(
        Code.BAD_OPTION, f"{name}={value!r} cannot be used: {reason}", hint=f"{name}: {OPTIONS[name]}"
    )
