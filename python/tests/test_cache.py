# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache on disk: damaged entries, full disks, folders that are not ours, many processes, kills."""

import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

import fractaltensor as ft
from fractaltensor import cache

PYTHON = pathlib.Path(__file__).resolve().parent.parent

PROGRAM = """
import sys, time; sys.path.insert(0, %r)
import numpy as np, fractaltensor as ft
from fractaltensor import compiled
made = []
original = compiled.compile_now
compiled.compile_now = lambda *a, **k: (made.append(1), original(*a, **k))[1]
@ft.jit
def f(xs: ft.List["N", ft.f32[4]]):
    return xs.scanl(lambda h, x: ft.tanh(h + x * %s), 0)
x = np.ones((3, 4), "f4")
y = f(x)
h, expected = np.zeros(4, "f4"), []
for row in x:
    h = np.tanh(h + row * %s)
    expected.append(h)
print("right" if np.allclose(y, expected, atol=1e-5) else "wrong", len(made))
"""


def program(number=1.0):
    return PROGRAM % (str(PYTHON), number, number)


def run(number=1.0, folder=None, **environment):
    env = {**os.environ, **environment}
    if folder is not None:
        env["FT_CACHE_DIR"] = str(folder)
    return subprocess.run([sys.executable, "-c", program(number)], capture_output=True, text=True, timeout=1200, env=env)


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.before = os.environ.get("FT_CACHE_DIR")
        self.base = tempfile.mkdtemp(prefix="ft-cache-")
        self.folder = os.path.join(self.base, "cache")
        os.environ["FT_CACHE_DIR"] = self.folder

    def tearDown(self):
        if self.before is None:
            os.environ.pop("FT_CACHE_DIR")
        else:
            os.environ["FT_CACHE_DIR"] = self.before
        subprocess.run(["chmod", "-R", "u+rwx", self.base], check=False)
        shutil.rmtree(self.base, ignore_errors=True)

    def files(self):
        return sorted(p for p in pathlib.Path(self.folder).glob("*.entry"))

    def expect(self, done, line):
        self.assertEqual((done.returncode, done.stdout.strip(), done.stderr), (0, line, ""))


class Entries(WithFolder):
    def test_round_trip(self):
        self.assertIsNone(cache.get(b"key"))
        self.assertTrue(cache.put(b"key", b"value" * 100))
        self.assertEqual(cache.get(b"key"), b"value" * 100)
        self.assertTrue(cache.put(b"key", b""))
        self.assertEqual(cache.get(b"key"), b"")
        self.assertEqual(stat.S_IMODE(os.lstat(self.folder).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.lstat(self.files()[0]).st_mode), 0o600)
        self.assertEqual([e.sound for e in cache.entries()], [True])
        self.assertEqual(cache.clear(), 1)
        self.assertEqual(cache.entries(), [])

    def test_every_byte_flipped(self):
        cache.put(b"some key", bytes(range(256)))
        (file,) = self.files()
        good = file.read_bytes()
        for at in range(len(good)):
            bad = bytearray(good)
            bad[at] ^= 0x40
            file.write_bytes(bytes(bad))
            self.assertIsNone(cache.get(b"some key"), f"byte {at}")
            self.assertFalse(file.exists(), "a damaged entry is removed")
            file.write_bytes(good)
        for cut in range(len(good)):
            file.write_bytes(good[:cut])
            self.assertIsNone(cache.get(b"some key"))
        file.write_bytes(good + b"x")
        self.assertIsNone(cache.get(b"some key"))

    def test_an_entry_of_another_key(self):
        cache.put(b"a", b"1")
        (file,) = self.files()
        content = file.read_bytes()
        cache.put(b"b", b"2")
        other = next(f for f in self.files() if f != file)
        other.write_bytes(content)
        self.assertIsNone(cache.get(b"b"))
        self.assertEqual(cache.get(b"a"), b"1")

    def test_size(self):
        for i in range(10):
            cache.put(b"key %d" % i, bytes(1000))
            os.utime(cache._file(self.folder, b"key %d" % i), (i + 1, i + 1))
        cache.trim(3500)
        self.assertEqual([cache.get(b"key %d" % i) is not None for i in range(10)], [False] * 7 + [True] * 3)

    def test_what_killed_processes_left(self):
        cache.put(b"key", b"value")
        left = pathlib.Path(self.folder) / (self.files()[0].name + ".tmp123-4")
        left.write_bytes(b"half")
        cache.trim()
        self.assertTrue(left.exists())
        os.utime(left, (1, 1))
        cache.trim()
        self.assertFalse(left.exists())

    def test_folders_that_are_not_used(self):
        os.mkdir(self.folder, 0o700)
        os.chmod(self.folder, 0o777)
        self.assertFalse(cache.put(b"key", b"value"))
        self.assertIn("written by others", cache.info())
        os.rmdir(self.folder)
        os.mkdir(self.folder + "2")
        os.symlink(self.folder + "2", self.folder)
        self.assertFalse(cache.put(b"key", b"value"))
        self.assertIn("symbolic link", cache.info())
        os.unlink(self.folder)
        pathlib.Path(self.folder).write_text("a file")
        self.assertFalse(cache.put(b"key", b"value"))
        self.assertIsNone(cache.get(b"key"))

    def test_links_and_pipes_in_place_of_entries(self):
        cache.put(b"key", b"value")
        (file,) = self.files()
        content = file.read_bytes()
        target = pathlib.Path(self.base) / "elsewhere"
        target.write_bytes(content)
        file.unlink()
        file.symlink_to(target)
        self.assertIsNone(cache.get(b"key"))
        self.assertTrue(cache.put(b"key", b"new"))
        self.assertEqual(target.read_bytes(), content)
        file.unlink()
        os.mkfifo(file)
        self.assertIsNone(cache.get(b"key"))

    def test_shared_with_the_runtime(self):
        """The format is that of include/ft/Runtime/Bundle/Cache.h: magic, SHA-256, the key's length, key, value."""
        cache.put(b"key", b"value")
        content = self.files()[0].read_bytes()
        self.assertEqual(content[:8], b"FTCACHE1")
        self.assertEqual(content[40:48], (3).to_bytes(8, "little"))
        self.assertEqual(content[48:], b"keyvalue")


