#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Souffle's evaluation (ASPLOS'24, §8), each figure beside the paper's number.

    souffle.py analysis [--build build]

prints what Figures 2, 3 and 4 show of the analysis and of the transformations, on this machine.

    souffle.py pack FOLDER [--build build] [--only NAME,…] [--type f16,f32] [--modes cost,souffle,boundary] [--whole]

compiles a bundle for each module, type and mode of the phase `partition`, and records kernels, bytes of
workspace, and seconds (Tables 1, 4 and 5, §8.5). It needs PyTorch. `--whole` takes the four large models of Table 3, too.

    python3 FOLDER/souffle.py run FOLDER [--only NAME,…] [--json FILE] [--ncu]

runs on a machine with a GPU and PyTorch, without LLVM. Every result is compared with the module in float64 before it is timed. The L2 cache is evicted before each call. Peers are PyTorch and torch.compile, in CUDA graphs.

    souffle.py text FILE          prints the tables of a JSON file as Markdown
    souffle.py svg FILE OUT.svg   draws Figure 6 from it; needs matplotlib

The versions of Table 4 are these modes. V0 is `unmerged`: `coarsen` leaves the graph alone, and each nest is a kernel. V1 and V2,
the transformations, are `boundary`. V3 has kernels of several nests. In `souffle` Algorithm 1 asks for grid barriers; in `cost` the
least price decides, and launches overlap. V4 is not built.
"""

import argparse
import datetime
import importlib.util
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import counters  # noqa: E402

LOADED = "dram__bytes_read.sum"
HEADER = 64  # bytes of a bundle before its manifest (docs/rationale/runtime.md)

#: Milliseconds of Table 3 on an A100: the paper's own, and the best of the other systems.
TABLE3 = {"bert": (1.22, 1.30), "resnext": (4.43, 8.91), "lstm": (0.80, 1.72), "efficientnet": (0.66, 0.91), "swin": (1.55, 1.74), "mmoe": (0.014, 0.034)}
#: Milliseconds of Table 4, V0 to V4.
TABLE4 = {"bert": (3.1, 2.12, 1.53, 1.41, 1.22), "resnext": (29.0, 5.90, 4.43, 4.43, 4.43), "lstm": (6.78, 1.60, 1.21, 0.8, 0.8),
          "efficientnet": (4.2, 4.2, 0.72, 0.63, 0.63), "swin": (5.81, 4.88, 2.09, 1.78, 1.55), "mmoe": (0.05, 0.019, 0.016, 0.014, 0.014)}
#: Kernels and megabytes of Table 5: the paper's own.
TABLE5 = {"bert": (24, 226.8), "resnext": (105, 470.2), "lstm": (1, 10.6), "efficientnet": (66, 86.6), "swin": (53, 282.9), "mmoe": (1, 0.058)}
#: Table 1: the attention block of Figure 1, microseconds, megabytes loaded and kernels of the paper's own.
TABLE1 = {"bert_attention": (57.7, 8.87, 1)}
#: Figure 6: unfused over the paper's global synchronisation, and over that with data reuse, on average.
FIGURE6 = {"global synchronisation": 1.31, "with data reuse": 1.84}

MODULES = ["bert_attention", "bert_layer", "resnext_block", "bottleneck", "mbconv", "swin_block", "dense", "mlp", "mmoe", "lstm"] + [f"m{i}" for i in range(10)]
MODELS = ["bert", "resnext", "efficientnet", "swin"]
MODES = ("cost", "souffle", "boundary", "unmerged")


# What this machine shows.


def printed(build, *arguments):
    done = subprocess.run([build / "bin" / arguments[0], *arguments[1:]], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        sys.exit(f"souffle.py: {done.stderr[:600]}")
    return done.stdout


def analysis(options):
    """Figures 2, 3 and 4: the analysis as text, and how many statements the transformations leave."""
    for number, title, expected in (
        (2, "global analysis of the working example", "R0 one-relies-on-many, R1 one-relies-on-one; O0 is read by two statements"),
        (3, "horizontal transformation of two products", "one statement"),
        (4, "vertical transformation of ReLU, strided slice and permutation", "one statement"),
    ):
        file = HERE / "souffle" / f"figure{number}.mlir"
        print(f"== Figure {number}: {title}. The paper: {expected}.")
        before = printed(options.build, "ft-opt", "--ft-compile=to=etdg", file)
        after = printed(options.build, "ft-opt", "--ft-compile=to=coarsen target=sm_90a machine=h200", file)
        if number == 2:
            graph = options.build / "figure2.etdg.mlir"
            graph.write_text(before)
            print(printed(options.build, "ft-translate", "--etdg-to-tensor-expressions", graph).rstrip())
        print(f"statements: {count_leaves(before)} before, {count_leaves(after)} after `coarsen`\n")
    return 0


def count_leaves(text):
    """Blocks of a printed graph that hold no other block."""
    lines, leaves = text.splitlines(), 0
    opened = []  # [indentation, has a child] of each block that is open
    for line in lines:
        indent = len(line) - len(line.lstrip())
        while opened and line.strip() and indent <= opened[-1][0] and not line.lstrip().startswith(("}", ")", "^")):
            leaves += not opened.pop()[1]
        if "etdg.block" in line:
            if opened:
                opened[-1][1] = True
            opened.append([indent, False])
    return leaves + sum(not child for _, child in opened)


# What is packed.


def packer(build):
    """scripts/models.py, which makes bundles of modules."""
    os.environ["FT_BUILD"] = str(build.resolve().relative_to(ROOT))
    spec = importlib.util.spec_from_file_location("pack_models", ROOT / "scripts/models.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pack(options):
    make = packer(options.build)
    out = options.folder / "models"
    out.mkdir(parents=True, exist_ok=True)
    make.pack_runtime(options.folder)
    for name in ("counters.py", "souffle.py"):
        shutil.copy(HERE / name, options.folder)
    facts, failed = {}, 0
    for name in wanted(options):
        for element in options.type.split(","):
            try:
                seconds = make.pack(name, element, out, options.modes.split(","))
                facts[f"{name}.{element}"] = {"seconds": seconds, "modes": {mode: plan_facts(out / file) for mode, file in
                                              ((m, f"{name}.{element}.{m}.ftb") for m in options.modes.split(","))}}
                print(f"{name} {element}: " + ", ".join(f"{mode} {found['kernels']} kernels" for mode, found in facts[f'{name}.{element}']["modes"].items()) +
                      "; seconds " + ", ".join(f"{what} {value:.1f}" for what, value in seconds.items()), flush=True)
            except Exception as error:  # noqa: BLE001 - one module must not cost the others
                failed += 1
                print(f"{name} {element}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)
            (options.folder / "facts.json").write_text(json.dumps(facts, indent=1))
    return 1 if failed else 0


def plan_facts(bundle):
    """Kernels of the calls of a bundle, how many of them overlap the one before, and the bytes of its workspace."""
    data = bundle.read_bytes()
    manifest = json.loads(data[HEADER : HEADER + int.from_bytes(data[24:32], "little")])
    launches = []

    def collect(value):
        if isinstance(value, dict):
            if "grid" in value and "kernel" in value:
                launches.append(value)
            for inner in value.values():
                collect(inner)
        elif isinstance(value, list):
            for inner in value:
                collect(inner)

    calls = [entry for entry in manifest["entries"] if not entry.get("binds")]  # (what is computed when weights are bound is no part of a call)
    collect(calls)
    return {"kernels": len(launches), "overlapping": sum(bool(launch.get("overlaps")) for launch in launches),
            "cooperative": sum(bool(launch.get("cooperative")) for launch in launches),
            "workspace_bytes": max((plan["workspace_bytes"] for entry in calls for plan in entry["plans"]), default=0)}


def wanted(options):
    only = [word for word in options.only.split(",") if word]
    names = MODULES + (MODELS if options.whole else [])
    if unknown := [word for word in only if word not in MODULES + MODELS]:
        sys.exit(f"souffle.py: no module {unknown[0]}; there are {', '.join(MODULES + MODELS)}")
    return [name for name in MODULES + MODELS if name in only] if only else names


# What runs on the device.


def run(options):
    import models
    import peers
    import runtime
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    library = runtime.load_library(options.folder / "lib/libFractalTensorRuntime.so")
    facts = json.loads((options.folder / "facts.json").read_text())
    rows, failed = [], 0
    print(f"{torch.cuda.get_device_name()}, {datetime.date.today()}, PyTorch {torch.__version__}; microseconds a call")
    for key, known in facts.items():
        name, element = key.split(".")
        if options.only and name not in options.only.split(","):
            continue
        try:
            errors, candidates = models.compare(options.folder / "models", name, element, library)
            limit = max(1.25 * errors["PyTorch"], peers.TOLERANCE[element] / 8)
            wrong = [label for label, error in errors.items() if label.startswith("ours") and not error <= limit]
            failed += bool(wrong)
            times = peers.time_all({label: call for label, call in candidates.items() if label not in wrong}, options.seconds)
            row = {"name": name, "type": element, "errors": errors, "us": times, "wrong": wrong, **known}
            if options.ncu:
                row["loaded_bytes"] = {mode: loaded_bytes(options, key, mode) for mode in known["modes"]}
            rows.append(row)
            print(line(row), flush=True)
        except Exception as error:  # noqa: BLE001
            failed += 1
            print(f"{key}: {type(error).__name__}: {str(error)[:300]}", flush=True)
        torch.cuda.empty_cache()
        if options.json:
            options.json.write_text(json.dumps({"card": torch.cuda.get_device_name(), "date": str(datetime.date.today()), "rows": rows}, indent=1))
    print(summary(rows))
    return 1 if failed or not rows else 0


def loaded_bytes(options, key, mode):
    """Bytes that one call loads from memory, by ncu; nothing where its counters are not allowed."""
    command = [sys.executable, str(HERE / "souffle.py"), "once", str(options.folder), f"--only={key}.{mode}"]
    return counters.measure(command, [LOADED])[0][LOADED] or None


def once(options):
    """One call of one bundle, for a profiler."""
    import models
    import runtime

    name, element, mode = options.only.split(".")
    module, x = models.make(name, models.TYPES[element], "cuda")
    values, facts = models.values_of(module), json.loads((options.folder / "models" / f"{name}.{element}.json").read_text())
    program = runtime.Program(runtime.load_library(options.folder / "lib/libFractalTensorRuntime.so"), options.folder / "models" / f"{name}.{element}.{mode}.ftb")
    program.hold({n: values[n].detach() for n in facts["held"]})
    _, call = program.bind([x], len(facts["results"]), [models.TYPES[kind] for kind in facts["results"]])
    call()
    counters.profiled(call)
    return 0


# What is printed.


def best_peer(row):
    others = {label: us for label, us in row["us"].items() if not label.startswith("ours")}
    return min(others, key=others.get), min(others.values())


def ours(row, mode="cost"):
    return row["us"].get(f"ours, {mode}")


def line(row):
    modes = ", ".join(f"{mode} {ours(row, mode):.1f} ({known['kernels']} kernels)" for mode, known in row["modes"].items() if ours(row, mode))
    label, us = best_peer(row)
    ratio = f"{us / ours(row):.2f} x" if ours(row) else "-"
    return f"{row['name']} {row['type']}: {modes}; {label} {us:.1f}; {ratio}; error {row['errors'].get('ours, cost', math.nan):.1e}{' WRONG: ' + ', '.join(row['wrong']) if row['wrong'] else ''}"


def figure6(rows):
    """(module, type) rows M0 to M9 that have a time by price."""
    return [row for row in rows if row["name"] in {f"m{i}" for i in range(10)} and ours(row)]


def mean_ratio(rows, over):
    found = [over(row) for row in rows]
    return math.exp(sum(map(math.log, found)) / len(found)) if found else math.nan


def summary(rows):
    six = figure6(rows)
    if not six:
        return ""
    boundary = [row for row in six if ours(row, "boundary")]
    return (f"Figure 6, geometric means of M0 to M9: best peer over ours {mean_ratio(six, lambda r: best_peer(r)[1] / ours(r)):.2f}; "
            f"one nest a kernel over by price {mean_ratio(boundary, lambda r: ours(r, 'boundary') / ours(r)):.2f} "
            f"(paper: {', '.join(f'{what} {value}' for what, value in FIGURE6.items())})")


def text(options):
    data = json.loads(options.folder.read_text())
    print(f"{data['card']}, {data['date']}; microseconds a call\n")
    print("| module | type | by price | kernels | `souffle` | kernels | `boundary` | kernels | nothing merged | kernels | best peer | its time | peer / ours | the paper's own, A100 |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for row in data["rows"]:
        label, us = best_peer(row)
        cells = [row["name"], row["type"]]
        for mode in MODES:
            cells += [f"{ours(row, mode):.1f}" if ours(row, mode) else "-", str(row["modes"][mode]["kernels"]) if mode in row["modes"] else "-"]
        cells += [label, f"{us:.1f}", f"{us / ours(row):.2f}" if ours(row) else "-", paper(row["name"])]
        print("| " + " | ".join(cells) + " |")
    print("\n" + summary(data["rows"]))
    return 0


def paper(name):
    if name in TABLE1:
        us, megabytes, kernels = TABLE1[name]
        return f"{us} µs, {kernels} kernel, {megabytes} MB loaded (Table 1)"
    if name in TABLE3:
        return f"{1e3 * TABLE3[name][0]:g} µs (V0 {1e3 * TABLE4[name][0]:g}), {TABLE5[name][0]} kernels, {TABLE5[name][1]} MB (Tables 3 to 5)"
    return "Figure 6" if name in {f"m{i}" for i in range(10)} else "-"


def svg(options):
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    rows = figure6(json.loads(options.folder.read_text())["rows"])
    figure, axes = plt.subplots(figsize=(8, 3))
    labels = [("boundary", "one nest a kernel"), ("souffle", "Algorithm 1"), ("cost", "by price")]
    for i, (mode, label) in enumerate(labels):
        axes.bar([x + 0.2 * i for x in range(len(rows))], [ours(row, "boundary") / ours(row, mode) if ours(row, mode) and ours(row, "boundary") else 0 for row in rows], 0.2, label=label)
    axes.bar([x + 0.6 for x in range(len(rows))], [ours(row, "boundary") / best_peer(row)[1] if ours(row, "boundary") else 0 for row in rows], 0.2, label="best peer")
    axes.set_xticks([x + 0.3 for x in range(len(rows))], [f"{row['name'].upper()} {row['type']}" for row in rows], rotation=45, fontsize=7)
    axes.set_ylabel("speed over one nest a kernel")
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(options.out)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("analysis", "pack", "run", "once", "text", "svg"))
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--only", default="", help="modules by name")
    parser.add_argument("--type", default="f16")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--whole", action="store_true", help="the large models of Table 3, too")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--ncu", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if options.what != "analysis" and options.folder is None or options.what == "svg" and options.out is None:
        parser.error(f"{options.what}: expected a folder or file")
    return {"analysis": analysis, "pack": pack, "run": run, "once": once, "text": text, "svg": svg}[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
