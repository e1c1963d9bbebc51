# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls: strides, names, results, engines, threads, fork, interrupts, text of the phases, bundles."""

import array
import contextlib
import io
import re
import collections
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing
import itertools
import unittest
import unittest.mock

import numpy as np

import fractaltensor as ft
from close import assert_close

PYTHON = pathlib.Path(__file__).resolve().parent.parent


@ft.jit
def double(xs: ft.List["N, M", ft.f32[2]]):
    return xs.map(lambda row: row.map(lambda x: 2 * x))


@ft.jit(lengths={"H": 8})
def rnn(xss: ft.List["N, L", ft.f32[1, "H"]], w: ft.f32["H", "H"]):
    return xss.map(lambda xs: xs.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(1, "H")))


def rnn_inputs(n=3, l=5, h=8, dtype="f4"):
    random = np.random.default_rng(0)
    return random.standard_normal((n, l, 1, h)).astype(dtype), (random.standard_normal((h, h)) / h).astype(dtype)


def rnn_reference(x, w):
    h, out = np.zeros_like(x[:, 0]), []
    for k in range(x.shape[1]):
        h = np.tanh(x[:, k] @ w + h)
        out.append(h)
    return np.stack(out, 1)


class Arguments(unittest.TestCase):
    def test_strides(self):
        x = np.arange(120, dtype="f4").reshape(10, 6, 2)
        for name, view in {
            "dense": x, "rows": x[::2], "columns": x[:, 1:4], "both": x[1::3, ::2], "swapped": x.swapaxes(0, 1),
            "repeated": np.broadcast_to(x[:1], (4, 6, 2)), "one": x[:1], "empty": x[:0], "empty columns": x[:, :0],
        }.items():
            for engine in ("cpu", "interpret"):
                with self.subTest(name, engine=engine):
                    self.assertTrue(np.array_equal(double(view, engine=engine), 2 * view))

    def test_readonly_and_offset(self):
        x = np.arange(24, dtype="f4").reshape(3, 4, 2)
        x.flags.writeable = False
        self.assertTrue(np.array_equal(double(x[1:]), 2 * x[1:]))

    def test_alignment(self):
        """Data at addresses that are multiples of its numbers and of nothing more."""
        raw = np.arange(200, dtype="f4")
        for begin in (1, 2, 3, 5):
            with self.subTest(begin):
                x = raw[begin : begin + 24].reshape(3, 4, 2)
                y = np.zeros(200, "f4")[begin : begin + 24].reshape(3, 4, 2)
                self.assertTrue(np.array_equal(double(x), 2 * x))
                self.assertTrue(np.array_equal(double(x, out=y), 2 * x))

    def test_buffers(self):
        numbers = array.array("f", range(12))
        view = memoryview(numbers).cast("B").cast("f", (2, 3, 2))
        self.assertTrue(np.array_equal(double(view), 2 * np.arange(12, dtype="f4").reshape(2, 3, 2)))

    def test_dlpack(self):
        class Foreign:
            """Only what DLPack asks for."""

            def __init__(self, inner):
                self.inner = inner

            def __dlpack__(self, **options):
                return self.inner.__dlpack__()

            def __dlpack_device__(self):
                return self.inner.__dlpack_device__()

        x = np.arange(24, dtype="f4").reshape(3, 4, 2)
        self.assertTrue(np.array_equal(double(Foreign(x[:, ::2])), 2 * x[:, ::2]))

    def test_numbers(self):
        """Numbers for parameters of rank 0, of Python and of NumPy."""

        @ft.jit
        def affine(xs: ft.List["N", ft.f32], a: ft.f32, n: ft.i64, on: ft.bool):
            return xs.map(lambda x: ft.where(on, a * x + n.to(ft.f32), x))

        x = np.arange(3, dtype="f4")
        for a, n, on in ((2.0, 3, True), (2, np.int64(3), np.bool_(True)), (np.float64(2), np.asarray(3), np.asarray(True)), (np.float32(2), 3, True)):
            self.assertTrue(np.array_equal(affine(x, a, n, on), 2 * x + 3))
        self.assertTrue(np.array_equal(affine(x, 2.0, 3, False), x))
        for a, n, on in ((2.0, 3.5, True), (2.0, 1 << 70, True), (2.0, 3, 1), ("2", 3, True)):
            with self.assertRaises(ft.ArgumentError):
                affine(x, a, n, on)

    def test_booleans(self):
        @ft.jit
        def flip(xs: ft.List["N", ft.bool[3]]):
            return xs.map(lambda x: ~x), xs.reduce(ft.logical_or, False)

        x = np.array([[True, False, True], [False, False, True]])
        a, b = flip(x)
        self.assertTrue(np.array_equal(a, ~x) and np.array_equal(b, x.any(0)))
        self.assertEqual((a.dtype, b.dtype), (np.dtype(bool), np.dtype(bool)))

    def test_what_is_no_plain_array(self):
        for wrong in (np.ma.masked_array(np.zeros((1, 1, 2), "f4")), np.zeros((1, 1, 2), ">f4"), np.zeros((1, 1, 2), "c8"), "text", None, 3.0, object()):
            with self.subTest(type(wrong)), self.assertRaises(ft.ArgumentError):
                double(wrong)

    def test_pickle(self):
        import copy
        import pickle

        self.assertIs(pickle.loads(pickle.dumps(double)), double)
        self.assertIs(copy.deepcopy(double), double)

    def test_names_and_keywords(self):
        x, w = rnn_inputs()
        assert_close(self, rnn(w=w, xss=x), rnn_reference(x, w))
        x, w = rnn_inputs(h=7)
        assert_close(self, rnn(x, w), rnn_reference(x, w))
        self.assertEqual(len(rnn._programs), 2)

    def test_element_type_names(self):
        @ft.jit
        def scale(xs: ft.List["N", ft.any["T", 3]], s: ft.any["T"]):
            return xs.map(lambda x: x * s + 1)

        for dtype in ("f4", "f8", "f2", "i4", "i8"):
            with self.subTest(dtype):
                x = np.arange(12).reshape(4, 3).astype(dtype)
                found = scale(x, np.asarray(2, dtype))
                self.assertEqual(found.dtype, np.dtype(dtype))
                self.assertTrue(np.array_equal(found, x * 2 + 1))
        with self.assertRaises(ft.ArgumentError):
            scale(np.zeros((4, 3), "f4"), np.asarray(2.0))

    def test_extent_expressions(self):
        @ft.jit
        def gates(x: ft.List["N", ft.f32["H"]], w: ft.f32["H", "4 * H"]):
            return x.map(lambda v: (v @ w).reshape(4, "H"))

        x, w = np.ones((2, 3), "f4"), np.ones((3, 12), "f4")
        self.assertTrue(np.array_equal(gates(x, w), np.full((2, 4, 3), 3)))
        with self.assertRaisesRegex(ft.ArgumentValueError, r"4 \* H = 12, found 11"):
            gates(x, w[:, :11].copy())

    def test_static_parameters(self):
        @ft.jit
        def power(xs: ft.List["N", ft.f32], n: int = 2, name: str = "x"):
            return xs.map(lambda x: x**n)

        x = np.arange(4, dtype="f4")
        for n in (2, 3, 2):
            self.assertTrue(np.array_equal(power(x, n), x**n))
        self.assertTrue(np.array_equal(power(x), x**2))
        self.assertEqual(len(power._programs), 2)

    def test_annotated_and_future(self):
        source = "from __future__ import annotations\nimport typing, fractaltensor as ft\n" \
            "@ft.jit\ndef f(xs: typing.Annotated[ft.List['N', ft.f32], ft.normal(0.5)]):\n    return xs[::-1]\n"
        names = {}
        exec(compile(source, "<test>", "exec"), names)
        self.assertIn("ft.gen = #ft.normal<0.5>", names["f"].ft)
        self.assertTrue(np.array_equal(names["f"](np.arange(3, dtype="f4")), [2, 1, 0]))

    def test_a_program_in_a_program(self):
        @ft.jit
        def square(x: ft.f32["K"]):
            return x * x

        @ft.jit
        def both(xs: ft.List["N", ft.f32[4]]):
            return xs.map(square).reduce(ft.add, 0)

        self.assertTrue(np.array_equal(both(np.full((3, 4), 2, "f4")), np.full(4, 12)))


