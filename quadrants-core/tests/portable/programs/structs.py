"""Fields of structs, struct methods."""

import numpy as np

import quadrants as qd

vec3 = qd.types.vector(3, float)
Particle = qd.types.struct(pos=vec3, vel=vec3, mass=float, id=int)
f = Particle.field(shape=(8,))


@qd.kernel
def init():
    for i in f:
        f[i].pos = vec3(i, 0, 1)
        f[i].mass = 2.0
        f[i].id = i
        f[i].vel.x += 1.5


@qd.kernel
def move(dt: float):
    for i in f:
        p = f[i]
        p.pos += p.vel * dt
        f[i] = p
        f[i].mass += 1
    for i in range(8):
        q = Particle(pos=vec3(0, 0, i), vel=vec3(0), mass=1.0, id=0)
        f[i].pos += q.pos


init()
move(2.0)
assert f[3].id == 3 and np.allclose(f.pos.to_numpy()[:, 0], np.arange(8) + 3)


@qd.dataclass
class Sphere:
    center: vec3
    radius: float

    @qd.func
    def area(self):
        return 4 * 3.0 * self.radius**2


@qd.kernel
def k() -> float:
    s = Sphere(center=vec3(0, 0, 0), radius=2.0)
    s.radius += 1
    return s.area()


assert k() == 108.0
