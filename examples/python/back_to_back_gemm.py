# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Back-to-back GEMM, D = (A B) C (FractalTensor, §6.1, Table 6); the twin of ``examples/back_to_back_gemm.mlir``.

A block of A B never leaves the place where it was made.
"""

import fractaltensor as ft

M, N, R, K, J, C = ft.symbols("M, N, R, K, J, C")

@ft.jit(lengths={"M": 8, "N": 4, "R": 64, "K": 64, "J": 64, "C": 64},
        gen={"As": ft.normal(1.0), "Bs": ft.normal(0.125), "Cs": ft.normal(0.06)})
def back_to_back_gemm(
    As: ft.List[M, ft.f32[R, K]], Bs: ft.List[N, ft.f32[K, J]], Cs: ft.List[N, ft.f32[J, C]],
) -> ft.List[M, ft.f32[R, C]]:
    return As.map(lambda a: ft.zip(Bs, Cs).reduce(lambda d, b, c: d + (a @ b) @ c, ft.zeros(R, C), combine=ft.add))


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(back_to_back_gemm)
