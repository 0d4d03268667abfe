"""The runtime: what compiled code calls, as LLVM text.

Blocks of array memory (allocate, retain, release), records of exceptions and the traceback are functions that all modules share:
`definitions` is compiled once, by the host, and kept. The conversions to and from half floats that a target lacks are
small functions inside the modules that need them, so that they can be inlined.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quadrants.lower import abi, kept_blocks

#: Records are filled by functions that take so many words: the number of words is rounded up.
RAISE_WIDTHS = (0, 2, 4, abi.PAYLOAD_WORDS)
#: Where the number of words is, in the argument that holds the class number below it.
WORDS_SHIFT = 16

_BLOCK = "nounwind willreturn memory(inaccessiblemem: readwrite)"
_COUNT = "nounwind willreturn memory(argmem: readwrite, inaccessiblemem: readwrite)"
_RECORD = "cold nounwind willreturn memory(argmem: readwrite)"


def _raise_params(words: int) -> str:
    return ", ".join(("ptr captures(none)", "i32", "i32", *("i64",) * words))


#: The functions below that count references and blocks have another form for code that several threads run: with `_shared`
#: behind their name, and the context in front of their arguments. Blocks are counted there, and the references to shared
#: blocks atomically.
_CONTEXT = "ptr captures(none)"

#: External symbol -> its declaration in a module that uses it. The attributes hold of the definitions below.
DECLARATIONS: Mapping[str, str] = MappingProxyType(
    {
        "qd_alloc": f"declare noalias align {abi.BLOCK_ALIGN} ptr @qd_alloc(i64) {_BLOCK}",
        "qd_alloc_zero": f"declare noalias align {abi.BLOCK_ALIGN} ptr @qd_alloc_zero(i64) {_BLOCK}",
        "qd_retain": f"declare void @qd_retain(ptr captures(none)) {_COUNT}",
        "qd_release": f"declare void @qd_release(ptr captures(none)) {_COUNT}",
        "qd_list_new": f"declare noalias align {abi.BLOCK_ALIGN} ptr @qd_list_new(i64) {_BLOCK}",
        "qd_list_resize": "declare i1 @qd_list_resize(ptr captures(none), i64, i64) nounwind willreturn",
        "qd_list_release": "declare void @qd_list_release(ptr captures(none)) nounwind willreturn",
        "qd_share": "declare void @qd_share(ptr captures(none)) nounwind willreturn memory(argmem: readwrite)",
        "qd_list_share": "declare void @qd_list_share(ptr captures(none)) nounwind willreturn",
        "qd_traceback": f"declare void @qd_traceback(ptr captures(none), i32) {_RECORD}",
        "qd_swallow": "declare void @qd_swallow(i32) cold nounwind",
        **{f"qd_raise{n}": f"declare i32 @qd_raise{n}({_raise_params(n)}) {_RECORD}" for n in RAISE_WIDTHS},
    }
)


def shared_declaration(name: str) -> str:
    """The declaration of the form that counts for several threads."""
    declaration = DECLARATIONS[name].replace(_BLOCK, _COUNT)
    rest = declaration.partition(f"@{name}(")[2]
    comma = "" if rest.startswith(")") else ", "
    return declaration.replace(f"@{name}(", f"@{name}_shared({_CONTEXT}{comma}")


#: What the definitions need, beside intrinsics.
NEEDS: Mapping[str, str] = MappingProxyType(
    {
        "malloc": "declare ptr @malloc(i64)",
        "calloc": "declare ptr @calloc(i64, i64)",
        "free": "declare void @free(ptr)",
        "PyErr_Clear": "declare void @PyErr_Clear()",
        abi.LIVE_BLOCKS: f"@{abi.LIVE_BLOCKS} = external global i64",
    }
)

#: Zeroed blocks of at least this size come from the system, which has pages of zeros.
_SMALL_BYTES = 1 << 18
#: The largest size that is asked of the system.
_MOST_BYTES = 2**63 - 1 - abi.BLOCK_EXTRA


def definitions() -> str:
    """The shared functions. The text needs the declarations in `NEEDS`."""
    return "".join(
        (
            kept_blocks.DEFINITIONS,
            *(part for suffix in ("", "_shared") for part in _counting(suffix)),
            _SHARE,
            _LIST_SHARE,
            *(_raise(words) for words in RAISE_WIDTHS),
            _TRACEBACK,
            _SWALLOW,
        )
    )


def recording() -> str:
    """Only what records exceptions, as part of a module: for devices, which count nothing."""
    texts = (*(_raise(words) for words in RAISE_WIDTHS), _TRACEBACK)
    return "".join(text.replace("\ndefine ", "\ndefine internal ") for text in texts)


def _counting(suffix: str) -> tuple[str, ...]:
    """What counts references or blocks."""
    return (
        _alloc("qd_alloc", "call noalias ptr @qd_block_get(i64 %size)", suffix),
        _alloc("qd_alloc_zero_pages", "call noalias ptr @qd_block_zeroed(i64 %size)", suffix),
        _alloc_zero(suffix),
        _owned("qd_retain", suffix, _adding(1, suffix) + "  br label %done"),
        _owned("qd_release", suffix, _releasing(suffix)),
        _lists(suffix),
        _list_resize(suffix),
        _list_release(suffix),
    )


def _given(suffix: str, rest: str = "") -> str:
    """The parameters, or the arguments, with the context in front where there is one."""
    return ", ".join(filter(None, ("ptr %ctx" if suffix else "", rest)))


def _count(delta: int, suffix: str) -> str:
    """Code that adds to the number of live blocks."""
    where = "%live.at" if suffix else f"@{abi.LIVE_BLOCKS}"
    at = f"  %live.at = getelementptr i8, ptr %ctx, i64 {abi.CTX_LIVE}\n" if suffix else ""
    return f"""\
{at}\
  %live = load i64, ptr {where}
  %live1 = add i64 %live, {delta}
  store i64 %live1, ptr {where}"""


def _alloc(symbol: str, allocate: str, suffix: str) -> str:
    return f"""
