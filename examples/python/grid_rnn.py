# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stacked grid RNN in two directions (FractalTensor, §6.1, Fig. 9); the twin of ``examples/grid_rnn.mlir``.

The cell at (i, j) of a layer reads two inputs from the layer below, hx from above and hy from the left.
"""

import fractaltensor as ft

N, D, S, T, H = ft.symbols("N, D, S, T, H")
X, W = ft.f32[1, H], ft.f32[H, H]
Lists = tuple[ft.ListValue, ...]


@ft.jit(lengths={"N": 4, "D": 3, "S": 8, "T": 8, "H": 64},
        gen={"srcs": ft.normal(1.0), "trgs": ft.normal(1.0), "ws": ft.normal(0.125), "uxs": ft.normal(0.088),
             "uys": ft.normal(0.088), "bs": ft.normal(0.1)})
def grid_rnn(
    srcs: ft.List[N, S, X], trgs: ft.List[N, T, X], ws: ft.List[D, W], uxs: ft.List[D, W], uys: ft.List[D, W], bs: ft.List[D, X],
) -> tuple[ft.List[N, D, S, T, X], ft.List[N, D, S, T, X]]:
    zero = ft.zeros(1, H)

    def layer(xss: ft.ListValue, yss: ft.ListValue, w: ft.Tensor, ux: ft.Tensor, uy: ft.Tensor, b: ft.Tensor) -> Lists:
        def row(above: ft.ListValue, xs: ft.ListValue, ys: ft.ListValue) -> ft.Emit:
            def cell(left: ft.Tensor, x: ft.Tensor, y: ft.Tensor, up: ft.Tensor) -> ft.Emit:
                s = up @ ux + left @ uy + b
                return ft.emit(ft.tanh(y @ w + s), ft.tanh(x @ w + s))

            hys, hxs = ft.zip(xs, ys, above).scanl(cell, zero)
            return ft.emit(hxs, hys)

        return ft.zip(xss, yss).scanl(row, ft.repeat(zero, T))

    def sentence(src: ft.ListValue, trg: ft.ListValue) -> Lists:
        # Word i all along row i, word j all along column j: access only, no copies.
        return ft.zip(ws, uxs, uys, bs).scanl(layer, (ft.repeat(src, T).transpose(), ft.repeat(trg, S)))

    hxs, hys = ft.zip(srcs, trgs).map(sentence)
    return hxs, hys


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(grid_rnn)
