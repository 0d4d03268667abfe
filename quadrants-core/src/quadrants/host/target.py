"""What code is compiled for: architecture, CPU and features. Imports no LLVM.

Takes the machine and the setting QUADRANTS_ISA; gives a frozen `Target`. Its `fingerprint` is a part of every cache key, so it is
read from the system in well under a millisecond: code for one fingerprint runs on every machine that has it.
"""

from __future__ import annotations

import functools
import platform
import sys

from quadrants import config
from quadrants._frozen import frozen
from quadrants.cache.fingerprint import digest_bytes
from quadrants.diagnostics import Code, SettingError

#: The levels of x86-64 that may be pinned, with what each adds (names as in /proc/cpuinfo).
X86_LEVELS: dict[str, frozenset[str]] = {
    "x86-64": frozenset(),
    "x86-64-v2": frozenset({"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}),
    "x86-64-v3": frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}),
    "x86-64-v4": frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
}

_ARM_BASE = "armv8-a"
_ARCHITECTURES = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_TRIPLES = {"linux": "{arch}-unknown-linux-gnu", "darwin": "{arch}-apple-darwin", "win32": "{arch}-pc-windows-msvc"}

#: The lines of /proc/cpuinfo that say what a CPU is.
_IDENTITY = frozenset(
    {"vendor_id", "cpu family", "model", "stepping", "flags"}
    | {"CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features"}
)


@frozen
class Target:
    """What code is compiled for.

    Args:
        arch: "x86_64" or "aarch64".
        triple: LLVM's name of architecture and system.
        isa: the pinned ISA, or "" for this machine's CPU with all of its features.
        native_f16: whether it converts between half and float by an instruction.
        fingerprint: identifies the CPU and its features (the pinned ISA alone, if one is).
        vector_bits: the size of its largest vector registers.
    """

    arch: str
    triple: str
    isa: str
    native_f16: bool
    fingerprint: str
    vector_bits: int = 128

    @property
    def many_registers(self) -> bool:
        """Whether it has 32 vector registers, not 16."""
        return self.arch == "aarch64" or self.vector_bits == 512


@functools.cache
def cpu_identity() -> dict[str, str]:
    """What the system says of its first CPU; empty where it says nothing."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            text = file.read(1 << 13).split(b"\n\n")[0].decode("ascii", "replace")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs if key.strip() in _IDENTITY}


@functools.cache
def cpu_flags() -> frozenset[str]:
    """The features of this machine's CPU, by the kernel's names."""
    identity = cpu_identity()
    return frozenset((identity.get("flags") or identity.get("Features") or "").split())


def architecture() -> str:
    """The architecture of this machine; a name of the system's own for one that is not supported."""
    return _ARCHITECTURES.get(platform.machine(), platform.machine())


def host_target() -> Target:
    """The target that the settings ask for, on this machine. SettingError for an ISA that is unknown or not there."""
    return target_for(config.get(config.Config.ISA))


@functools.cache
def target_for(isa: str) -> Target:
    """The target for an ISA; "" for this machine's CPU."""
    arch = architecture()
    known = tuple(X86_LEVELS) if arch == "x86_64" else (_ARM_BASE,)
    if isa and isa not in known:
        raise _bad_isa(isa, f"it is not known here: expected {', '.join(known)}, or nothing for this machine's own")
    triple = _TRIPLES.get(sys.platform, "{arch}-unknown-unknown-elf").format(arch=arch)
    features = _features_of(isa) if isa else cpu_flags()
    if arch == "x86_64" and isa and cpu_flags() and (missing := sorted(features - cpu_flags())):
        raise _bad_isa(isa, f"this machine's CPU lacks {', '.join(missing)}")
    native_f16 = arch == "aarch64" or "f16c" in features
    return Target(arch, triple, isa, native_f16, _fingerprint(arch, isa), _vector_bits(features))


def _features_of(isa: str) -> frozenset[str]:
    """What a level has: its own features and those of the levels before it."""
    names = list(X86_LEVELS)
    if isa not in names:
        return frozenset()
    return frozenset().union(*(X86_LEVELS[name] for name in names[: names.index(isa) + 1]))


_AVX2 = frozenset({"avx2", "fma"})


def _vector_bits(features: frozenset[str]) -> int:
    """Registers count where their integers are as wide as their floats, and the large ones where operations fuse."""
    return 512 if "avx512dq" in features else 256 if features >= _AVX2 else 128


def _fingerprint(arch: str, isa: str) -> str:
    if isa:
        return f"{arch}:{isa}"
    identity = cpu_identity()
    if not identity:  # no /proc: what Python knows of the processor
        identity = {"processor": platform.processor(), "release": platform.release()}
    text = "\n".join(f"{key}={identity[key]}" for key in sorted(identity))
    return f"{arch}:{digest_bytes(text.encode())}"


def _bad_isa(isa: str, problem: str) -> SettingError:
    return SettingError(Code.BAD_SETTING, f"QUADRANTS_ISA={isa!r} cannot be used: {problem}")
