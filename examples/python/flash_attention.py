# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Flash attention (FractalTensor, Listing 3); the twin of ``examples/flash_attention.mlir``.

For each block of queries the keys and values are visited once with a running maximum m, sum s and result o.
Two partial states join by ``join``, so the blocks may be visited in any order and in parallel pieces.
"""

import math

import fractaltensor as ft

B, H, Q, K, R, W = ft.symbols("B, H, Q, K, R, W")
Block = ft.f32[R, W]
LOWEST = -1e30  # finite: exp(-inf + inf) is NaN where a whole block is masked
State = tuple[ft.Tensor, ft.Tensor, ft.Tensor]


def visit(m: ft.Tensor, s: ft.Tensor, o: ft.Tensor, score: ft.Tensor, v: ft.Tensor) -> State:
    """The state after one more block of scores and values."""
    top = ft.maximum(m, score.max(1))
    p = ft.exp(score - top[:, None])
    fix = ft.exp(m - top)
    return top, s * fix + p.sum(1), o * fix[:, None] + p @ v


def join(a: State, b: State) -> State:
    """One state of two, of different blocks."""
    (ma, sa, oa), (mb, sb, ob) = a, b
    m = ft.maximum(ma, mb)
    fa, fb = ft.exp(ma - m), ft.exp(mb - m)
    return m, sa * fa + sb * fb, oa * fa[:, None] + ob * fb[:, None]


def start(q: ft.Tensor) -> State:
    """The state before any block: maximum, sum and result."""
    rows, width = q.shape
    return ft.full((rows,), LOWEST), ft.zeros(rows), ft.zeros(rows, width)


@ft.jit(lengths={"B": 1, "H": 4, "Q": 4, "K": 4, "R": 32, "W": 64},
        gen={"qsss": ft.normal(1.0), "ksss": ft.normal(1.0), "vsss": ft.normal(1.0)})
def flash_attention(
    qsss: ft.List[B, H, Q, Block], ksss: ft.List[B, H, K, Block], vsss: ft.List[B, H, K, Block],
) -> ft.List[B, H, Q, Block]:
    scale = 1 / math.sqrt(qsss.element.shape[1])

    def head(qs: ft.ListValue, ks: ft.ListValue, vs: ft.ListValue) -> ft.ListValue:
        def block(q: ft.Tensor) -> ft.Tensor:
            m, s, o = ft.zip(ks, vs).reduce(
                lambda m, s, o, k, v: visit(m, s, o, (q @ k.T) * scale, v), start(q), combine=join, identity=start(q)
            )
            return o / s[:, None]

        return qs.map(block)

    return ft.zip(qsss, ksss, vsss).map(lambda qss, kss, vss: ft.zip(qss, kss, vss).map(head))


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(flash_attention)