define noalias align {abi.BLOCK_ALIGN} ptr @{symbol}{suffix}({_given(suffix, "i64 %nbytes")}) nounwind {{
  %big = icmp ugt i64 %nbytes, {_MOST_BYTES}
  br i1 %big, label %none, label %ask
ask:
  %size = add nuw nsw i64 %nbytes, {abi.BLOCK_EXTRA}
  %raw = {allocate}
  %failed = icmp eq ptr %raw, null
  br i1 %failed, label %none, label %fill
fill:
  %end = getelementptr i8, ptr %raw, i64 {abi.BLOCK_ALIGN - 1}
  %block = call ptr @llvm.ptrmask.p0.i64(ptr %end, i64 -{abi.BLOCK_ALIGN})
  store i64 1, ptr %block
  %nbytes.at = getelementptr i8, ptr %block, i64 {abi.BLOCK_NBYTES}
  store i64 %nbytes, ptr %nbytes.at
  %raw.at = getelementptr i8, ptr %block, i64 {abi.BLOCK_RAW}
  store ptr %raw, ptr %raw.at
  %shared.at = getelementptr i8, ptr %block, i64 {abi.BLOCK_SHARED}
  store i64 0, ptr %shared.at
{_count(1, suffix)}
  ret ptr %block
none:
  ret ptr null
}}
"""


def _alloc_zero(suffix: str) -> str:
    """Small blocks are cleared by hand: `calloc` is slow where the system's allocator would have a block of the size at hand."""
    given = _given(suffix, "i64 %nbytes")
    return f"""
define noalias align {abi.BLOCK_ALIGN} ptr @qd_alloc_zero{suffix}({given}) nounwind {{
  %small = icmp ult i64 %nbytes, {_SMALL_BYTES}
  br i1 %small, label %clear, label %pages
clear:
  %block = call ptr @qd_alloc{suffix}({given})
  %failed = icmp eq ptr %block, null
  br i1 %failed, label %none, label %write
write:
  %data = getelementptr i8, ptr %block, i64 {abi.BLOCK_HEADER}
  call void @llvm.memset.p0.i64(ptr align {abi.BLOCK_ALIGN} %data, i8 0, i64 %nbytes, i1 false)
  ret ptr %block
pages:
  %large = call ptr @qd_alloc_zero_pages{suffix}({given})
  ret ptr %large
none:
  ret ptr null
}}
"""


