"""A simulated device: the LLVM IR of a kernel for an AMD GPU, run on this machine's processor.

Takes the IR as the backend makes it, before LLVM adapts it to amdgcn. Intrinsics of the device become functions that stop the
thread, which is a fiber with a stack of its own; what stopped threads of a wave do together is decided in Python, by who waits at
which op. Where lanes have parted, those at the op that comes first in the text go on first, as they do where branches end later in
the text than they begin. A lane that reads one that is not there gets garbage, and so does what reads shared memory too early.
"""

from __future__ import annotations

import ctypes
import platform
import random
import re
from dataclasses import dataclass, field
from functools import cache

import llvmlite.binding as llvm

Box = tuple[int, int, int]

#: Saves the registers that a call keeps on the stack, stores the stack pointer, takes another one, and goes on there.
_SWITCH = {
    "x86_64": (
        "pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15; movq %rsp, (%rdi); "
        "movq (%rsi), %rsp; popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp; retq"
    )
}
#: Words that the switch takes off a stack before it returns.
_KEPT = 6
_STACK_BYTES = 64 << 10
_DYNAMIC_BYTES = 64 << 10

# A thread's words: the stack pointer, why it stopped, where, two words that it gives, what it gets, its index, its lane.
SP, STATE, SITE, GIVEN, PLACE, GOT, X, Y, Z, LANE = range(10)
_WORDS = 16
RUNNING, BARRIER, BALLOT, READ, DONE = range(5)

_RUNTIME = """
@sim.thread = internal global ptr null
@sim.main = internal global i64 0
@sim.args = internal global ptr null
@sim.block = internal global [3 x i32] zeroinitializer
define internal void @sim.switch(ptr %from, ptr %to) naked noinline {{
  call void asm sideeffect "{switch}", ""()
  unreachable
}}
define void @sim.resume(ptr %thread) {{
  store ptr %thread, ptr @sim.thread
  call void @sim.switch(ptr @sim.main, ptr %thread)
  ret void
}}
define void @sim.launch(ptr %args, i32 %x, i32 %y, i32 %z) {{
  store ptr %args, ptr @sim.args
  store i32 %x, ptr @sim.block
  store i32 %y, ptr getelementptr (i8, ptr @sim.block, i64 4)
  store i32 %z, ptr getelementptr (i8, ptr @sim.block, i64 8)
  ret void
}}
define internal i64 @sim.stop(i64 %state, i64 %site, i64 %given, i64 %place) noinline convergent {{
  %thread = load volatile ptr, ptr @sim.thread
  %at.state = getelementptr i64, ptr %thread, i64 1
  store volatile i64 %state, ptr %at.state
  %at.site = getelementptr i64, ptr %thread, i64 2
  store volatile i64 %site, ptr %at.site
  %at.given = getelementptr i64, ptr %thread, i64 3
  store volatile i64 %given, ptr %at.given
  %at.place = getelementptr i64, ptr %thread, i64 4
  store volatile i64 %place, ptr %at.place
  call void @sim.switch(ptr %thread, ptr @sim.main)
  %at.got = getelementptr i64, ptr %thread, i64 5
  %got = load volatile i64, ptr %at.got
  ret i64 %got
}}
define internal i64 @sim.word(i64 %index) noinline {{
  %thread = load volatile ptr, ptr @sim.thread
  %at = getelementptr i64, ptr %thread, i64 %index
  %word = load volatile i64, ptr %at
  ret i64 %word
}}
define internal void @sim.barrier(i32 %site) noinline convergent {{
  %site64 = zext i32 %site to i64
  call i64 @sim.stop(i64 1, i64 %site64, i64 0, i64 0)
  ret void
}}
define internal i64 @sim.ballot64(i32 %site, i1 %condition) noinline convergent {{
  %site64 = zext i32 %site to i64
  %given = zext i1 %condition to i64
  %got = call i64 @sim.stop(i64 2, i64 %site64, i64 %given, i64 0)
  ret i64 %got
}}
define internal i32 @sim.ballot32(i32 %site, i1 %condition) noinline convergent {{
  %all = call i64 @sim.ballot64(i32 %site, i1 %condition)
  %low = trunc i64 %all to i32
  ret i32 %low
}}
define internal i32 @sim.read(i32 %site, i32 %at, i32 %word) noinline convergent {{
  %site64 = zext i32 %site to i64
  %given = zext i32 %word to i64
  %lane = lshr i32 %at, 2
  %place = zext i32 %lane to i64
  %got = call i64 @sim.stop(i64 3, i64 %site64, i64 %given, i64 %place)
  %low = trunc i64 %got to i32
  ret i32 %low
}}
define internal i32 @sim.lo(i32 %mask, i32 %base) noinline {{
  %lane64 = call i64 @sim.word(i64 9)
  %lane = trunc i64 %lane64 to i32
  %below = call i32 @llvm.umin.i32(i32 %lane, i32 32)
  %sum = add i32 %below, %base
  ret i32 %sum
}}
define internal i32 @sim.hi(i32 %mask, i32 %base) noinline {{
  %lane64 = call i64 @sim.word(i64 9)
  %lane = trunc i64 %lane64 to i32
  %above = call i32 @llvm.usub.sat.i32(i32 %lane, i32 32)
  %sum = add i32 %above, %base
  ret i32 %sum
}}
define void @sim.start() {{
{call}
  call i64 @sim.stop(i64 4, i64 0, i64 0, i64 0)
  unreachable
}}
"""
_PLACES = "".join(
    f"""
define internal i32 @sim.thread.{axis}() noinline {{
  %word = call i64 @sim.word(i64 {X + place})
  %index = trunc i64 %word to i32
  ret i32 %index
}}
define internal i32 @sim.block.{axis}() noinline {{
  %index = load volatile i32, ptr getelementptr (i8, ptr @sim.block, i64 {4 * place})
  ret i32 %index
}}
"""
    for place, axis in enumerate("xyz")
)

