# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators by their paths: each that the table claims is the one that PyTorch has there, and every other one is refused."""

import importlib.util
import inspect
import tempfile
import types
import unittest
import warnings

from fractaltensor import torch as ftt
from fractaltensor.torch.frontend import objects
from fractaltensor.torch.ops import REFUSED, TABLE, find
from fractaltensor.torch.problems import Problem

HAS_TORCH = importlib.util.find_spec("torch") is not None
NEEDS_TORCH = "PyTorch is not installed"

if HAS_TORCH:
    import torch
    import operator_cases as cases
    from test_script import load

#: Parameters that change no element, or that are refused by name.
_LEFT_OUT = {"generator", "out", "layout", "device", "pin_memory", "memory_format", "requires_grad", "non_blocking", "sparse_grad", "implicit", "sorter"}
#: What schemas call differently from overload to overload.
_ONE = {"self": "input", "A": "input", "x": "input", **dict.fromkeys(("sections", "indices", "tensor_indices_or_sections"), "indices_or_sections")}
#: What has no call that gives a tensor or a number.
_NO_VALUE = {"torch.result_type", "Tensor.real", "torch.empty", "torch.empty_like", "Tensor.new_empty", "torch.backends.mha.get_fastpath_enabled"}
#: Signatures that overloads of C++ share, while Python's method has another.
#: (And `lstsq`, whose right side the documentation calls B and the schema b.)
_OTHER_ORDER = {"Tensor.where", "torch.special.softmax", "torch.linalg.lstsq"}


def _names(parameters):
    return [_ONE.get(n, n) for n in parameters if n not in _LEFT_OUT]


