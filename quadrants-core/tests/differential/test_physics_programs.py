"""Programs as they stand in courses and physics codes: array expressions and loops mixed, over several kinds of functions."""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check

GRID, TABLE = np.linspace(0, 1, 11), np.arange(12.0).reshape(3, 4)


def random(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random(shape)


PROGRAMS: dict[str, tuple[str, tuple[object, ...]]] = {
    "heat_equation": (
        """def f(n, steps):
    x = np.linspace(0, 1, n)
    u = np.exp(-100*(x-0.5)**2)
    dx = x[1]-x[0]; dt = 0.4*dx**2
    for _ in range(steps):
        u[1:-1] = u[1:-1] + dt/dx**2*(u[2:]-2*u[1:-1]+u[:-2])
        u[0], u[-1] = 0, 0
    return x, u, u.sum()*dx""",
        (21, 50),
    ),
    "poisson_matrix": (
        """def f(n):
    a = np.zeros((n, n))
    for i in range(n):
        a[i, i] = 2
        if i > 0: a[i, i-1] = a[i-1, i] = -1
    b = np.ones(n)
    x = np.linalg.solve(a, b)
    return x, np.linalg.norm(a @ x - b) < 1e-12, np.linalg.eigvalsh(a)""",
        (6,),
    ),
    "lorenz_attractor": (
        """def rk4(f, y, t, h):
    k1 = f(t, y); k2 = f(t + h/2, y + h/2*k1); k3 = f(t + h/2, y + h/2*k2); k4 = f(t + h, y + h*k3)
    return y + h/6*(k1 + 2*k2 + 2*k3 + k4)
def lorenz(t, y):
    return np.array([10*(y[1]-y[0]), y[0]*(28-y[2])-y[1], y[0]*y[1]-8/3*y[2]])
def f(n):
    y = np.array([1., 1., 1.])
    out = np.empty((n, 3))
    for i in range(n):
        out[i] = y
        y = rk4(lorenz, y, i*0.01, 0.01)
    return out""",
        (50,),
    ),
    "sieve": (
        """def f(n):
    sieve = np.ones(n+1, dtype=bool)
    sieve[:2] = False
    for i in range(2, int(n**0.5)+1):
        if sieve[i]: sieve[i*i::i] = False
    return np.nonzero(sieve)[0], np.flatnonzero(sieve).sum()""",
        (50,),
    ),
    "filtering": (
        """def f(img, k):
    h, w = img.shape; r = k.shape[0]//2
    p = np.pad(img, r, mode='edge')
    out = np.zeros_like(img)
    for i in range(h):
        for j in range(w):
            out[i, j] = np.sum(p[i:i+2*r+1, j:j+2*r+1]*k)
    return out""",
        (TABLE, np.ones((3, 3)) / 9),
    ),
    "lennard_jones": (
        """def f(pos, L):
    n = pos.shape[0]
    e = 0.0
    F = np.zeros_like(pos)
    for i in range(n-1):
        d = pos[i] - pos[i+1:]
        d -= L*np.rint(d/L)
        r2 = (d**2).sum(axis=1)
        ir6 = 1/r2**3
        e += (4*(ir6**2 - ir6)).sum()
        ff = (48*ir6**2 - 24*ir6)/r2
        F[i] += (ff[:, None]*d).sum(axis=0)
        F[i+1:] -= ff[:, np.newaxis]*d
    return e, F""",
        (random(6, 3, seed=0) * 5, 5.0),
    ),
    "mandelbrot": (
        """def f(z, n):
    out = np.zeros(z.shape, dtype=np.int32)
    c = z.copy()
    w = np.zeros_like(z)
    for k in range(n):
        m = np.abs(w) <= 2
        w[m] = w[m]**2 + c[m]
        out[m] += 1
    return out""",
        (np.linspace(-2, 1, 12)[None, :] + 1j * np.linspace(-1, 1, 7)[:, None], 30),
    ),
    "line_fit": (
        """def f(x, y):
    A = np.vstack((x, np.ones(len(x)))).T
    m, c = np.linalg.lstsq(A, y, rcond=None)[0]
    return m, c, np.polyfit(x, y, 1), np.corrcoef(x, y)[0, 1]""",
        (GRID, 2 * GRID + 1),
    ),
    "nearest_neighbours": (
        """def f(a):
    d = np.sqrt(((a[:, None, :] - a[None, :, :])**2).sum(-1))
    np.fill_diagonal(d, np.inf)
    return d.argmin(axis=1), d.min(), np.unravel_index(np.argmin(d), d.shape)""",
        (random(5, 2, seed=1),),
    ),
    "k_means": (
        """def f(x, k):
    c = x[:k].copy()
    lab = np.zeros(len(x), dtype=np.int64)
    for it in range(10):
        for i in range(len(x)):
            lab[i] = np.argmin(((c - x[i])**2).sum(axis=1))
        for j in range(k):
            if np.any(lab == j): c[j] = np.array([x[lab == j, 0].mean(), x[lab == j, 1].mean()])
    return lab, c""",
        (random(20, 2, seed=1), 3),
    ),
    "fourier_sums": (
        """def f(s):
    n = len(s)
    out = np.zeros(n//2+1, dtype=np.complex128)
    for k in range(n//2+1):
        out[k] = np.sum(s*np.exp(-2j*np.pi*k*np.arange(n)/n))
    return out, np.abs(out)**2""",
        (np.sin(GRID * 20),),
    ),
    "tight_binding": (
        """def f(n):
    H = np.zeros((n,n), dtype=complex)
    for i in range(n-1):
        H[i,i+1] = -1j; H[i+1,i] = 1j
    w, v = np.linalg.eigh(H)
    return w, np.allclose(v.conj().T @ v, np.eye(n)), np.trace(H).real""",
        (5,),
    ),
    "tables": (
        """def f(T, x):
    return np.interp(x, T[:, 0], T[:, 1]), np.searchsorted(T[:,0], x), np.digitize(x, T[:,0])""",
        (np.column_stack((GRID, GRID**2)), np.array([0.05, 0.55, 0.99])),
    ),
    "game_of_life": (
        """def f(grid):
    n = grid.shape[0]
    nb = sum([np.roll(np.roll(grid, i, 0), j, 1) for i in (-1,0,1) for j in (-1,0,1) if (i, j) != (0, 0)])
    return ((nb == 3) | ((grid == 1) & (nb == 2))).astype(np.uint8)""",
        ((np.random.default_rng(2).integers(0, 2, (6, 6)).astype(np.uint8)),),
    ),
    "laplace": (
        """def f(a, tol):
    n = 0
    while True:
        old = a.copy()
        a[1:-1,1:-1] = 0.25*(old[2:,1:-1]+old[:-2,1:-1]+old[1:-1,2:]+old[1:-1,:-2])
        n += 1
        if np.max(np.abs(a-old)) < tol or n > 200: break
    return a, n""",
        (np.pad(np.zeros((4, 4)), 1, constant_values=1.0), 1e-3),
    ),
    "standardised": (
        """def f(m):
    return (m - m.mean(axis=0)) / m.std(axis=0, ddof=1), np.cov(m, rowvar=False), np.histogram(m, bins=4)""",
        (TABLE * 1.5,),
    ),
    "sorted_rows": (
        """def f(a):
    order = np.lexsort((a[:,1], a[:,0]))
    s = a[order]
    _, idx, cnt = np.unique(s[:,0], return_index=True, return_counts=True)
    return s, idx, cnt, np.cumsum(cnt)""",
        (np.array([[2, 1.0], [1, 5], [2, 0], [1, 3]]),),
    ),
    "qr_iteration": (
        """def f(a):
    q, r = np.linalg.qr(a)
    for _ in range(60):
        q, r = np.linalg.qr(a)
        a = r @ q
    return np.sort(np.diag(a))""",
        (np.array([[4.0, 1, 2], [1, 3, 0], [2, 0, 5]]),),
    ),
    "quadrature": (
        """def f(n):
    t = 0.0
    w = np.array([1, 4, 2, 4, 1])
    for i in range(n): t += (w*np.cos(np.linspace(0,1,5))).sum()*i
    return t""",
        (4,),
    ),
    "clean_up": (
        """def f(x):
    y = x.copy()
    y[y < 0] = 0
    y = np.where(np.isnan(x), -1, y)
    return y, np.nanmax(x), np.nan_to_num(x), np.isfinite(x).all()""",
        (np.array([1.0, -2, np.nan, 3]),),
    ),
    "matrix_product": (
        """def f(a, b):
    out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = a[i, :].dot(b[:, j])
    return out, np.array_equal(out, a @ b)""",
        (TABLE, TABLE.T),
    ),
    "markov_chain": (
        """def f(n):
    p = np.zeros(n); p[0] = 1
    T = np.full((n, n), 0.1/(n-1)); np.fill_diagonal(T, 0.9)
    for _ in range(30): p = p @ T
    return p, np.linalg.matrix_power(T, 5)""",
        (4,),
    ),
    "rotation": (
        """def f(v):
    theta = np.radians(30)
    R = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
    return v @ R.T, (R @ v.T).T, np.allclose(v @ R.T, (R @ v.T).T), R.T @ R""",
        (TABLE[:, :2],),
    ),
    "field_gradient": (
        """def f(n):
    x, y = np.meshgrid(np.linspace(-1,1,n), np.linspace(-1,1,n))
    r = np.hypot(x, y)
    z = np.sinc(r)
    gy, gx = np.gradient(z)
    return z, gx, gy, z[r < 0.5].mean()""",
        (5,),
    ),
    "moving_average": (
        """def f(data, window):
    c = np.cumsum(np.insert(data, 0, 0))
    return (c[window:] - c[:-window]) / window, np.convolve(data, np.ones(window)/window, 'valid')""",
        (GRID**2, 3),
    ),
    "walks": (
        """def f(a):
    total = 0
    for x in a[::-1]: total += x
    for i, (x, y) in enumerate(zip(a, a[1:])): total += i*x*y
    return total""",
        (GRID,),
    ),
    "xorshift": (
        """def f(bits):
    x = np.uint32(2463534242)
    out = np.empty(bits, np.uint32)
    for i in range(bits):
        x ^= x << np.uint32(13); x ^= x >> np.uint32(17); x ^= x << np.uint32(5)
        out[i] = x
    return out""",
        (5,),
    ),
    "float_bits": (
        """def f(a):
    b = a.view(np.uint64)
    return b ^ np.uint64(1), (b >> np.uint64(52)).astype(np.int64) - 1023, np.signbit(a), np.frexp(a)[0]""",
        (np.array([1.5, -2.25]),),
    ),
    "polygon_area": (
        """def f(pts):
    x, y = pts.T
    return 0.5*np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))""",
        (np.array([[0.0, 0], [2, 0], [2, 1], [0, 1]]),),
    ),
    "rows_in_place": (
        """def f(n):
    u = np.zeros((3, n))
    u[0] = np.arange(n)
    u[1, ::2] = -1
    u[2] = u[0]*u[1]
    for row in u: row -= row.mean()
    return u, u.any(axis=0), np.abs(u).max(axis=1)""",
        (5,),
    ),
    "text_of_elements": (
        """def f(a):
    s = a.astype('float32').round(2)
    return s, s.dtype.name, f'{s[0,0]:.2f}'""",
        (TABLE / 3,),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    source, args = PROGRAMS[name]
    check(source, *args)


CONDITIONS = (
    "lambda a: [a + i for i in (-1, 0, 1) if i != 0][1]",
    "lambda a: sum([a + i + j for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)])",
    "lambda a: np.stack([a * k for k in (1, 2, 3) if k != 2])",
    "lambda a: (a.tolist(), a[0].tolist(), np.array(2.5).tolist())",
)


@pytest.mark.parametrize("source", CONDITIONS)
def test_comprehensions_over_tuples(source):
    """What is known when compiling decides which items there are, in a comprehension, too."""
    check(source, GRID)