#: Intrinsic -> what stands for it; those that stop get the number of their site.
_PLAIN = {
    **{f"@llvm.amdgcn.workitem.id.{axis}(": f"@sim.thread.{axis}(" for axis in "xyz"},
    **{f"@llvm.amdgcn.workgroup.id.{axis}(": f"@sim.block.{axis}(" for axis in "xyz"},
    "@llvm.amdgcn.mbcnt.lo(": "@sim.lo(",
    "@llvm.amdgcn.mbcnt.hi(": "@sim.hi(",
}
_STOPPING = {
    "s.barrier": "@sim.barrier",
    "ballot.i32": "@sim.ballot32",
    "ballot.i64": "@sim.ballot64",
    "ds.bpermute": "@sim.read",
}
_STOPS = re.compile(r"@llvm\.amdgcn\.(s\.barrier|ballot\.i32|ballot\.i64|ds\.bpermute)\(")
_ENTRY = re.compile(r"define amdgpu_kernel void @qd_kernel\(([^)]*)\)")
_SCOPE = re.compile(r' syncscope\("[a-z]+"\)')


def host_text(text: str) -> str:
    """The IR for this machine."""
    found = _ENTRY.search(text)
    assert found is not None
    types = [param.split()[0] for param in found[1].split(", ")]
    sites = iter(range(1 << 30))

    def stop(match: re.Match[str]) -> str:
        comma = "" if match[1] == "s.barrier" else ", "
        return f"{_STOPPING[match[1]]}(i32 {next(sites)}{comma}"

    text = _STOPS.sub(stop, text)
    for name, stands in _PLAIN.items():
        text = text.replace(name, stands)
    text = _SCOPE.sub("", text).replace("define amdgpu_kernel ", "define ")
    text = re.sub(r"addrspacecast \(ptr addrspace\(3\) (@\S+) to ptr\)", r"\1", text)
    text = re.sub(r"addrspacecast ptr addrspace\(1\) (%\S+) to ptr", r"getelementptr i8, ptr \1, i64 0", text)
    text = text.replace(
        "external addrspace(3) global [0 x i8]", f"internal global [{_DYNAMIC_BYTES} x i8] zeroinitializer"
    )
    text = text.replace(" addrspace(3) global ", " global ").replace(" addrspace(1)", "").replace(".p1.p0.", ".p0.p0.")
    lines, given, offset = [], [], 0
    for position, type in enumerate(types):
        lines.append(f"  %at{position} = getelementptr i8, ptr %args, i64 {offset}")
        lines.append(f"  %a{position} = load {type}, ptr %at{position}, align 4")
        given.append(f"{type} %a{position}")
        offset += int(type[1:]) // 8
    call = "\n".join(["  %args = load ptr, ptr @sim.args", *lines, f"  call void @qd_kernel({', '.join(given)})"])
    return text + _RUNTIME.format(switch=_SWITCH[platform.machine()], call=call) + _PLACES