class Programs(WithFolder):
    def test_second_process(self):
        self.expect(run(), "right 1")
        self.expect(run(), "right 0")
        self.expect(run(2.0), "right 1")
        self.expect(run(FT_CACHE="0"), "right 1")
        self.assertEqual(len(self.files()), 2)
        self.assertIn("f: ", cache.info())

    def test_damaged_programs(self):
        """Bits of real code: found by the checksum; with a sound checksum, by the loader, or harmless."""
        self.expect(run(), "right 1")
        (file,) = self.files()
        good = file.read_bytes()
        for at in (0, 9, 45, 60, len(good) // 2, len(good) - 1):
            bad = bytearray(good)
            bad[at] ^= 1
            file.write_bytes(bytes(bad))
            self.expect(run(), "right 1")
            self.assertEqual(file.read_bytes()[:8], b"FTCACHE1")
        # A sound entry whose value is no bundle.
        key_size = int.from_bytes(good[40:48], "little")
        key = good[48 : 48 + key_size]
        cache.put(key, b"FTB nonsense" * 20)
        self.expect(run(), "right 1")

    def test_read_only(self):
        if os.geteuid() == 0:
            self.skipTest("root writes everywhere")
        os.mkdir(self.folder, 0o500)
        self.expect(run(), "right 1")

    def test_unusable_folder(self):
        self.expect(run(folder="/proc/nothing/here"), "right 1")
        self.expect(run(folder="/dev/null"), "right 1")
        pathlib.Path(self.folder).write_text("")
        self.expect(run(), "right 1")

    def test_full_disk(self):
        os.mkdir(self.folder, 0o700)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,mode=700", "tmpfs", self.folder], capture_output=True)
        if mounted.returncode:
            self.skipTest("tmpfs cannot be mounted here")
        try:
            self.expect(run(), "right 1")
            self.assertEqual(self.files(), [])
            self.assertEqual([p.name for p in pathlib.Path(self.folder).iterdir() if ".tmp" in p.name], [])
        finally:
            subprocess.run(["umount", self.folder], check=False)

    def test_many_processes(self):
        """32 processes want one program: all are right, one compiles."""
        processes = [
            subprocess.Popen([sys.executable, "-c", program(3.0)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(32)
        ]
        compiles = 0
        for process in processes:
            out, error = process.communicate(timeout=1200)
            self.assertEqual((process.returncode, error), (0, ""))
            word, count = out.split()
            self.assertEqual(word, "right")
            compiles += int(count)
        self.assertEqual(compiles, 1)
        self.assertEqual(len(self.files()), 1)

    def test_killed(self):
        """A process that is killed anywhere leaves nothing that a later one trusts."""
        for delay in (0.3, 0.6, 0.9):
            process = subprocess.Popen([sys.executable, "-c", program(4.0 + delay)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
            done = run(4.0 + delay)
            self.assertEqual((done.returncode, done.stdout.split()[0]), (0, "right"), done.stderr)


if __name__ == "__main__":
    unittest.main()
