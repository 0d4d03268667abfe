"""Stop early, with a clear message, when the interpreter is too old. Runs on any Python 3."""

import sys

if sys.version_info < (3, 11):
    found = sys.version.split()[0]
    sys.exit("Quadrants needs Python 3.11 or later; this is %s. Choose one: make PYTHON=python3.12 ..." % found)
