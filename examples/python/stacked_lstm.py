# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stacked LSTM (FractalTensor, Listing 2); the twin of ``examples/stacked_lstm.mlir``.

The gates are a list of four; layer d reads the h of layer d - 1, and the c of a layer leaves by ``emit``.
"""

import fractaltensor as ft

X, W = ft.f32[1, "H"], ft.f32["H", "H"]


def cell(h, c, x, ws, us, bs):
    """One step: new h and c."""
    gates = ft.zip(ws, us, bs).map(lambda w, u, b: x @ w + h @ u + b)
    i, f, o = gates[0:3].map(ft.sigmoid)
    c = f * c + i * ft.tanh(gates[3])
    return o * ft.tanh(c), c


@ft.jit(lengths={"N": 4, "D": 3, "L": 32, "H": 64},
        gen={"xss": ft.normal(1.0), "wss": ft.normal(0.125), "uss": ft.normal(0.125), "bss": ft.normal(0.1)})
def stacked_lstm(xss: ft.List["N, L", X], wss: ft.List["D, 4", W], uss: ft.List["D, 4", W], bss: ft.List["D, 4", X]):
    zero = ft.zeros(1, "H")

    def layer(below, ws, us, bs):
        hs, cs = below.scanl(lambda h, c, x: cell(h, c, x, ws, us, bs), (zero, zero))
        return ft.emit(hs, cs)

    return xss.map(lambda xs: ft.zip(wss, uss, bss).scanl(layer, xs))


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(stacked_lstm)
