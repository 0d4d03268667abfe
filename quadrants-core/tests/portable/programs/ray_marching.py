"""Distances, normals and light."""

import numpy as np

import quadrants as qd

vec2, vec3 = qd.math.vec2, qd.math.vec3
img = qd.Vector.field(3, qd.f32, shape=(40, 30))


@qd.func
def sdf(p: vec3) -> float:
    d = (p - vec3(0, 0, 3)).norm() - 1.0
    return min(d, p.y + 1.0)


@qd.func
def normal(p):
    n = vec3(0.0)
    e = 1e-3
    for k in qd.static(range(3)):
        d = vec3(0.0)
        d[k] = e
        n[k] = sdf(p + d) - sdf(p - d)
    return n.normalized()


@qd.func
def march(ro, rd):
    t = 0.0
    for _ in range(64):
        d = sdf(ro + rd * t)
        if d < 1e-3:
            return t, True
        t += d
        if t > 20:
            break
    return -1.0, False


@qd.kernel
def render(light: vec3):
    for i, j in img:
        uv = (vec2(i, j) + 0.5) / vec2(40, 30) * 2 - 1
        rd = vec3(uv, 1.5).normalized()
        t, hit = march(vec3(0, 0, 0), rd)
        col = vec3(0.2, 0.3, 0.4)
        if hit:
            n = normal(rd * t)
            col = qd.max(n.dot(light.normalized()), 0.0) * vec3(1, 0.9, 0.8)
        img[i, j] = qd.math.clamp(qd.pow(col, 1 / 2.2), 0.0, 1.0)


render(vec3(1, 2, -1))
a = img.to_numpy()
assert np.isfinite(a).all()
