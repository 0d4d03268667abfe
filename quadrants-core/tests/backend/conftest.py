"""The example is a package of its own: `test_example.py` runs its tests where it is installed."""

from __future__ import annotations

collect_ignore = ["example"]
