# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments on devices, without one: targets, errors, foreign libraries, and the driver of the runtime's own tests."""

import ctypes
import os
import pathlib
import subprocess
import sys
import types
import unittest

import numpy as np

import fractaltensor as ft
from fractaltensor import arrays
from fractaltensor.arrays import DLTensor
from fractaltensor.devices import best_target

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MOCK = ROOT / "build/unittests/libFTMockCuda.so"


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DeviceArray:
    """DLPack over host memory that says it is a GPU's."""

    def __init__(self, array, device=(2, 0)):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None, **_):
        code, bits = arrays.code_of(arrays.numpy_dtype(self.array.dtype))
        shape = (ctypes.c_int64 * self.array.ndim)(*self.array.shape)
        strides = (ctypes.c_int64 * self.array.ndim)(*[s // self.array.itemsize for s in self.array.strides])
        managed = _Managed(
            DLTensor(data=self.array.ctypes.data, device_type=self.device[0], device_id=self.device[1], ndim=self.array.ndim,
                     code=code, bits=bits, lanes=1, shape=shape, strides=strides), None, None)
        self.keep = (managed, shape, strides)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(managed), b"dltensor", None)


@ft.jit
def double(xs: ft.List["N", ft.f32[4]], ys: ft.List["N", ft.f32[4]]):
    return ft.zip(xs, ys).map(lambda x, y: 2 * x + y)


def pair():
    return np.ones((3, 4), "f4"), np.ones((3, 4), "f4")


class Targets(unittest.TestCase):
    def test_best(self):
        known = ["interpret", "cpu", "x86-64-v3", "sm_80", "sm_90", "sm_90a", "sm_120"]
        for capability, expected in {(8, 0): "sm_80", (8, 9): "sm_80", (9, 0): "sm_90a", (10, 0): "sm_90", (12, 0): "sm_120", (12, 1): "sm_120"}.items():
            with self.subTest(capability):
                self.assertEqual(best_target(capability, known), expected)
        with self.assertRaisesRegex(ft.DeviceError, "7.5"):
            best_target((7, 5), known)

    def test_ptx(self):
        text = double.ptx
        self.assertIn(".target sm_", text)
        self.assertIn(".visible .entry", text)


class Devices(unittest.TestCase):
    def test_mixed(self):
        x, y = pair()
        with self.assertRaisesRegex(ft.ArgumentError, "'ys' is on the CPU, but 'xs' is on cuda:0"):
            double(DeviceArray(x), y)
        with self.assertRaisesRegex(ft.ArgumentError, "cuda:1"):
            double(DeviceArray(x), DeviceArray(y, (2, 1)))

    def test_engine(self):
        x, y = pair()
        for engine in ("cpu", "interpret"):
            with self.assertRaisesRegex(ft.ArgumentError, "arguments on the CPU"):
                double(DeviceArray(x), DeviceArray(y), engine=engine)
        with self.assertRaisesRegex(ft.ArgumentError, "DLPack type 8"):
            double(DeviceArray(x, (8, 0)), DeviceArray(y, (8, 0)))

    def run_with(self, libcuda):
        program = (
            "import sys; sys.path[:0] = [%r, %r]\n"
            "import fractaltensor as ft\n"
            "from test_devices import DeviceArray, double, pair\n"
            "x, y = pair()\n"
            "try:\n"
            "    double(DeviceArray(x), DeviceArray(y), out=DeviceArray(x.copy()))\n"
            "    print(double._latest[1].target, end=' ')\n"
            "    ft.synchronize()\n"
            "    double(DeviceArray(x), DeviceArray(y), out=DeviceArray(x.copy()), stream=0)\n"
            "    ft.synchronize()\n"
            "    print('again')\n"
            "except ft.Error as error:\n"
            "    print(type(error).__name__, error)\n" % (str(ROOT / "python"), str(ROOT / "python/tests"))
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=1200, env={**os.environ, "FT_LIBCUDA": libcuda})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_no_driver(self):
        text = self.run_with("/nowhere/libcuda.so.1")
        self.assertIn("DeviceError there is no /nowhere/libcuda.so.1", text)
        self.assertIn("engine='cpu' needs none", text)

    def test_mock_driver(self):
        """The program is compiled for the device's target, loaded and launched; the mock's kernels do nothing."""
        if not MOCK.exists():
            self.skipTest("the mock driver is not built")
        text = self.run_with(str(MOCK))
        self.assertEqual(text, "sm_90a again\n")


class OtherLibraries(unittest.TestCase):
    def test_results_go_back(self):
        """Results are given to the first argument's library by its from_dlpack, without a copy."""

        class Array:
            __module__ = "somelib"

            def __init__(self, data):
                self.data = data

            def __dlpack__(self, **_):
                return self.data.__dlpack__()

            def __dlpack_device__(self):
                return 1, 0

        library = types.ModuleType("somelib")
        library.from_dlpack = lambda array: Array(array)
        sys.modules["somelib"] = library
        try:
            x, y = pair()
            found = double(Array(x), Array(y))
            self.assertIsInstance(found, Array)
            self.assertTrue((found.data == 3).all())
        finally:
            del sys.modules["somelib"]

    def test_jax(self):
        """As JAX's arrays: no strides to write, results by jax.dlpack."""
        try:
            import jax.numpy as jnp
        except ImportError:
            self.skipTest("JAX is not installed")
        x, y = (jnp.asarray(a) for a in pair())
        found = double(x, y)
        self.assertIsInstance(found, type(x))
        self.assertTrue((np.asarray(found) == 3).all())


if __name__ == "__main__":
    unittest.main()
