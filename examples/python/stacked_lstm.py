# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stacked LSTM (FractalTensor, Listing 2); the twin of ``examples/stacked_lstm.mlir``.

The gates are a list of four; layer d reads the h of layer d - 1, and the c of a layer leaves by ``emit``.
"""

import fractaltensor as ft

N, D, L, H = ft.symbols("N, D, L, H")
X, W = ft.f32[1, H], ft.f32[H, H]


def cell(
    h: ft.Tensor, c: ft.Tensor, x: ft.Tensor, ws: ft.ListValue, us: ft.ListValue, bs: ft.ListValue,
) -> tuple[ft.Tensor, ft.Tensor]:
    """One step: new h and c."""
    gates = ft.zip(ws, us, bs).map(lambda w, u, b: x @ w + h @ u + b)
    i, f, o = gates[0:3].map(ft.sigmoid)
    c = f * c + i * ft.tanh(gates[3])
    return o * ft.tanh(c), c


@ft.jit(lengths={"N": 4, "D": 3, "L": 32, "H": 64},
        gen={"xss": ft.normal(1.0), "wss": ft.normal(0.125), "uss": ft.normal(0.125), "bss": ft.normal(0.1)})
def stacked_lstm(
    xss: ft.List[N, L, X], wss: ft.List[D, 4, W], uss: ft.List[D, 4, W], bss: ft.List[D, 4, X],
) -> tuple[ft.List[N, D, L, X], ft.List[N, D, L, X]]:
    zero = ft.zeros(1, H)

    def layer(below: ft.ListValue, ws: ft.ListValue, us: ft.ListValue, bs: ft.ListValue) -> ft.Emit:
        hs, cs = below.scanl(lambda h, c, x: cell(h, c, x, ws, us, bs), (zero, zero))
        return ft.emit(hs, cs)

    hs, cs = xss.map(lambda xs: ft.zip(wss, uss, bss).scanl(layer, xs))
    return hs, cs


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(stacked_lstm)
