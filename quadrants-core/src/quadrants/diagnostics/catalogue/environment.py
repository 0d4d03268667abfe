"""QD5xx: the cache, the settings and the platform."""

from __future__ import annotations

from quadrants.diagnostics.catalogue.entry import Entry
from quadrants.diagnostics.codes import Code

ENTRIES = (
    Entry(
        Code.CACHE_DAMAGED,
        "a damaged cache entry (a warning)",
        "An entry of the cache failed its checksum. It was ignored and made again.",
        "# a cache file cut short by a full disk",
        "Nothing is needed; if it happens again, check the disk.",
    ),
    Entry(
        Code.CACHE_FOLDER,
        "the cache's folder cannot be used (a warning)",
        "The folder cannot be made or written to. Functions are compiled in every process.",
        "# QUADRANTS_CACHE_DIR on a read-only disk",
        "Point QUADRANTS_CACHE_DIR to a folder that can be written, or turn the cache off with QUADRANTS_CACHE=0.",
    ),
    Entry(
        Code.CACHE_OWNER,
        "the cache's folder belongs to somebody else (a warning)",
        "Compiled code is only loaded from a folder that belongs to this user and that nobody else can write to.",
        "# QUADRANTS_CACHE_DIR=/tmp/shared",
        "Use a folder of your own with mode 0700.",
    ),
    Entry(
        Code.CACHE_UNCACHEABLE,
        "a function that cannot be cached",
        "The compiled function depends on something that has no stable identity between processes.",
        "# a function that holds the address of a C function",
        "Nothing is needed: it is compiled in every process.",
    ),
    Entry(
        Code.BAD_SETTING,
        "a setting that cannot be read",
        "The value of a `QUADRANTS_*` or `QD_*` environment variable does not parse.",
        """
import os
from quadrants import config

os.environ["QUADRANTS_NUM_THREADS"] = "many"
config.get(config.Config.NUM_THREADS)
""",
        "See the table of settings for what the variable takes.",
    ),
    Entry(
        Code.UNKNOWN_SETTING,
        "a setting that does not exist (a warning)",
        "An environment variable starts with QUADRANTS_ and is not a setting: most likely a misspelling.",
        """
import os
from quadrants import config

os.environ["QUADRANTS_CAHCE"] = "0"
config.warn_unknown()
""",
        "Correct the name or unset the variable.",
    ),
    Entry(
        Code.UNSUPPORTED_PYTHON,
        "a Python that is not supported",
        "The interpreter's version, or its implementation, is not one that Quadrants knows the bytecode of.",
        "# an implementation other than CPython",
        "Use CPython 3.11, 3.12 or 3.13.",
    ),
    Entry(
        Code.SUBINTERPRETER,
        "import in a subinterpreter",
        "Compiled functions belong to one interpreter; Quadrants cannot be imported into a subinterpreter.",
        "# import quadrants inside a subinterpreter",
        "Use processes.",
    ),
    Entry(
        Code.UNSUPPORTED_PLATFORM,
        "a machine that is not supported",
        "There is no code generator or loader for this operating system and processor.",
        "# a processor other than x86-64 and Arm64",
        "The README's table says which systems are supported.",
    ),
    Entry(
        Code.MISSING_DEPENDENCY,
        "a package that is missing",
        "A package that this operation needs is not installed.",
        "# llvmlite removed by hand",
        "Install it with pip.",
    ),
    Entry(
        Code.NATIVE_CALL_OFF,
        "the native call path is off (a note)",
        "The layout of the interpreter's objects is not the expected one, or QUADRANTS_NATIVE_CALL=0 is set; calls go through "
        "ctypes, which is slower.",
        "# QUADRANTS_NATIVE_CALL=0",
        "Unset the variable; on a special build of Python nothing is needed.",
    ),
    Entry(
        Code.INTERNAL,
        "an error of the compiler",
        "An invariant of the compiler does not hold. The program is not at fault.",
        "# a bug",
        "Report the program that shows it.",
    ),
)
