#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host time of a call from Python, beside what PyTorch, NumPy and Triton take on the same machine.

On a GPU each row is the time to enqueue one small kernel; on the CPU it holds the work, which is a few additions.
Rows are timed in turn, several rounds; the best and the median round are printed. With `--start` it also measures what a process
pays once, on the CPU. That is the import and, for each example, the first call with compilation, and the first call of a second
process, which finds the program on disk.

Usage: benchmarks/run.py calls [--device cuda|cpu] [--rounds 15] [--calls 300] [--start [--start-rounds 5]] [--json FILE]
PyTorch and Triton are left out where there are none, and the output says so.
"""
import argparse
import atexit
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
if importlib.util.find_spec("fractaltensor") is None:
    sys.path.insert(0, os.path.join(ROOT, "python"))


def programs():
    import fractaltensor as ft

    @ft.jit
    def add(xs: ft.List["N", ft.f32[4]], ys: ft.List["N", ft.f32[4]]):
        return ft.zip(xs, ys).map(ft.add)

    return add


def numpy_rows(rows):
    import numpy as np

    add = programs()
    x, y, out = np.ones((3, 4), "f4"), np.ones((3, 4), "f4"), np.zeros((3, 4), "f4")
    rows["NumPy arrays"] = lambda: add(x, y)
    rows["NumPy arrays, out="] = lambda: add(x, y, out=out)
    rows["numpy.add"] = lambda: np.add(x, y)
    rows["numpy.add, out="] = lambda: np.add(x, y, out=out)


def torch_rows(rows, device):
    import torch

    from fractaltensor.torch_support import program_text

    add = programs()
    x, y, out = (torch.ones(3, 4, device=device) for _ in range(3))
    program = program_text(add, [x, y], {})
    packet = torch.ops.fractaltensor.forward_1
    rows["direct"] = lambda: add(x, y)
    rows["direct, out="] = lambda: add(x, y, out=out)
    rows["operator"] = lambda: packet(program, [x, y])
    rows["operator, overload named"] = lambda: packet.default(program, [x, y])
    rows["torch.add"] = lambda: torch.add(x, y)
    rows["torch.add, out="] = lambda: torch.add(x, y, out=out)
    rows["torch.empty_like"] = lambda: torch.empty_like(x)


def triton_rows(rows):
    import torch

    source = """
import triton
import triton.language as tl

@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)
"""
    folder = tempfile.mkdtemp(prefix="ft-triton-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "ft_triton_add.py")  # Triton reads a kernel's source from its file
    with open(path, "w") as file:
        file.write(source)
    spec = importlib.util.spec_from_file_location("ft_triton_add", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = module.add_kernel
    x, y, out = (torch.ones(3, 4, device="cuda") for _ in range(3))

    def allocating():
        made = torch.empty_like(x)
        kernel[(1,)](x, y, made, 12, BLOCK=128)
        return made

    rows["Triton, with torch.empty_like"] = allocating
    rows["Triton, out="] = lambda: kernel[(1,)](x, y, out, 12, BLOCK=128)


def measure(rows, rounds, calls, wait):
    times = {name: [] for name in rows}
    for call in rows.values():
        for _ in range(50):
            call()
    for _ in range(rounds):
        for name, call in rows.items():
            wait()
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            times[name].append((time.perf_counter() - begin) / calls * 1e6)
            wait()
    return {name: {"best": min(t), "median": statistics.median(t)} for name, t in times.items()}


IMPORT = """
import time
begin = time.perf_counter(), time.process_time()
import fractaltensor as ft
print(1e3 * (time.perf_counter() - begin[0]), 1e3 * (time.process_time() - begin[1]))
"""
FIRST = """
import importlib, sys, time
import fractaltensor as ft
import numpy as np
sys.path.insert(0, sys.argv[1])
program = getattr(importlib.import_module(sys.argv[2]), sys.argv[2])
lengths, arrays = program._options.lengths, []
for type_ in program.specialize().program.types:
    dims = [n.substitute(lengths).constant for n in getattr(type_, "lengths", ())]
    element = getattr(type_, "element", type_)
    shape = (*dims, *element.shape)
    arrays.append(np.zeros(shape, "i8") if element.dtype.is_integer else np.full(shape, 0.01, "f4"))
