# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Causal flash attention; the twin of ``examples/flash_attention_causal.mlir``.

A query sees the keys up to its own position: ``enumerate`` gives the number of a block, ``ft.indices`` the place in it.
"""

import math

import fractaltensor as ft

from flash_attention import LOWEST, Block, State, join, start, visit

B, H, L = ft.symbols("B, H, L")


@ft.jit(lengths={"B": 1, "H": 4, "L": 4, "R": 32, "W": 64},
        gen={"qsss": ft.normal(1.0), "ksss": ft.normal(1.0), "vsss": ft.normal(1.0)})
def flash_attention_causal(
    qsss: ft.List[B, H, L, Block], ksss: ft.List[B, H, L, Block], vsss: ft.List[B, H, L, Block],
) -> ft.List[B, H, L, Block]:
    size, width = qsss.element.shape
    scale = 1 / math.sqrt(width)
    row, column = ft.indices((size, size), 0), ft.indices((size, size), 1)

    def head(qs: ft.ListValue, ks: ft.ListValue, vs: ft.ListValue) -> ft.ListValue:
        def block(i: ft.Tensor, q: ft.Tensor) -> ft.Tensor:
            def step(m: ft.Tensor, s: ft.Tensor, o: ft.Tensor, j: ft.Tensor, k: ft.Tensor, v: ft.Tensor) -> State:
                seen = i * size + row >= j * size + column
                return visit(m, s, o, ft.where(seen, (q @ k.T) * scale, LOWEST), v)

            m, s, o = ft.zip(ks.enumerate(), vs).reduce(step, start(q), combine=join, identity=start(q))
            return o / s[:, None]

        return qs.enumerate().map(block)

    return ft.zip(qsss, ksss, vsss).map(lambda qss, kss, vss: ft.zip(qss, kss, vss).map(head))


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(flash_attention_causal)
