"""The settings: one table.

Takes the environment; gives typed values. A setting is read from `QUADRANTS_<NAME>`, or from its alias `QD_<NAME>`; the
canonical name wins where both are set. `get` reads the environment every time, so a changed variable takes effect for what is
compiled next. A value that cannot be parsed raises `SettingError`; a `QUADRANTS_*` variable that is not in the table warns once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

PREFIX = "QUADRANTS_"
ALIAS_PREFIX = "QD_"

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LEVELS = ("off", "error", "warning", "info", "debug")


def parse_bool(text: str) -> bool:
    """`1`, `true`, `yes`, `on` and their opposites, in any case."""
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError("expected 1 or 0")
    return word in _TRUE


def parse_size(text: str) -> int:
    """A number of bytes, with an optional unit: `1048576`, `500M`, `1.5G`, `2GiB`."""
    word = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = word[-1:] if word[-1:].isalpha() else ""
    if unit not in _UNITS:
        raise ValueError(f"unknown unit {unit!r}: expected K, M, G or T")
    try:
        size = float(word.removesuffix(unit)) * _UNITS[unit]
    except ValueError:
        raise ValueError("expected a number of bytes, such as 500M") from None
    if not 0 <= size < 2**63:
        raise ValueError("expected a size of at least 0 bytes")
    return int(size)


def parse_count(text: str) -> int:
    """A whole number, at least 1."""
    word = text.strip()
    if not word.isdecimal() or int(word) < 1:
        raise ValueError("expected a whole number of at least 1")
    return int(word)


def parse_amount(text: str) -> int:
    """A whole number, at least 0."""
    word = text.strip()
    if not word.isdecimal() or int(word) >= 1 << 40:
        raise ValueError("expected a whole number of at least 0")
    return int(word)


def parse_path(text: str) -> str | None:
    """A folder; `~` is the home folder. Empty means the default."""
    if text and not text.strip():
        raise ValueError("expected a folder")
    return os.path.abspath(os.path.expanduser(text)) if text else None


def parse_name(text: str) -> str:
    """A word such as the name of an ISA; empty means the default."""
    return text.strip()


def parse_level(text: str) -> str:
    """The name of a logging level."""
    word = text.strip().lower()
    if word not in _LEVELS:
        raise ValueError(f"expected one of {', '.join(_LEVELS)}")
    return word


class Setting:
    """One row of the table. `default` is typed already, and None where the default depends on the machine."""

    __slots__ = ("default", "help", "name", "parse")

    def __init__(self, name: str, parse: Callable[[str], Any], default: Any, help: str) -> None:
        self.name = name
        self.parse = parse
        self.default = default
        self.help = help

    @property
    def variable(self) -> str:
        return PREFIX + self.name

    @property
    def alias(self) -> str:
        return ALIAS_PREFIX + self.name

    def read(self, environ: Mapping[str, str]) -> Any:
        """The typed value in `environ`, or the default."""
        for variable in (self.variable, self.alias):
            text = environ.get(variable)
            if text is None:
                continue
            try:
                return self.parse(text)
            except ValueError as problem:
                raise _bad_value(self, variable, text, str(problem)) from None
        return self.default


class Config(Enum):
    """The table of settings."""

    CACHE = Setting("CACHE", parse_bool, True, "keep compiled code on disk and reuse it in later processes")
    CACHE_DIR = Setting(
        "CACHE_DIR", parse_path, None, "the cache's folder; default: `quadrants` in the user's cache folder"
    )
    CACHE_SIZE = Setting(
        "CACHE_SIZE", parse_size, 1 << 30, "bytes the cache may take before old entries go; takes units: 500M"
    )
    NATIVE_CALL = Setting(
        "NATIVE_CALL", parse_bool, True, "call compiled functions through the native path (0: through ctypes)"
    )
    ISA = Setting("ISA", parse_name, "", "instruction set to compile for, such as `x86-64-v3`; default: this machine's")
    NUM_THREADS = Setting(
        "NUM_THREADS", parse_count, None, "threads of a parallel loop; default: the cores this process may use"
    )
    PARALLEL_WORK = Setting(
        "PARALLEL_WORK",
        parse_amount,
        20_000,
        "nanoseconds of work, as estimated, that a loop must have to run on several threads",
    )
    BOUNDS_CHECK = Setting("BOUNDS_CHECK", parse_bool, True, "check array indices on the CPU")
    DEBUG = Setting(
        "DEBUG", parse_bool, False, "exact state at errors, overflow of integers raises, bounds checks everywhere"
    )
    PERF = Setting("PERF", parse_bool, False, "tell profilers where compiled code is, by /tmp/perf-<pid>.map")
    LOG = Setting("LOG", parse_level, "warning", f"what to log: {', '.join(_LEVELS)}")

    @property
    def setting(self) -> Setting:
        row: Setting = self.value
        return row


def get(which: Config, environ: Mapping[str, str] | None = None) -> Any:
    """The typed value of a setting, from `os.environ` unless another mapping is given."""
    return which.setting.read(os.environ if environ is None else environ)


def snapshot(environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Every setting's value by name."""
    return {which.name: get(which, environ) for which in Config}


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """`QUADRANTS_*` variables that are not settings. (`QD_*` is too short a prefix to claim.)"""
    known = {which.setting.variable for which in Config}
    return sorted(name for name in environ if name.startswith(PREFIX) and name not in known)


def warn_unknown(environ: Mapping[str, str] | None = None) -> None:
    """Warn of each `QUADRANTS_*` variable that is not a setting. Called once, by `import quadrants`."""
    names = unknown_variables(os.environ if environ is None else environ)
    if not names:
        return
    import difflib
    import warnings

    from quadrants.diagnostics.errors import QuadrantsWarning

    for name in names:
        close = difflib.get_close_matches(name.removeprefix(PREFIX), [which.name for which in Config], n=1)
        all_of_them = ", ".join(which.setting.variable for which in Config)
        advice = f"did you mean {PREFIX}{close[0]}?" if close else f"the settings are {all_of_them}"
        warnings.warn(f"QD506: unknown setting {name}: {advice}", QuadrantsWarning, stacklevel=2)


def _bad_value(setting: Setting, variable: str, text: str, problem: str) -> Exception:
    """The error for a value that cannot be parsed."""
    from quadrants.diagnostics import Code, SettingError

    return SettingError(
        Code.BAD_SETTING, f"{variable}={text!r} cannot be used: {problem}", hint=f"{variable}: {setting.help}"
    )
