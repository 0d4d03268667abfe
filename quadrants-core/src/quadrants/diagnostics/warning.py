"""Warnings of the compiler, given to the user's line.

Takes a text that starts with a code; the warning names the innermost line that is not a part of Quadrants, however deep inside
of the compiler it arose.
"""

from __future__ import annotations

import os
import sys
import warnings

from quadrants.diagnostics.errors import QuadrantsWarning

_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def warn(text: str) -> None:
    """Warn with the category `QuadrantsWarning` at the innermost line outside of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FOLDER):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, QuadrantsWarning, stacklevel=level)
