"""Iterators, slices of lists that are assigned, `*items` of unknown number: what the interpreter does with them, compiled."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from differential.running import check

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
        ("def f(n): return next(zip(range(n), range(n)))", r"next\(\) of a zip"),
        ("def f(n): return next([n, 1])", "is not an iterator"),
        ("def f(n):\n it = iter(range(n))\n return list(zip(it, it))", "not inside of another one"),
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