begin = time.perf_counter(), time.process_time()
program(*arrays)
print(1e3 * (time.perf_counter() - begin[0]), 1e3 * (time.process_time() - begin[1]))
"""


class Times:
    """Milliseconds of several processes: how long something took, and what of that was the processor's work."""

    def __init__(self):
        self.rows = {}

    def run(self, name, command, environment):
        done = subprocess.run([sys.executable, "-c", *command], capture_output=True, text=True, env=environment, check=True)
        self.rows.setdefault(name, []).append(tuple(map(float, done.stdout.split())))

    def summary(self):
        return {
            name: {"best": min(t for t, _ in times), "median": statistics.median(t for t, _ in times),
                   "processor": statistics.median(w for _, w in times)}
            for name, times in self.rows.items()
        }


def start(rounds):
    """What a process pays once. That is the import, with bytecode on disk and where none may be written. For each example it is
    also the first call of a process that compiles, and of one that finds the program on disk. The processor's work is that of all
    threads; on a busy machine it tells more than the time."""
    import fractaltensor

    folder = os.path.join(ROOT, "examples", "python")
    names = sorted(file[:-3] for file in os.listdir(folder) if file.endswith(".py"))
    times = Times()
    with tempfile.TemporaryDirectory() as top:
        plain = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        plain.pop("PYTHONDONTWRITEBYTECODE", None)
        # As an installed package has it: modules are compiled once, here.
        compiled = {**plain, "PYTHONPYCACHEPREFIX": os.path.join(top, "pyc")}
        subprocess.run([sys.executable, "-c", IMPORT], stdout=subprocess.DEVNULL, env=compiled, check=True)
        bare = os.path.join(top, "bare")
        shutil.copytree(os.path.dirname(fractaltensor.__file__), os.path.join(bare, "fractaltensor"), ignore=shutil.ignore_patterns("__pycache__", "*.so*"))
        unwritten = {**plain, "PYTHONPATH": bare, "PYTHONDONTWRITEBYTECODE": "1"}
        for number in range(rounds):
            times.run("import", [IMPORT], compiled)
            times.run("import, without bytecode", [IMPORT], unwritten)
            compiled["FT_CACHE_DIR"] = os.path.join(top, f"cache{number}")
            for name in names:
                for kind in ("first call", "from the cache"):
                    times.run(f"{kind}, {name}", [FIRST, folder, name], compiled)
    return times.summary()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--start", action="store_true")
    parser.add_argument("--start-rounds", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args()
    has_torch = importlib.util.find_spec("torch") is not None
    wait, rows, report = (lambda: None), {}, {}
    if has_torch:
        import torch

        options.device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
        torch_rows(rows, options.device)
        if options.device == "cuda":
            wait = torch.cuda.synchronize
            if importlib.util.find_spec("triton"):
                triton_rows(rows)
            else:
                print("no Triton: its rows are left out")
    else:
        print("no PyTorch: its rows are left out")
    if options.device != "cuda" and importlib.util.find_spec("numpy"):
        numpy_rows(rows)
    report["us"] = measure(rows, options.rounds, options.calls, wait)
    print(f"{'host time of a call, us':34s} {'best':>8s} {'median':>8s}")
    for name, row in report["us"].items():
        print(f"{name:34s} {row['best']:8.2f} {row['median']:8.2f}")
    if options.start:
        report["ms"] = start(options.start_rounds)
        print(f"{'once for each process, ms':40s} {'best':>8s} {'median':>8s} {'processor':>10s}")
        for name, row in report["ms"].items():
            print(f"{name:40s} {row['best']:8.1f} {row['median']:8.1f} {row['processor']:10.1f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
