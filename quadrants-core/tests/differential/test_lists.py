"""Lists, comprehensions, generator expressions and sequence patterns do compiled what they do in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check

import quadrants

#: Source -> the arguments of its calls, one a call (several in a tuple).
LISTS = {
    """
def f(n):
    q=[0]
    seen=0
    for u in q:
        seen+=u
        if u<n: q.append(u+1)
    return seen,q
""": [5],
    """
def f(n):
    st=[n]
    t=0
    while st:
        x=st.pop()
        t+=1
        if x>1:
            st.append(x-1); st.append(x-2)
    return t
""": [10],
    """
def f(n):
    xs=list(range(n))
    ys=xs
    ys.append(7)
    return xs,ys is xs,len(xs),xs==ys,xs[1:3],xs[::-1],xs[-1]
""": [4],
    """
def f(n):
    xs=[(i,i*0.5) for i in range(n)]
    xs.append((9,1.5))
    a,b=xs[-1]
    s=0.0
    for i,v in xs: s+=i*v
    return a,b,s,xs
""": [4],
    """
def f(n):
    xs=[1,2,3]
    xs.insert(1,9); xs.remove(3); xs.reverse(); xs.extend([5,6]); xs.extend(range(n)); del xs[0]
    return xs, xs.index(9), xs.count(5), 6 in xs, 100 in xs
""": [3],
    """
def f(n):
    xs=[3,1,2]
    xs.sort(reverse=True)
    ys=sorted(xs,key=lambda v:-v)
    return xs,ys,xs<ys,xs!=ys
""": [3],
    """
def f(n):
    xs=[1]
    return xs[n]
""": [0, 5, -1, -3],
    """
def f(n):
    xs=[1]
    xs[n]=4
    return xs
""": [0, 5],
    """
def f(n):
    xs=[]
    for i in range(n): xs.append(i)
    return xs.pop(), xs.pop(0), xs
""": [5, 1, 0],
    """
def f(n):
    xs=[]
    for i in range(n): xs.append(i)
    xs.remove(3)
    return xs.index(99)
""": [5, 2],
    """
def push(xs,v): xs.append(v)
def f(n):
    xs=[]
    for i in range(n): push(xs,i)
    return xs
""": [5],
    """
def push(xs,v): xs.append(v)
def f(n):
    xs=[1]
    push(xs,n)
    return xs,len(xs)
""": [5],
    """
def total(xs):
    t=0
    for x in xs: t+=x
    return t
def f(n):
    xs=[i for i in range(n)]
    return total(xs)+total([1,2])
""": [5],
    """
def build(n):
    r=[]
    for i in range(n):
        if i%2: r.append(i)
    return r
def f(n):
    a=build(n); b=build(n+2)
    return a+b, a, len(b)
""": [5],
    """
def f(n):
    primes=[]
    for k in range(2,n):
        for p in primes:
            if k%p==0: break
        else: primes.append(k)
    return primes
""": [30],
    """
def f(n):
    xs=[]
    i=0
    while i<n:
        xs+=[i]
        i+=1
    xs+=xs
    return xs
""": [3],
    """
def f(n):
    if n>2: xs=[1,2]
    else: xs=[1,2,3]
    return xs,len(xs)
""": [1, 5],
    """
def f(n):
    xs=[1,2]
    for i in range(n): xs=xs+[i]
    return xs
""": [4],
    """
def f(n):
    d=[0.0]*3
    d[0]+=n
    d[1]=d[0]*2
    return d
""": [4],
    """
def f(n):
    xs=[i for i in range(n)]
    return [x*2 for x in xs if x%2==0], [x+y for x in xs for y in xs if x<y]
""": [4],
    """
def f(n):
    xs=[float(i) for i in range(n)]
    a=np.array(xs)
    return a.sum(), np.mean(xs), np.asarray(xs)*2, a+xs
""": [4],
    """
