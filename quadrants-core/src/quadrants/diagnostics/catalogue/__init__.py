"""The texts of the diagnostic codes, one module a family.

Takes a `Code`; gives its `Entry`. Loaded when a text is first asked for. An example is a program that shows the diagnostic when
it runs after `import numpy as np` and `import quadrants as qd`; one that needs a special machine says so in a comment.
"""

from __future__ import annotations

from quadrants.diagnostics.catalogue import backends, environment, syntax, types, values
from quadrants.diagnostics.catalogue.entry import Entry
from quadrants.diagnostics.codes import Code

ENTRIES: dict[Code, Entry] = {
    entry.code: entry for module in (syntax, types, values, backends, environment) for entry in module.ENTRIES
}


def entry_of(code: Code) -> Entry:
    """The texts of a code."""
    return ENTRIES[code]
