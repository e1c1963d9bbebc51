# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages: what the build backend makes, and the wheel that has its own LLVM, beside libraries with another one."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

import ft_build_backend as backend  # noqa: E402

#: The program of the front page, on NumPy; prints the largest difference.
PROGRAM = """
import numpy as np, fractaltensor as ft

@ft.jit
def stacked_rnn(xss: ft.List["N, L", ft.f32[1, "H"]], ws: ft.List["D", ft.f32["H", "H"]]):
    return xss.map(lambda xs: ws.scanl(lambda seq, w: seq.scanl(lambda h, x: x @ w + h, ft.zeros(1, "H")), xs))

x = np.arange(3 * 5 * 8, dtype="f4").reshape(3, 5, 1, 8) / 100
w = np.arange(2 * 8 * 8, dtype="f4").reshape(2, 8, 8) / 1000
y = stacked_rnn(x, w)
seq, layers = x, []
for d in range(2):
    h, out = 0, []
    for k in range(5):
        h = seq[:, k] @ w[d] + h
        out.append(h)
    seq = np.stack(out, 1)
    layers.append(seq)
assert np.allclose(y, np.stack(layers, 1), atol=1e-4)
print("right", ft.__file__)
"""


def install(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)


def run(folder, program=PROGRAM, prefix=(), **environment):
    env = {k: v for k, v in os.environ.items() if k not in ("FT_LIBRARY", "PYTHONPATH")}
    env.update(PYTHONPATH=str(folder), FT_CACHE="0", **environment)
    return subprocess.run([*prefix, sys.executable, "-c", program], cwd=folder, env=env, capture_output=True, text=True, timeout=1200)


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ft-package-")

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def check(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.split()[0], "right")
        self.assertTrue(done.stdout.split()[1].startswith(self.folder), done.stdout)


class Ordinary(Package):
    def test_wheel(self):
        """A wheel of this build, unpacked elsewhere, runs and leaves the checkout alone."""
        name = backend.build_wheel(self.folder)
        self.assertRegex(name, r"^fractaltensor-[\d.]+-py3-none-linux_\w+\.whl$")
        install(os.path.join(self.folder, name), self.folder)
        self.check(run(self.folder))
        with zipfile.ZipFile(os.path.join(self.folder, name)) as archive:
            names = archive.namelist()
            record = archive.read(next(n for n in names if n.endswith("RECORD"))).decode()
        self.assertIn("fractaltensor/py.typed", names)
        self.assertIn("fractaltensor/__init__.pyi", names)
        self.assertEqual(sorted(line.split(",")[0] for line in record.splitlines() if line), sorted(names))

    def test_nothing_is_required(self):
        self.assertEqual(backend.get_requires_for_build_wheel(), [])
        self.assertIn("requires = []", (ROOT / "pyproject.toml").read_text())

    def test_source(self):
        import tarfile

        name = backend.build_sdist(self.folder)
        with tarfile.open(os.path.join(self.folder, name)) as archive:
            names = archive.getnames()
        base = name[: -len(".tar.gz")]
        for file in ("pyproject.toml", "python/ft_build_backend.py", "CMakeLists.txt", "PKG-INFO", "include/ft-c/Compiler.h"):
            self.assertIn(f"{base}/{file}", names)

    def test_errors_name_what_is_missing(self):
        done = subprocess.run(
            [sys.executable, "-c", "import ft_build_backend as b; b.build_wheel('/tmp')"], cwd=ROOT / "python", capture_output=True,
            text=True, env={**os.environ, "PATH": "/nowhere"},
        )
        self.assertIn("apt-get install cmake", done.stderr)
        done = subprocess.run(
            [sys.executable, "-c", "import ft_build_backend as b; b.build_wheel('/tmp')"], cwd=ROOT / "python", capture_output=True,
            text=True, env={**os.environ, "FT_PREBUILT": "/nowhere"},
        )
        self.assertIn("FT_PREBUILT=/nowhere holds no libFractalTensor.so", done.stderr)


@unittest.skipUnless(shutil.which("cpack") and shutil.which("dpkg-deb") and (ROOT / "build/CPackConfig.cmake").exists(), "no cpack or dpkg-deb")
class Debian(Package):
    def test_package(self):
        """Unpacked, the package finds its libraries beside it; the plugin is in it, and what Python compiles goes, too."""
        done = subprocess.run(["cpack", "--config", str(ROOT / "build/CPackConfig.cmake"), "-B", self.folder], capture_output=True, text=True)
        if "file INSTALL cannot find" in done.stdout + done.stderr:
            self.skipTest("the build is not complete: ninja -C build")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (package,) = pathlib.Path(self.folder).glob("*.deb")
        subprocess.run(["dpkg-deb", "-R", str(package), os.path.join(self.folder, "root")], check=True)
        root = pathlib.Path(self.folder) / "root"
        self.check(run(root / "usr/lib/python3/dist-packages"))
        self.assertTrue((root / "usr/lib/FractalTensorPlugin.so").exists())
        self.assertIn("__pycache__", (root / "DEBIAN/prerm").read_text())
        self.assertIn("libmlir-22", (root / "DEBIAN/control").read_text())


def can_link():
    return os.path.exists("/usr/lib/llvm-22/lib/libMLIRIR.a") and shutil.which("clang++-22") is not None


@unittest.skipUnless(can_link(), "no static LLVM and MLIR here")
class Standalone(Package):
    """The wheel of scripts/wheel.sh."""

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp(prefix="ft-wheel-")
        done = subprocess.run([str(ROOT / "scripts/wheel.sh"), cls.made], capture_output=True, text=True, timeout=3600)
        assert done.returncode == 0, done.stderr
        (cls.wheel,) = pathlib.Path(cls.made).glob("*.whl")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.made, ignore_errors=True)

    def setUp(self):
        super().setUp()
        install(self.wheel, self.folder)

    def test_runs(self):
        self.assertIn("manylinux_2_35_x86_64", self.wheel.name)
        self.check(run(self.folder))

    def test_without_llvm(self):
        """LLVM's folder is hidden by an empty file system."""
        hide = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /usr/lib/llvm-22 && exec "$@"', "sh"]
        if subprocess.run([*hide, "true"], capture_output=True).returncode:
            self.skipTest("nothing can be mounted here")
        self.check(run(self.folder, prefix=hide))

    def test_beside_another_llvm(self):
        """Debian's shared LLVM, loaded before and after, its symbols visible to all."""
        library = "/usr/lib/llvm-22/lib/libLLVM.so.22.1"
        if not os.path.exists(library):
            self.skipTest("no shared LLVM")
        load = f"import ctypes; ctypes.CDLL({library!r}, mode=ctypes.RTLD_GLOBAL)\n"
        self.check(run(self.folder, load + PROGRAM))
        self.check(run(self.folder, PROGRAM + load))

    def test_beside_frameworks(self):
        """PyTorch, Triton and JAX, before and after, with their symbols visible to all."""
        found = [m for m in ("torch", "triton", "jax") if importlib.util.find_spec(m)]
        if not found:
            self.skipTest("none of PyTorch, Triton and JAX is installed")
        for name in found:
            load = f"import os, sys; sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL); import {name}\n"
            with self.subTest(name):
                self.check(run(self.folder, load + PROGRAM))
                self.check(run(self.folder, PROGRAM + load))


if __name__ == "__main__":
    unittest.main()