def f(n):
    xs=[i for i in range(n)]
    for i,x in enumerate(xs):
        if i<2: xs.append(x)
    t=0
    for x,y in zip(xs,reversed(xs)): t+=x*y
    return t,xs
""": [4],
    """
def f(n):
    xs=[i for i in range(n)]
    a,b,c=xs
    return a+b*c
""": [3, 4, 2],
    """
def f(n):
    xs=[1.5]*n
    print(xs, f'{xs}')
    return str(xs), not xs, bool(xs), isinstance(xs,list)
""": [2, 0],
    """
def f(n):
    xs=[True]*n
    xs[0]=False
    return xs, any(xs), all(xs), sum(xs)
""": [3],
    """
def f(n):
    xs=[1j*i for i in range(n)]
    xs.append(2.0)
    return xs[1], len(xs)
""": [3],
    """
def f(a):
    xs=[]
    for v in a: xs.append(v)
    return xs
""": [np.array([1.5, 2]), np.array([1, 2], np.int8)],
    """
def f(n):
    sieve=[True]*(n+1)
    out=[]
    for i in range(2,n+1):
        if sieve[i]:
            out.append(i)
            for j in range(i*i,n+1,i): sieve[j]=False
    return out
""": [30],
    """
def f(n):
    dp=[0]*(n+1)
    dp[0]=1
    for c in (1,5,10):
        for i in range(c,n+1): dp[i]+=dp[i-c]
    return dp[n]
""": [50],
    """