class Results(unittest.TestCase):
    def test_out(self):
        x, w = rnn_inputs()
        y = np.full_like(x, 7)
        self.assertIs(rnn(x, w, out=y), y)
        assert_close(self, y, rnn_reference(x, w))

    def test_nothing_is_written_on_errors(self):
        x, w = rnn_inputs()
        for wrong in (np.full((3, 5, 1, 7), 7, "f4"), np.full((3, 5, 1, 8), 7, "f8"), np.full((3, 5, 8, 1), 7, "f4").swapaxes(2, 3)[::-1]):
            with self.assertRaises(ft.ArgumentError):
                rnn(x, w, out=wrong)
            self.assertTrue((wrong == 7).all())

    def test_structures(self):
        Pair = collections.namedtuple("Pair", "first second")

        @ft.jit
        def f(xs: ft.List["N", ft.f32]):
            return Pair(xs[::-1], (xs.reduce(ft.add, 0), xs, 3.0))

        found = f(np.arange(3, dtype="f4"))
        self.assertIsInstance(found, Pair)
        self.assertEqual(float(found.second[0]), 3)
        self.assertEqual(float(found.second[2]), 3)
        y = f(np.arange(3, dtype="f4"), out=[np.zeros(3, "f4"), np.zeros((), "f4"), np.zeros(3, "f4"), np.zeros((), "f4")])
        self.assertTrue(np.array_equal(y.first, [2, 1, 0]))

    def test_results_are_fresh(self):
        x = np.ones((1, 1, 2), "f4")
        first = double(x)
        second = double(x)
        first[:] = 9
        self.assertTrue((second == 2).all())
        self.assertFalse(np.shares_memory(first, second))

    def test_integers_exact(self):
        @ft.jit
        def f(xs: ft.List["N", ft.i64[3]]):
            return xs.scanl(lambda s, x: s * 3 + x, ft.zeros(3, dtype=ft.i64))

        x = np.arange(30, dtype="i8").reshape(10, 3) * 10**12
        s, out = np.zeros(3, "i8"), []
        for row in x:
            s = s * 3 + row
            out.append(s)
        for engine in ("cpu", "interpret"):
            self.assertTrue(np.array_equal(f(x, engine=engine), np.stack(out)))