def _owned(symbol: str, suffix: str, body: str) -> str:
    """A function that does something to the block of an owner, if it is one of ours."""
    return f"""
define void @{symbol}{suffix}({_given(suffix, "ptr captures(none) %owner")}) nounwind {{
  %address = ptrtoint ptr %owner to i64
  %null = icmp eq i64 %address, 0
  %tag = and i64 %address, {abi.OWNER_PYTHON_TAG}
  %tagged = icmp ne i64 %tag, 0
  %foreign = or i1 %null, %tagged
  br i1 %foreign, label %done, label %ours
ours:
{body}
done:
  ret void
}}
"""


#: Several threads will refer to the block from now on.
_SHARE = _owned(
    "qd_share",
    "",
    f"""\
  %shared.at = getelementptr i8, ptr %owner, i64 {abi.BLOCK_SHARED}
  store i64 1, ptr %shared.at
  br label %done""",
)


#: Several threads will refer to the list, and to the lists in it.
_LIST_SHARE = f"""
define void @qd_list_share(ptr captures(none) %list) nounwind {{
entry:
  %null = icmp eq ptr %list, null
  br i1 %null, label %done, label %mark
mark:
  %shared.at = getelementptr i8, ptr %list, i64 {abi.BLOCK_SHARED}
  store i64 1, ptr %shared.at
  %nested.at = getelementptr i8, ptr %list, i64 {abi.LIST_NESTED}
  %nested = load i64, ptr %nested.at
  %flat = icmp eq i64 %nested, 0
  br i1 %flat, label %done, label %items
items:
  %cells.at = getelementptr i8, ptr %list, i64 {abi.LIST_CELLS}
  %cells = load ptr, ptr %cells.at
  %size.at = getelementptr i8, ptr %list, i64 {abi.LIST_SIZE}
  %size = load i64, ptr %size.at
  %data = getelementptr i8, ptr %cells, i64 {abi.BLOCK_HEADER}
  br label %next
next:
  %k = phi i64 [ 0, %items ], [ %k.next, %one ]
  %more = icmp ult i64 %k, %size
  br i1 %more, label %one, label %done
one:
  %at = getelementptr ptr, ptr %data, i64 %k
  %item = load ptr, ptr %at
  call void @qd_list_share(ptr %item)
  %k.next = add i64 %k, 1
  br label %next
done:
  ret void
}}
"""


def _releasing(suffix: str) -> str:
    return f"""\
{_adding(-1, suffix)}\
  %last = icmp eq i64 %old, 1
  br i1 %last, label %free, label %done
free:
  %raw.at = getelementptr i8, ptr %owner, i64 {abi.BLOCK_RAW}
  %raw = load ptr, ptr %raw.at
  %nbytes.at = getelementptr i8, ptr %owner, i64 {abi.BLOCK_NBYTES}
  %nbytes = load i64, ptr %nbytes.at
  %size = add i64 %nbytes, {abi.BLOCK_EXTRA}
{_count(-1, suffix)}
  call void @qd_block_put(ptr %raw, i64 %size)
  br label %done"""


def _adding(delta: int, suffix: str, name: str = "owner") -> str:
    """Code that adds to the references; `%old` is how many there were."""
    if not suffix:
        return f"""\
  %old = load i64, ptr %{name}
  %new = add i64 %old, {delta}
  store i64 %new, ptr %{name}
"""
    return f"""\
  %shared.at = getelementptr i8, ptr %{name}, i64 {abi.BLOCK_SHARED}
  %shared = load i64, ptr %shared.at
  %own = icmp eq i64 %shared, 0
  br i1 %own, label %plain, label %atomic
atomic:
  %old.atomic = atomicrmw add ptr %{name}, i64 {delta} acq_rel
  br label %counted
plain:
  %old.plain = load i64, ptr %{name}
  %new = add i64 %old.plain, {delta}
  store i64 %new, ptr %{name}
  br label %counted
counted:
  %old = phi i64 [ %old.atomic, %atomic ], [ %old.plain, %plain ]
"""


