# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The feed-forward block of a transformer with its residual; the twin of ``examples/mlp.mlir``.

The hidden layer is a list of F pieces: a piece is made, used and forgotten, and the pieces add up in any order.
"""

import fractaltensor as ft

N, F, R, C, U = ft.symbols("N, F, R, C, U")

@ft.jit(lengths={"N": 16, "F": 4, "R": 16, "C": 64, "U": 64},
        gen={"xs": ft.normal(1.0), "w1s": ft.normal(0.125), "b1s": ft.normal(0.1), "w2s": ft.normal(0.06), "b2": ft.normal(0.1)})
def mlp(
    xs: ft.List[N, ft.f32[R, C]], w1s: ft.List[F, ft.f32[C, U]], b1s: ft.List[F, ft.f32[U]], w2s: ft.List[F, ft.f32[U, C]], b2: ft.f32[C],
) -> ft.List[N, ft.f32[R, C]]:
    def row(x: ft.Tensor) -> ft.Tensor:
        def piece(acc: ft.Tensor, w1: ft.Tensor, b1: ft.Tensor, w2: ft.Tensor) -> ft.Tensor:
            return acc + ft.gelu(x @ w1 + b1, approximate="tanh") @ w2

        return x + (ft.zip(w1s, b1s, w2s).reduce(piece, ft.zeros(R, C), combine=ft.add) + b2)

    return xs.map(row)


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(mlp)
