# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mamba's selective scan (S6); the twin of ``examples/mamba.mlir``.

The state h is a matrix, channels by states; the outputs y leave the scan by ``emit``.
"""

import fractaltensor as ft

X = ft.f32["C"]
H = ft.f32["C", "S"]
W = ft.f32["C", "C"]
B = ft.f32["C", "S"]


@ft.jit(lengths={"N": 4, "L": 64, "C": 64, "S": 16},
        gen={"xss": ft.normal(1.0), "wd": ft.normal(0.06), "bd": ft.uniform(-4.0, -1.0), "wb": ft.normal(0.125),
             "wc": ft.normal(0.125), "alog": ft.uniform(0.0, 2.5), "skip": ft.normal(1.0)})
def mamba(xss: ft.List["N, L", X], wd: W, bd: X, wb: B, wc: B, alog: H, skip: X):
    a = -ft.exp(alog)

    def sentence(xs):
        ds, bs, cs = xs.map(lambda x: (ft.log(1 + ft.exp(x @ wd + bd)), x @ wb, x @ wc))

        def step(h, x, d, b, c):
            h = ft.exp(d[:, None] * a) * h + (d * x)[:, None] * b
            return ft.emit(h, h @ c + skip * x)

        return ft.zip(xs, ds, bs, cs).scanl(step, ft.zeros("C", "S"))[1]

    return xss.map(sentence)


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(mamba)
