# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traced calls: the same result, a trace that parses, and nothing of it in other calls."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import fractaltensor as ft


@ft.jit(lengths={"L": 7})
def running(xs: ft.List["L", ft.f32[1, 3]], w: ft.f32[3, 3]):
    return xs.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(1, 3))


class Traces(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(1)
        self.args = random.standard_normal((7, 1, 3)).astype(np.float32), random.standard_normal((3, 3)).astype(np.float32)

    def test_a_trace_has_the_call_its_kernels_and_the_result(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.json"
            trace = running.trace(*self.args, path=path)
            np.testing.assert_array_equal(trace.result, running(*self.args))
            self.assertEqual(json.loads(path.read_text())["traceEvents"], trace.events)
            self.assertEqual(os.listdir(folder), ["x.json"])
        (call,) = [e for e in trace.events if e.get("cat") == "call"]
        kernels = [e for e in trace.events if e.get("cat") == "kernel"]
        self.assertEqual((call["name"], call["args"]), ("running", {"L": 7}))
        self.assertTrue(kernels and all(call["ts"] <= k["ts"] and k["ts"] + k["dur"] <= call["dur"] + 0.002 for k in kernels))
        self.assertIn(f"{kernels[0]['name']}", repr(trace))
        self.assertRegex(repr(trace), r"^running on cpu: [\d.]+ us, \d+ threads?, \d+ barriers?\n")
        self.assertIn(f"written to {path}: open it at https://ui.perfetto.dev", repr(trace))
        self.assertIn(".save('trace.json') writes it for https://ui.perfetto.dev", repr(running.trace(*self.args)))

    def test_what_cannot_be_traced_or_written_is_said(self):
        with self.assertRaisesRegex(ft.ArgumentError, "the interpreter runs no kernels"):
            running.trace(*self.args, engine="interpret")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "none" / "x.json"
            with self.assertRaises(FileNotFoundError) as caught:
                running.trace(*self.args, path=path)
            self.assertEqual(caught.exception.filename, str(path))
            self.assertEqual(os.listdir(folder), [])
        with self.assertRaisesRegex(ft.ArgumentError, "missing"):
            running.trace(self.args[0])

    @unittest.skipUnless(importlib.util.find_spec("torch"), "needs PyTorch")
    def test_the_script_for_a_device_checks_the_cpu_too(self):
        script = pathlib.Path(__file__).resolve().parents[2] / "integration/trace.py"
        environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(ft.__file__).resolve().parents[1])}
        done = subprocess.run([sys.executable, str(script), "--engine=cpu"], capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^ok product on cpu: .*\nok running on cpu: .*\nok layers on cpu: .*\n$")


if __name__ == "__main__":
    unittest.main()
