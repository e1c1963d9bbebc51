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


QUICK = """
import sys
sys.path[:0] = [{python!r}, {tests!r}]
import ctypes
import fractaltensor as ft
from fractaltensor import arrays, direct
from fractaltensor import library as lib
from test_devices import DeviceArray, double, pair

jit = sys.modules["fractaltensor.jit"]
driver = ctypes.CDLL({mock!r})
streams = [ctypes.c_void_p() for _ in range(2)]
stream = [None]

@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(arrays.DLTensor))
def view(array, out):
    array.__dlpack__()
    out[0] = array.keep[0].tensor
    return 0

@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
def current(kind, number, out):
    assert (kind, number) == (2, 0)
    out[0] = stream[0]
    return 0

table = (ctypes.c_uint64 * 8)(1 | 3 << 32, 0, 0, 0, 0, *[ctypes.cast(f, ctypes.c_void_p).value for f in (view, current)])
assert direct._start()
direct._LIBRARIES["test_devices"], direct._readers["test_devices"] = 9, True
reader = direct._Reader(kind=direct.EXCHANGE, library=9, type=id(DeviceArray), exchange=ctypes.addressof(table))
lib.check(lib.library().ft_python_reader_add(ctypes.byref(reader)))
x, y, out = (DeviceArray(a) for a in (*pair(), pair()[0]))
slow, noted, inner = [], [], double._call
double._call = lambda a, k: slow.append(1) or inner(a, k)
note = jit._calls.note
jit._calls.note = lambda *a, **k: noted.append(a[1]) or note(*a, **k)
assert not any(driver.cuStreamCreate(ctypes.byref(s), 0) for s in streams)
a, b = (s.value for s in streams)
for at in (a, a, b, b, a):
    stream[0] = at
    assert double(x, y, out=out) is out
ft.synchronize()
double(x, y, out=out)
print(len(slow), [dict([(0, "none"), (a, "a"), (b, "b")])[s] for s in noted])
fresh, before = DeviceArray(pair()[0]), lib.library().ft_last_error()
try:
    double(x, y, out=x)
except ft.ArgumentValueError as error:
    print("overlap" in str(error))
"""


class QuickCalls(unittest.TestCase):
    @unittest.skipUnless(MOCK.exists(), "the mock driver is not built")
    def test_streams(self):
        """Prepared calls go to the library's current stream, and a wait knows of every stream that they went to."""
        program = QUICK.format(python=str(ROOT / "python"), tests=str(ROOT / "python/tests"), mock=str(MOCK))
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600, env={**os.environ, "FT_LIBCUDA": str(MOCK)})
        self.assertEqual(done.stderr, "")
        # The first call takes the slow way, on the stream that is current there: none. A stream is noted when it changes.
        self.assertEqual(done.stdout, "1 ['none', 'a', 'b', 'a', 'a']\nTrue\n")


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
