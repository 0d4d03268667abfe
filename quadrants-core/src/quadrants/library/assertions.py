"""What pytest's rewritten `assert` statements call: in compiled code the values that failed are not shown.

A test module's functions are rewritten before they are compiled; these stand for the helpers that the rewriting names.
"""

from __future__ import annotations


def _call_reprcompare(operators, results, texts, values):
    return texts[0]


def _saferepr(value):
    return "..."


def _should_repr_global_name(value):
    return False


def _format_assertmsg(message):
    return message


def _format_explanation(text):
    return text


def locals():
    return ()
