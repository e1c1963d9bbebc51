# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``fractaltensor.torch.script`` on a GPU: the programs of script_programs.py against eager PyTorch, streams, CUDA graphs, errors,
launches counted by PyTorch's profiler.

    FT_LIBRARY=… python3 python/tests/run.py test_script_gpu
"""

import importlib.util
import os
import pathlib
import sys
import tempfile
import types
import unittest

import fractaltensor as ft
from fractaltensor import torch as ftt

torch = None
if importlib.util.find_spec("torch"):
    import torch

HAS_GPU = torch is not None and torch.cuda.is_available()
#: Kernels of ours that a call launches; what begins, ends and copies is counted.
LAUNCHES = {"nasrnn": 1, "lstm": 1, "seq2seq": 2, "kv_attention": 2, "increment_rows": 1, "normalize": 1}


def on_gpu(values):
    return [v.cuda() if isinstance(v, torch.Tensor) else v for v in values]


def flat(value):
    if isinstance(value, (tuple, list)):
        return [y for x in value for y in flat(x)]
    return [value]


def launches(call):
    """The kernels that a call launches."""
    from torch.profiler import ProfilerActivity, profile

    call()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        call()
        torch.cuda.synchronize()
    return [e.name for e in found.events() if e.device_type == torch.autograd.DeviceType.CUDA and not e.name.startswith("Mem")]


@unittest.skipUnless(HAS_GPU, "no GPU, or PyTorch does not see it")
class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import script_programs

        cls.programs = script_programs
        cls.saved = {n: sys.modules.get(n) for n in ("torchvision", "torchvision.ops")}
        vision, ops = types.ModuleType("torchvision"), types.ModuleType("torchvision.ops")
        vision.ops, ops.nms, ops.batched_nms = ops, script_programs.plain_nms, script_programs.plain_batched_nms
        sys.modules.update({"torchvision": vision, "torchvision.ops": ops})

    @classmethod
    def tearDownClass(cls):
        for name, module in cls.saved.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module

    def check(self, name):
        """Against eager PyTorch on the CPU, whose programs make tensors there."""
        function = getattr(self.programs, name)
        ours, theirs = on_gpu(self.programs.inputs(name)), self.programs.inputs(name)
        script = ftt.script(function)
        found, expected = script(*ours), function(*theirs)
        ft.synchronize()
        a, b = flat([found, ours]), flat([expected, theirs])
        self.assertEqual(len(a), len(b))
        for x, y in zip(a, b):
            if not isinstance(y, torch.Tensor):
                self.assertEqual(x, y)
                continue
            self.assertEqual((x.shape, x.dtype, x.device.type), (y.shape, y.dtype, "cuda"))
            if y.dtype.is_floating_point:
                torch.testing.assert_close(x.cpu(), y, rtol=1e-4, atol=1e-4)
            else:
                self.assertTrue(torch.equal(x.cpu(), y))
        return script, ours

    def test_equal_to_eager(self):
        for name in self.programs.NAMES:
            with self.subTest(program=name):
                self.check(name)

    def test_launches(self):
        for name, most in LAUNCHES.items():
            with self.subTest(program=name):
                script, ours = self.check(name)
                self.assertFalse([r for r in script.remarks if "interpreter" in r.text], script.remarks)
                found = launches(lambda: script(*ours))
                print(f"{name}: {len(found)} launches", file=sys.stderr)
                self.assertLessEqual(len(found), most, found)
                self.assertGreater(len(found), 0)

    def test_no_waiting(self):
        """The host waits for nothing where no size is data: what PyTorch calls a synchronization is an error."""
        for name in ("nasrnn", "lstm", "seq2seq", "kv_attention", "normalize", "increment_rows"):
            with self.subTest(program=name):
                script, ours = self.check(name)
                torch.cuda.set_sync_debug_mode("error")
                try:
                    script(*ours)
                finally:
                    torch.cuda.set_sync_debug_mode("default")

    def test_streams(self):
        """Calls go to the current stream, after what is there."""
        script, (b,) = self.check("increment_rows")
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            x = torch.zeros_like(b)
            torch.cuda._sleep(20_000_000)
            x += 5
            y = script(x)
        torch.cuda.current_stream().wait_stream(stream)
        self.assertTrue(torch.equal(y, torch.full_like(b, 6)))

    def test_cuda_graph(self):
        script, (x, *weights) = self.check("nasrnn")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = script(x, *weights)
        x.mul_(0.5)
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(y, script(x, *weights))

    def test_writes_through_views(self):
        base = torch.zeros(8, 37, device="cuda")
        part = base[::2, 1:]
        self.programs.increment_backwards(expected := part.cpu().clone())
        ftt.script(self.programs.increment_backwards)(part)
        torch.testing.assert_close(part.cpu(), expected)
        self.assertEqual(float(base[1::2].abs().sum()), 0)


@unittest.skipUnless(HAS_GPU, "no GPU, or PyTorch does not see it")
class Errors(unittest.TestCase):
    def test_devices(self):
        def add(x, y):
            return x + y

        with self.assertRaisesRegex(ft.DeviceError, "engine='cuda' needs arguments on a GPU"):
            ftt.script(add, engine="cuda")(torch.ones(2), torch.ones(2))
        with self.assertRaisesRegex(ft.DeviceError, "argument 'y' is on cpu: this call computes on cuda:0"):
            ftt.script(add)(torch.ones(2, device="cuda"), torch.ones(2))
        with self.assertRaisesRegex(ft.DeviceError, "the engines 'interpret' and 'cpu' take tensors on the CPU"):
            ftt.script(add, engine="cpu")(torch.ones(2, device="cuda"), torch.ones(2, device="cuda"))

    def test_an_index_out_of_range(self):
        """The next call says it, or `synchronize`; the device goes on."""
        def pick(x, i):
            return x[i] * 2

        script = ftt.script(pick)
        x = torch.arange(4.0, device="cuda")
        script(x, torch.tensor([1, 9], device="cuda"))
        with self.assertRaisesRegex(ftt.RunIndexError, "index 9 is out of range"):
            ft.synchronize()
        self.assertEqual(script(x, torch.tensor([1, -1], device="cuda")).tolist(), [2, 6])
        ft.synchronize()


@unittest.skipUnless(HAS_GPU, "no GPU, or PyTorch does not see it")
class Steps(unittest.TestCase):
    def test_each_as_on_the_processor(self):
        """Sorting and selection are stable, masks and suppression give the same rows."""
        def sorting(x):
            return x.sort(1, descending=True), x.flatten().topk(7), x.argsort(0)

        def choosing(x):
            m = x > 2
            y = x[m]
            y[y > 3] = -1
            return m.nonzero(), y, x.unique(), torch.bincount(x.flatten())

        def putting(x):
            at = x[0]
            z = torch.zeros(9, dtype=x.dtype)
            z.index_put_((at,), x[1], accumulate=True)
            return z, z.cumsum(0), x.median()

        g = torch.Generator().manual_seed(3)
        x = torch.randint(0, 6, (5, 13), generator=g)
        for function in (sorting, choosing, putting):
            with self.subTest(function.__name__):
                found, expected = ftt.script(function)(x.cuda()), ftt.script(function, engine="cpu")(x)
                for a, b in zip(flat(found), flat(expected)):
                    self.assertTrue(torch.equal(a.cpu(), b))

    def test_suppression(self):
        from fractaltensor.torch.runtime import device_steps, library

        g = torch.Generator().manual_seed(5)
        for count in (0, 1, 7, 300):
            xy = torch.rand(count, 2, generator=g) * 50
            boxes = torch.cat([xy, xy + 5 + torch.rand(count, 2, generator=g) * 20], 1)
            scores, labels = torch.rand(count, generator=g), torch.randint(0, 3, (count,), generator=g)
            for given in (None, labels):
                mine = library.step("nms")(boxes.numpy(), scores.numpy(), None if given is None else given.numpy(), threshold=0.4)
                theirs = device_steps.nms(boxes.cuda(), scores.cuda(), None if given is None else given.cuda(), threshold=0.4)
                self.assertEqual(mine[0].tolist(), theirs[0].tolist())


@unittest.skipUnless(HAS_GPU, "no GPU, or PyTorch does not see it")
class Random(unittest.TestCase):
    """Random imperative programs, bit for bit; FT_PROGRAMS=N runs N of them."""

    def test_programs(self):
        import imperative_programs as generator

        with tempfile.TemporaryDirectory() as folder:
            for seed in range(30000, 30000 + int(os.environ.get("FT_PROGRAMS", 12))):
                text, arguments = generator.program(seed)
                path = pathlib.Path(folder, f"random{seed}.py")
                path.write_text(generator.HELPERS + text)
                spec = importlib.util.spec_from_file_location(path.stem, path)
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                g = torch.Generator().manual_seed(seed)
                theirs = [torch.randint(-5, 10, shape, generator=g) for shape, _ in arguments]
                ours = [a.cuda() for a in theirs]
                try:
                    expected = module.program(*theirs)
                except RuntimeError:
                    continue  # eager mode refuses it
                with self.subTest(seed=seed):
                    found = ftt.script(module.program)(*ours)
                    for a, b in zip([*found, *ours], [*expected, *theirs]):
                        self.assertTrue(torch.equal(a.cpu(), b), text)


if __name__ == "__main__":
    unittest.main()
