"""Iterators, slices of lists that are assigned, `*items` of unknown number: what the interpreter does with them, compiled."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from differential.running import check, compiled

import quadrants

#: Source -> the arguments of its calls, one a call (several in a tuple).
PROGRAMS = {
    """
def f(n):
    it=iter(range(n))
    return next(it),next(it),sum(it),next(it,None),next(it,-1)
""": [5, 2, 1, 0],
    """
def f(a):
    it=iter(a)
    first=next(it)
    t=0.0
    for x in it:
        t+=x*first
        if x>2: break
    return first,t,list(it),next(it,None)
""": [np.array([1.5, 2.0, 3.5, 4.0]), np.array([1.0, 1.0])],
    """
def take(it): return next(it,-1)
def f(n):
    it=iter([k*k for k in range(n)])
    a,b=take(it),take(it)
    for x in it:
        a+=x*next(it,0)
    pairs=iter(zip(range(n),range(1,n+1)))
    p=next(pairs,(7,7))
    return a,b,p,[u*v for u,v in pairs],max(iter(range(n)),default=3)
""": [10, 3, 1, 0],
    "def f(t):\n    it=iter(t)\n    return next(it),list(it),next(it,0)": [((1, 2, 3),), ((4,),)],
    "def f(n): return next((i for i in range(n) if i*i>3),-1), next((i for i in range(n) if i*i>30),None)": [3, 9, 0],
    "def f(n): return next((i*0.5,i) for i in range(n) if i%3==2)": [5, 2],
    """
def f(n):
    try: return next(i for i in range(n) if i>2)
    except StopIteration as e: return -len(e.args)
""": [5, 2],
    "def f(n): return any(True for i in range(n)), all(False for i in range(n)), any(1 for i in range(n) if i>3)": [
        5,
        1,
        0,
    ],
    """
def f(n):
    xs=[i*i-3 for i in range(n)]
    return (max((x for x in xs),default=-1),min((x-3 for x in xs),default=None),max(xs,default=7),
        min(xs,key=lambda v:-v,default=7),min((),default=3),max((1,2),default=0),max(range(n),default=-1))
""": [5, 1, 0],
    "def f(a): return max(a,default=None),min(a,default=None)": [np.array([2.0, 3.0]), np.zeros(0)],
    "def f(n): return max([(i,-i) for i in range(n)],default=(0,0))": [4, 0],
    """
import functools, operator
def f(n):
    xs=[i for i in range(n)]
    return (functools.reduce(lambda a,b:a*b,range(1,n+1),1),functools.reduce(max,[3,n,2]),
        functools.reduce(lambda a,b:(a[0]+b,a[1]*b),xs,(0,1)),functools.reduce(lambda a,b:a+b,(1,2.5),n),
        functools.reduce(operator.add,xs))
""": [5, 1, 0],
    """
def f(n):
    xs=[i*i%7 for i in range(n)]
    return max(*xs),min(*xs)
""": [5, 2, 1, 0],
    """
def f(n):
    xs=[i*i for i in range(n)]
    print(*xs)
    print(" "*n,*xs,sep="|")
    print("a",*xs,n,*np.arange(n)*0.5,"b",end="!")
    print(*[i for i in range(n) if i%2],sep=", ")
    print(*range(n)); print(*zip(xs,xs)); print(*"abc",*xs); print([*xs],*xs); print(*(1,2.5))
    return [1,*xs,*xs]
""": [4, 1, 0],
    """
def f(n):
    xs=[i for i in range(n)]
    xs[1:2]=(7,8,9)
    xs[:0]=range(3)
    xs[2:4]=xs
    xs[::2]=[0]*len(xs[::2])
    xs[len(xs):]=[x for x in xs if x!=9]
    del xs[1::3]
    return xs
""": [4, 1, 0],
    """
def f(n):
    xs=[]
    xs[:]=[n,n]
    ys=[(1,2.0)]
    ys[0:0]=[(n,3.0),(n,n*0.5)]
    return xs,ys
""": [4],
    """
def g(x,y,z): return x+10*y+100*z
def f(n):
    xs=[i*2 for i in range(n)]
    return g(*xs),g(*np.arange(n)*1.5),Point(*sorted(xs[1:])),(lambda a,b,c:a-b-c)(*xs)
