#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The schedule that the dataflow search chooses, beside other schedules, on the CPU engine.

For each program it times the schedule of `etdg-explore-dataflow` for a core's cache, the cost model's own choice without it, and `--variants` others.
No two of these have the same plan. Some have other tiles, of the program as it is coarsened and with each of its operators by itself. Some are legal
arrangements of loops drawn by a seed (`ft-run --plan-seed`). Runs alternate over `--rounds`, each round in another order; the least time of each case
counts, and its median beside it. From the second round on, only the two choices take part and those that are within `--keep` of the best so far:
another one could not become the best.

With `--cores` the process runs on so many processors only. Beside other programs the time of one core is comparable. That of a team is not, since it
waits for its slowest thread. Beside the times stands the search's prediction of the traffic between memory and cache (elements). With --perf it also
has what the processor counted: last-level misses, times a line of 64 bytes, of one call.

    benchmarks/run.py dataflow [--bin build/bin] [--variants 30] [--rounds 5] [--seconds 0.25] [--cores N] [--perf] [--json FILE] [PROGRAM ...]

The answer to "within a tenth of the best?" is the column `of best`: chosen over the best of all cases but itself. The exit status is 0
whatever the answer is. Five rounds of three programs take about four minutes on an idle machine.
"""
import argparse, json, os, random, re, statistics, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = {
    "attention_three_step": {"B": 1, "H": 4, "Q": 64, "K": 32},
    "back_to_back_gemm": {"M": 128, "N": 8},
    "mlp": {"N": 256, "F": 16},
}

UNFUSED = "unfused, "
CHOICES = ("chosen", "cost model")
TILES = (8, 16, 2, 32, 4, 64, 1, 3, 6, 12, 24, 48, 96, 128, 5, 10, 20, 40, 80, 7, 9, 11, 13, 15, 18, 22, 26, 30, 36, 43, 52, 86, 256)


def run(command, optional=False):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and optional:
        return None
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


def bench(args, file, dims, seed=None, optional=False):
    """One run: its least seconds, the plans of its kernels, what the processor counted. None if it may fail and does."""
    command = [args.bin + "/ft-run", file, "--engine=cpu", "--bench", "--json"]
    command.append("--bench-seconds=%g" % args.seconds)
    command += ["--dim=%s=%d" % dim for dim in dims.items()]
    if seed is not None:
        command.append("--plan-seed=%d" % seed)
    if args.perf:
        command = ["perf", "stat", "-x,", "-e", "LLC-load-misses,instructions"] + command
    done = run(command, optional)
    if done is None:
        return None
    report = json.loads(done.stdout)
    counted = {}
    for line in done.stderr.splitlines():
        parts = line.split(",")
        if args.perf and len(parts) > 2 and parts[0].isdigit():
            counted[parts[2]] = int(parts[0])
    # A plan says what it runs; how much that would take is no part of it.
    plans = tuple(re.sub(r", [^,]* us$", "", plan) for plan in report.get("plans", ()))
    return report["run_seconds"], plans, counted, report["run_seconds_median"]


def candidates(args, plain, folder):
    """Variants to be timed, (name, file, seed): other tiles, coarsened or not, in turn with arrangements drawn by a seed."""
    tiled = []
    for form, skip in (("", ""), (UNFUSED, " skip=coarsen")):
        done = run([args.bin + "/ft-opt", plain, "--ft-compile=to=schedule target=cpu dataflow=false" + skip])
        for tile in TILES:
            name = "%stile %d" % (form, tile)
            path = os.path.join(folder, re.sub(r"\W+", "_", name) + ".mlir")
            with open(path, "w") as file:
                file.write(re.sub(r"most = \d+", "most = %d" % tile, done.stdout))
            tiled.append((name, path, None))
    seeded = [("seed %d" % seed, plain, seed) for seed in range(1, args.variants + 1)]
    for k in range(max(len(tiled), len(seeded))):
        yield from tiled[k:k + 1]
        if k % 3 == 0:
            yield from seeded[k // 3:k // 3 + 1]


def first_round(args, plain, chosen, dims, folder):
    """All cases, each timed once: name to (file, seed), and name to seconds. What has a plan that was met is passed over."""
    cases, least, counted, medians, met = {}, {}, {}, {}, set()

    def take(name, file, seed):
        done = bench(args, file, dims, seed, optional=name not in CHOICES)
        plans = (name.startswith(UNFUSED), done[1]) if done else None
        if done is None or (plans in met and name not in CHOICES):
            return
        met.add(plans)
        cases[name], least[name], counted[name], medians[name] = (file, seed), done[0], done[2], [done[3]]

    take("chosen", chosen, None)
    estimated = os.path.join(folder, "estimated.mlir")
    run([args.bin + "/ft-opt", plain, "-o", estimated, "--ft-compile=to=schedule target=cpu dataflow=false"])
    take("cost model", estimated, None)
    drawn = 0
    for name, file, seed in candidates(args, plain, folder):
        if len(cases) == args.variants + len(CHOICES) or drawn == 6 * args.variants:
            break
        drawn += 1
        take(name, file, seed)
    return cases, least, counted, medians, drawn


def compare(args, program):
    dims = PROGRAMS.get(program, {})
    with tempfile.TemporaryDirectory() as folder:
        plain, chosen, moved, walks = explored(args, program, dims, folder)
        cases, least, counted, medians, drawn = first_round(args, plain, chosen, dims, folder)
        order = random.Random(1)
        rounds = {name: 1 for name in cases}
        for _ in range(1, args.rounds):
            best = min(least.values())
            names = [name for name in cases if least[name] <= args.keep * best or name in CHOICES]
            order.shuffle(names)
            for name in names:
                seconds, _, counted[name], median = bench(args, cases[name][0], dims, cases[name][1])
                medians[name].append(median)
                least[name] = min(seconds, least[name])
                rounds[name] += 1
    others = {name: value for name, value in least.items() if name != "chosen"}
    best = min(others, key=others.get)
    return {
        "program": program, "lengths": dims, "walks": walks, "predicted_elements": moved,
        "chosen_us": least["chosen"] * 1e6, "cost_model_us": least["cost model"] * 1e6,
        "best": best, "best_us": others[best] * 1e6, "cores": len(os.sched_getaffinity(0)), "worst_us": max(others.values()) * 1e6,
        "of_best": least["chosen"] / others[best], "variants": len(others) - 1, "drawn": drawn,
        "cases": {name: {"us": least[name] * 1e6, "median_us": statistics.median(medians[name]) * 1e6, "rounds": rounds[name]} for name in sorted(least, key=least.get)},
        "counted": counted["chosen"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build/bin"))
    parser.add_argument("--variants", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.25, help="of repetitions in each run")
    parser.add_argument("--keep", type=float, default=1.5, help="times the best: what takes part in later rounds")
    parser.add_argument("--cores", type=int, default=0, help="processors to run on (default: all)")
    parser.add_argument("--perf", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    args = parser.parse_args()
    if args.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-args.cores:])
    table = []
    for program in args.programs:
        row = compare(args, program)
        table.append(row)
        print("%-22s chosen %9.1f us, cost model %9.1f, best of %d variants %9.1f (%s), worst %9.1f: %.3f of best; "
              "%d elements predicted%s" %
              (program, row["chosen_us"], row["cost_model_us"], row["variants"], row["best_us"], row["best"],
               row["worst_us"], row["of_best"], row["predicted_elements"],
               ", counted " + str(row["counted"]) if args.perf else ""), flush=True)
        if args.json:
            with open(args.json, "w") as file:
                json.dump(table, file, indent=1)


if __name__ == "__main__":
    main()