def _lists(suffix: str) -> str:
    """Lists, and the end of some of the items of a list of lists."""
    cells = f"i64 {abi.LIST_BYTES}"
    return f"""
define noalias align {abi.BLOCK_ALIGN} ptr @qd_list_new{suffix}({_given(suffix, "i64 %nested")}) nounwind {{
  %list = call ptr @qd_alloc_zero{suffix}({_given(suffix, cells)})
  %none = icmp eq ptr %list, null
  br i1 %none, label %done, label %mark
mark:
  %nested.at = getelementptr i8, ptr %list, i64 {abi.LIST_NESTED}
  store i64 %nested, ptr %nested.at
  br label %done
done:
  ret ptr %list
}}

define internal void @qd_list_drop{suffix}({_given(suffix, "ptr %block, i64 %from, i64 %to")}) nounwind {{
entry:
  %data = getelementptr i8, ptr %block, i64 {abi.BLOCK_HEADER}
  br label %next
next:
  %k = phi i64 [ %from, %entry ], [ %k.next, %one ]
  %more = icmp ult i64 %k, %to
  br i1 %more, label %one, label %done
one:
  %at = getelementptr ptr, ptr %data, i64 %k
  %item = load ptr, ptr %at
  call void @qd_list_release{suffix}({_given(suffix, "ptr %item")})
  %k.next = add i64 %k, 1
  br label %next
done:
  ret void
}}
"""


def _list_resize(suffix: str) -> str:
    """Growth is by half, so that appending takes constant time on average."""
    return f"""
define i1 @qd_list_resize{suffix}({_given(suffix, "ptr captures(none) %list, i64 %size, i64 %itemsize")}) nounwind {{
entry:
  %cells.at = getelementptr i8, ptr %list, i64 {abi.LIST_CELLS}
  %size.at = getelementptr i8, ptr %list, i64 {abi.LIST_SIZE}
  %cells = load ptr, ptr %cells.at
  %none = icmp eq ptr %cells, null
  br i1 %none, label %measured, label %measure
measure:
  %capacity.at = getelementptr i8, ptr %cells, i64 {abi.BLOCK_NBYTES}
  %capacity.old = load i64, ptr %capacity.at
  br label %measured
measured:
  %capacity = phi i64 [ 0, %entry ], [ %capacity.old, %measure ]
  %wide = call {{ i64, i1 }} @llvm.smul.with.overflow.i64(i64 %size, i64 %itemsize)
  %needed = extractvalue {{ i64, i1 }} %wide, 0
  %overflow = extractvalue {{ i64, i1 }} %wide, 1
  br i1 %overflow, label %fail, label %compare
compare:
  %fits = icmp ule i64 %needed, %capacity
  br i1 %fits, label %done, label %grow
grow:
  %half = lshr i64 %capacity, 1
  %more = add i64 %capacity, %half
  %floor = call i64 @llvm.umax.i64(i64 %more, i64 64)
  %wanted = call i64 @llvm.umax.i64(i64 %floor, i64 %needed)
  %new = call ptr @qd_alloc{suffix}({_given(suffix, "i64 %wanted")})
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %fail, label %move
move:
  br i1 %none, label %replace, label %copy
copy:
  %old.size = load i64, ptr %size.at
  %used = mul i64 %old.size, %itemsize
  %from = getelementptr i8, ptr %cells, i64 {abi.BLOCK_HEADER}
  %to = getelementptr i8, ptr %new, i64 {abi.BLOCK_HEADER}
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %used, i1 false)
  call void @qd_release{suffix}({_given(suffix, "ptr %cells")})
  br label %replace
replace:
  store ptr %new, ptr %cells.at
  br label %done
{_list_sized(suffix)}"""


def _list_sized(suffix: str) -> str:
    """The end of resizing, where there is room: the items of a list of lists that go are given up, new ones are no lists."""
    return f"""\
done:
  %nested.at = getelementptr i8, ptr %list, i64 {abi.LIST_NESTED}
  %nested = load i64, ptr %nested.at
  %flat = icmp eq i64 %nested, 0
  br i1 %flat, label %sized, label %items
items:
  %before = load i64, ptr %size.at
  %present = load ptr, ptr %cells.at
  %shrinks = icmp ult i64 %size, %before
  br i1 %shrinks, label %drop, label %extend
drop:
  call void @qd_list_drop{suffix}({_given(suffix, "ptr %present, i64 %size, i64 %before")})
  br label %sized
extend:
  %added = sub i64 %size, %before
  %added.bytes = shl i64 %added, 3
  %used.bytes = shl i64 %before, 3
  %start = add i64 %used.bytes, {abi.BLOCK_HEADER}
  %first = getelementptr i8, ptr %present, i64 %start
  call void @llvm.memset.p0.i64(ptr %first, i8 0, i64 %added.bytes, i1 false)
  br label %sized
sized:
  store i64 %size, ptr %size.at
  ret i1 true
fail:
  ret i1 false
}}
"""