""": [3],
    "def g(x,y,z): return x+10*y+100*z\ndef f(n): return g(*range(n))": [3, 2, 1, 0, 4],
    "def g(x,y,z): return x+10*y+100*z\ndef f(n): return g(5,*range(n))": [2, 1, 3],
    "def g(x,y,z): return x+10*y+100*z\ndef f(n): return g(*range(n),z=5)": [2, 1, 0, 3],
    "def f(n): return Point(*range(n))": [2, 1, 0, 3],
    "def g(x,y,z): return x+10*y+100*z\ndef f(a): return [g(*row) for row in a]": [np.arange(6.0).reshape(2, 3)],
    "def f(n): return np.array([(i,-i) for i in range(n)]),np.array([(i,0.5) for i in range(n)])": [3, 1],
    "def f(n): return range(2,20,n).step,range(n).start,range(1,n).stop": [3],
    """
import functools
def g(a,b,c=3,*,d=4): return a+10*b+100*c+1000*d
p=functools.partial(g,1)
q=functools.partial(p,c=9,d=7)
h=functools.partial(math.pow,2.0)
def f(x): return p(x),p(x,d=1),q(x),q(x,c=2),h(x),sum(map(p,(1,2)))
""": [5, 2.5],
    "def f(x,y): return x**y": [(10.0, 400.0), (2.0, 0.5)],
    "def f(a,b,c): return [x*y*z for x,y,z in zip(a,b,c,strict=True)]": [
        (np.ones(3), np.ones(3), np.ones(3)),
        (np.ones(3), np.ones(2), np.ones(3)),
        (np.ones(3), np.ones(3), np.ones(5)),
    ],
}

#: Iterators in variables that are read again: source -> the argument.
KEPT: dict[str, object] = {
    """
def f(n):
 z=zip(range(n),range(1,n+1))
 a=[u*v for u,v in z]
 b=[u*v for u,v in z]
 return a,b
""": 4,
    """
def f(n):
 z=enumerate(range(n))
 for i,x in z:
  if x>1: break
 return list(z),next(z,None)
""": 6,
    """
def f(n):
 z=map(lambda x:x*2,range(n))
 return next(z),sum(z),sum(z)
""": 6,
    """
def f(n):
 z=filter(lambda x:x%2,range(n))
 return next(z),next(z),list(z),sum(z)
""": 9,
    """
def f(n):
 z=filter(None,[i%3 for i in range(n)])
 return next(z),list(z)
""": 9,
    """
def f(n):
 z=reversed([i*i for i in range(n)])
 t=0
 for x in z:
  t+=x
  if x<10: break
 return t,list(z)
""": 9,
    """
def f(n):
 g=(i*i for i in range(n))
 a=next(g)
 b=next(g)
 t=0
 for x in g:
  t+=x
  if x>20: break
 return a,b,t,list(g),sum(g)
""": 9,
    """
def f(n):
 g=(i*i for i in range(n) if i%2)
 return any(x>10 for x in g),list(g)
""": 9,
    """
def f(n):
 g=(i*j for i in range(n) for j in range(i))
 return next(g),next(g),sum(g),list(g)
""": 5,
    """
def f(n):
 t=0
 z=zip(range(n),range(n))
 for k in range(3):
  for a,b in z:
   t+=a*b+k
   if a%3==2: break
 return t
""": 8,
    """
def f(n):
 it=iter(range(n))
 return [a*10+b for a,b in zip(it,it)]
""": 8,
    """
def f(n):
 it=iter(range(n))
 return [a*10+b for a,b in zip(it,it)],list(it)
""": 7,
    """
def f(n):
 it=iter(range(n))
 r=list(zip(it,range(2)))
 return r,list(it)
""": 7,
    """
def f(n):
 it=iter(range(n))
 r=list(zip(range(2),it))
 return r,list(it)
""": 7,
    """
def f(n):
 z=zip(range(n),range(n))
 e=enumerate(z,5)
 a=next(e)
 return a,list(z)[:2],list(e)
""": 7,
    """
def f(n):
 z=map(lambda x,y:x-y,(i for i in range(n)),reversed(range(n)))
 a,b,c=z
 return a,b,c
""": 3,
    """
def f(n):
 z=iter(range(n))
 a,b,c=z
 return a,b,c
""": (2, 3, 5),
    """
def tot(z):
 t=0
 for a,b in z: t+=a*b
 for a,b in z: t+=1000
 return t
def f(n): return tot(zip(range(n),range(n)))
""": 5,
    """
