# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: graphs that one process saves and another runs; caches on disk after a program was edited."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PACKAGE = str(pathlib.Path(__file__).resolve().parents[1])
HAS_TORCH = importlib.util.find_spec("torch") is not None

PROGRAMS = """
import sys
import torch
import fractaltensor as ft

@ft.jit
def {first}(x: ft.any["T", "N"]):
    return x {operation} 2.0

@ft.jit
def {second}(x: ft.any["T", "N"]):
    return ft.tanh(x) - 2.0

@ft.jit
def total(xs: ft.List["N, L", ft.any["T", 3]], y: ft.f32[3], times: int = 2):
    return xs.map(lambda row: row.reduce(ft.add, 0)), y * float(times)
"""

SAVE = PROGRAMS + """
class Model(torch.nn.Module):
    def forward(self, x, xs):
        a, b = total(xs.transpose(0, 1), x[:3], times=5)
        return double(x), negate(x), a, b

length = torch.export.Dim("length", min=2, max=64)
for strict in (False, True):
    exported = torch.export.export(Model(), (torch.ones(7), torch.ones(4, 5, 3)), dynamic_shapes=({{}}, {{0: length}}), strict=strict)
    torch.export.save(exported, sys.argv[1] + f"/{{strict}}.pt2")
"""

LOAD = """
{imports}
import sys
{programs}
x, xs = torch.arange(7.0), torch.arange(90.0).reshape(6, 5, 3)
if {programs_first}:
    torch.ops.fractaltensor.forward_1
for strict in (False, True):
    model = torch.export.load(sys.argv[1] + f"/{{strict}}.pt2").module()
    for _ in range(2):
        a, b, c, d = model(x, xs)
        assert torch.equal(a, x * 2), a
        torch.testing.assert_close(b, torch.tanh(x) - 2)
        torch.testing.assert_close(c, xs.transpose(0, 1).sum(1))
        assert torch.equal(d, x[:3] * 5), d
"""

COMPILED = """
import sys
import torch
import fractaltensor as ft

@ft.jit
def last(xs: ft.List["N", ft.f32[1, 4]]):
    return {body}

@torch.compile(fullgraph=True)
def model(x):
    return last(x + 1) * 2

x = torch.arange(20.0).reshape(5, 1, 4)
y = (x + 1)
expected = {expected}
torch.testing.assert_close(model(x), expected * 2)
"""


def run(text, *args, **variables):
    return subprocess.run([sys.executable, "-c", text, *args], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PACKAGE, **variables})


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Processes(unittest.TestCase):
    def check(self, text, *args, **variables):
        found = run(text, *args, **variables)
        self.assertEqual(found.returncode, 0, found.stderr[-3000:])

    def test_saved_graphs(self):
        others = PROGRAMS.format(first="negate", second="double", operation="-") + "negate(torch.ones(2)), double(torch.ones(2))"
        both = ("import torch\nimport fractaltensor", "import fractaltensor\nimport torch")
        with tempfile.TemporaryDirectory() as folder:
            self.check(SAVE.format(first="double", second="negate", operation="*"), folder)
            for imports, programs in ((both[0], ""), (both[1], others)):
                with self.subTest(imports=imports, programs=bool(programs)):
                    self.check(LOAD.format(imports=imports, programs=programs, programs_first=bool(programs)), folder)

    def test_cache_after_an_edit(self):
        with tempfile.TemporaryDirectory() as folder:
            for body, expected in (("xs.scanl(ft.add, 0)", "y.cumsum(0)"), ("xs.reduce(ft.add, 0)", "y.sum(0)"), ("xs.reduce(ft.maximum, 0)", "y.amax(0)")):
                with self.subTest(body=body):
                    self.check(COMPILED.format(body=body, expected=expected), TORCHINDUCTOR_CACHE_DIR=folder, TORCHINDUCTOR_FX_GRAPH_CACHE="1",
                               TORCHINDUCTOR_AUTOGRAD_CACHE="1")


class Stored(unittest.TestCase):
    def test_strides_of_arguments(self):
        from fractaltensor.stored import _with_strides

        text = 'func.func @f(%a: !ft.list<[N, mod(L, 2)], tensor<3xf32>> {ft.gen = #ft.index<0, N>}, %b: tensor<f32>, %c: i1) -> tensor<f32> {'
        self.assertEqual(
            _with_strides(text, (2, 0, 1)),
            'func.func @f(%a: !ft.list<[N, mod(L, 2)], tensor<3xf32>> {ft.gen = #ft.index<0, N>, ft.strided = 2 : i64}, %b: tensor<f32>, '
            '%c: i1 {ft.strided = 1 : i64}) -> tensor<f32> {')


if __name__ == "__main__":
    unittest.main()