class Looking(unittest.TestCase):
    def test_text(self):
        self.assertIn("func.func @rnn", rnn.specialize(H=8).ft)
        self.assertIn("tensor<16x16xf32>", rnn.specialize(H=16).ft)
        self.assertIn("etdg.block", rnn.specialize(H=8).etdg)
        self.assertIn("etdg", rnn.specialize(H=8).schedule)
        self.assertIn("loops.program", rnn.specialize(H=8).lower(to="target", engine="cpu"))
        self.assertIn("define", rnn.specialize(H=8).lower(to="llvm"))
        text = rnn.specialize(H=8).explain()
        self.assertIn("rnn, compiled for cpu", text)
        # What runs and what it costs come first, and no argument is a number.
        told = "plan, with predicted times at typical lengths (lengths= or typical= of @ft.jit):\n"
        self.assertLess(text.index(told), text.index("reorder:"))
        self.assertRegex(text.split(told)[1].split("\n")[0], r"^  rnn_k0: .* steps? of .* us$")
        self.assertNotRegex(text, r"argument \d")
        self.assertIn("test_calls.py", text)

    def test_picture(self):
        picture = rnn.specialize(H=8).show()
        self.assertIn("etdg.block", str(picture))
        self.assertIn("blocks", repr(picture))
        self.assertTrue(picture.page.lstrip().lower().startswith("<!doctype html>"))
        self.assertNotIn("https://", picture.page.replace("https://www.w3.org", ""))
        self.assertIn("srcdoc=", picture._repr_html_())
        self.assertRegex(picture.page, r"<h3>Plan</h3><pre [^>]*>plan, with predicted times.*\n  rnn_k0: .* us")
        with tempfile.TemporaryDirectory() as folder:
            rnn.specialize(H=8).show(os.path.join(folder, "graph.html"))
            self.assertEqual(pathlib.Path(folder, "graph.html").read_text(), picture.page)
        for to, begin in (("dot", "digraph"), ("json", "{")):
            self.assertTrue(rnn.specialize(H=8).lower(to=to).lstrip().startswith(begin))

    def test_text_is_stable(self):
        def make():
            @ft.jit
            def f(xs: ft.List["N", ft.f32[4]]):
                return xs.scanl(lambda h, x: h * 0.5 + x, 0)

            return f.ft

        self.assertEqual(make(), make())

    def test_bundle(self):
        x, w = rnn_inputs()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rnn.ftb")
            rnn.specialize(H=8).export(path)
            bundle = ft.load(path)
            self.assertEqual(bundle.entries, ["rnn"])
            for call in (bundle, bundle.rnn, bundle["rnn"]):
                assert_close(self, call(x, w), rnn_reference(x, w))
            y = np.zeros_like(x)
            bundle(x, w, out=y)
            assert_close(self, y, rnn_reference(x, w))
            self.assertEqual([a[0] for a in bundle.rnn.arguments], ["xss", "w"])
            with self.assertRaises(ft.ArgumentError):
                bundle(x)
            with self.assertRaises(AttributeError):
                bundle.lstm
            with self.assertRaises(ft.ArgumentValueError):
                bundle(x, w[:4])
            with self.assertRaises(ft.Error):
                rnn.specialize(H=8).export(os.path.join(folder, "missing/rnn.ftb"))
            self.assertEqual(os.listdir(folder), ["rnn.ftb"])

    def test_damaged_bundles(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.ftb")
            double.export(path)
            good = pathlib.Path(path).read_bytes()
            for cut in (0, 1, 7, 100, len(good) // 2, len(good) - 1):
                with self.subTest(cut):
                    pathlib.Path(path).write_bytes(good[:cut])
                    with self.assertRaises(ft.BundleError):
                        ft.load(path)

    def test_repr(self):
        self.assertIn("List[N, M; f32[2]]", repr(double))
        self.assertIn("double", double.__name__)


class Concurrency(unittest.TestCase):
    def test_threads(self):
        x, w = rnn_inputs(h=12)
        expected, found = rnn_reference(x, w), []

        def work():
            for _ in range(20):
                found.append(rnn(x, w))

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 120)
        for y in found:
            assert_close(self, y, expected)

    def test_fork(self):
        x, w = rnn_inputs()
        expected = rnn(x, w)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                same = np.array_equal(rnn(x, w), expected)
                more = rnn_inputs(h=9)
                assert_close(self, rnn(*more), rnn_reference(*more))
                status = 0 if same else 2
            finally:
                os._exit(status)
        deadline = time.monotonic() + 1200
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                self.assertEqual(os.waitstatus_to_exitcode(status), 0)
                break
            time.sleep(0.05)
        else:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            self.fail("the child hangs")
        self.assertTrue(np.array_equal(rnn(x, w), expected))

    def test_interrupt(self):
        """Ctrl-C while compiling: KeyboardInterrupt, nothing left, and the next call works."""
        program = (
            "import sys, os, signal, threading, time; sys.path.insert(0, %r)\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it\n"
            "import numpy as np, fractaltensor as ft\n"
            "from fractaltensor import compiled\n"
            "@ft.jit\n"
            "def deep(xs: ft.List['L', ft.f32[4]]):\n"
            "    for i in range(60): xs = xs.scanl(lambda h, x: ft.tanh(h + x + i), 0)\n"
            "    return xs\n"
            "x = np.zeros((3, 4), 'f4')\n"
            "original = compiled.compile_now\n"
            "def slow(*args, **kwargs):\n"
            "    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            "    return original(*args, **kwargs)\n"
            "compiled.compile_now = slow\n"
            "try:\n"
            "    deep(x)\n"
            "    print('finished')\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted')\n"
            "    compiled.compile_now = original\n"
            "    print(deep(x).shape)\n" % str(PYTHON)
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=1200, env={**os.environ, "FT_CACHE": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split("\n")[0], "interrupted")
        self.assertIn("(3, 4)", done.stdout)

    def test_quiet(self):
        """Nothing on stdout or stderr that was not asked for, errors included."""
        program = (
            "import sys; sys.path.insert(0, %r)\n"
            "import numpy as np, fractaltensor as ft\n"
            "@ft.jit\n"
            "def f(xs: ft.List['L', ft.f32[4]]): return xs[-1]\n"
            "try: f(np.zeros((3, 4), 'f4'))\n"
            "except ft.CompileError: pass\n"
            "@ft.jit(bounds=['L >= 1'])\n"
            "def g(xs: ft.List['L', ft.f32[4]]): return xs[-1]\n"
            "g(np.zeros((3, 4), 'f4')); g.explain()\n" % str(PYTHON)
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=1200)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


# Compiles a program many times, and cancels each time a little later.
CANCEL_AT_ANY_TIME = """\
import sys, threading
sys.path.insert(0, sys.argv[1])
import fractaltensor as ft
from fractaltensor import compiled

@ft.jit
def deep(xs: ft.List['L', ft.f32[4]]):
    for i in range(12):
        xs = xs.scanl(lambda h, x: ft.tanh(h + x + i), 0)
    return xs

def cancelled(work, cancel):
    timer = threading.Timer(delay, setattr, (cancel, 'value', 1))
    timer.start()
    try:
        return work()
    finally:
        timer.cancel()

compiled.interruptible = cancelled
text = deep.specialize().ft
for step in range(40):
    delay = 0.002 * 1.15 ** step
    try:
        ft.compile_text(text)
    except ft.CompileCancelled:
        pass
delay = 1000
print(ft.compile_text(text).entries)
"""


class Cancelling(unittest.TestCase):
    def test_texts_and_scripts_can_be_cancelled(self):
        """The flag that Ctrl-C sets reaches the compiler."""
        from fractaltensor import compiled

        def cancelled(work, cancel):
            cancel.value = 1
            return work()

        text = double.specialize().ft
        with unittest.mock.patch.object(compiled, "interruptible", cancelled), self.assertRaises(ft.CompileCancelled):
            ft.compile_text(text)
        self.assertEqual(ft.compile_text(text).entries, ["double"])

    def test_cancelled_between_any_two_passes(self):
        """A flag that is set at any time ends in a result or in CompileCancelled, never in a crash."""
        done = subprocess.run([sys.executable, "-c", CANCEL_AT_ANY_TIME, str(PYTHON)], capture_output=True, text=True, timeout=1200, env={**os.environ, "FT_CACHE": "0"})
        self.assertEqual((done.returncode, done.stdout), (0, "['deep']\n"), done.stderr)


class Tuning(unittest.TestCase):
    def test_tune_keeps_the_default_within_noise(self):
        from fractaltensor import tuning

        class Fake(tuning._Schedule):
            def __init__(self, name, times):
                super().__init__(name, None, None)
                self.all = itertools.cycle(times)

            def call(self, values, stream):
                return next(self.all)

        def chosen(**times):
            return tuning.choose([Fake(name, t) for name, t in times.items()], (), None).name

        with unittest.mock.patch.object(tuning, "_MOST_ROUNDS", 40):
            self.assertEqual(chosen(default=[10.0], other=[5.0]), "other")
            self.assertEqual(chosen(default=[10.0], other=[9.9]), "default")
            # Fastest once, slower as a rule.
            self.assertEqual(chosen(default=[10.0], other=[30.0, 1.0, 30.0]), "default")
            # Faster by less than its times differ.
            self.assertEqual(chosen(default=[8.0, 12.0, 10.0], other=[7.0, 9.5, 12.0]), "default")
            # Fast in the first rounds alone.
            self.assertEqual(chosen(default=[10.0], other=[5.0] * 41 + [20.0] * 41), "default")
            self.assertEqual(chosen(default=[10.0], slow=[50.0], other=[6.0, 6.1]), "other")

    def test_explain_after_tune(self):
        @ft.jit
        def f(xs: ft.List["N", ft.f32[4, "H"]], w: ft.f32["H", "H"]):
            return xs.map(lambda x: x @ w)

        tuned = f.tune(np.ones((3, 4, 8), np.float32), np.ones((8, 8), np.float32), progress=False)
        text = f.explain()
        self.assertEqual("which tune() chose" in text, tuned.best != "the compiler's choice")

    def test_tune(self):
        x, w = rnn_inputs(h=10)
        tuned = rnn.tune(x, w, progress=False)
        self.assertGreaterEqual(len(tuned.tried), 1)
        self.assertIn(tuned.best, [t.name for t in tuned.tried])
        stream = io.StringIO()
        with contextlib.redirect_stderr(stream), self.assertLogs("fractaltensor", "INFO") as logs:
            tuned = rnn.tune(x, w)
        # No terminal, no bar: the choice, why, and the plan that runs.
        self.assertRegex(stream.getvalue(), rf"^chosen: {re.escape(tuned.best)}, [\d.]+ us a call.*\n  .* us\n$")
        self.assertRegex(logs.output[-1], r"tuned rnn for cpu: .* us a call")
        assert_close(self, rnn(x, w), rnn_reference(x, w))

    def test_each_order_is_measured_once(self):
        """A wavefront has orders that are other code; the compiler's own is tried, and none twice."""

        @ft.jit
        def layers(xss: ft.List["N, L", ft.f32[1, 16]], ws: ft.List["D", ft.f32[16, 16]]):
            return xss.map(lambda xs: ws.scanl(lambda seq, w: seq.scanl(lambda h, x: x @ w + h, ft.zeros(1, 16)), xs))

        random = np.random.default_rng(0)
        x, w = random.standard_normal((3, 5, 1, 16)).astype("f4"), random.standard_normal((2, 16, 16)).astype("f4") / 16
        expected = layers(x, w)
        tuned = layers.tune(x, w, progress=False)
        names = [t.name for t in tuned.tried]
        self.assertIn("the compiler's choice", names)
        self.assertGreaterEqual(len(names), 2)
        self.assertEqual(len(names), len(set(names)))
        assert_close(self, layers(x, w), expected)


class Import(unittest.TestCase):
    def test_import_is_light(self):
        """No library of arrays and no compiler is loaded by importing the package."""
        program = (
            "import sys; sys.path.insert(0, %r); import fractaltensor\n"
            "print([m for m in ('numpy', 'torch', 'jax') if m in sys.modules], "
            "'FractalTensor.so' in open('/proc/self/maps').read())" % str(PYTHON)
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=1200)
        self.assertEqual(done.stdout.strip(), "[] False", done.stderr)

    def test_exit(self):
        """Programs that outlive the modules which free them (a framework's registry may hold one) end without a word."""
        program = (
            "import sys; sys.path.insert(0, %r); import fractaltensor as ft, array, gc\n"
            "@ft.jit\n"
            "def f(xs: ft.List['N', ft.f32]): return xs.map(lambda x: x + 1)\n"
            "print(list(memoryview(f(array.array('f', [1, 2])))))\n"
            "for module in list(sys.modules.values()):\n"
            "    if module.__name__.startswith('fractaltensor.') and hasattr(module, 'os'): module.os = None\n"
            "loaded = [o for o in gc.get_objects() if type(o).__name__ == 'Module' and type(o).__module__.startswith('fractaltensor')]\n"
            "print(len(loaded) > 0)\n"
            "for o in loaded: o.__del__()\n" % str(PYTHON)
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=1200)
        self.assertEqual((done.stdout.split("\n")[-2], done.stderr, done.returncode), ("True", "", 0), done.stdout)

    def test_missing_library(self):
        program = (
            "import sys; sys.path.insert(0, %r); import fractaltensor as ft, array\n"
            "@ft.jit\n"
            "def f(xs: ft.List['N', ft.f32]): return xs\n"
            "print('ft.list' in f.ft)\n"
            "try: f(array.array('f', [1, 2]))\n"
            "except ft.NotBuiltError as error: print(str(error).split(':')[0])\n" % str(PYTHON)
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=1200, env={**os.environ, "FT_LIBRARY": "/nowhere"})
        self.assertEqual(done.stdout.split("\n")[:2], ["True", "libFractalTensorRuntime.so was not found in /nowhere"], done.stderr)


if __name__ == "__main__":
    unittest.main()
