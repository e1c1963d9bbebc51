# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One-dimensional convolution, three taps, same length; the twin of ``examples/conv1d.mlir``.

``window`` reads overlapping neighbourhoods without making them; the padding is part of the access.
"""

import fractaltensor as ft

N, L, I, O = ft.symbols("N, L, I, O")


@ft.jit(lengths={"N": 8, "L": 128, "I": 64, "O": 64}, gen={"xss": ft.normal(1.0), "ws": ft.normal(0.07), "b": ft.normal(0.1)})
def conv1d(xss: ft.List[N, L, ft.f32[1, I]], ws: ft.List[3, ft.f32[I, O]], b: ft.f32[1, O]) -> ft.List[N, L, ft.f32[1, O]]:
    def position(window: ft.ListValue) -> ft.Tensor:
        return ft.zip(window, ws).reduce(lambda y, x, w: x @ w + y, b, combine=ft.add, identity=0)

    return xss.map(lambda xs: xs.window(3, boundary="zero").map(position))


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(conv1d)
