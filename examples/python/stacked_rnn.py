# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stacked RNN (FractalTensor, Listing 1); the twin of ``examples/stacked_rnn.mlir``.

N sequences of L tokens run through D layers: y[d, k] = x[d, k] W_d + y[d, k-1].
"""

import fractaltensor as ft

N, D, L, H = ft.symbols("N, D, L, H")

@ft.jit(lengths={"N": 8, "D": 4, "L": 64, "H": 64}, gen={"xss": ft.normal(1.0), "ws": ft.normal(0.005)})
def stacked_rnn(xss: ft.List[N, L, ft.f32[1, H]], ws: ft.List[D, ft.f32[H, H]]) -> ft.List[N, D, L, ft.f32[1, H]]:
    return xss.map(lambda xs: ws.scanl(lambda seq, w: seq.scanl(lambda h, x: x @ w + h, ft.zeros(1, H)), xs))


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(stacked_rnn)
