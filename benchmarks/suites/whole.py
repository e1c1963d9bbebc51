#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times products and layers on whole tensors on the CPU beside PyTorch's, in alternating runs.

Each round runs ours (`ft-run --bench`) and PyTorch's in processes of their own, one after the other. It prints the
medians of the rounds' medians and bests, and their ratios (ours over PyTorch's: below 1 is faster).

Usage: benchmarks/run.py whole --python PYTHON-WITH-TORCH [--ft-run build/bin/ft-run] [--threads 2] [--rounds 5] [--machine FILE] [NAME...]
"""
import argparse, os, re, statistics, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def product(m, k, n, layer):
    """M x K times K x N; as a layer with bias and tanh."""
    t = "tensor<%dx%dxf32>"
    x, w, y = t % (m, k), t % (k, n), t % (m, n)
    text = f"""func.func @f(%x: {x}, %w: {w}, %b: tensor<{n}xf32>) -> {y} {{
  %z = arith.constant dense<0.0> : {y}
  %e = tensor.empty() : {y}
  %y = linalg.matmul ins(%x, %w : {x}, {w}) outs(%z : {y}) -> {y}
"""
    if not layer:
        return text + f"  return %y : {y}\n}}\n"
    return text + f"""  %bs = linalg.broadcast ins(%b : tensor<{n}xf32>) outs(%e : {y}) dimensions = [0]
  %s = arith.addf %y, %bs : {y}
  %t = math.tanh %s : {y}
  return %t : {y}
}}
"""


CASES = {  # name: (m, k, n, with bias and tanh)
    "product_1024": (1024, 1024, 1024, False),
    "product_512": (512, 512, 512, False),
    "layer_384x768x3072": (384, 768, 3072, True),
    "layer_1024": (1024, 1024, 1024, True),
    "vector_4096": (1, 4096, 4096, False),
    "rows_8x4096": (8, 4096, 4096, False),
    "primes_509x1021x997": (509, 1021, 997, True),
}

TORCH = """
import sys, time, statistics, torch
m, k, n, layer, threads = map(int, sys.argv[1:])
torch.set_num_threads(threads)
x, w, b = torch.randn(m, k), torch.randn(k, n), torch.randn(n)
call = (lambda: torch.tanh(x @ w + b)) if layer else (lambda: x @ w)
with torch.no_grad():
    call(); call()
    begin = time.perf_counter(); samples = []
    while time.perf_counter() - begin < 1 or len(samples) < 5:
        t = time.perf_counter(); call(); samples.append(time.perf_counter() - t)
print(min(samples), statistics.median(samples))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="a Python that has PyTorch")
    parser.add_argument("--ft-run", default=os.path.join(ROOT, "build/bin/ft-run"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--machine", help="plan for this machine, a name or a file, instead of machine/cpu.json")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    ours_runs = [options.ft_run, "--engine=cpu", "--bench"] + (["--machine=" + options.machine] if options.machine else [])
    environment = dict(os.environ, FT_NUM_THREADS=str(options.threads))
    print("%-22s %12s %12s %8s %8s" % ("", "ours, us", "PyTorch, us", "median", "best"))
    for name in options.names or CASES:
        m, k, n, layer = CASES[name]
        ours, theirs = [], []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.mlir")
            with open(path, "w") as out:
                out.write(product(m, k, n, layer))
            for _ in range(options.rounds):
                done = subprocess.run(ours_runs + [path], env=environment, capture_output=True, text=True)
                found = re.search(r"run ([\d.e-]+) s best, ([\d.e-]+) s median", done.stdout)
                if not found:
                    sys.exit(done.stderr or done.stdout)
                ours.append((float(found[1]), float(found[2])))
                done = subprocess.run([options.python, "-c", TORCH, *map(str, (m, k, n, int(layer), options.threads))],
                                      capture_output=True, text=True)
                if done.returncode:
                    sys.exit(done.stderr)
                theirs.append(tuple(map(float, done.stdout.split())))
        best = [min(t[0] for t in times) for times in (ours, theirs)]
        median = [statistics.median(t[1] for t in times) for times in (ours, theirs)]
        print("%-22s %12.1f %12.1f %8.2f %8.2f" % (name, median[0] * 1e6, median[1] * 1e6, median[0] / median[1], best[0] / best[1]))


if __name__ == "__main__":
    main()
