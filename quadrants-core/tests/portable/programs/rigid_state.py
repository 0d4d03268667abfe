"""Nested frozen dataclasses of tensors, a configuration that is known when compiling."""

import dataclasses

import numpy as np

import quadrants as qd


@dataclasses.dataclass(frozen=True)
class Links:
    pos: qd.Tensor
    mass: qd.Tensor
    parent: qd.Tensor


@dataclasses.dataclass(frozen=True)
class State:
    links: Links
    qvel: qd.Tensor
    unused: qd.Tensor


@qd.data_oriented
class Cfg:
    def __init__(s, batch):
        s.batch = batch
        s.gravity = (0.0, 0.0, -9.8)

    @property
    def double(s):
        return s.batch

    def __eq__(s, o):
        return s.batch == o.batch

    def __hash__(s):
        return hash(s.batch)


n, B = 4, 3
st = State(
    Links(qd.Vector.tensor(3, qd.f32, (n, B)), qd.tensor(qd.f32, (n, B)), qd.tensor(qd.i32, (n,))),
    qd.tensor(qd.f32, (n, B), layout=(1, 0)),
    qd.tensor(qd.f32, ()),
)


@qd.func
def integrate(i_l: int, i_b, state: State, dt: float, cfg: qd.template()):
    I = [i_l, i_b]
    g = qd.Vector([0.0, 0.0, 0.0])
    for k in qd.static(range(3)):
        g[k] = cfg.gravity[k]
    state.links.pos[I] = state.links.pos[I] + g * dt * state.links.mass[I]
    state.qvel[i_l, i_b] += dt


@qd.kernel(fastcache=True)
def step(envs: qd.types.ndarray(), state: State, cfg: qd.template(), dt: float, flag: qd.template()):
    qd.loop_config(serialize=qd.static(cfg.batch))
    for i_l, i_b in qd.ndrange(state.links.pos.shape[0], envs.shape[0]):
        b = envs[i_b]
        if qd.static(flag):
            integrate(i_l, b, state, dt, cfg)
        I_l = [i_l, b] if qd.static(cfg.batch) else i_l
        state.links.parent[i_l] += 0
        if qd.static(cfg.double):
            state.links.mass[I_l] += 1


st.links.mass.fill(1)
step(np.arange(B, dtype=np.int32), st, Cfg(False), 0.5, True)
assert np.allclose(st.links.pos.to_numpy()[..., 2], -4.9) and np.allclose(st.qvel.to_numpy(), 0.5)
step(np.arange(B, dtype=np.int32), st, Cfg(True), 0.5, flag=False)
assert np.allclose(st.links.mass.to_numpy(), 2)
