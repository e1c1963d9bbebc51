# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles that hold the parameters of a model: calls pass inputs and outputs alone, and parameters are bound by name."""

import os
import tempfile
import unittest
import warnings

import numpy as np

import fractaltensor as ft

try:
    import safetensors.torch
    import torch
except ImportError:
    torch = None
else:
    import fractaltensor.torch as ftt
    import imported_models


@unittest.skipUnless(torch is not None, "PyTorch or safetensors is not installed")
class Held(unittest.TestCase):
    def setUp(self):
        self.enterContext(torch.no_grad())
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = os.path.join(self.folder, "model.ftb")

    def bundle(self, name):
        """A model, its arguments, and a bundle of it."""
        module, args = imported_models.make(name)
        made = ftt.from_exported(torch.export.export(module, args), engine="cpu").export(self.path, *args, targets="cpu")
        self.assertEqual((made.path, made.steps), (self.path, ()))
        return module, args, ft.load(self.path)

    def equal(self, bundle, module, args):
        found, expected = bundle(*args), module(*args)
        for ours, theirs in zip(found if isinstance(found, tuple) else [found], expected if isinstance(expected, tuple) else [expected], strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)

    def test_parameters_by_name(self):
        module, args, bundle = self.bundle("bottleneck")
        self.assertEqual(bundle.entries, ["Bottleneck"])
        self.assertEqual(len(bundle[bundle.entries[0]].arguments), 1)
        known = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        self.assertEqual({n: h.shape for n, h in bundle.held.items()}, {n: tuple(known[n].shape) for n in bundle.held})
        self.assertTrue(all(h.is_bound and h.dtype == "f32" for h in bundle.held.values()))
        self.assertEqual(set(known) - set(bundle.held), {n for n in known if n.endswith("num_batches_tracked")})
        self.equal(bundle, module, args)
        # One that calls use as it is, and one of which they use what was computed when it was bound.
        for name in ("body.0.weight", "body.1.running_var"):
            known[name].mul_(1.5)
            bundle.bind({name: known[name]})
            self.equal(bundle, module, args)
        module = imported_models.draw_weights(module, seed=7)
        values = {n: known[n].contiguous() for n in bundle.held}
        file = os.path.join(self.folder, "model.safetensors")
        safetensors.torch.save_file(values, file)
        bundle.bind(file)
        self.equal(bundle, module, args)

    def test_what_does_not_fit_leaves_all_as_it_was(self):
        module, args, bundle = self.bundle("mmoe")
        name = "gates.0.bias"
        good = {n: p.detach().contiguous() for n, p in module.named_parameters()}
        for values, text in (
            ({name: good[name] * 2, "gates.9.bias": good[name]}, 'the program has no parameter "gates.9.bias"'),
            ({name: torch.zeros(4)}, 'parameter "gates.0.bias": expected 3xf32, found 4xf32'),
            ({name: torch.zeros(3, dtype=torch.float64)}, 'parameter "gates.0.bias": expected 3xf32, found 3xf64'),
            ({name: good[name] * 2, "experts": good["experts"].transpose(1, 2).contiguous().transpose(1, 2)}, "expected dense elements"),
            ({name: 3}, "parameter 'gates.0.bias' is int: pass an array"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ft.Error, text):
                bundle.bind(values)
        file = os.path.join(self.folder, "model.safetensors")
        for values, text in (
            ({k: v for k, v in good.items() if k != name}, f'has no value for parameter "{name}"'),
            ({**good, "more": torch.zeros(1)}, 'the program has no parameter "more"'),
        ):
            safetensors.torch.save_file(values, file)
            with self.subTest(text), self.assertRaisesRegex(ft.Error, text):
                bundle.bind(file)
        with open(file, "rb") as whole:
            data = whole.read()
        with open(file, "wb") as short:
            short.write(data[:-1])
        with self.assertRaisesRegex(ft.Error, "that the file has after its header"):
            bundle.bind(file)
        self.equal(bundle, module, args)

    def test_not_finite(self):
        _, _, bundle = self.bundle("mmoe")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bundle.bind({"gates.0.bias": np.array([1, np.inf, np.nan], np.float32)})
        self.assertIn("parameter 'gates.0.bias' has 2 elements that are not finite", [str(w.message).split(": ", 1)[1] for w in caught])

    def test_several_results_and_scripts(self):
        weight = np.arange(6, dtype=np.float32).reshape(2, 3)

        def function(x, y):
            return x @ weight, y + 1

        x, y = np.ones((4, 2), np.float32), np.zeros(3, np.float32)
        ftt.script(function, engine="cpu").export(self.path, x, y, targets="cpu")
        bundle = ft.load(self.path)
        self.assertEqual([name for name, *_ in bundle[bundle.entries[0]].arguments], ["x", "y"])
        self.assertEqual(list(bundle.held), ["weight"])
        first, second = bundle(x, y)
        np.testing.assert_array_equal(first, x @ weight)
        np.testing.assert_array_equal(second, y + 1)

    def test_what_no_bundle_can_hold(self):
        for function, text in (
            (lambda x: x.sort()[0], "library steps sort"),
            (lambda x: (x + 1, x), "a bundle's results are tensors"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ft.ArgumentError, text):
                ftt.script(function, engine="cpu").export(self.path, np.ones(4, np.float32))
            self.assertFalse(os.path.exists(self.path))


if __name__ == "__main__":
    unittest.main()
