# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dilated LSTM, three layers (FractalTensor, §6.1, Table 6); the twin of ``examples/dilated_lstm.mlir``."""

import fractaltensor as ft

from stacked_lstm import W, X, cell

N, L, H = ft.symbols("N, L, H")


@ft.jit(lengths={"N": 4, "L": 32, "H": 64},
        gen={"xss": ft.normal(1.0), "wss": ft.normal(0.125), "uss": ft.normal(0.125), "bss": ft.normal(0.1)})
def dilated_lstm(
    xss: ft.List[N, L, X], wss: ft.List[3, 4, W], uss: ft.List[3, 4, W], bss: ft.List[3, 4, X],
) -> tuple[ft.List[N, L, X], ft.List[N, L, X]]:
    zero, css = ft.zeros(1, H), xss
    for layer, (ws, us, bs) in enumerate(ft.zip(wss, uss, bss)):
        xss, css = xss.map(
            lambda xs: xs.scanl(lambda h, c, x: cell(h, c, x, ws, us, bs), (zero, zero), lag=2**layer)
        )
    return xss, css


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(dilated_lstm)
