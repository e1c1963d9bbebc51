#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the programs of integration/bench.txt on the CPU beside PyTorch's forms of them, in alternating runs.

The peers are benchmarks/peers/programs.py in eager PyTorch and under torch.compile (left out where compiling takes longer
than --compile-seconds, or fails, and the line says so). Each round times ours (`ft-run --bench`) and then each peer, which
waits in a process of its own. It prints the medians of the rounds' medians, and ours over the best peer's.

Usage: benchmarks/run.py forms --python PYTHON-WITH-TORCH [--ft-run build/bin/ft-run] [--threads 2] [--rounds 3] [NAME...]
"""
import argparse, json, os, shlex, statistics, subprocess, sys

import turns

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAMES = ["conv1d", "mamba", "rwkv", "retention", "bigbird", "mlp"]

PEER = """
import statistics, sys, time
import torch
sys.path.insert(0, sys.argv[1])
import programs
programs.DEVICE = "cpu"
torch.set_num_threads(int(sys.argv[3]))
torch.manual_seed(1)
with torch.no_grad():
    case = programs.all_cases()[sys.argv[2]]()
    inputs = [t.float() if t.is_floating_point() else t for t in case.inputs]
    call = torch.compile(case.plain, dynamic=False) if sys.argv[4] == "compile" else case.plain
    call(*inputs)
    print("ready", flush=True)
    for line in sys.stdin:
        samples, begin = [], time.perf_counter()
        while len(samples) < 3 or time.perf_counter() - begin < float(line):
            start = time.perf_counter()
            call(*inputs)
            samples.append(time.perf_counter() - start)
        print(statistics.median(samples), flush=True)
"""


class Peer(turns.TimedProcess):
    """A form in PyTorch that waits for its turns."""

    def __init__(self, python, name, threads, how):
        command = [python, "-c", PEER, os.path.join(ROOT, "benchmarks", "peers"), name, str(threads), how]
        super().__init__(command, stderr=subprocess.DEVNULL)

    def ready(self, seconds):
        if self.first_line(seconds) != "ready\n":
            self.end()
            return False
        return True


def rows():
    """The programs of integration/bench.txt: name, file and options."""
    for line in open(os.path.join(ROOT, "integration", "bench.txt")):
        if line.strip() and not line.startswith("#"):
            name, path, options = line.strip().split("|")
            yield name, os.path.join(ROOT, path), shlex.split(options)


def ours(options, path, sizes):
    command = [options.ft_run, path, "--engine=cpu", "--bench", "--json",
               "--bench-seconds=%f" % options.seconds, *sizes]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, FT_NUM_THREADS=str(options.threads)))
    if done.returncode != 0:
        sys.exit("%s failed:\n%s" % (" ".join(command), done.stderr))
    return json.loads(done.stdout)["run_seconds_median"]


def compare(options, name, path, sizes):
    peers = {}
    for how, limit in (("eager", 600), ("compile", options.compile_seconds)):
        peer = Peer(options.python, name, options.threads, how)
        if peer.ready(limit):
            peers[how] = peer
    samples = {how: [] for how in ("ours", *peers)}
    for _ in range(options.rounds):
        samples["ours"].append(ours(options, path, sizes))
        for how, peer in peers.items():
            samples[how].append(peer.time(options.seconds))
    for peer in peers.values():
        peer.end()
    medians = {how: statistics.median(times) for how, times in samples.items()}
    best = min(medians[how] for how in peers)
    cells = ["%12.2f" % (1e3 * medians[how]) if how in medians else "%12s" % "-" for how in ("ours", "eager", "compile")]
    print("%-20s %s %8.2f" % (name, " ".join(cells), medians["ours"] / best), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--python", required=True)
    parser.add_argument("--ft-run", default=os.path.join(ROOT, "build", "bin", "ft-run"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1, help="about how long each is repeated in a round")
    parser.add_argument("--compile-seconds", type=float, default=120)
    options = parser.parse_args()
    print("%-20s %12s %12s %12s %8s" % ("ms", "ours", "eager", "compile", "ratio"))
    for name, path, sizes in rows():
        if name in options.names:
            compare(options, name, path, sizes)


if __name__ == "__main__":
    main()
