# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mamba's selective scan (S6); the twin of ``examples/mamba.mlir``.

The state h is a matrix, channels by states; the outputs y leave the scan by ``emit``.
"""

import fractaltensor as ft

N, L, C, S = ft.symbols("N, L, C, S")


@ft.jit(lengths={"N": 4, "L": 64, "C": 64, "S": 16},
        gen={"xss": ft.normal(1.0), "wd": ft.normal(0.06), "bd": ft.uniform(-4.0, -1.0), "wb": ft.normal(0.125),
             "wc": ft.normal(0.125), "alog": ft.uniform(0.0, 2.5), "skip": ft.normal(1.0)})
def mamba(
    xss: ft.List[N, L, ft.f32[C]], wd: ft.f32[C, C], bd: ft.f32[C], wb: ft.f32[C, S], wc: ft.f32[C, S], alog: ft.f32[C, S], skip: ft.f32[C],
) -> ft.List[N, L, ft.f32[C]]:
    a = -ft.exp(alog)

    def sentence(xs: ft.ListValue) -> ft.ListValue:
        ds, bs, cs = xs.map(lambda x: (ft.log(1 + ft.exp(x @ wd + bd)), x @ wb, x @ wc))

        def step(h: ft.Tensor, x: ft.Tensor, d: ft.Tensor, b: ft.Tensor, c: ft.Tensor) -> ft.Emit:
            h = ft.exp(d[:, None] * a) * h + (d * x)[:, None] * b
            return ft.emit(h, h @ c + skip * x)

        return ft.zip(xs, ds, bs, cs).scanl(step, ft.zeros(C, S))[1]

    return xss.map(sentence)


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(mamba)
