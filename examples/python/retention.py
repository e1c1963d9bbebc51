# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RetNet's retention in chunks; the twin of ``examples/retention.mlir``.

A chunk works on itself as a matrix product and on all earlier ones through a state, a matrix; the logarithm
of each head's decay is an argument.
"""

import fractaltensor as ft

N, H, L, P, C = ft.symbols("N, H, L, P, C")

Q = ft.f32[P, C]


@ft.jit(lengths={"N": 2, "H": 4, "L": 8, "P": 16, "C": 32},
        gen={"qsss": ft.normal(1.0), "ksss": ft.normal(0.177), "vsss": ft.normal(1.0), "logs": ft.uniform(-0.2, -0.02)})
def retention(
    qsss: ft.List[N, H, L, Q], ksss: ft.List[N, H, L, Q], vsss: ft.List[N, H, L, Q], logs: ft.List[H, ft.f32],
) -> ft.List[N, H, L, Q]:
    size = qsss.element.shape[0]
    row, column = ft.indices((size, size), 0), ft.indices((size, size), 1)
    causal = row >= column
    up = (ft.arange(size) + 1).to(ft.f32)

    def head(qs: ft.ListValue, ks: ft.ListValue, vs: ft.ListValue, log: ft.Tensor) -> ft.ListValue:
        # Masked before the exponential, which would overflow for a strong decay.
        decay = ft.where(causal, ft.exp(ft.where(causal, log * (row - column).to(ft.f32), 0)), 0)
        xi, zeta = ft.exp(log * up)[:, None], ft.exp(log * (size - up))[:, None]
        whole = ft.exp(log * size)

        def chunk(r: ft.Tensor, q: ft.Tensor, k: ft.Tensor, v: ft.Tensor) -> ft.Emit:
            inside, across = ((q @ k.T) * decay) @ v, (q @ r) * xi
            return ft.emit(whole * r + k.T @ (v * zeta), across + inside)

        return ft.zip(qs, ks, vs).scanl(chunk, ft.zeros(C, C))[1]

    return ft.zip(qsss, ksss, vsss).map(lambda qss, kss, vss: ft.zip(qss, kss, vss, logs).map(head))


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(retention)