def _list_release(suffix: str) -> str:
    return f"""
define void @qd_list_release{suffix}({_given(suffix, "ptr captures(none) %list")}) nounwind {{
  %null = icmp eq ptr %list, null
  br i1 %null, label %done, label %count
count:
{_adding(-1, suffix, "list")}\
  %last = icmp eq i64 %old, 1
  br i1 %last, label %free, label %done
free:
  store i64 1, ptr %list
  %cells.at = getelementptr i8, ptr %list, i64 {abi.LIST_CELLS}
  %cells = load ptr, ptr %cells.at
  %nested.at = getelementptr i8, ptr %list, i64 {abi.LIST_NESTED}
  %nested = load i64, ptr %nested.at
  %flat = icmp eq i64 %nested, 0
  br i1 %flat, label %memory, label %items
items:
  %size.at = getelementptr i8, ptr %list, i64 {abi.LIST_SIZE}
  %size = load i64, ptr %size.at
  call void @qd_list_drop{suffix}({_given(suffix, "ptr %cells, i64 0, i64 %size")})
  br label %memory
memory:
  call void @qd_release{suffix}({_given(suffix, "ptr %cells")})
  call void @qd_release{suffix}({_given(suffix, "ptr %list")})
  ret void
done:
  ret void
}}
"""


def _raise(words: int) -> str:
    """Fill the next record; gives the exception value. `%what` is the class number, and above it how many words count."""
    params = "".join(f", i64 %w{i}" for i in range(words))
    stores = "".join(
        f"""
  %at{i} = getelementptr i8, ptr %record, i64 {abi.RECORD_PAYLOAD + 8 * i}
  store i64 %w{i}, ptr %at{i}"""
        for i in range(words)
    )
    return f"""
define i32 @qd_raise{words}(ptr captures(none) %ctx, i32 %site, i32 %what{params}) nounwind {{
  %count = load i32, ptr %ctx
  %next = add i32 %count, 1
  store i32 %next, ptr %ctx
  %tb.at = getelementptr i8, ptr %ctx, i64 {abi.CTX_TB_LEN}
  store i32 0, ptr %tb.at
  %slot = and i32 %count, {abi.RECORDS - 1}
  %slot64 = zext i32 %slot to i64
  %scaled = mul nuw nsw i64 %slot64, {abi.RECORD_BYTES}
  %offset = add nuw nsw i64 %scaled, {abi.CTX_RECORDS}
  %record = getelementptr i8, ptr %ctx, i64 %offset
  store i32 %site, ptr %record
  %words = lshr i32 %what, {WORDS_SHIFT}
  %n.at = getelementptr i8, ptr %record, i64 {abi.RECORD_LEAVES}
  store i32 %words, ptr %n.at{stores}
  %class = and i32 %what, {abi.CLASS_MASK}
  %high = shl i32 %slot, {abi.RECORD_SHIFT}
  %value = or i32 %high, %class
  ret i32 %value
}}
"""


#: Append a call site, if there is room.
_TRACEBACK = f"""
define void @qd_traceback(ptr captures(none) %ctx, i32 %site) nounwind {{
  %len.at = getelementptr i8, ptr %ctx, i64 {abi.CTX_TB_LEN}
  %len = load i32, ptr %len.at
  %room = icmp ult i32 %len, {abi.TB_SITES}
  br i1 %room, label %append, label %done
append:
  %len64 = zext i32 %len to i64
  %bytes = shl nuw nsw i64 %len64, 2
  %offset = add nuw nsw i64 %bytes, {abi.CTX_TB_SITES}
  %at = getelementptr i8, ptr %ctx, i64 %offset
  store i32 %site, ptr %at
  %new = add i32 %len, 1
  store i32 %new, ptr %len.at
  br label %done
done:
  ret void
}}
"""

