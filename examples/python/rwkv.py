# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RWKV's time mixing (version 4); the twin of ``examples/rwkv.mlir``.

The sum over the past is a scan whose states are numerator, denominator and their common exponent.
"""

import fractaltensor as ft

N, L, H = ft.symbols("N, L, H")
X, W = ft.f32[1, H], ft.f32[H, H]


@ft.jit(lengths={"N": 4, "L": 64, "H": 64},
        gen={"xss": ft.normal(1.0), "mus": ft.uniform(0.0, 1.0), "ws": ft.normal(0.125), "wo": ft.normal(0.125),
             "decay": ft.uniform(0.05, 1.0), "bonus": ft.normal(0.5)})
def rwkv(
    xss: ft.List[N, L, X], mus: ft.List[3, X], ws: ft.List[3, W], wo: ft.f32[H, H], decay: ft.f32[1, H], bonus: ft.f32[1, H],
) -> ft.List[N, L, X]:
    def mix(x: ft.Tensor, before: ft.Tensor) -> tuple[ft.Tensor, ft.Tensor, ft.Tensor]:
        r, k, v = ft.zip(mus, ws).map(lambda mu, w: (mu * x + (1 - mu) * before) @ w)
        return ft.sigmoid(r), k, v

    def step(a: ft.Tensor, b: ft.Tensor, p: ft.Tensor, k: ft.Tensor, v: ft.Tensor) -> ft.Emit:
        # The output sees the past and, with the bonus, the present.
        q = ft.maximum(p, bonus + k)
        past, now = ft.exp(p - q), ft.exp(bonus + k - q)
        wkv = (past * a + now * v) / (past * b + now)
        # The state decays and takes the present in.
        q = ft.maximum(p - decay, k)
        past, now = ft.exp(p - decay - q), ft.exp(k - q)
        return ft.emit((past * a + now * v, past * b + now, q), wkv)

    def sentence(xs: ft.ListValue) -> ft.ListValue:
        gates, ks, vs = ft.zip(xs, xs.shift(1, fill=0)).map(mix)
        zero = ft.zeros(1, H)
        *_, wkvs = ft.zip(ks, vs).scanl(step, (zero, zero, ft.full((1, H), -1e30)))
        return ft.zip(gates, wkvs).map(lambda g, wkv: (g * wkv) @ wo)

    return xss.map(sentence)


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(rwkv)
