#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The schedule that the dataflow search chooses, beside variants that were drawn at random, on the CPU engine.

For each program: the schedule of `etdg-explore-dataflow` for a core's cache, the cost model's own choice without it, and
`--variants` legal arrangements of loops (`ft-run --plan-seed`). Runs alternate over `--rounds`; the least time of each counts.
Beside the times stand what the search predicts to move between memory and cache (elements), and with --perf what
the processor counted: last-level misses, times a line of 64 bytes, of one call.

Usage: dataflow.py [--bin build/bin] [--variants 30] [--rounds 3] [--perf] [--json FILE] [PROGRAM ...]
The answer to "within a tenth of the best?" is the column `of best`: chosen over best variant.
"""
import argparse, json, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = {
    "attention_three_step": {"B": 1, "H": 8, "Q": 32, "K": 32},
    "back_to_back_gemm": {"M": 128, "N": 8},
    "mlp": {"N": 256, "F": 16},
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s failed:\n%s" % (" ".join(command), done.stderr))
    return done


def explored(args, program, dims, folder):
    """The program as a graph with the schedules that the search writes, and the elements that it says move."""
    graph = run([args.bin + "/ft-opt", os.path.join(ROOT, "examples", program + ".mlir"), "--ft-compile=to=etdg"]).stdout
    for name, value in dims.items():
        graph = re.sub(r"(ft\.lengths = \{[^}]*\b%s = )\d+" % name, r"\g<1>%d" % value, graph)
    plain, chosen = os.path.join(folder, program + ".mlir"), os.path.join(folder, program + ".chosen.mlir")
    with open(plain, "w") as file:
        file.write(graph)
    done = run([args.bin + "/ft-opt", plain, "-o", chosen,
                "--pass-pipeline=builtin.module(etdg.graph(etdg-explore-dataflow{machine=cpu}))"])
    moved = re.search(r"dataflow: (\d+) elements move", done.stderr)
    walks = re.findall(r"dataflow: walks (.*)", done.stderr)
    return plain, chosen, int(moved.group(1)), walks


def bench(args, file, dims, seed=None):
    command = [args.bin + "/ft-run", file, "--engine=cpu", "--bench", "--json"]
    command += ["--dim=%s=%d" % dim for dim in dims.items()]
    if seed is not None:
        command.append("--plan-seed=%d" % seed)
    if args.perf:
        command = ["perf", "stat", "-x,", "-e", "LLC-load-misses,instructions"] + command
    done = run(command)
    report = json.loads(done.stdout)
    counted = {}
    for line in done.stderr.splitlines():
        parts = line.split(",")
        if args.perf and len(parts) > 2 and parts[0].isdigit():
            counted[parts[2]] = int(parts[0])
    return report["run_seconds"], counted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build/bin"))
    parser.add_argument("--variants", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--perf", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    args = parser.parse_args()
    table = []
    with tempfile.TemporaryDirectory() as folder:
        for program in args.programs:
            dims = PROGRAMS.get(program, {})
            plain, chosen, moved, walks = explored(args, program, dims, folder)
            cases = {"chosen": (chosen, None), "cost model": (plain, None)}
            cases.update(("seed %d" % seed, (plain, seed)) for seed in range(1, args.variants + 1))
            least, counted = {}, {}
            for _ in range(args.rounds):
                for name, (file, seed) in cases.items():
                    seconds, numbers = bench(args, file, dims, seed)
                    least[name] = min(seconds, least.get(name, seconds))
                    counted[name] = numbers
            variants = {name: value for name, value in least.items() if name.startswith("seed")}
            best = min(list(variants.values()) + [least["cost model"]])
            row = {"program": program, "walks": walks, "predicted_elements": moved,
                   "chosen_us": least["chosen"] * 1e6, "cost_model_us": least["cost model"] * 1e6,
                   "best_us": best * 1e6, "worst_us": max(variants.values()) * 1e6,
                   "of_best": least["chosen"] / best, "variants": len(variants), "counted": counted["chosen"]}
            table.append(row)
            print("%-22s chosen %9.1f us, cost model %9.1f, best of %d variants %9.1f, worst %9.1f: %.3f of best; "
                  "%d elements predicted%s" %
                  (program, row["chosen_us"], row["cost_model_us"], row["variants"], row["best_us"], row["worst_us"],
                   row["of_best"], moved, ", counted " + str(row["counted"]) if args.perf else ""), flush=True)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(table, file, indent=1)


if __name__ == "__main__":
    main()
