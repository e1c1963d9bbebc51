# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layer normalisation of blocks of rows; the twin of ``examples/layer_norm.mlir``."""

import fractaltensor as ft

N, R, C = ft.symbols("N, R, C")

@ft.jit(lengths={"N": 64, "R": 16, "C": 64}, gen={"xs": ft.normal(1.0), "gamma": ft.uniform(0.5, 1.5), "beta": ft.normal(0.1)})
def layer_norm(xs: ft.List[N, ft.f32[R, C]], gamma: ft.f32[C], beta: ft.f32[C]) -> ft.List[N, ft.f32[R, C]]:
    return xs.map(lambda x: ft.layer_norm(x, gamma, beta))


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(layer_norm)
