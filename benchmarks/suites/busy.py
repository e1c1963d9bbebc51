#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of programs on one thread, on two and on all, beside busy processes.

Threads that wait for each other need their cores at one time. Where other processes have these, a schedule with barriers may take many times as long
as one thread. Each row is the median of calls in a process of its own, and how it compares with the better of one thread and two.

    python3 benchmarks/run.py busy [--beside 0,1,4] [--only scan,gru,rows] [--threads 1,2,4] [--calls 200] [--rounds 3] [--json FILE]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

#: What a ratio to the better of one thread and two should not exceed.
LIMIT = 1.3


def scan():
    """A recurrence with almost no work in a step."""
    import numpy as np

    import fractaltensor as ft

    @ft.jit
    def run(xs: ft.List["L", ft.f32[3]], w: ft.f32[3, 3]):
        return xs.scanl(lambda h, x: ft.tanh(h @ w + x), ft.zeros(3))

    return run, (np.ones((127, 3), "f4"), np.ones((3, 3), "f4") / 9)


def gru():
    """A recurrence whose steps are products."""
    import numpy as np

    import fractaltensor as ft

    @ft.jit
    def run(xss: ft.List["N, L", ft.f32[1, "H"]], w: ft.List["3", ft.f32["H", "H"]]):
        def step(h, x):
            z, r = ft.sigmoid(x + h @ w[0]), ft.sigmoid(x + h @ w[1])
            return (1 - z) * ft.tanh(x + (r * h) @ w[2]) + z * h

        return xss.map(lambda xs: xs.scanl(step, ft.zeros(1, "H")))

    return run, (np.ones((4, 50, 1, 128), "f4"), np.ones((3, 128, 128), "f4") / 512)


def rows():
    """Rows that need nothing of each other."""
    import numpy as np

    import fractaltensor as ft

    @ft.jit
    def run(xs: ft.List["N", ft.f32[256]]):
        return xs.map(lambda x: ft.softmax(x * 2, -1))

    return run, (np.ones((512, 256), "f4"),)


PROGRAMS = {f.__name__: f for f in (scan, gru, rows)}


def time_calls(name, calls):
    """Prints the median of calls in milliseconds."""
    run, arguments = PROGRAMS[name]()
    for _ in range(5):
        run(*arguments)
    times = []
    for _ in range(calls):
        begun = time.perf_counter()
        run(*arguments)
        times.append((time.perf_counter() - begun) * 1e3)
    print(statistics.median(times))


def measured(name, threads, calls):
    environment = {**os.environ, "FT_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, __file__, "--time", name, "--calls", str(calls)], capture_output=True, text=True, env=environment, check=True)
    return float(done.stdout)


def measure(name, beside, options):
    """A row: milliseconds by the number of threads, in turn, and the ratio of all threads to the better of one and two."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(beside)]
    try:
        times = {threads: [] for threads in options.threads}
        for _ in range(options.rounds):
            for threads, found in times.items():
                found.append(measured(name, threads, options.calls))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    row = {str(threads): statistics.median(found) for threads, found in times.items()}
    best = min(row[str(t)] for t in (1, 2) if t in times)
    return {"program": name, "beside": beside, "ms": row, "ratio": row[str(max(options.threads))] / best}


def numbers(text):
    return [int(n) for n in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", type=numbers, default=[0, 1, 4], help="numbers of busy processes")
    parser.add_argument("--only", default=",".join(PROGRAMS))
    parser.add_argument("--threads", type=numbers, default=sorted({1, 2, os.cpu_count() or 2}))
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--time", choices=sorted(PROGRAMS), help=argparse.SUPPRESS)
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.time:
        time_calls(options.time, options.calls)
        return
    if not set(options.threads) & {1, 2}:
        parser.error("--threads: expected 1 or 2 among them")
    found = []
    for name in options.only.split(","):
        for beside in options.beside:
            row = measure(name, beside, options)
            found.append(row)
            shown = "  ".join(f"{threads} threads {ms:8.3f} ms" for threads, ms in row["ms"].items())
            print(f"{name:8} beside {beside}: {shown}  {row['ratio']:.2f} times the better of one and two{'' if row['ratio'] <= LIMIT else ' (!)'}", flush=True)
            if options.json:
                pathlib.Path(options.json).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