#: A handler is done with an exception: one that is set in the interpreter is cleared there.
_SWALLOW = f"""
define void @qd_swallow(i32 %exception) nounwind {{
  %class = and i32 %exception, {abi.CLASS_MASK}
  %python = icmp eq i32 %class, {abi.PYTHON_ERROR}
  br i1 %python, label %clear, label %done
clear:
  call void @PyErr_Clear()
  br label %done
done:
  ret void
}}
"""

# Half floats

#: f64 to f32, rounded to odd, so that rounding the result again to half gives what one rounding gives.
_ROUND_ODD = """\
define internal float @qd.round_odd(double %x) nounwind memory(none) alwaysinline {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %exact = fcmp oeq double %back, %x
  %bits = bitcast float %near to i32
  %size = call double @llvm.fabs.f64(double %x)
  %got = call double @llvm.fabs.f64(double %back)
  %above = fcmp ogt double %got, %size
  %step = sext i1 %above to i32
  %toward0 = add i32 %bits, %step
  %odd = or i32 %toward0, 1
  %chosen = select i1 %exact, i32 %bits, i32 %odd
  %y = bitcast i32 %chosen to float
  ret float %y
}
"""


#: f32 to f16 to nearest even, in integer code. Above 2^16 the addition below would not saturate: those are infinite.
_HALF_FROM_FLOAT = """\
define internal half @qd.half_from_float(float %x) nounwind memory(none) {
  %bits = bitcast float %x to i32
  %abs = and i32 %bits, 2147483647
  %sign32 = lshr i32 %bits, 16
  %sign = and i32 %sign32, 32768
  %is.nan = icmp ugt i32 %abs, 2139095040
  %payload32 = lshr i32 %abs, 13
  %payload = and i32 %payload32, 1023
  %quiet = or i32 %payload, 32256
  %is.inf = icmp uge i32 %abs, 1199570944
  %low = icmp ult i32 %abs, 947912704
  %lsb32 = lshr i32 %abs, 13
  %lsb = and i32 %lsb32, 1
  %rebased = sub i32 %abs, 939524096
  %biased = add i32 %rebased, 4095
  %rounded = add i32 %biased, %lsb
  %normal = lshr i32 %rounded, 13
  %size = bitcast i32 %abs to float
  %shifted = fadd float %size, 5.000000e-01
  %shifted.bits = bitcast float %shifted to i32
  %subnormal = sub i32 %shifted.bits, 1056964608
  %finite = select i1 %low, i32 %subnormal, i32 %normal
  %large = select i1 %is.inf, i32 31744, i32 %finite
  %magnitude = select i1 %is.nan, i32 %quiet, i32 %large
  %all = or i32 %magnitude, %sign
  %word = trunc i32 %all to i16
  %y = bitcast i16 %word to half
  ret half %y
}
"""


#: f16 to f32, in integer code: subnormals through a multiplication by 2^-24.
_FLOAT_FROM_HALF = """\
define internal float @qd.float_from_half(half %x) nounwind memory(none) {
  %word = bitcast half %x to i16
  %bits = zext i16 %word to i32
  %sign16 = and i32 %bits, 32768
  %sign = shl i32 %sign16, 16
  %abs = and i32 %bits, 32767
  %mantissa = shl i32 %abs, 13
  %normal = add i32 %mantissa, 939524096
  %special = or i32 %mantissa, 2139095040
  %whole = uitofp i32 %abs to float
  %small = fmul float %whole, 0x3E70000000000000
  %small.bits = bitcast float %small to i32
  %is.small = icmp ult i32 %abs, 1024
  %is.special = icmp uge i32 %abs, 31744
  %finite = select i1 %is.small, i32 %small.bits, i32 %normal
  %magnitude = select i1 %is.special, i32 %special, i32 %finite
  %all = or i32 %magnitude, %sign
  %y = bitcast i32 %all to float
  ret float %y
}
"""


#: The functions that a module gets when it needs them: name -> text.
HELPERS: Mapping[str, str] = MappingProxyType(
    {
        "qd.round_odd": _ROUND_ODD,
        "qd.half_from_float": _HALF_FROM_FLOAT,
        "qd.float_from_half": _FLOAT_FROM_HALF,
    }
)