@cache
def _ready() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()


@dataclass
class Simulated:
    """A kernel on the simulated device.

    Args:
        text: its LLVM IR.
        wave: how many lanes run in step.
    """

    text: str
    wave: int
    random: random.Random = field(default_factory=lambda: random.Random(1))

    def __post_init__(self) -> None:
        _ready()
        module = llvm.parse_assembly(host_text(self.text))
        module.verify()
        features = llvm.get_host_cpu_features().flatten()
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=features, opt=1, jit=True
        )
        self.engine = llvm.create_mcjit_compiler(module, target)
        self.engine.finalize_object()
        self.resume = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.engine.get_function_address("sim.resume"))
        launch = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32)
        self.begin = launch(self.engine.get_function_address("sim.launch"))
        self.start = self.engine.get_function_address("sim.start")

    def launch(self, arguments: bytes, grid: Box, block: Box, shared_bytes: int = 0) -> None:
        """Run all blocks, one after the other. The dynamic memory has the largest size there is."""
        held = ctypes.create_string_buffer(arguments, len(arguments))
        count = block[0] * block[1] * block[2]
        stacks = ctypes.create_string_buffer(count * _STACK_BYTES + 16)
        words = (ctypes.c_int64 * (count * _WORDS))()
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    self.begin(ctypes.addressof(held), x, y, z)
                    _Block(self, words, ctypes.addressof(stacks), block).run()


class _Block:
    """The threads of one block."""

    def __init__(self, kernel: Simulated, words: ctypes.Array[ctypes.c_int64], stacks: int, shape: Box) -> None:
        self.kernel, self.words = kernel, words
        self.base = ctypes.addressof(words)
        count = shape[0] * shape[1] * shape[2]
        for number in range(count):
            top = (stacks + (number + 1) * _STACK_BYTES) & ~15
            at = top - 16  # the return address of the switch: the frame of a call is then aligned as the ABI has it
            ctypes.c_uint64.from_address(at).value = kernel.start
            first = number * _WORDS
            words[first + SP] = at - 8 * _KEPT
            words[first + STATE] = RUNNING
            words[first + X] = number % shape[0]
            words[first + Y] = number // shape[0] % shape[1]
            words[first + Z] = number // (shape[0] * shape[1])
            words[first + LANE] = number % kernel.wave
        self.waves = [list(range(first, min(first + kernel.wave, count))) for first in range(0, count, kernel.wave)]

    def run(self) -> None:
        """Until all threads are done."""
        while True:
            for wave in self.waves:
                self._run_wave(wave)
            waiting = [number for wave in self.waves for number in wave if self._state(number) == BARRIER]
            if not waiting:
                return
            for number in waiting:
                self.words[number * _WORDS + STATE] = RUNNING

    def _state(self, number: int) -> int:
        return self.words[number * _WORDS + STATE]

    def _run_wave(self, wave: list[int]) -> None:
        """Until the threads of a wave are done or at a barrier."""
        words, resume, base = self.words, self.kernel.resume, self.base
        while True:
            for number in wave:
                if words[number * _WORDS + STATE] == RUNNING:
                    resume(base + 8 * number * _WORDS)
            stopped = [number for number in wave if self._state(number) in (BALLOT, READ)]
            if not stopped:
                return
            site = min(words[number * _WORDS + SITE] for number in stopped)
            self._together([number for number in stopped if words[number * _WORDS + SITE] == site])

    def _together(self, group: list[int]) -> None:
        """What the lanes at one op do."""
        words = self.words
        lanes = {words[number * _WORDS + LANE]: words[number * _WORDS + GIVEN] for number in group}
        mask = sum(1 << lane for lane, given in lanes.items() if given)
        for number in group:
            first = number * _WORDS
            if words[first + STATE] == BALLOT:
                got = mask
            else:
                place = words[first + PLACE] % self.kernel.wave
                got = lanes[place] if place in lanes else self.kernel.random.getrandbits(32)
            words[first + GOT] = got - (1 << 64) if got >> 63 else got
            words[first + STATE] = RUNNING