def _theirs(path):
    """Parameters of a function of PyTorch, by position and by name alone; several where it is overloaded."""
    home, _, last = path.rpartition(".")
    function = getattr(torch.Tensor if home == "Tensor" else cases.value(home, {}), last)
    if inspect.isfunction(function):
        own = inspect.signature(function).parameters.values()
        if any(p.kind == p.VAR_KEYWORD for p in own):
            return []
        return [([p.name for p in own if p.kind != p.KEYWORD_ONLY], [p.name for p in own if p.kind == p.KEYWORD_ONLY])]
    prefix = {"torch.special": "special_", "torch.linalg": "linalg_"}.get(home, "")
    found = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{prefix}{last}"):
        given = schema.arguments
        if given and str(given[0].type) == "Tensor" and not any(a.is_out for a in given):
            found.append(([a.name for a in given if not a.kwarg_only], [a.name for a in given if a.kwarg_only]))
    return found


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Paths(unittest.TestCase):
    def test_every_claimed_path_is_one_of_pytorch(self):
        """By a schema of C++ or a signature of Python: parameters in their order, by their names."""
        for path in cases.paths():
            operator, in_place = find(path)
            wanted = [] if in_place or path in _OTHER_ORDER else _theirs(path)
            own = list(operator.signature.parameters.values())[1:]
            some = any(p.kind == p.VAR_POSITIONAL for p in own)
            by_place = _names(p.name for p in own if p.kind == p.POSITIONAL_OR_KEYWORD)
            with self.subTest(path=path):
                fits = [(some or _names(a) == by_place[: len(_names(a))]) and set(_names(k)) <= {p.name for p in own} for a, k in wanted]
                self.assertTrue(any(fits) or not fits, f"{operator.signature} for {wanted}")

    def test_every_other_path_is_refused(self):
        """Whatever two modules call alike."""
        homes = ["torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft"]
        modules = [(home, cases.value(home, {})) for home in homes]
        if importlib.util.find_spec("torchvision") is not None:
            import torchvision.ops

            modules.append(("torchvision.ops", torchvision.ops))
        refused = 0
        for home, module in modules:
            for name in dir(module):
                function = getattr(module, name)
                if name.startswith("_") or not callable(function) or isinstance(function, (type, types.ModuleType)):
                    continue
                found = objects.of_module(module, name)
                if not isinstance(found, objects.OpRef) or objects.is_listed(f"{home}.{name}"):
                    continue
                # Another path of the very same function, or none.
                alike = found.path in (*TABLE, *REFUSED) and objects.function_of(found) is function
                self.assertTrue(alike or objects.operator_at(found.path) is None, f"{home}.{name} as {found.path}")
                refused += not alike
        self.assertGreater(refused, 300)

    def test_methods_that_are_not_listed(self):
        for name in dir(torch.Tensor):
            if not name.startswith("_") and not objects.is_listed(f"Tensor.{name}"):
                self.assertIsNone(objects.operator_at(f"Tensor.{name}"), name)

    def test_one_name_in_two_modules(self):
        """`torch.linalg.solve` is no `solve` of anywhere else, and a name in place is no function where PyTorch has none."""
        def solve(x):
            return torch.linalg.solve_ex(x, x)

        def added(x):
            return torch.add_(x, x)

        for function, text in ((solve, "torch.linalg.solve_ex is not supported"), (added, "module 'torch' has no attribute 'add_'; did you mean add?")):
            with self.assertRaisesRegex(ftt.ScriptError, text.replace("?", "[?]")):
                ftt.script(function)(torch.ones(2, 2))

    def test_identity_of_functions(self):
        """What is imported by name is found by identity."""
        from torch.nn.functional import unfold

        self.assertEqual(objects.operator_of(unfold).path, "torch.nn.functional.unfold")
        self.assertEqual(objects.operator_of(torch.Tensor.unfold).path, "Tensor.unfold")
        self.assertEqual(objects.operator_of(torch._VF.lstm).path, "torch.lstm")
        self.assertEqual(objects.operator_of(torch.ops.aten.add.Tensor).path, "aten.add.Tensor")
        self.assertEqual(objects.operator_of(torch.fft.fft).path, "torch.fft.fft")
        self.assertIsNone(objects.operator_of(torch.lobpcg))
        with self.assertRaises(Problem):
            objects.of_module(torch, "there_is_no_such_function")


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Values(unittest.TestCase):
    """Every claimed path against eager mode."""

    def compare(self, found, expected, what):
        if isinstance(expected, (tuple, list)):
            self.assertEqual(len(found), len(expected), what)
            for a, b in zip(found, expected):
                self.compare(a, b, what)
        elif isinstance(expected, torch.Tensor):
            self.assertEqual((found.shape, found.dtype), (expected.shape, expected.dtype), what)
            if expected.is_complex():
                found, expected = torch.view_as_real(found.resolve_conj()), torch.view_as_real(expected.resolve_conj())
            near = torch.allclose(found.double(), expected.double(), rtol=2e-5, atol=2e-6, equal_nan=True)
            self.assertTrue(near, f"{what}: {found} {expected}")
        else:
            self.assertAlmostEqual(found, expected, 5, what)

    def run_texts(self, texts, parameters, given, expected, at_once=12):
        """Functions of a few expressions each."""
        with tempfile.TemporaryDirectory() as folder:
            groups = [range(at, min(at + at_once, len(texts))) for at in range(0, len(texts), at_once)]
            lines = ["import math\nimport torch\nimport torch.nn.functional as F\n"]
            for n, group in enumerate(groups):
                names = parameters(group)
                lines.append(f"\n\ndef f{n}({', '.join(names)}):\n    return (\n" + "".join(f"        {texts[k]},\n" for k in group) + "    )\n")
            module = load("operator_paths", "".join(lines), folder)
            for n, group in enumerate(groups):
                with self.subTest(texts=[texts[k] for k in group]):
                    found = ftt.script(getattr(module, f"f{n}"), engine="interpret")(*given(group))
                    for k, result in zip(group, found):
                        self.compare(result, expected(k), texts[k])

    def test_paths(self):
        given = cases.arguments()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            by_path = cases.at_paths([*cases.paths(), *cases.overloads()], given, most=1)
            self.assertEqual([p for p, texts in by_path.items() if not texts and not p.startswith("aten.") and p not in _NO_VALUE], [])
            texts = sorted({text for own in by_path.values() for text in own})
            self.run_texts(texts, lambda _: list(given), lambda _: list(cases.arguments().values()), lambda k: cases.value(texts[k], cases.arguments()))

    def test_overloads_as_eager_mode_calls_them(self):
        """The calls of ATen that eager mode makes for the lines, one for each overload."""
        texts, tensors, results = [], [], []
        for name, calls in sorted(cases.recorded(cases.arguments(), most=1).items()):
            for (args, named), result in calls:
                if objects.operator_at(name) is not None and "empty" not in name:
                    own = []
                    texts.append(f"torch.ops.{name}({_written(args, named, f'a{len(texts)}_', own)})")
                    tensors.append(own)
                    results.append(result)
        names = lambda group: [f"a{k}_{i}" for k in group for i in range(len(tensors[k]))]  # noqa: E731
        self.run_texts(texts, names, lambda group: [t.clone() for k in group for t in tensors[k]], lambda k: results[k])
        self.assertGreater(len(texts), 250)

    def test_claimed_overloads_exist(self):
        for path in cases.overloads():
            _, packet, overload = path.split(".")
            self.assertTrue(hasattr(getattr(torch.ops.aten, packet), overload), path)


def _written(args, named, prefix, tensors):
    """Arguments as text; tensors become parameters."""
    def text(value):
        if isinstance(value, torch.Tensor):
            tensors.append(value)
            return f"{prefix}{len(tensors) - 1}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(text, value)) + "]"
        if isinstance(value, float) and (value != value or abs(value) == float("inf")):
            return f"float('{value}')"
        return str(value) if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)) else f"'{value}'" if isinstance(value, torch.device) else repr(value)

    return ", ".join([text(a) for a in args] + [f"{k}={text(v)}" for k, v in named.items() if v is not None])


if __name__ == "__main__":
    unittest.main()
