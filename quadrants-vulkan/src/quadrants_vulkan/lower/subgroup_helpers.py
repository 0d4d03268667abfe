"""Operations of subgroups that are made of others, as helpers in QIR: reductions, scans, and the lanes that hold the same.

Where all lanes take part, values meet as a butterfly of shuffles does; where some have gone another way, lane by lane. Takes a name
such as "reduce.add.f32" and the size of a subgroup; gives the text of the function.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants.types import Scalar
from quadrants.types.scalar import SCALARS

_ALL = """  %lane = lane.index : i32
  %zero = const 0 : u64
  %one = const 1 : u64
  %true = const true : bool
  %mask = ballot %true : u64
  %active = popcount %mask : u64
  %lanes = const {size} : u64
  %full = cmp %active, %lanes {{pred="eq"}}
"""


def _combine(what: str, type: Scalar, result: str, a: str, b: str) -> str:
    name = f"math.f{what}" if type.is_float and what in ("min", "max") else what
    return f"{result} = {name} {a}, {b}"


def _identity(what: str, type: Scalar) -> str:
    """What leaves every other value as it is."""
    if what in ("min", "max"):
        if type.is_float:
            return "inf" if what == "min" else "-inf"
        low = -(1 << (type.bits - 1)) if type.is_signed else 0
        return str(low + (1 << type.bits) - 1 if what == "min" else low)
    value = {"mul": 1, "and": -1}.get(what, 0)
    if type.is_float:
        return f"{float(value)}"
    return str(value & ((1 << type.bits) - 1) if not type.is_signed else value)


def _reduce(what: str, type: Scalar, size: int) -> str:
    lines, held, step = [], "%v", size // 2
    while step:
        lines += [
            f"    %s{step} = const {step} : i32",
            f'    %o{step} = shuffle {held}, %s{step} {{mode="xor"}}',
            "    " + _combine(what, type, f"%h{step}", held, f"%o{step}"),
        ]
        held, step = f"%h{step}", step // 2
    butterfly = "\n".join([*lines, f"    yield {held}"])
    return f"""(%v: {type}) -> ({type}) {{
{_ALL.format(size=size)}  %r = if %full : {type} {{
{butterfly}
  }} else {{
    %first = lane.first %v
    %below = sub %mask, %one
    %others = and %mask, %below
    %sum = loop %others, %first {{label=0, result_types=[{type}]}} (%rest: u64, %acc: {type}) {{
      %done = cmp %rest, %zero {{pred="eq"}}
      if %done {{
        break %acc {{label=0}}
      }} else {{
        yield
      }}
      %place = ctz %rest
      %from = cast %place {{type=i32}}
      %x = shuffle %v, %from {{mode="index"}}
      {_combine(what, type, "%next", "%acc", "%x")}
      %under = sub %rest, %one
      %left = and %rest, %under
      continue %left, %next {{label=0}}
    }}
    yield %sum
  }}
  return %r
}}"""


def _scan(what: str, type: Scalar, size: int, inclusive: bool) -> str:
    lines, held, step = [], "%v", 1
    while step < size:
        lines += [
            f"    %s{step} = const {step} : i32",
            f'    %o{step} = shuffle {held}, %s{step} {{mode="up"}}',
            "    " + _combine(what, type, f"%c{step}", f"%o{step}", held),
            f'    %i{step} = cmp %lane, %s{step} {{pred="ge"}}',
            f"    %h{step} = select %i{step}, %c{step}, {held}",
        ]
        held, step = f"%h{step}", step * 2
    if not inclusive:
        lines += [
            "    %sone = const 1 : i32",
            f'    %before = shuffle {held}, %sone {{mode="up"}}',
            '    %inside = cmp %lane, %sone {pred="ge"}',
            "    %shifted = select %inside, %before, %identity",
        ]
        held = "%shifted"
    steps = "\n".join([*lines, f"    yield {held}"])
    last = (
        f"    {_combine(what, type, '%joined', '%sum', '%v')}\n    %mine = select %some, %joined, %v\n    yield %mine"
    )
    return f"""(%v: {type}) -> ({type}) {{
{_ALL.format(size=size)}  %identity = const {_identity(what, type)} : {type}
  %r = if %full : {type} {{
{steps}
  }} else {{
    %false = const false : bool
    %sum, %some = loop %mask, %identity, %false {{label=0, result_types=[{type}, bool]}}
        (%rest: u64, %acc: {type}, %started: bool) {{
      %place = ctz %rest
      %from = cast %place {{type=i32}}
      %x = shuffle %v, %from {{mode="index"}}
      %mineself = cmp %from, %lane {{pred="lt"}}
      {_combine(what, type, "%both", "%acc", "%x")}
      %later = select %started, %both, %x
      %next = select %mineself, %later, %acc
      %has = or %started, %mineself
      %under = sub %rest, %one
      %left = and %rest, %under
      %done = cmp %left, %zero {{pred="eq"}}
      if %done {{
        break %next, %has {{label=0}}
      }} else {{
        yield
      }}
      continue %left, %next, %has {{label=0}}
    }}
{last if inclusive else "    yield %sum"}
  }}
  return %r
}}"""


def _match(type: Scalar) -> str:
    bits = "%v"
    made = ""
    if type.is_float:
        made, bits = f"  %b = bitcast %v {{type=u{type.bits}}}\n", "%b"
    elif type.is_bool:
        made, bits = "  %b = cast %v {type=u32}\n", "%b"
    return f"""(%v: {type}) -> (u64) {{
{_ALL.format(size=1)}{made}  %r = loop %mask, %zero {{label=0, result_types=[u64]}} (%rest: u64, %found: u64) {{
    %place = ctz %rest
    %from = cast %place {{type=i32}}
    %x = shuffle {bits}, %from {{mode="index"}}
    %same = cmp %x, {bits} {{pred="eq"}}
    %bit = shl %one, %place
    %with = or %found, %bit
    %next = select %same, %with, %found
    %under = sub %rest, %one
    %left = and %rest, %under
    %done = cmp %left, %zero {{pred="eq"}}
    if %done {{
      break %next {{label=0}}
    }} else {{
      yield
    }}
    continue %left, %next {{label=0}}
  }}
  return %r
}}"""


_MAKERS: dict[str, Callable[[str, Scalar, int], str]] = {
    "reduce": _reduce,
    "inclusive": lambda what, type, size: _scan(what, type, size, inclusive=True),
    "exclusive": lambda what, type, size: _scan(what, type, size, inclusive=False),
    "match": lambda what, type, size: _match(type),
}


def text(name: str, size: int) -> str:
    """The function of a name: kind, operation and type."""
    kind, what, type = name.split(".")
    return _MAKERS[kind](what, SCALARS[type], size)
