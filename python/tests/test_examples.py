# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every example's twin equals its ``.mlir``, at other lengths than the default ones, and says what NumPy says."""

import contextlib
import importlib
import io
import math
import pathlib
import re
import runpy
import unittest

import numpy as np

import fractaltensor as ft
from fractaltensor import samples
from close import assert_close

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAMES = sorted(p.stem for p in (ROOT / "examples").glob("*.mlir"))

#: Lengths for a call, other than the examples' own.
LENGTHS = {"N": 3, "L": 7, "D": 2, "S": 3, "T": 5, "M": 3, "F": 3, "B": 2, "H": 3, "Q": 2, "K": 5, "R": 1}


def twin(name):
    return getattr(importlib.import_module(name), name)


def arguments(program, seed=1):
    """Arrays for a twin, by what it says of its test data, at the element shapes of its ``.mlir``."""
    random = np.random.default_rng(seed)
    specialized = program.specialize()
    values = []
    for parameter, type_ in zip(program.signature.traced, specialized.program.types):
        lengths = [n.substitute(LENGTHS).constant for n in type_.lengths] if hasattr(type_, "lengths") else []
        element = type_.element if hasattr(type_, "lengths") else type_
        shape = (*lengths, *element.shape)
        generator = program._options.gen[parameter.name].text
        kind, numbers = re.match(r"#ft\.(\w+)<(.*)>", generator).groups()
        if kind == "normal":
            values.append((random.standard_normal(shape) * float(numbers)).astype("f4"))
        elif kind == "uniform":
            lo, hi = map(float, numbers.split(","))
            values.append(random.uniform(lo, hi, shape).astype("f4"))
        else:
            values.append(random.integers(0, LENGTHS[numbers.split(",")[1].strip()], shape))
    return values


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def stacked_rnn(xss, ws):
    out = []
    for w in ws:
        h, layer = np.zeros_like(xss[:, 0]), []
        for x in xss.swapaxes(0, 1):
            h = x @ w + h
            layer.append(h)
        xss = np.stack(layer, 1)
        out.append(xss)
    return np.stack(out, 1)


def gru(xss, ws, us, bs, bh):
    h, out = np.zeros_like(xss[:, 0]), []
    for x in xss.swapaxes(0, 1):
        r, z = (sigmoid(x @ ws[i] + h @ us[i] + bs[i]) for i in (0, 1))
        n = np.tanh(x @ ws[2] + bs[2] + r * (h @ us[2] + bh))
        h = (1 - z) * n + z * h
        out.append(h)
    return np.stack(out, 1)


def dilated_rnn(xss, ws, us, bs):
    for layer in range(4):
        out = []
        for k in range(xss.shape[1]):
            h = out[k - 2**layer] if k >= 2**layer else np.zeros_like(xss[:, 0])
            out.append(np.tanh(xss[:, k] @ ws[layer] + h @ us[layer] + bs[layer]))
        xss = np.stack(out, 1)
    return xss


def back_to_back_gemm(a, b, c):
    return np.einsum("mrk,nkj,njc->mrc", a, b, c, optimize=True)


def back_to_back_gemm_relu(a, b, c):
    return np.einsum("mnrj,njc->mrc", np.maximum(np.einsum("mrk,nkj->mnrj", a, b), 0), c)


def conv1d(xss, ws, b):
    padded = np.pad(xss, ((0, 0), (1, 1), (0, 0), (0, 0)))
    return b + sum(padded[:, w : w + xss.shape[1]] @ ws[w] for w in range(3))


def layer_norm(xs, gamma, beta):
    return (xs - xs.mean(-1, keepdims=True)) / np.sqrt(xs.var(-1, keepdims=True) + 1e-5) * gamma + beta


def mlp(xs, w1s, b1s, w2s, b2):
    h = np.einsum("nrc,fcu->nfru", xs, w1s) + b1s[:, None]
    g = 0.5 * h * (1 + np.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))
    return xs + np.einsum("nfru,fuc->nrc", g, w2s) + b2


def attention(q, k, v):
    """Blocks of rows: b h Q r w."""
    s = np.einsum("bhqrw,bhkcw->bhqrkc", q, k) / math.sqrt(q.shape[-1])
    e = np.exp(s - s.max((-2, -1), keepdims=True))
    return np.einsum("bhqrkc,bhkcw->bhqrw", e / e.sum((-2, -1), keepdims=True), v)


def flash_attention_causal(q, k, v):
    b, h, n, r, w = q.shape
    flat = [x.reshape(b, h, n * r, w) for x in (q, k, v)]
    s = np.einsum("bhqw,bhkw->bhqk", flat[0], flat[1]) / math.sqrt(w)
    s = np.where(np.tril(np.ones((n * r, n * r), bool)), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True) @ flat[2]).reshape(q.shape)


REFERENCES = {
    "stacked_rnn": stacked_rnn, "gru": gru, "dilated_rnn": dilated_rnn, "back_to_back_gemm": back_to_back_gemm,
    "back_to_back_gemm_relu": back_to_back_gemm_relu, "conv1d": conv1d, "layer_norm": layer_norm, "mlp": mlp,
    "flash_attention": attention, "attention_three_step": attention, "flash_attention_causal": flash_attention_causal,
}


class Twins(unittest.TestCase):
    def test_all_are_there(self):
        self.assertGreaterEqual(len(NAMES), 18)
        twins = sorted(p.stem for p in (ROOT / "examples/python").glob("*.py"))
        self.assertEqual([n for n in NAMES if n not in twins], [])

    def test_equal(self):
        for name in NAMES:
            with self.subTest(name):
                program = twin(name)
                values = arguments(program)
                found = program(*values)
                expected = ft.load(ROOT / f"examples/{name}.mlir")(*values)
                several = found if isinstance(found, tuple) else (found,)
                for a, b in zip(several, expected if isinstance(expected, tuple) else (expected,)):
                    assert_close(self, a, b, scale=4)
                if name in REFERENCES:
                    assert_close(self, found, REFERENCES[name](*values), scale=8)

    def test_interpreted(self):
        for name in ("stacked_lstm", "bigbird", "retention"):
            with self.subTest(name):
                program = twin(name)
                values = arguments(program, seed=2)
                found, expected = program(*values), program(*values, engine="interpret")
                for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, expected))):
                    assert_close(self, a, b, scale=4)

    def test_other_sizes(self):
        """A compile for each shape of elements, one for all lengths."""
        program = twin("stacked_rnn")
        random = np.random.default_rng(3)
        for n, l, d, h in ((1, 1, 1, 1), (2, 5, 3, 7), (1, 13, 2, 7), (3, 4, 1, 127)):
            with self.subTest(n=n, l=l, d=d, h=h):
                x = random.standard_normal((n, l, 1, h)).astype("f4")
                w = (random.standard_normal((d, h, h)) * 0.1 / math.sqrt(h)).astype("f4")
                assert_close(self, program(x, w), stacked_rnn(x, w), scale=4)


class Scripts(unittest.TestCase):
    def test_each_prints_one_line(self):
        for name in NAMES:
            with self.subTest(name):
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    runpy.run_path(str(ROOT / f"examples/python/{name}.py"), run_name="__main__")
                self.assertRegex(printed.getvalue(), rf"^{name}: equals the interpreter at [\w, ]+; result [\dx and]+, median \d+ us\n$")

    def test_a_wrong_result_is_said(self):
        program = twin("layer_norm")
        with self.assertRaisesRegex(SystemExit, "layer_norm: differs from the interpreter by"):
            samples.demonstrate(program, tolerance=-1.0)


if __name__ == "__main__":
    unittest.main()
