# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What happens around a call: forks and interrupts while one runs, arguments that nothing else holds, buffers."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import fractaltensor as ft

PYTHON = os.path.dirname(os.path.dirname(os.path.abspath(ft.__file__)))


def reference(x):
    h, out = np.zeros_like(x[0]), []
    for row in x:
        h = np.tanh(h * np.float32(0.5) + row)
        out.append(h)
    return np.stack(out)


def program():
    @ft.jit
    def decay(xs: ft.List["L", ft.f32["H"]]):
        return xs.scanl(lambda h, x: ft.tanh(h * 0.5 + x), 0)

    return decay


def status_of(child):
    """The exit status of a child; -1 where it hangs."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


class Forks(unittest.TestCase):
    def in_child(self, work):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if work() else 2
            finally:
                os._exit(status)
        return status_of(child)

    def test_while_another_thread_calls(self):
        """The child calls the program that a thread of its parent is in the middle of."""
        f, small = program(), np.ones((5, 64), "f4")
        large = np.ones((300000, 64), "f4")
        expected = f(small)
        # Signatures that both have had, so that calls are direct and their code is the same.
        f(large)
        for _ in range(3):
            ready = threading.Event()

            def call():
                ready.set()
                f(large)

            thread = threading.Thread(target=call)
            thread.start()
            ready.wait()
            time.sleep(0.005)
            found = self.in_child(lambda: np.array_equal(f(small), expected))
            thread.join()
            self.assertEqual(found, 0)

    def test_while_another_thread_compiles(self):
        for delay in (0.01, 0.05, 0.2):
            @ft.jit
            def deep(xs: ft.List["L", ft.f32["H"]]):
                for i in range(30):
                    xs = xs.scanl(lambda h, x: ft.tanh(h + x + i + delay), 0)
                return xs

            x = np.ones((3, 4), "f4")
            thread = threading.Thread(target=lambda: deep(x))
            thread.start()
            time.sleep(delay)
            found = self.in_child(lambda: np.isfinite(deep(x)).all())
            thread.join()
            self.assertEqual(found, 0, f"forked after {delay} s")

    def test_locks_are_open(self):
        """Of the package itself, anyone who held them."""
        from fractaltensor import locks

        lock, taken, over = locks.ForkLock(), threading.Event(), threading.Event()

        def hold():
            with lock:
                taken.set()
                over.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        taken.wait()

        def work():
            with lock:
                return True

        found = self.in_child(work)
        over.set()
        thread.join()
        self.assertEqual(found, 0)


class Interrupts(unittest.TestCase):
    def test_in_a_call(self):
        """Ctrl-C while code runs: raised after the call, results whole; the next call works."""
        source = (
            "import sys, os, signal, threading; sys.path.insert(0, %r)\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "import numpy as np, fractaltensor as ft\n"
            "@ft.jit\n"
            "def f(xs: ft.List['L', ft.f32['H']]): return xs.scanl(lambda h, x: ft.tanh(h * 0.5 + x), 0)\n"
            "x = np.ones((40000, 64), 'f4')\n"
            "expected = f(x)\n"
            "out = np.full_like(x, 7)\n"
            "for number in range(200):\n"
            "    timer = threading.Timer(0.001 * (number %% 10), lambda: os.kill(os.getpid(), signal.SIGINT))\n"
            "    try:\n"
            "        timer.start()\n"
            "        f(x, out=out)\n"
            "        timer.join()\n"
            "    except KeyboardInterrupt:\n"
            "        pass\n"
            "    while timer.is_alive():\n"
            "        try: timer.join()\n"
            "        except KeyboardInterrupt: pass\n"
            "    assert np.array_equal(out, expected) or (out == 7).all(), 'half written'\n"
            "print(np.array_equal(f(x), expected))\n" % str(PYTHON)
        )
        done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=1200)
        self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)


class Lifetimes(unittest.TestCase):
    def test_arguments_that_only_the_call_holds(self):
        """Memory that is freed as soon as it may be, while other threads take all that is free."""
        f, x, over = program(), np.linspace(-1, 1, 500 * 64, dtype="f4").reshape(500, 64), threading.Event()
        expected = f(x)

        def churn():
            while not over.is_set():
                rubbish = [np.full((500, 64), 3, "f4") for _ in range(20)]
                del rubbish
                gc.collect(0)

        threads = [threading.Thread(target=churn) for _ in range(2)]
        for thread in threads:
            thread.start()
        same = all(np.array_equal(f(x.copy()), expected) for _ in range(100))
        over.set()
        for thread in threads:
            thread.join()
        self.assertTrue(same)
        np.testing.assert_allclose(expected, reference(x), rtol=1e-5, atol=1e-6)

    def test_buffers_are_given_back(self):
        data = bytearray(4 * 12)
        view = memoryview(data).cast("f", (3, 4))
        program()(view)
        view.release()
        data.extend(b"more")
        self.assertEqual(len(data), 52)


if __name__ == "__main__":
    unittest.main()
