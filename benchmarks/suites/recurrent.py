#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times recurrent networks on the CPU engine beside PyTorch's nn.LSTM and nn.GRU, on the same cores.

Runs alternate: ours as chosen, ours whole (the last order, without a division), PyTorch. A ratio is taken of each round, and the
median of all rounds is printed: what else the machine does meets all three alike. Weights are random and the same in size; only
times are compared (values: ft-run --compare=interpret, which the tests do).

Usage: benchmarks/run.py recurrent [--ft-run build/bin/ft-run] [--cores 0,1] [--rounds 15] [--machine FILE] [--cases lstm16,lstm1,…] [--json FILE]
"""
import argparse, json, os, statistics, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# name: (example, lengths, width, PyTorch's module, layers)
CASES = {
    "lstm16": ("stacked_lstm", dict(N=16, L=64, D=8), 256, "LSTM", 8),
    "lstm4": ("stacked_lstm", dict(N=4, L=64, D=8), 256, "LSTM", 8),
    "lstm1": ("stacked_lstm", dict(N=1, L=64, D=8), 256, "LSTM", 8),
    "lstm7": ("stacked_lstm", dict(N=7, L=127, D=3), 256, "LSTM", 3),
    "gru16": ("gru", dict(N=16, L=64), 256, "GRU", 1),
    "gru1": ("gru", dict(N=1, L=64), 256, "GRU", 1),
}
WHOLE = 1 << 20  # a rank beyond all is the program's own order


def ours(arguments, case, extra=()):
    example, lengths, width, _, _ = CASES[case]
    command = [arguments.ft_run, os.path.join(ROOT, "examples", example + ".mlir"), "--engine=cpu", "--bench", "--json",
               "--type", "x=tensor<1x%dxf32>" % width, "--type", "w=tensor<%dx%dxf32>" % (width, width)]
    command += [x for d in lengths.items() for x in ("--dim", "%s=%d" % d)] + list(extra)
    if arguments.machine:
        command += ["--machine", arguments.machine]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s failed:\n%s" % (" ".join(command), done.stderr))
    return json.loads(done.stdout)


def peer(case, threads):
    import torch
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    _, lengths, width, module, layers = CASES[case]
    network = getattr(torch.nn, module)(width, width, layers).eval()
    x = torch.randn(lengths["L"], lengths["N"], width)

    def run(budget=0.7):
        samples = []
        with torch.no_grad():
            network(x)
            end = time.perf_counter() + budget
            while len(samples) < 3 or time.perf_counter() < end:
                begin = time.perf_counter()
                network(x)
                samples.append(time.perf_counter() - begin)
        return statistics.median(samples)
    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ft-run", default=os.path.join(ROOT, "build", "bin", "ft-run"))
    parser.add_argument("--cores", default="0,1")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--machine", help="a machine file, as ft-run --measure-machine writes")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--json")
    arguments = parser.parse_args()
    cores = [int(c) for c in arguments.cores.split(",")]
    os.sched_setaffinity(0, cores)
    os.environ["FT_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(len(cores))
    rows = []
    for case in arguments.cases.split(","):
        run = peer(case, len(cores))
        rounds = []
        for _ in range(arguments.rounds):
            chosen, whole = ours(arguments, case), ours(arguments, case, ["--candidate=%d" % WHOLE])
            rounds.append((chosen["run_seconds_median"], whole["run_seconds_median"], run()))
        middle = [1e3 * statistics.median(r[i] for r in rounds) for i in range(3)]
        row = dict(case=case, chosen_ms=middle[0], whole_ms=middle[1], pytorch_ms=middle[2],
                   to_whole=statistics.median(r[0] / r[1] for r in rounds),
                   to_pytorch=statistics.median(r[0] / r[2] for r in rounds), plans=chosen["plans"], rounds=rounds)
        print("%s: chosen %.2f ms, whole %.2f, PyTorch %.2f; medians of ratios: %.2f of whole, %.2f of PyTorch\n    %s" % (
            case, *middle, row["to_whole"], row["to_pytorch"], "\n    ".join(chosen["plans"])), flush=True)
        rows.append(row)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
