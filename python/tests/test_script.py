# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``fractaltensor.torch.script``: programs, operators and random programs against eager PyTorch; NumPy alone, too."""

import ast
import importlib.util
import os
import pathlib
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock

import numpy as np

import fractaltensor as ft
from fractaltensor import torch as ftt

HERE = pathlib.Path(__file__).resolve().parent
HAS_TORCH = importlib.util.find_spec("torch") is not None
NEEDS_TORCH = "PyTorch is not installed"
ENGINES = ("interpret", "cpu")

if HAS_TORCH:
    import torch


def load(name, text, folder):
    """A module from text, with a file, so that its functions have source."""
    path = os.path.join(folder, name + ".py")
    pathlib.Path(path).write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- NumPy alone -----------------------------------------------------------------------------------------------------------


def fill_rows(x, k: int):
    for i in range(x.shape[0]):
        if i % 2 == 0:
            continue
        x[i] = x[i - 1] + k
    return x[-1], x.sum()


def count_down(x):
    steps = 0
    while x.sum() > 10 and steps < 20:
        x -= 1
        steps += 1
        if (x < -3).any():
            break
    return steps


def by_name(x):
    y = ftt.softmax(ftt.matmul(x, x.t()), -1)
    y[ftt.tril(ftt.ones_like(y)) == 0] = 0
    values, places = y.flatten().sort(descending=True)
    return ftt.cat([values[:3], places[:2].float()])


def overlapping_copy(x):
    x[1:] = x[:-1]
    return x


def carried_view(x):
    row = x[0]
    for i in range(x.shape[0]):
        row.add_(1)
        row = x[i]
    return row


