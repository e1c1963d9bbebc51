# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dilated RNN, four layers (FractalTensor, §6.1); the twin of ``examples/dilated_rnn.mlir``.

In layer l the state comes from 2^l tokens before. The Python loop unrolls into four scans.
"""

import fractaltensor as ft

N, L, H = ft.symbols("N, L, H")

@ft.jit(lengths={"N": 8, "L": 40, "H": 64},
        gen={"xss": ft.normal(1.0), "ws": ft.normal(0.125), "us": ft.normal(0.125), "bs": ft.normal(0.1)})
def dilated_rnn(
    xss: ft.List[N, L, ft.f32[1, H]], ws: ft.List[4, ft.f32[H, H]], us: ft.List[4, ft.f32[H, H]], bs: ft.List[4, ft.f32[1, H]],
) -> ft.List[N, L, ft.f32[1, H]]:
    for layer, (w, u, b) in enumerate(ft.zip(ws, us, bs)):
        xss = xss.map(lambda xs: xs.scanl(lambda h, x: ft.tanh(x @ w + h @ u + b), ft.zeros(1, H), lag=2**layer))
    return xss


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(dilated_rnn)
