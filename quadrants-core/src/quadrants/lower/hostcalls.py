"""Calls of the host by compiled code: the handler of the specialisation, by the number of a site, with a buffer of words."""

from __future__ import annotations

from quadrants.lower.abi import CTX_HOSTCALL
from quadrants.lower.emit import FunctionEmitter, Text


def buffer(e: FunctionEmitter, words: int) -> Text:
    """A stack buffer that lives as long as the frame."""
    name = e.temp()
    e.entry.append(f"  {name} = alloca [{max(words, 1)} x i64], align 8")
    return name


def call_host(e: FunctionEmitter, site: int, words: Text) -> Text:
    """Make the call of a site, which reads and writes the buffer; its status: 0, or an error is set in the interpreter."""
    at = e.let(f"getelementptr i8, ptr %ctx, i64 {CTX_HOSTCALL}")
    hostcall = e.let(f"load ptr, ptr {at}, align 8")
    return e.let(f"call i32 {hostcall}(ptr %ctx, i32 {site}, ptr {words}) nounwind")
