# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which results of operators are views of their operands, and how they lie in memory, beside eager PyTorch: that decides where `contiguous`, `reshape`
and kin give views. The front end may say that it does not know. FT_SWEEP=all takes all calls, as `scripts/test.sh long` does."""

import ast
import collections
import os
import random
import tempfile
import unittest
import unittest.mock
import warnings

from fractaltensor import errors, torch as ftt
from fractaltensor.torch import program
from fractaltensor.torch.frontend.values import Complex, Tensor
from fractaltensor.torch.ir.operations import views_of
from test_promises import HAS_TORCH

if HAS_TORCH:
    import operator_cases
    import operator_sweep
    import torch
    from test_script import load

#: Calls that are always drawn.
SOME = 250


def flat(value):
    return [y for x in value for y in flat(x)] if isinstance(value, (tuple, list)) else [value]


def calls():
    """Texts of calls: those of script_operators.txt, and each operator of one or two tensors."""
    texts = [ast.unparse(element) for line in operator_cases.lines() for element in ast.parse(line).body[0].value.elts]
    for path, operator in operator_cases.TABLE.items():
        names = ["x", "y"][: operator_sweep._arity(operator)]
        if names and not path.startswith(("aten.", "torchvision", "torch.jit", "torch.backends", "Tensor.new_", "torch.empty")):
            texts.append(f"x.{path[7:]}({', '.join(names[1:])})" if path.startswith("Tensor.") else f"{path}({', '.join(names)})")
    return list(dict.fromkeys(texts))


def arguments(turned: bool):
    """Tensors that lie densely, or with their dimensions in the other order."""
    given = operator_cases.arguments()
    order = lambda x: list(range(x.dim()))[::-1]  # noqa: E731
    return {name: x.permute(order(x)).contiguous().permute(order(x)) for name, x in given.items()} if turned else given


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Layouts(unittest.TestCase):
    def test_as_in_eager_or_not_known(self):
        drawn, texts = os.environ.get("FT_SWEEP", "1"), calls()
        if drawn != "all":
            texts = random.Random(int(drawn)).sample(texts, SOME)
        lines = ["import math", "import torch", "import torch.nn.functional as F"]
        lines += [f"def f{at}(x, y, i, m, z):\n    return {text}" for at, text in enumerate(texts)]
        counts: collections.Counter = collections.Counter()
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            module = load("layouts_of_calls", "\n".join(lines) + "\n", folder)
            warnings.simplefilter("ignore")
            for at, text in enumerate(texts):
                for turned in (False, True):
                    with self.subTest(text, turned=turned):
                        counts[self.compare(getattr(module, f"f{at}"), arguments(turned))] += 1
        self.assertGreater(counts["compared"], len(texts))

    def compare(self, function, given) -> str:
        try:
            expected = flat(function(*given.values()))
        except (RuntimeError, TypeError, IndexError, ValueError, AttributeError, NotImplementedError):
            return "an error of PyTorch"
        seen = []
        evaluate = program.Program._evaluate
        with unittest.mock.patch.object(program.Program, "_evaluate", lambda self, *args: seen.append((self, evaluate(self, *args))) or seen[-1][1]):
            try:
                ftt.script(function, engine="interpret").lower(*given.values())
            except (ftt.ScriptError, errors.GradientError):
                return "refused"
        made, found = seen[-1][0], flat(seen[-1][1])
        for a, b in zip(found, expected, strict=True):
            if isinstance(a, (Tensor, Complex)) and b.numel():
                self.check(made, a, b, given)
        return "compared"

    def check(self, made, found, expected, given) -> None:
        root = views_of((found if isinstance(found, Tensor) else found.real).value)[1]
        copies = [views_of(copy.made)[1] for copy in made.evaluator.b.copies]
        if not any(root is copy for copy in copies):
            same = {name for name, x in given.items() if x.untyped_storage().data_ptr() == expected.untyped_storage().data_ptr()}
            self.assertEqual({name for name, x in zip(made.root_names, made.roots) if x.value is root}, same)
        self.assertIn(found.is_contiguous(), (None, expected.is_contiguous()), f"strides {expected.stride()}")


if __name__ == "__main__":
    unittest.main()