def f(n):
    heap=[]
    for i in range(n):
        heap.append((i*7)%11)
        j=len(heap)-1
        while j>0 and heap[(j-1)//2]>heap[j]:
            heap[j],heap[(j-1)//2]=heap[(j-1)//2],heap[j]
            j=(j-1)//2
    return heap
""": [10],
    """
def f(n):
    xs=[]
    return len(xs), xs == []
""": [1],
    """
def f(n):
    xs=[]
    try:
        for i in range(n):
            xs.append(i)
            if i==3: raise ValueError(len(xs))
    except ValueError as e: return str(e), xs
    return 'ok', xs
""": [2, 10],
    """
def f(n):
    fib=[0,1]
    for i in range(n): fib.append(fib[-1]+fib[-2])
    return fib[-1], fib
""": [10],
    """
def perm(xs,k,out):
    if k==len(xs):
        out.append(xs[0]*100+xs[1]*10+xs[2])
        return
    for i in range(k,len(xs)):
        xs[k],xs[i]=xs[i],xs[k]
        perm(xs,k+1,out)
        xs[k],xs[i]=xs[i],xs[k]
def f(n):
    out=[0]
    xs=[n,2,3]
    xs[0]=n
    perm(xs,0,out)
    return out
""": [1],
    """
def f(n): return [n,2,3], (n,[n+1])
""": [2],
    """
def f(n):
    xs=[]
    ys=[]
    for i in range(n):
        if i%2: xs.append(i)
        else: ys.append(i)
    xs.extend(ys)
    return xs, max(xs), sorted(xs)[0], list(reversed(xs)), list(enumerate(xs)), list(zip(xs,ys))
""": [5],
    """
def f(n):
    x=[5,3]
    x.clear()
    x.append(n)
    y=x.copy()
    y.append(1)
    return x,y,x*2,[0,1]*n
""": [3],
    """
def f(n):
    i=[4,5,6]
    j=n
    return i[j], i[-j], i.index(5), i.count(4), sum(i), i[:2], i[j:]
""": [1, 2, 5],
    """
def f(n):
    memo=[-1]*(n+1)
    def fib(k):
        if k<2: return k
        if memo[k]>=0: return memo[k]
        memo[k]=fib(k-1)+fib(k-2)
        return memo[k]
    return fib(n)
""": [30],
}

GENERATORS = {
    """
def f(n): return sum(i*i for i in range(n))
""": [4, 0],
    """
def f(n): return max(i*(5-i) for i in range(n)), min([i-3 for i in range(n)])
""": [6],
    """
def f(n): return any(i>3 for i in range(n)), all(i<3 for i in range(n))
""": [6, 2, 0],
    """
def f(a): return sum(x*x for x in a), sum(x for x in a if x>0), any(x<0 for x in a), all(x==x for x in a)
""": [np.array([1.0, -2, 3])],
    """
def f(t): return sum(x*x for x in t), max(abs(x) for x in t), list(x+1 for x in t), tuple(x for x in t)
""": [((1, 2, 3),), ((1, 2.5),)],
    """
def f(n): return any(10//(i-3) > 4 for i in range(n))
""": [6, 5, 3, 4],
    """
def f(n): return sorted(-i for i in range(n)), list(i for i in range(n) if i%2), sum((i*j for i in range(n) for j in range(i)), 5)
""": [5],
    """
def f(n):
    t=0
    for v in (i*i for i in range(n)): t+=v
    return t
""": [5],
    """
def f(x): return list(map(lambda v:v*2,(x,2,3)))[1], tuple(map(abs,(x,-2)))
""": [-1],
    """
def f(x): return sum(map(lambda v:v*2,(x,2,3))), sum(filter(lambda v:v>1,(x,2,3))), list(map(lambda a,b:a+b,(1,2),(3,x)))
""": [1],
    """
def f(n): return sum(map(math.sqrt, range(n))), list(filter(None, range(n)))
""": [5],
    """
def f(t):
    match t:
        case (0,y): return y
        case (x,0): return -x
        case (x,y) if x==y: return 100
        case [x,*r]: return len(r)
    return 0
""": [((0, 5),), ((5, 0),), ((3, 3),), ((3, 4),), ((1, 2, 3),), 5],
    """
def f(a): return np.sqrt(sum((x-1)**2 for x in a)/len(a))
""": [np.array([1.0, -2, 3])],
    """
def f(a,b): return sum(x*y for x,y in zip(a,b)), sum(i*x for i,x in enumerate(a))
""": [(np.array([1.0, -2, 3]), np.array([1.0, 2, 3]))],
    """
def f(n):
    k=3
    return sum(i*k for i in range(n)), [i+k for i in range(n)]
""": [4],
    """
def f(n):
    g=(i for i in range(n))
    return sum(g)
""": [4],
}


@pytest.mark.parametrize("source", LISTS)
def test_lists(source: str) -> None:
    for args in LISTS[source]:
        check(source, *(args if isinstance(args, tuple) else (args,)))


@pytest.mark.parametrize("source", GENERATORS)
def test_generator_expressions(source: str) -> None:
    for args in GENERATORS[source]:
        check(source, *(args if isinstance(args, tuple) else (args,)))


def test_strings_that_are_known() -> None:
    check(
        "def f(n):\n xs = []\n for i in range(n): xs.append('even' if i % 2 == 0 else 'odd')\n return xs, xs.count('odd')",
        3,
    )


def test_items_have_one_type() -> None:
    def f(n: int) -> object:
        xs = [0]
        for i in range(n):
            xs.append(i * 0.5)
        return xs

    assert repr(quadrants.njit(f)(3)) == "[0.0, 0.0, 0.5, 1.0]"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(n):\n xs = []\n xs.append(1)\n xs.append((1, 2))\n return len(xs)", "have one type"),
        ("def f(n):\n xs = []\n xs.append(np.ones(n))\n return len(xs)", "numbers, lists and tuples of them"),
        ("def f(n):\n xs = [k for k in range(n)]\n return (*xs,)", "its length is not known"),
    ],
)
def test_what_lists_do_not_hold(source: str, message: str) -> None:
    scope: dict[str, object] = {"np": np}
    exec(source, scope)
    with pytest.raises(quadrants.QuadrantsError, match=message):
        quadrants.njit(scope["f"], cache=False)(2)  # type: ignore[call-overload]
