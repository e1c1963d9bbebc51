# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in plain steps; the twin of ``examples/attention_three_step.mlir``.

Scores, their maximum, weights, their sum and the result are lists, as a textbook writes it; the compiler finds
the online form of ``flash_attention.py``.
"""

import math

import fractaltensor as ft

B, H, Q, K, R, W = ft.symbols("B, H, Q, K, R, W")

Block = ft.f32[R, W]


@ft.jit(bounds=["K >= 1"], lengths={"B": 1, "H": 4, "Q": 4, "K": 4, "R": 32, "W": 64},
        gen={"qsss": ft.normal(1.0), "ksss": ft.normal(1.0), "vsss": ft.normal(1.0)})
def attention_three_step(
    qsss: ft.List[B, H, Q, Block], ksss: ft.List[B, H, K, Block], vsss: ft.List[B, H, K, Block],
) -> ft.List[B, H, Q, Block]:
    rows, width = qsss.element.shape
    scale = 1 / math.sqrt(width)

    def head(qs: ft.ListValue, ks: ft.ListValue, vs: ft.ListValue) -> ft.ListValue:
        def block(q: ft.Tensor) -> ft.Tensor:
            scores = ks.map(lambda k: (q @ k.T) * scale)
            low, zero = ft.full((rows,), -1e30), ft.zeros(rows)
            m = scores.reduce(lambda m, s: ft.maximum(m, s.max(1)), low, combine=ft.maximum, identity=low)
            weights = scores.map(lambda s: ft.exp(s - m[:, None]))
            total = weights.reduce(lambda l, p: l + p.sum(1), zero, combine=ft.add, identity=zero)
            shares = weights.map(lambda p: p / total[:, None])
            return ft.zip(shares, vs).reduce(lambda o, w, v: w @ v + o, ft.zeros(rows, width), combine=ft.add)

        return qs.map(block)

    return ft.zip(qsss, ksss, vsss).map(lambda qss, kss, vss: ft.zip(qss, kss, vss).map(head))


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(attention_three_step)