def early(x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 3:
                return i * 10 + j, x[i]
    return -1, x[0]


def data_sizes(x):
    """Sizes that are data, inside of a loop."""
    total = ftt.zeros(3, dtype=ftt.int64)
    for row in x:
        picked = row[row > 1]
        total[0] += picked.numel()
        total[1] += picked.sum()
        if picked.numel() > 2:
            total[2] += picked.sort()[0][2]
    return total


def double_and_add(x, y):
    return x * 2 + y


def sorted_places(x, i, j):
    y = x[i].sort().values
    return y[j] + 1


class WithNumpy(unittest.TestCase):
    def run_both(self, function, *arrays, **options):
        """Results of all engines, which must agree; arrays are copied before."""
        found = []
        for engine in ENGINES:
            own = [a.copy() if isinstance(a, np.ndarray) else a for a in arrays]
            found.append((ftt.script(function, engine=engine, **options)(*own), own))
        for (a, x), (b, y) in zip(found, found[1:]):
            for p, q in zip((*_flat(a), *_flat(x)), (*_flat(b), *_flat(y))):
                np.testing.assert_array_equal(p, q)
        return found[0]

    def test_rows(self):
        (last, total), (x, _) = self.run_both(fill_rows, np.arange(15, dtype=np.int64).reshape(5, 3), 7)
        expected = np.arange(15).reshape(5, 3)
        expected[1], expected[3] = expected[0] + 7, expected[2] + 7
        np.testing.assert_array_equal(x, expected)
        np.testing.assert_array_equal(last, expected[-1])
        self.assertEqual(total, expected.sum())
        self.assertIsInstance(last, np.ndarray)

    def test_while(self):
        steps, (x,) = self.run_both(count_down, np.array([9, 8, 4], np.int64))
        self.assertEqual(steps, 4)
        np.testing.assert_array_equal(x, [5, 4, 0])

    def test_operators_by_name(self):
        x = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
        y = ftt.script(by_name, engine="interpret")(x)
        self.assertEqual(y.shape, (5,))
        s = np.exp(x @ x.T - (x @ x.T).max(-1, keepdims=True))
        s = np.tril(s / s.sum(-1, keepdims=True))
        np.testing.assert_allclose(y[:3], np.sort(s.reshape(-1))[::-1][:3], rtol=1e-5)

    def test_loops_that_end_on_data_are_one_function(self):
        """Counters of all kinds; a loop that ends before anything is divided by 0; results of loops that never begin."""
        def walk_down(x, n: int):
            i, left, total = n, 100, x[0] * 0
            while i >= 1 and total[0] < left:
                total = total + x[i] // (x[i, 0] - x[i, 0] + i)
                x[i] = total
                x[i - 1, 1] += 1
                i -= 2
            return total, i

        def first_above(x, limit: int):
            found, at = x[0] * 0 - 1, -1
            for i in range(x.shape[0]):
                if x[i].sum() > limit:
                    found, at = x[i] * 2, i
                    break
                x[i] -= 1
            return found, at

        for function, number in ((walk_down, 5), (walk_down, 4), (walk_down, 0), (first_above, 12), (first_above, 100), (first_above, -100)):
            x = np.arange(12, dtype=np.int64).reshape(6, 2)
            with self.subTest(function=function.__name__, number=number):
                expected, own = _by_hand(function, x.copy(), number)
                results, (after, _) = self.run_both(function, x, number)
                np.testing.assert_array_equal(after, own)
                for a, b in zip(results, expected):
                    np.testing.assert_array_equal(a, b)
                script = ftt.script(function)
                self.assertEqual(len(script.lower(x, number).segments()), 1)
                self.assertEqual(script.remarks, [])

    def test_a_loop_that_nothing_bounds(self):
        """It is gone through from outside."""
        def halve(x):
            steps = 0
            while x.sum() > 3:
                x //= 2
                steps += 1
            return steps

        steps, (x,) = self.run_both(halve, np.array([64, 9, 5], np.int64))
        self.assertEqual(steps, 5)
        np.testing.assert_array_equal(x, [2, 0, 0])

    def test_overlapping_copy_is_exact(self):
        result, (x,) = self.run_both(overlapping_copy, np.arange(6, dtype=np.int32))
        np.testing.assert_array_equal(x, [0, 0, 1, 2, 3, 4])

    def test_an_argument_that_is_returned_is_itself(self):
        x = np.arange(4, dtype=np.int64)
        self.assertIs(ftt.script(overlapping_copy)(x), x)

    def test_carried_views(self):
        row, (x,) = self.run_both(carried_view, np.zeros((4, 2), np.int64))
        np.testing.assert_array_equal(x, [[2, 2], [1, 1], [1, 1], [0, 0]])

    def test_return_from_loops(self):
        x = np.array([[1, 2], [3, 9]], np.int64)
        (place, row), _ = self.run_both(early, x)
        self.assertEqual(place, 11)
        np.testing.assert_array_equal(row, [3, 9])
        self.assertEqual(self.run_both(early, x * 0)[0][0], -1)

    def test_sizes_that_are_data(self):
        x = np.array([[0, 5, 2, 9], [1, 1, 1, 2], [0, 0, 0, 0]], np.int64)
        total, _ = self.run_both(data_sizes, x)
        np.testing.assert_array_equal(total, [4, 18, 9])

    def test_sizes_that_are_found_equal(self):
        """A check at run time says that two sizes are equal: compiled code has one name for them, and knows the most that they can be."""
        def joined(x, y):
            a, b = x[x > 0], y[y > 0]
            c = a * 2 + b
            return c, c * a - b

        x, y = np.array([3, -1, 4, 1, -5, 9, 2], np.int64), np.array([2, 7, 1, -8, 2, 8], np.int64)
        (whole, rest), _ = self.run_both(joined, x, y)
        a, b = x[x > 0], y[y > 0]
        np.testing.assert_array_equal(whole, a * 2 + b)
        np.testing.assert_array_equal(rest, (a * 2 + b) * a - b)
        script = ftt.script(joined, engine="cpu")
        script(x, y)
        self.assertEqual(script.report().interpreted, 0)
        self.assertTrue(any("<= 6" in text for text in script.lower(x, y).segments()))
        with self.assertRaises(ftt.RunShapeError):
            script(x, -y)

    def test_strides(self):
        """Arguments of any strides are copied in, and back where they are written."""
        base = np.zeros((4, 6), np.int64)
        part = base[::2, 1::3]
        script = ftt.script(carried_view)
        script(part)
        np.testing.assert_array_equal(part, [[2, 2], [0, 0]])
        self.assertEqual(base.sum(), 4)
        self.assertGreater(script.copied_bytes, 0)

    def test_lengths(self):
        """A size that dims= names is no reason to compile again."""
        script = ftt.script(fill_rows, engine="interpret", dims={"x": ("N", None)})
        first = script.lower(np.zeros((3, 2), np.int64), 1)
        for n in (1, 2, 5):
            x = np.arange(2 * n, dtype=np.int64).reshape(n, 2)
            expected = x.copy()
            for i in range(1, n, 2):
                expected[i] = expected[i - 1] + 1
            script(x, 1)
            np.testing.assert_array_equal(x, expected)
            self.assertIs(script.lower(x, 1), first)

    def test_the_page_of_operators_is_the_table(self):
        from fractaltensor.torch import document

        page = HERE.parent.parent / "docs/torch-operators.md"
        if os.environ.get("FT_UPDATE"):
            page.write_text(document.page())
        self.assertEqual(page.read_text(), document.page())

    def test_items_that_are_augmented(self):
        """`x[indices] += 1` writes what it reads; a view does not twice."""
        def augment(x, i):
            x[i] += 1
            x[x > 3] *= 2
            x[0, 1:] -= 5
            rows = [x[1], 3]
            rows[0] += 1
            rows[1] += 4
            return rows[1]

        four, (x, _) = self.run_both(augment, np.arange(6, dtype=np.int64).reshape(2, 3), np.array([1]))
        self.assertEqual(four, 7)
        np.testing.assert_array_equal(x, [[0, -4, -3], [9, 11, 13]])

    def test_modules_of_operators_need_not_be_there(self):
        from unittest import mock

        def kept(boxes, scores):
            import torchvision
            return boxes[torchvision.ops.nms(boxes, scores, 0.5)]

        def misnamed(boxes):
            import torchvision
            return torchvision.transforms.flip(boxes)

        boxes = np.array([[0, 0, 4, 4], [0, 0, 4, 5], [8, 8, 9, 9]], np.float32)
        with mock.patch.dict(sys.modules, {"torchvision": None, "torchvision.ops": None}):
            for engine in ENGINES:
                found = ftt.script(kept, engine=engine)(boxes, np.array([0.1, 0.7, 0.3], np.float32))
                np.testing.assert_array_equal(found, boxes[1:])
            with self.assertRaisesRegex(ftt.ScriptError, "module 'torchvision' is not installed, and 'transforms' is no module of operators"):
                ftt.script(misnamed)(boxes)

    def test_steps_can_be_replaced(self):
        from fractaltensor.torch.runtime import library

        calls = []
        own = library.step("sort")

        def counted(*args, **kwargs):
            calls.append(kwargs)
            return own(*args, **kwargs)

        ftt.register_step("sort", counted)
        try:
            ftt.script(by_name, engine="interpret")(np.ones((3, 4), np.float32))
        finally:
            ftt.register_step("sort", own)
        self.assertEqual(calls, [{"dim": 0, "descending": True}])

    def test_data_indices_in_compiled_loops(self):
        """What nothing bounds is checked, on every engine, and arguments stay memory of their own."""
        def walk(x, places):
            total = x[0].clone()
            for t in range(places.shape[0]):
                total += x[places[t]]
                x[places[t]] = total
            return total

        x, places = np.arange(12, dtype=np.int64).reshape(4, 3), np.array([1, -1, 2])
        total, (after, _) = self.run_both(walk, x, places)
        expected, rows = x[0].copy(), x.copy()
        for p in places:
            expected += rows[p]
            rows[p] = expected
        np.testing.assert_array_equal(total, expected)
        np.testing.assert_array_equal(after, rows)
        for engine in ENGINES:
            with self.subTest(engine), self.assertRaises(ftt.RunIndexError):
                ftt.script(walk, engine=engine)(x.copy(), np.array([0, 4]))

    def test_division_by_zero(self):
        def divide(x, n: int):
            k = x[0] + n
            return x // x[1], int(k) // int(x[2])

        for engine in ENGINES:
            script = ftt.script(divide, engine=engine)
            for x in ([4, 0, 1], [4, 1, 0]):
                with self.subTest(engine=engine, x=x), self.assertRaisesRegex(ftt.RunError, "division by zero"):
                    script(np.array(x), 1)
            self.assertEqual(script(np.array([4, 2, 2]), 1)[1], 2)

    def test_steps_are_named(self):
        program = ftt.script(data_sizes, engine="interpret").lower(np.zeros((2, 3), np.int64))
        self.assertEqual(program.steps(), ["nonzero", "sort"])


def _by_hand(function, x, number):
    """The program as Python and NumPy run it, and its first argument afterwards."""
    return function(x, number), x


def _flat(value):
    if isinstance(value, (tuple, list)):
        return [y for x in value for y in _flat(x)]
    return [value]


# -- PyTorch ---------------------------------------------------------------------------------------------------------------


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import script_programs

        cls.programs = script_programs
        cls.vision = sys.modules.get("torchvision"), sys.modules.get("torchvision.ops")
        # The same suppression for both, whatever is installed.
        vision, ops = types.ModuleType("torchvision"), types.ModuleType("torchvision.ops")
        vision.ops, ops.nms, ops.batched_nms = ops, script_programs.plain_nms, script_programs.plain_batched_nms
        sys.modules.update({"torchvision": vision, "torchvision.ops": ops})

    @classmethod
    def tearDownClass(cls):
        for name, module in zip(("torchvision", "torchvision.ops"), cls.vision):
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module

    def check(self, name, engine):
        function = getattr(self.programs, name)
        ours, theirs = self.programs.inputs(name), self.programs.inputs(name)
        script = ftt.script(function, engine=engine)
        found, expected = script(*ours), function(*theirs)
        pairs = list(zip(_flat([found, ours]), _flat([expected, theirs])))
        self.assertEqual(len(_flat([found, ours])), len(_flat([expected, theirs])))
        for a, b in pairs:
            if not isinstance(b, torch.Tensor):
                self.assertEqual(a, b)
                continue
            self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
            if b.dtype.is_floating_point:
                torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
            else:
                self.assertTrue(torch.equal(a, b))
        return script

    def test_equal_to_eager(self):
        for name in self.programs.NAMES:
            for engine in ENGINES:
                with self.subTest(program=name, engine=engine):
                    self.check(name, engine)

    def test_recurrent_programs_are_compiled_whole(self):
        for name in ("nasrnn", "lstm", "lstm_keeping", "kv_attention", "normalize", "normalize_in_place", "increment_rows", "seq2seq", "seq2seq_breaking"):
            with self.subTest(name):
                script = self.check(name, "cpu")
                self.assertEqual(script.remarks, [])
                # One function, also where data end a loop: nothing of it is gone through from outside.
                self.assertEqual(len(script.lower(*self.programs.inputs(name)).segments()), 1)

    def test_the_interpreter_says_why(self):
        def masks(prototypes, boxes, scores):
            return prototypes @ boxes[scores > 0.5].t()  # as many columns as there are such boxes

        def distances(points, found, scores):
            return (points[scores > 0.5][:, None] - found[scores < 0.9]).abs().sum(1)  # a sum over one such size beside another

        g = torch.Generator().manual_seed(2)
        arguments = [torch.rand(*sizes, generator=g) for sizes in ((3, 4, 5), (7, 5), (7,))]
        script = ftt.script(masks, engine="cpu")
        torch.testing.assert_close(script(*arguments), masks(*arguments))
        self.assertEqual(script.report().interpreted, 0)
        arguments[0] = arguments[1] + 1
        script = ftt.script(distances, engine="cpu")
        torch.testing.assert_close(script(*arguments), distances(*arguments))
        self.assertRegex(repr(script.remarks), "runs in the interpreter: .* has an open size that is no row")

    def test_remarks_say_why_a_program_is_divided(self):
        """One for each loop and condition that is gone through from outside, whatever the reason."""
        from fractaltensor.torch.ir.lengths import costs

        def ends_on_data(x, i):
            k = 0
            while (y := x * k).sum() < 20:
                k += 1
                if y.max() > 6:
                    break
            return y

        def indexed(x, i):
            for k in range(3):
                x[i[k]] += 1

        def sorted_rows(x, i):
            for k in range(3):
                x[k] = x[k].sort()[0]

        def product(x, i):
            if x.sum() > 0:
                return x.t() @ x
            return x.t() * 0 @ (x + 1)

        def whole(x, i):
            for k in range(3):
                x[k] += k

        small, i = torch.ones(3, 4), torch.tensor([0, 2, 1])
        found = {}
        for function, x in ((ends_on_data, small), (indexed, small), (sorted_rows, small), (product, torch.ones(1100, 1000)), (whole, small)):
            script = ftt.script(function, engine="cpu")
            program, name = script.lower(x.clone(), i), function.__name__
            found[name] = [repr(r) for r in script.remarks if "is gone through from outside: " in r.text]
            with self.subTest(function=name):
                self.assertEqual(len(found[name]), costs(program)["loops and conditions from outside"], script.remarks)
                for text in found[name]:
                    self.assertRegex(text, r"test_script.py:\d+: a (loop|condition): .*: \w+")
        self.assertRegex(found["sorted_rows"][0], "a loop: is gone through from outside: the library step 'sort' stands in it")
        self.assertRegex(found["product"][0], "a condition: is gone through from outside: .*the branches are not cheap")
        self.assertEqual(found["whole"], [])

    def test_steps_of_one_kind_stand_together(self):
        """All maps of a detector share segments, where each map's steps would cut those of the others."""
        for name, most in ("yolov3", 6), ("ssd", 7), ("yolact", 6), ("fcos", 10):
            with self.subTest(name):
                script = self.check(name, "cpu")
                self.assertFalse([r for r in script.remarks if "interpreter" in r.text], script.remarks)
                self.assertLessEqual(script.report().calls, most)
                self.assertEqual(script.report().copied_bytes, 0)


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class DeviceMemory(Programs):
    """What the engine for GPUs is made of, on the processor: PyTorch's tensors as storages, its operators as steps."""

    def check(self, name, engine):
        from fractaltensor.torch.runtime import engines, memory

        own = engines.make
        engines.make = lambda name, device: engines.CompiledEngine("cuda", "cpu", memory.TorchMemory("cpu"))
        try:
            return super().check(name, "cpu")
        finally:
            engines.make = own

    def test_equal_to_eager(self):
        for name in self.programs.NAMES:
            with self.subTest(program=name):
                self.check(name, "cpu")

    test_the_interpreter_says_why = None

    def test_steps(self):
        """Each as the processor's own."""
        from fractaltensor.torch.runtime import device_steps, library

        g = torch.Generator().manual_seed(4)
        x = torch.randint(0, 5, (6, 7), generator=g)
        rows, values = torch.tensor([2, 0, 2, -1]), torch.arange(28).reshape(4, 7)
        boxes = torch.rand(60, 2, generator=g) * 40
        boxes, scores = torch.cat([boxes, boxes + 9], 1), torch.rand(60, generator=g)
        labels = torch.randint(0, 3, (60,), generator=g)
        for name, operands, parameters in (
            ("nonzero", [x > 2], {}), ("sort", [x], {"dim": 1, "descending": True}), ("sort", [x], {"dim": 0, "descending": False}),
            ("topk", [x], {"k": 4, "dim": 1, "largest": True}), ("median", [x.float().flatten()], {}), ("unique", [x], {}), ("bincount", [x], {"minlength": 9}),
            ("searchsorted", [torch.arange(0, 9, 2), x], {"right": True}), ("index_put", [values, x, rows], {"dims": (0,), "accumulate": True}),
            ("index_put", [torch.full((6, 1), 9), x, torch.tensor([3])], {"dims": (1,), "accumulate": False}),
            ("nms", [boxes, scores], {"threshold": 0.3}), ("nms", [boxes, scores, labels], {"threshold": 0.3}),
        ):
            with self.subTest(name):
                theirs = library.step(name)(*(o.numpy() for o in operands), **parameters)
                ours = device_steps.step(name, "cuda")(*operands, **parameters)
                self.assertEqual(len(ours), len(theirs))
                for a, b in zip(ours, theirs):
                    np.testing.assert_array_equal(a.numpy() if isinstance(a, torch.Tensor) else a, b)
        with self.assertRaisesRegex(ftt.RunIndexError, "index 8 is out of range in dimension 0 of size 6"):
            device_steps.index_put(values[:1], x, torch.tensor([8]), dims=(0,), accumulate=False)
        ftt.register_step("sort", lambda *a, **k: ["mine"], device="tpu")
        self.assertEqual(device_steps.step("sort", "tpu")(x), ["mine"])

    def test_gpu_arguments_are_asked_for(self):
        with self.assertRaisesRegex(ft.DeviceError, "engine='cuda' needs arguments on a GPU"):
            ftt.script(self.programs.increment_rows, engine="cuda")(torch.ones(2, 2))


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class MorePrograms(unittest.TestCase):
    """What people write: `script_loops_and_branches.py`, with arguments that are written."""

    #: Those of which the compiler refuses a part: a sum over a size that is data.
    PARTLY_INTERPRETED = set()
    #: Not one function: sizes, indices of writes or exits are data.
    DIVIDED = {"parts_of_two_sizes", "survivors_of_rounds", "saddle", "power_by_squares", "masks_and_places"}

    @classmethod
    def setUpClass(cls):
        from script_loops_and_branches import PROGRAMS

        cls.programs = PROGRAMS

    def check(self, name, engine):
        function, makers = self.programs[name]

        def arguments():
            g = torch.Generator().manual_seed(5)
            return [make(g) for make in makers]

        ours, theirs = arguments(), arguments()
        script = ftt.script(function, engine=engine)
        found, expected = _flat([script(*ours), ours]), _flat([function(*theirs), theirs])
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            if not isinstance(b, torch.Tensor):
                self.assertEqual(a, b)
                continue
            self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
            if b.dtype.is_floating_point:
                near = {"rtol": 2e-2, "atol": 2e-2} if b.element_size() == 2 else {"rtol": 1e-4, "atol": 1e-5}
                torch.testing.assert_close(a, b, **near)
            else:
                self.assertTrue(torch.equal(a, b))
        return script

    def test_equal_to_eager(self):
        for name in self.programs:
            for engine in ENGINES:
                with self.subTest(program=name, engine=engine):
                    script = self.check(name, engine)
                    if engine == "cpu":
                        report = script.report()
                        self.assertEqual(report.interpreted > 0, name in self.PARTLY_INTERPRETED)
                        self.assertEqual(report.calls == 1 and report.steps == 0, name not in self.DIVIDED)

    def test_batches_are_around_their_recurrences(self):
        """Also after what people write around them: one map for each dimension that all statements share."""
        for name, maps in (("rnn_of_a_batch", "[map, scanl]"), ("both_ways", "[map, "), ("cached_attention_of_a_batch", "[map, map, "),
                           ("decayed_memory", "[map, "), ("heads_that_meet", None)):
            with self.subTest(name):
                function, makers = self.programs[name]
                g = torch.Generator().manual_seed(5)
                (graph,) = ftt.script(function, engine="cpu").lower(*(make(g) for make in makers)).segments_after("etdg")
                found = [line for line in graph.split("\n") if "etdg.block" in line and ("scanl" in line or "foldl" in line)]
                self.assertTrue(found)
                for line in found:
                    self.assertEqual("[map" in line.split("//")[0], maps is not None, line)
                    self.assertIn(maps or "l]", line)


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Algorithms(MorePrograms):
    """Decoders, dynamic programs, factorisations, filters: `script_algorithms.py`."""

    #: One function each, without library steps.
    WHOLE = {
        "sinkhorn", "power_iteration", "gram_schmidt", "warped", "soft_dtw", "life_in_windows", "prefix_sums", "kalman",
        "recursive_filter", "expm", "lifting", "union_boxes", "pagerank", "rk4", "heat", "gauss_seidel", "factors",
        "householder", "butterflies", "kadane", "masked_lstm", "attention_causal_loop", "online_softmax", "linear_attention",
        "delta_rule", "mamba_scan", "rwkv", "capsule", "rotary", "adam", "sliding_max", "cumulative_argmax", "integral_image",
        "checksum", "sum_from_none", "isin_data", "sum_from_zero", "total_nested", "prev_break", "state_tuple", "best_row",
        "sizes_by_counter", "eye_loop", "wavelets", "positions", "optional_by_keyword", "pascal",
    }

    @classmethod
    def setUpClass(cls):
        from script_algorithms import PROGRAMS

        cls.programs = PROGRAMS

    def test_equal_to_eager(self):
        for name in self.programs:
            for engine in ENGINES:
                with self.subTest(program=name, engine=engine):
                    script = self.check(name, engine)
                    if engine == "cpu":
                        report = script.report()
                        self.assertEqual(report.interpreted, 0)
                        if name in self.WHOLE:
                            self.assertEqual((report.calls, report.steps), (1, 0))

    test_batches_are_around_their_recurrences = None


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class ChangedPrograms(MorePrograms):
    """Changed forms of the programs at odd sizes, and others that people write: `script_boxes_and_searches.py`."""

    #: Parts that the compiler refuses: a size that is data, of what is computed from such a size.
    PARTLY_INTERPRETED = {"rle"}

    @classmethod
    def setUpClass(cls):
        from script_boxes_and_searches import PROGRAMS

        cls.programs = PROGRAMS

    def test_equal_to_eager(self):
        for name in self.programs:
            for engine in ENGINES:
                with self.subTest(program=name, engine=engine):
                    script = self.check(name, engine)
                    if engine == "cpu":
                        self.assertEqual(script.report().interpreted > 0, name in self.PARTLY_INTERPRETED)

    test_batches_are_around_their_recurrences = None


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Layers(unittest.TestCase):
    """Modules of torch.nn as they are: recurrent ones in all forms, attention, convolutions, losses."""

    def modules(self):
        nn, randn = torch.nn, torch.randn
        torch.manual_seed(3)
        block = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
        mask = torch.full((5, 5), float("-inf")).triu(1)
        return [
            (nn.LSTM(5, 6, 2, bidirectional=True), (randn(7, 2, 5),)), (nn.LSTM(5, 6), (randn(7, 5),)),
            (nn.LSTM(5, 6, batch_first=True), (randn(2, 7, 5), (randn(1, 2, 6), randn(1, 2, 6)))),
            (nn.RNN(5, 6, nonlinearity="relu"), (randn(7, 2, 5),)), (nn.GRU(5, 6, bias=False, batch_first=True), (randn(2, 1, 5),)),
            (nn.LSTMCell(5, 6), (randn(2, 5),)), (nn.GRUCell(5, 6), (randn(2, 5), randn(2, 6))), (nn.RNNCell(5, 6), (randn(5),)),
            (nn.MultiheadAttention(8, 2), (randn(5, 2, 8), randn(7, 2, 8), randn(7, 2, 8))), (block, (randn(2, 5, 8), randn(2, 7, 8), mask)),
            (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (randn(2, 5, 8),)),
            (nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(True), nn.MaxPool2d(2), nn.ConvTranspose2d(4, 2, 2, 2)), (randn(2, 3, 8, 8),)),
            (nn.Sequential(nn.Conv1d(4, 6, 3, groups=2, dilation=2), nn.GroupNorm(2, 6), nn.Hardswish(), nn.AdaptiveAvgPool1d(2)), (randn(2, 4, 13),)),
            (nn.CrossEntropyLoss(ignore_index=1), (randn(7, 5), torch.arange(7) % 5)), (nn.Bilinear(3, 4, 5), (randn(2, 3), randn(2, 4))),
        ]

    def test_equal_to_eager(self):
        for module, arguments in self.modules():
            module.eval()
            for engine in ENGINES:
                with self.subTest(module=str(module)[:60], engine=engine), torch.no_grad():
                    found, expected = _flat([ftt.script(module, engine=engine)(*arguments)]), _flat([module(*arguments)])
                    self.assertEqual(len(found), len(expected))
                    for a, b in zip(found, expected):
                        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)

    def test_dropout_between_layers_is_refused(self):
        with self.assertRaisesRegex(ftt.ScriptError, "dropout draws random numbers"), torch.no_grad():
            ftt.script(torch.nn.GRU(3, 3, 2, dropout=0.5))(torch.zeros(2, 1, 3))


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Steps(unittest.TestCase):
    """Library steps of our own, and what calls of short segments keep."""

    def test_suppression_is_the_greedy_one(self):
        """As box by box: with one box and many, boxes that are equal, empty, or NaN, and in blocks of one row."""
        from fractaltensor.torch.runtime import library

        def box_by_box(boxes, threshold):
            kept = []
            for i, (l, t, r, b) in enumerate(boxes):
                clear = True
                for k in kept:
                    kl, kt, kr, kb = boxes[k]
                    common = max(np.float32(0), min(r, kr) - max(l, kl)) * max(np.float32(0), min(b, kb) - max(t, kt))
                    union = (kr - kl) * (kb - kt) + (r - l) * (b - t) - common
                    clear = clear and not (union != 0 and common / union > threshold)
                if clear:
                    kept.append(i)
            return kept

        g = np.random.default_rng(3)
        for count, most in ((0, 16384), (1, 16384), (7, 16384), (127, 16384), (127, 1), (127, 400), (211, 16384)):
            corners = g.integers(0, 40, (count, 2)).astype(np.float32)
            boxes = np.concatenate([corners, corners + g.integers(0, 12, (count, 2))], 1).astype(np.float32)
            boxes[::5] = boxes[:1]
            with self.subTest(count=count, most=most), unittest.mock.patch.object(library, "_OVERLAPS", most):
                for threshold in (0.0, 0.3, 0.5):
                    self.assertEqual(library.suppress(boxes, threshold).tolist(), box_by_box(boxes, threshold))
        nan = np.full((3, 4), np.nan, np.float32)
        self.assertEqual(library.suppress(nan, 0.5).tolist(), [0, 1, 2])

    def test_calls_in_threads_do_not_share_structs(self):
        """Each with arrays of its own, also where sizes differ from call to call."""
        script = ftt.script(double_and_add, dims={"x": ("n",), "y": ("n",)})
        wrong = []

        def call(at):
            for n in range(1, 60):
                x, y = np.full(n + at, at, np.float32), np.arange(n + at, dtype=np.float32)
                if not np.array_equal(script(x, y), x * 2 + y):
                    wrong.append((at, n))

        call(0)
        threads = [threading.Thread(target=call, args=(at,)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_what_is_noticed_stays_in_a_segment(self):
        """What holds it is made beside its only use: no segment takes it, and the call looks at it there."""
        script = ftt.script(sorted_places)
        x, i, j = np.array([3.0, 1.0, 2.0], np.float32), np.array([2, -1, 0, 1]), np.array([0, 3, 1])
        program = script.lower(x, i, j)
        self.assertEqual(len(program.site_values), 2)
        taken = {v for segment in program.division.segments for v in segment.inputs}
        self.assertEqual([v for v in program.site_values if v in taken], [])
        np.testing.assert_array_equal(script(x, i, j), np.sort(x[i])[j] + 1)
        for first, second, wrong in ((np.array([0, 1, 2, 3]), j, "index 3"), (i, np.array([0, 4, 1]), "index 4")):
            with self.assertRaisesRegex(ftt.RunIndexError, wrong):
                script(x, first, second)

    def test_places_of_a_step(self):
        """The greatest that is out of range is told; none of no elements is."""
        from fractaltensor.torch.runtime import library

        x = np.arange(5)
        for index, expected, wrong in (([4, -5, 0], [4, 0, 0], library.NOTHING), ([5, 1, 9], [0, 1, 0], 9), ([-6, 1], [0, 1], -6), ([], [], library.NOTHING)):
            found, told = library.take(x, np.array(index, np.int64), dims=(0,))
            self.assertEqual((found.tolist(), int(told)), (expected, wrong))
        self.assertEqual(library.take(x[:0], np.zeros(0, np.int64), dims=(0,))[0].size, 0)
        with self.assertRaisesRegex(ftt.RunIndexError, "index 0 is out of range in dimension 0 of size 0"):
            library.take(x[:0], np.array([0]), dims=(0,))

    def test_structs_are_kept(self):
        """A call writes no structs but those of the first one."""
        from fractaltensor.torch.runtime import engines

        script = ftt.script(double_and_add)
        x = np.arange(7, dtype=np.float32)
        with unittest.mock.patch.object(engines, "Structs", wraps=engines.Structs) as made:
            for _ in range(5):
                np.testing.assert_array_equal(script(x, x), x * 3)
        self.assertEqual(made.call_count, 1)


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Reports(unittest.TestCase):
    def test_a_report(self):
        """Recurrent programs are one call; what they write into arguments is written there, without copies."""
        import script_programs

        for name in ("nasrnn", "nasrnn_in_place", "lstm", "seq2seq", "increment_rows", "normalize", "normalize_in_place", "kv_attention"):
            with self.subTest(name):
                script = ftt.script(getattr(script_programs, name))
                with self.assertRaisesRegex(ft.ArgumentError, "has not been called yet"):
                    script.report()
                values = script_programs.inputs(name)
                script(*values)
                found = script.report()
                self.assertEqual((found.calls, found.interpreted, found.steps, found.copies, found.copied_bytes), (1, 0, 0, 0, 0))
                self.assertIn("1 calls of compiled functions (0 interpreted)", repr(found))


    def test_old_rows_are_read_before_they_are_written(self):
        """In place, also where a loop reads rows that it writes later, or wrote before, or returns an old version."""
        def back(x):
            for i in range(x.shape[0] - 1):
                x[i] += x[i + 1]
            return x.sum()

        def forth(x):
            for i in range(1, x.shape[0]):
                x[i] += x[i - 1] * 2
            return x[0].clone()

        def turn(x):
            old = x.clone()
            x[::2] = old[::2].flip(0)
            return old

        def swap(x, y):
            for i in range(3):
                row = x[i].clone()
                x[i] = y[2 * i]
                y[2 * i] = row
            return x @ y.t()

        for function, sizes in ((back, [(7, 5)]), (forth, [(7, 5)]), (turn, [(9, 3)]), (swap, [(5, 4), (6, 4)])):
            with self.subTest(function.__name__):
                theirs = [torch.randint(-9, 9, size) for size in sizes]
                ours, script = [a.clone() for a in theirs], ftt.script(function)
                found, expected = script(*ours), function(*theirs)
                self.assertTrue(torch.equal(found, expected))
                for a, b in zip(ours, theirs):
                    self.assertTrue(torch.equal(a, b))


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class DirectCalls(unittest.TestCase):
    """Calls of one compiled function are made in C where nothing else is to be done."""

    def test_equal_whatever_comes(self):
        def f(x, y):
            z = x.clone()
            for i in range(x.shape[0]):
                z[i] += y[i].sum() * 2
            return z, z > 0

        def g(x):
            return x * 2 + 1

        g_ = torch.Generator().manual_seed(1)
        square = torch.randn(5, 5, generator=g_)
        both = ftt.script(f), ftt.script(g)
        for script, function, count in (*zip(both, (f, g), (2, 1)),):
            script(*[square] * 1, *[square + 1] * (count - 1))
            self.assertIsNotNone(script._direct)
            for x in (square, square.t(), square.double(), torch.randn(3, 7, generator=g_), torch.randn(5, 10, generator=g_)[:, ::2], square[1:].clone(),
                      (square * 9).int(), torch.nn.Parameter(square, requires_grad=False), square.clone()):
                for y in (x.clone(), x):
                    for _ in range(3):
                        given = [x, y][:count]
                        for a, b in zip(_flat([script(*given)]), _flat([function(*given)])):
                            self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
                            torch.testing.assert_close(a, b)
                            self.assertFalse(any(a.data_ptr() == other.data_ptr() for other in given))
            with self.assertRaises(ft.GradientError):
                script(*[square.clone().requires_grad_()] * count)
            with torch.no_grad():
                script(*[square.clone().requires_grad_()] * count)
            np.testing.assert_allclose(_flat([script(*[square.numpy()] * count)])[0], _flat([function(*[square] * count)])[0], rtol=1e-6)

    def test_results_are_their_own(self):
        script, x = ftt.script(lambda x: x + 1), torch.zeros(3)
        first, second = (script(x) for _ in range(3)), script(x)
        results = [*first, second]
        self.assertEqual(len({r.data_ptr() for r in results}), 4)
        x += 5
        self.assertEqual(results[0].sum(), 3)

    def test_what_is_the_runners(self):
        """Arguments that are written or read from outside, numbers, steps."""
        factor = [2.0]

        def writes(x):
            x += 1
            return x * 2

        def reads(x):
            return x * factor[0]

        def sorts(x):
            return x.sort()[0]

        def numbers(x, k: int):
            return x + k, k

        x = torch.arange(4.0)
        for function, arguments in ((writes, ()), (reads, ()), (sorts, ()), (numbers, (3,))):
            script, ours, theirs = ftt.script(function), x.clone(), x.clone()
            for step in range(3):
                factor[0] += step
                for a, b in zip(_flat([script(ours, *arguments), ours]), _flat([function(theirs, *arguments), theirs])):
                    self.assertTrue(a == b if not isinstance(b, torch.Tensor) else torch.equal(a, b))
            self.assertIsNone(script._direct, function.__name__)


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Operators(unittest.TestCase):
    """Each operator by name; the lines of script_operators.txt."""

    def arguments(self, special):
        g = torch.Generator().manual_seed(1)
        x, y = torch.randn(4, 6, generator=g), torch.randn(4, 6, generator=g)
        z = torch.randn(3, 4, 6, generator=g)
        i, m = torch.randint(0, 4, (4, 6), generator=g), torch.rand(4, 6, generator=g) > 0.5
        if special:
            x[0, 0], x[1, 1], x[2, 2] = float("nan"), float("inf"), float("-inf")
        return x, y, i, m, z

    def compare(self, found, expected, what):
        if isinstance(expected, (tuple, list)):
            self.assertEqual(len(found), len(expected), what)
            for a, b in zip(found, expected):
                self.compare(a, b, what)
        elif isinstance(expected, torch.Tensor):
            self.assertEqual((found.shape, found.dtype), (expected.shape, expected.dtype), what)
            if expected.is_complex():
                found, expected = torch.view_as_real(found.resolve_conj()), torch.view_as_real(expected.resolve_conj())
            exact = not expected.dtype.is_floating_point
            near = torch.equal(found, expected) if exact else torch.allclose(found.double(), expected.double(), rtol=2e-5, atol=2e-6, equal_nan=True)
            self.assertTrue(near, f"{what}: {found} {expected}")
        else:
            self.assertAlmostEqual(found, expected, 5, what)

    def check(self, engine):
        lines = [line for line in (HERE / "script_operators.txt").read_text().split("\n") if line and line[0] != "#"]
        with tempfile.TemporaryDirectory() as folder:
            text = "import math\nimport torch\nimport torch.nn.functional as F\n"
            text += "".join(f"\n\ndef f{n}(x, y, i, m, z):\n    return {line}\n" for n, line in enumerate(lines))
            module = load("script_operators", text, folder)
            for n, line in enumerate(lines):
                function = getattr(module, f"f{n}")
                script = ftt.script(function, engine=engine)
                parts = [ast.unparse(e) for e in ast.parse(line).body[0].value.elts]
                for special in (False, True):
                    with self.subTest(line=line[:60], special=special):
                        found, expected = script(*self.arguments(special)), function(*self.arguments(special))
                        for a, b, what in zip(found, expected, parts):
                            self.compare(a, b, what)

    def test_interpreted(self):
        self.check("interpret")


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Random(unittest.TestCase):
    """Random imperative programs, bit for bit; FT_PROGRAMS=N runs N of them on each engine."""

    def check(self, engine, first, count):
        import imperative_programs as generator

        with tempfile.TemporaryDirectory() as folder:
            compared = 0
            for seed in range(first, first + count):
                text, arguments = generator.program(seed)
                program = load(f"random{engine}{seed}", generator.HELPERS + text, folder).program
                g = torch.Generator().manual_seed(seed)
                theirs = [torch.randint(-5, 10, shape, generator=g) for shape, _ in arguments]
                ours = [a.clone() for a in theirs]
                try:
                    expected = program(*theirs)
                except RuntimeError as error:
                    # What eager mode itself refuses, such as `view` of a transposed copy.
                    self.assertIn("view size", str(error))
                    continue
                with self.subTest(engine=engine, seed=seed):
                    found = ftt.script(program, engine=engine)(*ours)
                    self.assertEqual(len(found), len(expected))
                    for at, (a, b) in enumerate(zip([*found, *ours], [*expected, *theirs])):
                        self.assertTrue(a.shape == b.shape and torch.equal(a, b), f"result {at} of:\n{text}")
                compared += 1
            self.assertGreaterEqual(compared, count * 95 // 100)

    def test_interpreted(self):
        self.check("interpret", 0, int(os.environ.get("FT_PROGRAMS", 305)))

    def test_compiled(self):
        self.check("cpu", 10000, int(os.environ.get("FT_PROGRAMS", 25)))

    def test_storages_behind_strided_views(self):
        """Two names of one storage, one by `unfold`: what is written lies in the storage of both."""
        self.check("cpu", 52107, 1)


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Loops(unittest.TestCase):
    def test_what_ends_a_loop_by_an_error(self):
        """Indices by counters of loops that the runner goes through are looked at; what is noted ends a loop that nothing else ends."""
        def by_counter(x):
            k = 0
            while k < 2 or x.sum() > 0:
                k += 1
                x.unbind(0)[3][-1 - k].zero_()
                x[0].add_(1)
            return x

        def by_data(x):
            k = 0
            while k < 2 or x.sum() > 0:
                k += 1
                x[0] += x[torch.tensor([k])].sum()
            return x

        def by_range(x, n: int):
            for i in range(n):
                if x[i % 2].sum() > 100:
                    break
                x[i + 1].add_(x.sort(0)[0][0])
            return x

        for function, values, index in ((by_counter, (), -4), (by_data, (), 4), (by_range, (9,), 4)):
            with self.subTest(function.__name__):
                with self.assertRaises(IndexError):
                    function(torch.ones(4, 3), *values)
                with self.assertRaisesRegex(ftt.RunIndexError, f"index {index}"):
                    ftt.script(function)(torch.ones(4, 3), *values)


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Overlaps(unittest.TestCase):
    def test_a_result_of_compiled_code_under_several_names(self):
        """Its memory begins with bytes that are no elements; names that overlap are views of all of it."""
        def program(x):
            t = x % 5 + x // 2
            k = 0
            while k < 3:
                k += 1
                row = t[0]
                for i in range(2):
                    row.add_(1)
                    row = t[i]
                row[torch.tensor([0])] = 7
                row[k % 2][row[k % 2] < 3] = 9
            return t

        x = torch.arange(4).reshape(2, 2)
        self.assertTrue(torch.equal(ftt.script(program)(x), program(x)))


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class TorchScript(unittest.TestCase):
    """Graphs of torch.jit as programs."""

    def compare(self, script, function, name):
        import script_programs

        ours, theirs = script_programs.inputs(name), script_programs.inputs(name)
        found, expected = script(*ours), function(*theirs)
        for a, b in zip(_flat([found, ours]), _flat([expected, theirs])):
            if isinstance(b, torch.Tensor):
                torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
            else:
                self.assertEqual(a, b)

    def test_programs(self):
        import script_programs

        names = """nasrnn lstm seq2seq kv_attention normalize nasrnn_in_place lstm_keeping kv_attention_two normalize_in_place
            increment_rows increment_backwards"""
        for name in names.split():
            function = getattr(script_programs, name)
            scripted = torch.jit.script(function)
            for graph in (scripted, scripted.graph):
                for engine in ENGINES:
                    with self.subTest(program=name, engine=engine, graph=type(graph).__name__):
                        self.compare(ft.from_torchscript(graph, engine=engine), function, name)

    def test_tensors_inside_of_a_graph(self):
        """Parameters of a frozen module are constants of its graph; calls are inlined."""
        torch.manual_seed(2)
        module = torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.Tanh()).eval()
        x = torch.randn(4, 5)
        script = ft.from_torchscript(torch.jit.freeze(torch.jit.script(module)), engine="cpu")
        with torch.no_grad():
            torch.testing.assert_close(script(x), module(x))

    def test_layers(self):
        """Frozen modules with lists of parameters, and what they raise where an argument does not fit."""
        nn = torch.nn
        torch.manual_seed(4)
        layers = ((Reader(), torch.randn(2, 7, 5)), (nn.GRUCell(5, 6), torch.randn(3, 5), torch.randn(3, 6)),
                  (nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.MaxPool2d(2)), torch.randn(2, 3, 8, 8)))
        for module, x, *state in layers:
            script = ft.from_torchscript(torch.jit.freeze(torch.jit.script(module.eval())), engine="cpu")
            with self.subTest(module=str(module)[:40]), torch.no_grad():
                for a, b in zip(_flat([script(x, *state)]), _flat([module(x, *state)])):
                    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
                with self.assertRaisesRegex(ft.Error, "the program raises|expects 3 or 4 dimensions"):
                    script(x[None, None], *state)

    def test_refused(self):
        with self.assertRaisesRegex(ft.ArgumentError, "expects a torch.jit.ScriptFunction, a frozen ScriptModule or a torch._C.Graph, found function"):
            ft.from_torchscript(_flat)
        with self.assertRaisesRegex(ft.ArgumentError, "the module has parameters or state: make them constants"):
            ft.from_torchscript(torch.jit.script(torch.nn.Linear(2, 2)))
        with self.assertRaisesRegex(ft.ArgumentError, "the module has no method forward"):
            ft.from_torchscript(torch.jit.freeze(torch.jit.script(torch.nn.LSTM(2, 2).eval())))


if HAS_TORCH:

    class Reader(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.LSTM(5, 6, batch_first=True)

        def forward(self, x):
            y, (h, c) = self.layer(x)
            return y, h, c

    class Cell(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.inner = torch.nn.Linear(width, width)
            self.norm = torch.nn.LayerNorm(width)
            self.scale = 0.5
            self.register_buffer("count", torch.zeros(1, dtype=torch.int64))

        def forward(self, x, h):
            self.count += 1
            return torch.tanh(self.norm(self.inner(x)) * self.scale + h)

    class Stack(torch.nn.Module):
        def __init__(self, width, depth):
            super().__init__()
            self.cells = torch.nn.ModuleList([Cell(width) for _ in range(depth)])
            self.head = torch.nn.Sequential(torch.nn.Linear(width, 3), torch.nn.ReLU())

        def forward(self, xs):
            h = xs.new_zeros(xs.shape[1], xs.shape[2])
            for x in xs:
                for cell in self.cells:
                    h = cell(x, h)
            return self.head(h), {"state": h}

        def method(self, x):
            return self.cells[0](x, x) + len(self.cells)


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Modules(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.stack = Stack(5, 2).eval()
        self.twin = Stack(5, 2).eval()
        self.twin.load_state_dict(self.stack.state_dict())
        self.xs = torch.randn(4, 3, 5)

    def test_a_module(self):
        with torch.no_grad():
            for engine in ENGINES:
                found, expected = ftt.script(self.stack, engine=engine)(self.xs), self.twin(self.xs)
                torch.testing.assert_close(found[0], expected[0])
                torch.testing.assert_close(found[1]["state"], expected[1]["state"])
                # A buffer that forward writes is written.
                self.assertTrue(torch.equal(self.stack.cells[1].count, self.twin.cells[1].count))

    def test_a_method_and_new_weights(self):
        with torch.no_grad():
            script = ftt.script(self.stack.method, engine="interpret")
            x = self.xs[0]
            torch.testing.assert_close(script(x), self.twin.method(x))
            for module in (self.stack, self.twin):
                module.cells[0].inner.weight.mul_(2)
                module.cells[0].scale = 0.25
                module.cells[0].inner.bias = torch.nn.Parameter(torch.ones(5))
            torch.testing.assert_close(script(x), self.twin.method(x))

    def test_gradients_are_refused(self):
        with self.assertRaisesRegex(ft.GradientError, "requires a gradient"):
            ftt.script(self.stack)(self.xs)
        x = torch.ones(3, requires_grad=True)
        with self.assertRaisesRegex(ft.GradientError, "argument 'b' requires a gradient"):
            import script_programs

            ftt.script(script_programs.increment_rows)(x)


if __name__ == "__main__":
    unittest.main()
