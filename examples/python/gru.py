# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gated recurrent unit; the twin of ``examples/gru.mlir``, with the reset gate after the product as in PyTorch."""

import fractaltensor as ft

N, L, H = ft.symbols("N, L, H")

X, W = ft.f32[1, H], ft.f32[H, H]


@ft.jit(lengths={"N": 8, "L": 64, "H": 64},
        gen={"xss": ft.normal(1.0), "ws": ft.normal(0.125), "us": ft.normal(0.125), "bs": ft.normal(0.1), "bh": ft.normal(0.1)})
def gru(xss: ft.List[N, L, X], ws: ft.List[3, W], us: ft.List[3, W], bs: ft.List[3, X], bh: ft.f32[1, H]) -> ft.List[N, L, X]:
    def cell(h: ft.Tensor, x: ft.Tensor) -> ft.Tensor:
        r, z = ft.zip(ws[:2], us[:2], bs[:2]).map(lambda w, u, b: ft.sigmoid(x @ w + h @ u + b))
        n = ft.tanh(x @ ws[2] + bs[2] + r * (h @ us[2] + bh))
        return (1 - z) * n + z * h

    return xss.map(lambda xs: xs.scanl(cell, ft.zeros(1, H)))


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(gru)
