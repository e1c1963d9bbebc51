#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the CPU engine beside what a user would take instead, in one run, on the same cores.

Peers: PyTorch's nn.LSTM and scaled_dot_product_attention (its CPU build), two OpenBLAS
sgemm calls (NumPy's), and the same engine without the optimiser (`--skip=coarsen,reorder`:
same threads, tiles and rows). Runs of ours and of the peers alternate; the best of all
rounds is printed, with barriers and bytes of intermediates of one call.

With --plans: which order and which arrangement of loops the engine chose for recurrent programs at
several batches, what it estimated, and the times of every other candidate (`ft-run --candidate`).

Usage: benchmarks/run.py cpu [--ft-run build/bin/ft-run] [--cores 0,1] [--rounds 5] [--json FILE] [--plans [--batches 1,2,4]]
Without PyTorch its rows are left out, and the output says so.
"""
import argparse, json, os, statistics, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


UNOPTIMISED = ["--skip=coarsen,reorder"]


def ours(ft_run, example, dims, types, extra=()):
    command = [ft_run, os.path.join(ROOT, "examples", example + ".mlir"), "--engine=cpu", "--bench", "--json"]
    command += [x for d in dims.items() for x in ("--dim", "%s=%d" % d)]
    command += [x for t in types.items() for x in ("--type", "%s=%s" % t)]
    command += extra
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s failed:\n%s" % (" ".join(command), done.stderr))
    report = json.loads(done.stdout)
    return report, " ".join(command)


def timed(call, budget=1.0):
    call()
    first = time.perf_counter()
    call()
    once = time.perf_counter() - first
    samples = []
    for _ in range(max(5, min(200, int(budget / max(once, 1e-6))))):
        begin = time.perf_counter()
        call()
        samples.append(time.perf_counter() - begin)
    return min(samples), statistics.median(samples)


def peers(threads):
    result = {}
    try:
        import torch
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        with torch.no_grad():
            lstm = torch.nn.LSTM(256, 256, 8).eval()
            x = torch.randn(64, 16, 256)
            q, k, v = (torch.randn(1, 8, 1024, 64) for _ in range(3))
            result["stacked_lstm"] = ("PyTorch nn.LSTM", torch.no_grad()(lambda: lstm(x)))
            result["flash_attention"] = ("PyTorch SDPA", torch.no_grad()(
                lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v)))
    except ImportError:
        print("PyTorch is not installed: its rows are left out", file=sys.stderr)
    import numpy as np
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((4096, 64), (64, 1024), (1024, 64)))
    result["back_to_back_gemm"] = ("two OpenBLAS sgemm", lambda: (a @ b) @ c)
    return result


GRID = dict(x="tensor<1x128xf32>", w="tensor<128x128xf32>")
GRID_FLOP = 16 * 16 * 4 * 4 * 2 * 128 * 128
CASES = {
    # name: (example, lengths, types, shape, FLOP)
    "stacked_lstm": ("stacked_lstm", dict(N=16, L=64, D=8), dict(x="tensor<1x256xf32>", w="tensor<256x256xf32>"),
                     "B16 H256 L64 D8", 16 * 64 * 8 * 2 * 8 * 256 * 256),
    "flash_attention": ("flash_attention", dict(B=1, H=8, Q=16, K=16),
                        dict(q="tensor<64x64xf32>", k="tensor<64x64xf32>", v="tensor<64x64xf32>", p="tensor<64x64xf32>",
                             r="tensor<64xf32>", o="tensor<64x64xf32>"), "B1 H8 S1024 D64", 8 * 1024 * 1024 * 64 * 4),
    "grid_rnn": ("grid_rnn", dict(N=4, S=16, T=16, D=4), GRID, "B4 H128 16x16 D4", 4 * GRID_FLOP),
    "grid_rnn_1": ("grid_rnn", dict(N=1, S=16, T=16, D=4), GRID, "B1 H128 16x16 D4", GRID_FLOP),
    "back_to_back_gemm": ("back_to_back_gemm", dict(M=64, N=16), dict(), "M4096 N1024 K64 P64", 4096 * 1024 * 128 * 2),
}


def weights(width):
    return dict(x="tensor<1x%dxf32>" % width, w="tensor<%dx%dxf32>" % (width, width))


RECURRENT = {
    "stacked_lstm": (dict(L=64, D=8), weights(256)),
    "grid_rnn": (dict(S=16, T=16, D=4), weights(128)),
    "gru": (dict(L=64), weights(256)),
    "dilated_lstm": (dict(L=64), weights(256)),
}


def plans(arguments):
    """The chosen order beside every candidate: prints one line each, the best of all rounds."""
    rows = []
    for example, (dims, types) in RECURRENT.items():
        for batch in (int(b) for b in arguments.batches.split(",")):
            best = {}
            # Candidates beyond the last one are the last one, the program's own order.
            for _ in range(arguments.rounds):
                for candidate in (None, 0, 1, 99):
                    extra = [] if candidate is None else ["--candidate=%d" % candidate]
                    report, command = ours(arguments.ft_run, example, dict(dims, N=batch), types, extra)
                    if candidate not in best or report["run_seconds"] < best[candidate]["run_seconds"]:
                        best[candidate] = report
            chosen, least = best[None]["run_seconds"], min(r["run_seconds"] for r in best.values())
            print("%s B%d: %.3f ms (estimated %.3f), %.2f of the best; candidates %s\n    %s" % (
                example, batch, 1e3 * chosen, 1e3 * best[None]["predicted_seconds"], chosen / least,
                " ".join("%.3f" % (1e3 * r["run_seconds"]) for c, r in best.items() if c is not None),
                "\n    ".join(best[None]["plans"])), flush=True)
            rows.append(dict(program=example, batch=batch, chosen=best[None],
                             candidates=[r for c, r in best.items() if c is not None]))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ft-run", default=os.path.join(ROOT, "build", "bin", "ft-run"))
    parser.add_argument("--cores", default="0,1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("--plans", action="store_true", help="list chosen plans at several batches")
    parser.add_argument("--batches", default="1,2,4,8,16")
    arguments = parser.parse_args()
    cores = [int(c) for c in arguments.cores.split(",")]
    os.sched_setaffinity(0, cores)
    os.environ["FT_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(len(cores))
    if arguments.plans:
        rows = plans(arguments)
        if arguments.json:
            with open(arguments.json, "w") as file:
                json.dump(rows, file, indent=1)
        return
    others = peers(len(cores))
    rows = []
    print("%-18s %-20s %10s %9s %8s %10s | %10s %8s %10s %6s | %s" % (
        "program", "shape", "ours ms", "GFLOP/s", "barriers", "bytes", "plain ms", "barriers", "bytes", "ratio", "peer, ms, ratio"))
    for name, (example, dims, types, shape, flop) in CASES.items():
        mine, plain, peer = [], [], []
        for _ in range(arguments.rounds):
            report, command = ours(arguments.ft_run, example, dims, types)
            mine.append(report)
            without, _ = ours(arguments.ft_run, example, dims, types, UNOPTIMISED)
            plain.append(without)
            if name in others:
                peer.append(timed(others[name][1]))
        best, best_plain = (min(r["run_seconds"] for r in x) for x in (mine, plain))
        row = dict(program=name, shape=shape, best=best, seconds=statistics.median(r["run_seconds_median"] for r in mine),
                   gflops=flop / best / 1e9, compile_seconds=min(r["compile_seconds"] for r in mine),
                   barriers=report["barriers"], intermediate_bytes=report["intermediate_bytes"],
                   predicted_seconds=report["predicted_seconds"], plans=report["plans"],
                   unoptimised_best=best_plain, unoptimised_barriers=without["barriers"],
                   unoptimised_intermediate_bytes=without["intermediate_bytes"], unoptimised_plans=without["plans"],
                   speedup=best_plain / best, command=command)
        text = "-"
        if peer:
            row.update(peer=others[name][0], peer_best=min(p[0] for p in peer),
                       peer_seconds=statistics.median(p[1] for p in peer))
            row["ratio"] = best / row["peer_best"]
            text = "%s %.3f %.2f" % (row["peer"], 1e3 * row["peer_best"], row["ratio"])
        rows.append(row)
        print("%-18s %-20s %10.3f %9.1f %8d %10d | %10.3f %8d %10d %6.2f | %s" % (
            name, shape, 1e3 * best, row["gflops"], row["barriers"], row["intermediate_bytes"], 1e3 * best_plain,
            row["unoptimised_barriers"], row["unoptimised_intermediate_bytes"], row["speedup"], text), flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)


main()
