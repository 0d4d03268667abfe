"""Code generation: objects, texts, errors, targets."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from lower.execution import Program, driver
from lower.programs import module

from quadrants.diagnostics import InternalError, SettingError
from quadrants.host import codegen, elf, target
from quadrants.host.target import Target
from quadrants.ir import Module
from quadrants.lower.module import lower_module

ARM = Target("aarch64", "aarch64-unknown-linux-gnu", "armv8-a", True, "aarch64:armv8-a")

_PROGRAM = """
func @f(%n: i64, %x: f64, %h: f16) -> (array<f64, 1, C>, f16) from "f.py" "f" 1 with {recursive=true} {
  %zero = const {type=i64, value=0} : i64
  %one = const {type=i64, value=1} : i64
  %a = alloc %n {type=array<f64, 1, C>, zero=true} : array<f64, 1, C>
  for %zero, %n, %one {label=1} (%i: i64) {
    %y = math.sin %x : f64
    %z = rem %y, %x : f64
    store %z, %a, %i
    continue {label=1}
  }
  %g = mul %h, %h : f16
  %w = cast %x {type=f16} : f16
  %k = add %g, %w : f16
  return %a, %k
}
"""


def program() -> Module:
    return module(_PROGRAM)


def full_text() -> str:
    lowered = lower_module(program())
    return lowered.full_text(driver(program(), lowered.entry_symbol))


def test_object_has_only_the_expected_undefined_symbols() -> None:
    lowered = lower_module(program())
    result = codegen.compile_ir(full_text())
    parsed = elf.parse(result.object_bytes)
    undefined = {symbol.name for symbol in parsed.symbols if symbol.section is None and symbol.name}
    assert undefined - {"_GLOBAL_OFFSET_TABLE_"} <= {*lowered.externals, "fmod", "memset", "memcpy"}
    assert {"sin", "fmod", "qd_alloc_zero", "qd_raise2"} <= undefined
    assert result.parse_seconds >= 0 and result.optimise_seconds > 0 and result.emit_seconds > 0


def test_the_same_text_gives_the_same_object() -> None:
    assert codegen.compile_ir(full_text()).object_bytes == codegen.compile_ir(full_text()).object_bytes


def test_several_threads_compile_at_once() -> None:
    expected = codegen.compile_ir(full_text()).object_bytes
    found: list[bytes] = []

    def work() -> None:
        found.extend(codegen.compile_ir(full_text()).object_bytes for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 20


@pytest.mark.parametrize("level", (0, 1, 2, 3))
def test_every_level_gives_the_same_results(level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    original = codegen.compile_ir
    monkeypatch.setattr(
        codegen, "compile_ir", lambda text, opt_level=None, target=None: original(text, opt_level=level, target=target)
    )
    array, half = Program.load(program())((3, 0.5, 1.5))
    assert array.tolist() == [0.479425538604203] * 3 and half == 2.75


def test_texts() -> None:
    assert "@drive(" in codegen.optimise(full_text())
    assert "drive:" in codegen.assembly(full_text())


def test_arm() -> None:
    text = codegen.assembly(full_text(), target=ARM)
    assert "drive:" in text and "bl\tsin" in text
    assert elf.parse(codegen.compile_ir(full_text(), target=ARM).object_bytes).symbols


@pytest.mark.parametrize(
    "text",
    ("define i32 @f( {", "define i32 @f() {\n ret i64 0\n}", "define i32 @f() {\n %x = add i32 %y, 1\n ret i32 %x\n}"),
)
def test_wrong_text_is_an_error(text: str) -> None:
    with pytest.raises(InternalError, match="LLVM IR that is not valid"):
        codegen.compile_ir(text)


def test_llvm_is_not_imported_before_it_is_needed() -> None:
    code = "import sys; import quadrants.host.codegen, quadrants.lower.module; sys.exit('llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Targets


def test_a_pinned_isa(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "cpu_flags", lambda: frozenset().union(*target.X86_LEVELS.values()))
    monkeypatch.setattr(target, "architecture", lambda: "x86_64")
    monkeypatch.setenv("QUADRANTS_ISA", "x86-64-v2")
    target.target_for.cache_clear()
    pinned = target.host_target()
    target.target_for.cache_clear()
    assert (pinned.isa, pinned.native_f16, pinned.fingerprint) == ("x86-64-v2", False, "x86_64:x86-64-v2")
    assert "ymm" not in codegen.assembly(full_text(), target=pinned)


def test_an_isa_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "architecture", lambda: "x86_64")
    monkeypatch.setattr(target, "cpu_flags", lambda: frozenset({"sse4_2"}))
    monkeypatch.setenv("QUADRANTS_ISA", "x86-64-v4")
    target.target_for.cache_clear()
    with pytest.raises(SettingError, match="lacks abm, avx"):
        target.host_target()
    monkeypatch.setenv("QUADRANTS_ISA", "pentium")
    with pytest.raises(SettingError, match="expected x86-64, x86-64-v2"):
        target.host_target()


def test_the_fingerprint_depends_on_the_features(monkeypatch: pytest.MonkeyPatch) -> None:
    prints = set()
    for flags in ("sse2", "sse2 avx", "sse2 avx fma"):
        monkeypatch.setattr(target, "cpu_identity", lambda flags=flags: {"vendor_id": "X", "flags": flags})
        target.target_for.cache_clear()
        prints.add(target.target_for("").fingerprint)
    target.target_for.cache_clear()
    assert len(prints) == 3