def first(z): return next(z)
def f(n):
 z=zip(range(n),range(n))
 return first(z),first(z),list(z)
""": 5,
    """
def f(n):
 z=zip(range(n),range(n))
 def g(): return next(z,(-1,-1))
 return g(),g(),list(z),g()
""": 5,
    """
def f(n):
 p=q=enumerate(range(n))
 return next(p),next(q)
""": 5,
    """
def f(n):
 p=enumerate(range(n))
 q=p
 return next(p),next(q)
""": 5,
    """
def f(n):
 t=(zip(range(n),range(n)),3)
 return next(t[0]),list(t[0]),t[1]
""": 4,
    """
def f(n):
 z=zip(range(n),range(n))
 return (2,2) in z, list(z)
""": 6,
    """
def f(n):
 z=map(lambda x:x>3,range(n))
 return any(z),list(z)
""": 8,
    "def f(n):\n return next(zip(range(n),range(n))),next(enumerate(range(n))),next(reversed(range(n)))": 3,
    """
def f(n):
 xs=[3,n,1]
 return next(reversed(xs)),next(filter(lambda x:x>5,xs),-1)
""": 3,
    """
def f(a):
 it=a.flat
 t=0.0
 for x in it:
  t+=x
  if t>3: break
 return t,list(it),list(it)
""": np.arange(6.0).reshape(2, 3),
    """
def f(a):
 it=a.flat
 return it[2],it[3]
""": np.arange(6.0).reshape(2, 3),
    """
def f(a):
 it=np.ndenumerate(a)
 s=0.0
 for (i,j),x in it:
  s+=x*i
  if j==2: break
 for (i,j),x in it:
  s+=x*i*100
 return s
""": np.arange(6.0).reshape(2, 3),
    """
def f(n):
 it=np.ndindex(n,2)
 return next(it),list(it),list(it)
""": 3,
    """
def f(n):
 c=0
 for k in range(3):
  z=zip(range(n),range(k))
  for a,b in z: c+=a+b
 return c
""": 3,
    """
def f(n):
 z=zip(range(n),range(n))
 if n>3:
  return sum([a for a,b in z])
 return max([a for a,b in z])
""": 5,
    """
def f(a):
 rows=iter(a)
 h=next(rows)
 t=0.0
 for r in rows: t+=(r*h).sum()
 return t
""": np.arange(6.0).reshape(3, 2),
    """
def f(a):
 rows=enumerate(a)
 k,h=next(rows)
 t=0.0
 for i,r in rows: t+=(r*h).sum()*i
 return t
""": np.arange(6.0).reshape(3, 2),
    """
def f(n):
 z=zip((1,2,3),(4,5,6))
 t=0
 for a,b in z:
  t+=a*b
  break
 for a,b in z: t+=100*a
 return t
""": 5,
    """
def f(n):
 z=None
 if n>2: z=zip(range(n),range(n))
 t=0
 for k in range(2):
  if z is not None:
   for a,b in z: t+=a+b+k
 return t
""": 5,
    """
def f(n):
 z=zip(range(n),range(n)) if n>2 else zip(range(3),range(3))
 a=next(z)
 return a,list(z)
""": 5,
    """
def f(n):
 g=(x if x%2 else None for x in range(n))
 a=next(g)
 b=next(g)
 return a is None,b,next(g,7) is None,next(g,7)
""": 4,
    """
def f(n):
 try:
  z=zip(range(n),range(n))
  a=next(z)
  b=next(z)
  return a,b
 except StopIteration: return -1
""": 1,
    """
def f(n):
 z=zip(range(n),range(n))
 t=0
 while True:
  p=next(z,None)
  if p is None: break
  t+=p[0]*p[1]
 return t
""": 6,
    """
def f(n):
 z=(i*i for i in range(n))
 t=0
 for x in z:
  t+=x*next(z,0)
 return t
""": 7,
    """
def f(n):
 y=(i+1 for i in range(n))
 z=(i*i for i in y)
 a=next(z)
 b=next(y)
 return a,b,list(z)
""": 7,
    """
def g(*a): return a
def h(x,y): return x*10+y
def f(n):
 z=iter(range(n))
 return h(*z),list(z)
""": 2,
    """
def f(a):
 z=np.nditer(a)
 t=0.0
 for x in z:
  t+=x
  break
 for x in z: t+=10*x
 return t
""": np.arange(4.0),
    """
