# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BigBird, block-sparse attention (FractalTensor, Listing 4, made right); the twin of ``examples/bigbird.mlir``.

A block of queries attends to its window, the two global blocks and R random ones, whose numbers are data; a
block that is named twice counts once. The two global blocks of queries attend to everything.
"""

import math
from typing import Optional

import fractaltensor as ft

from flash_attention import LOWEST, State, join, start, visit

B, L, R, P, W = ft.symbols("B, L, R, P, W")
Block = ft.f32[P, W]


@ft.jit(bounds=["L >= 3"], lengths={"B": 2, "L": 8, "R": 2, "P": 32, "W": 64},
        gen={"qss": ft.normal(1.0), "kss": ft.normal(1.0), "vss": ft.normal(1.0), "random": ft.index(0, "L")})
def bigbird(
    qss: ft.List[B, L, Block], kss: ft.List[B, L, Block], vss: ft.List[B, L, Block], random: ft.List[L - 2, R, ft.i64],
) -> ft.List[B, L, Block]:
    scale = 1 / math.sqrt(qss.element.shape[1])
    numbers, places = ft.iota(L), ft.iota(R + 5)

    def attend(q: ft.Tensor, keys: ft.ListValue, values: ft.ListValue, twice: Optional[ft.ListValue] = None) -> ft.Tensor:
        def step(m: ft.Tensor, s: ft.Tensor, o: ft.Tensor, k: ft.Tensor, v: ft.Tensor, again: Optional[ft.Tensor] = None) -> State:
            score = (q @ k.T) * scale
            return visit(m, s, o, score if again is None else ft.where(again, LOWEST, score), v)

        lists = (keys, values) if twice is None else (keys, values, twice)
        m, s, o = ft.zip(*lists).reduce(step, start(q), combine=join, identity=start(q))
        return o / s[:, None]

    def around(xs: ft.ListValue, window: ft.ListValue, chosen: ft.ListValue) -> ft.ListValue:
        return ft.concat(xs[0:1], window, xs[-1:], chosen)

    def named_before(window: ft.ListValue, chosen: ft.ListValue) -> ft.ListValue:
        ids = around(numbers, window, chosen)

        def one(i: ft.Tensor, at: ft.Tensor) -> ft.Tensor:
            found = ft.zip(ids, places).foldl(lambda found, j, at2: found | ((i == j) & (at2 < at)), ft.const(False))
            return found

        return ft.zip(ids, places).map(one)

    twice = ft.zip(numbers.window(3), random).map(named_before)

    def sentence(qs: ft.ListValue, ks: ft.ListValue, vs: ft.ListValue) -> ft.ListValue:
        first = qs[0:1].map(lambda q: attend(q, ks, vs))
        last = qs[-1:].map(lambda q: attend(q, ks, vs))

        def middle(q: ft.Tensor, kw: ft.ListValue, vw: ft.ListValue, chosen: ft.ListValue, again: ft.ListValue) -> ft.Tensor:
            return attend(q, around(ks, kw, ks[chosen]), around(vs, vw, vs[chosen]), again)

        return ft.concat(first, ft.zip(qs[1:-1], ks.window(3), vs.window(3), random, twice).map(middle), last)

    return ft.zip(qss, kss, vss).map(sentence)


if __name__ == "__main__":
    from fractaltensor.samples import demonstrate

    demonstrate(bigbird)
