# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Items of lists and dictionaries that are assigned in loops and under conditions on data, beside eager PyTorch."""

import unittest

from fractaltensor import torch as ftt
from test_promises import HAS_TORCH

if HAS_TORCH:
    import torch


def counted(x, w):
    state = {"h": x[0], "n": 0}
    for t in range(len(x)):
        state["h"] = state["h"] * 0.5 + x[t]
        if state["h"].sum() > 0:
            state["n"] = state["n"] + 1
    return state


def layers(x, w):
    hs, outs = [x[0] * 0 for _ in range(3)], []
    for row in x:
        for i in range(3):
            row = hs[i] = torch.tanh(row @ w + hs[i])
        outs.append(row)
    return torch.stack(outs), hs


def until(x, w):
    state = {"h": x[0], "i": 0}
    while state["h"].abs().sum() < 60 and state["i"] < len(x) - 1:
        state["h"] = state["h"] + x[state["i"]].abs()
        state["i"] += 1
    return state


def begins_with_none(x, w):
    cache = {"h": None, "rate": 0.5}
    for row in x:
        cache["h"] = row if cache["h"] is None else cache["h"] * cache["rate"] + row
    return cache


def pairs(x, w):
    cache = [(x[0], x[1]), (x[2], x[3])]
    for row in x:
        for i in range(2):
            k, v = cache[i]
            cache[i] = (k * 0.9 + row, torch.maximum(v, row))
    return cache


def inside_others(x, w):
    state = {"of": [x[0], {"h": x[1]}], "name": (x[2], [x[3]])}
    if x.sum() > 0:
        state["of"][1]["h"] = x[4]
    else:
        state["name"][1][0] = state["of"][0] @ w
    return state


def swapped(x, w):
    rows = [x[0], x[1]]
    if x.sum() > 0:
        rows[0], rows[1] = rows[1], rows[0]
    rows[0] += 1
    return x, rows


def while_gone_over(x, w):
    rows, found = [x[0], x[1], x[2]], x[0] * 0
    for row in rows:
        rows[2] = rows[2] + 1
        found = found + row
    return found


def in_function(x, w):
    state = {"h": x[0]}

    def step(row, into):
        into["h"] = torch.tanh(into["h"] + row)

    for row in x:
        if row.sum() > 0:
            step(row, state)
    return state["h"]


PROGRAMS = (counted, layers, until, begins_with_none, pairs, inside_others, swapped, while_gone_over, in_function)


def two_names(x, w):
    state = {"h": x[0]}
    other = state
    if x.sum() > 0:
        state["h"] = x[1]
    return other["h"], state is other


def a_default(x, w):
    state = [x[0]]

    def first(state=state):
        return state[0]

    if x.sum() > 0:
        state[0] = x[1]
    return first()


def changed_while_gone_over(x, w):
    rows, found = [x[0], x[1], x[2]], x[0] * 0
    for row in rows:
        if row.sum() > 0:
            rows[2] = row + 1
        found = found + row
    return found


def longer_while_gone_over(x, w):
    rows = [x[0], x[1]]
    for row in rows:
        if len(rows) < 9:
            rows.append(row + 1)
    return torch.stack(rows)


#: Python's meaning needs one object by several names.
REFUSED = {two_names: "item is assigned", a_default: "item is assigned", changed_while_gone_over: "gone over", longer_while_gone_over: "gone over"}


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class ChangedItems(unittest.TestCase):
    def arguments(self, steps):
        numbers = torch.Generator().manual_seed(steps)
        return torch.randn(steps, 4, generator=numbers), torch.randn(4, 4, generator=numbers) * 0.4

    def test_as_eager(self):
        for function in PROGRAMS:
            for sign in (1, -1):
                with self.subTest(function.__name__, sign=sign):
                    x, w = self.arguments(40)
                    given, wanted = (x * sign, w), (x * sign, w)
                    torch.testing.assert_close(ftt.script(function, engine="cpu")(*given), function(*wanted), rtol=1e-5, atol=1e-5)
                    torch.testing.assert_close(given, wanted)

    def test_one_loop_at_any_length(self):
        for function in (counted, layers, pairs, begins_with_none):
            with self.subTest(function.__name__):
                counts = [sum(1 for _ in ftt.script(function, engine="interpret").lower(*self.arguments(n)).all_ops()) for n in (40, 80)]
                self.assertEqual(*counts)

    def test_refused(self):
        for function, text in REFUSED.items():
            with self.subTest(function.__name__):
                with self.assertRaisesRegex(ftt.ScriptError, text):
                    ftt.script(function, engine="interpret").lower(*self.arguments(9))


if __name__ == "__main__":
    unittest.main()