def f(n):
    z=None
    if n>2: z=enumerate(range(n))
    a=0
    for i,x in z:
        a+=i*x
        if i==3: break
    return a,list(z)
""": (6, 1),
}

#: Lists that were just made take items of another type, however they were made.
WIDENED = [
    "def f(n):\n    xs=[0 for _ in range(n)]\n    for i in range(n): xs[i]=i*0.5\n    return xs",
    "def f(n):\n    xs=list(range(n))\n    for i in range(n): xs[i]=xs[i]*0.5\n    return xs",
    "def f(n):\n    xs=sorted([3,n,2])\n    xs.append(0.5)\n    return xs",
    "def f(n):\n    xs=[0]*n\n    ys=xs[1:]\n    ys[0]=0.5\n    return xs,ys",
    "def f(n):\n    xs=[0]*n\n    ys=xs+xs\n    ys[0]=0.5\n    return xs,ys",
    "def f(n):\n    xs=[0]*n\n    ys=xs.copy()\n    ys[1:2]=[0.5,2]\n    return xs,ys",
]

_BOUNDS = tuple(itertools.product((None, 0, 1, -2, 7), (None, 2, -1, 0, 9), (None, 1, 2, -1, -3)))


@pytest.mark.parametrize("source", PROGRAMS)
def test_programs(source: str) -> None:
    for args in PROGRAMS[source]:
        check(source, *(args if isinstance(args, tuple) else (args,)))


@pytest.mark.parametrize("source", KEPT)
def test_iterators_go_on_where_they_stopped(source: str) -> None:
    value = KEPT[source]
    for arg in value if isinstance(value, tuple) else (value,):
        check(source, arg)


ONCE = """
def f(n):
    z=zip(range(n),range(1,n+1))
    t=0
    for a,b in z: t+=a*b
    for k in range(3):
        e=enumerate(range(k),n)
        for i,x in e: t+=i*x
    if n>3: y=map(lambda x:x+1,range(n))
    else: y=map(lambda x:x+1,range(2*n))
    for x in y: t+=x
    return t
"""


def test_iterators_that_are_read_once_are_loops() -> None:
    check(ONCE, 5)
    assert "list.new" not in compiled(ONCE).inspect_ir()  # type: ignore[attr-defined]


@pytest.mark.parametrize("source", WIDENED)
def test_new_lists_take_floats(source: str) -> None:
    scope: dict[str, object] = {}
    exec(source, scope)
    function = quadrants.njit(scope["f"], cache=False)  # type: ignore[call-overload]
    assert function(4) == function.py_func(4)


def _assigned(n: int, given: int, start: int | None, stop: int | None, step: int | None) -> list[int]:
    xs = list(range(n))
    xs[start:stop:step] = [10 * i for i in range(given)]
    return xs


def _deleted(n: int, start: int | None, stop: int | None, step: int | None) -> list[int]:
    xs = list(range(n))
    del xs[start:stop:step]
    return xs


def _outcome(function: object, *args: object) -> object:
    try:
        return function(*args)  # type: ignore[operator]
    except (ValueError, IndexError) as error:
        return type(error), error.args


def test_slices_of_lists_are_assigned_and_deleted() -> None:
    assign, delete = quadrants.njit(_assigned, cache=False), quadrants.njit(_deleted, cache=False)
    for bounds in _BOUNDS:
        for given in (0, 2, 6):
            assert _outcome(assign, 6, given, *bounds) == _outcome(_assigned, 6, given, *bounds), (given, bounds)
        assert delete(6, *bounds) == _deleted(6, *bounds), bounds


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(n): return next([n, 1])", "is not an iterator"),
        ("def f(n):\n it = iter(range(n))\n return list(reversed(it))", "how many items are left"),
        ("def g(*a): return a\ndef f(n):\n xs = list(range(n))\n return g(1, *xs)", "unpacked into arguments"),
        ("def f(n): return max(n, 1, default=0)", "Cannot specify a default"),
        (
            "import functools, numpy\np = functools.partial(lambda w, x: w[0] + x, numpy.ones(3))\ndef f(n): return p(n)",
            "partial with an array",
        ),
    ],
)
def test_what_is_refused(source: str, message: str) -> None:
    scope: dict[str, object] = {}
    exec(source, scope)
    with pytest.raises(quadrants.QuadrantsError, match=message):
        quadrants.njit(scope["f"], cache=False)(2)  # type: ignore[call-overload]
