#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FractalTensor's evaluation (SOSP'24, §6): Figure 7, Figure 8 and Table 7, each beside the paper's number.

    fractaltensor.py pack FOLDER [--build build] [--target sm_90a] [--only TEXT,…]

compiles a bundle for each program.

    python3 FOLDER/fractaltensor.py run FOLDER [--only TEXT,…] [--figure 7,8] [--json FILE] [--ncu]

runs on a machine with a GPU and PyTorch, without LLVM.

    fractaltensor.py text FILE

prints the table of a JSON file as Markdown.

`run` compares every result with the same program in float64. Then it times ours and the peers in turn, with the L2 cache
evicted before each call, and takes medians. Peers run as CUDA graphs. `--ncu` measures Table 7's bytes by `ncu`, where it may.
A row's `x paper` is the paper's best other system over the paper's own, `x here` the best peer of this run over ours.
A result beyond its tolerance is WRONG, is not timed, and gives exit status 1.
"""

import argparse
import concurrent.futures
import datetime
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import counters  # noqa: E402
import fractaltensor_rows as rows  # noqa: E402

TOLERANCE = {"f32": 1e-3, "f16": 4e-2}
COUNTERS = {"memory": "dram__bytes.sum", "L2": "lts__t_bytes.sum", "L1": "l1tex__t_bytes.sum"}


def wanted(options):
    only = [word for word in options.only.split(",") if word]
    figures = options.figure.split(",") if getattr(options, "figure", None) else ["7", "8"]
    return [row for row in rows.ROWS if row.figure[0] in figures and (not only or any(w in row.bundle or w in row.workload for w in only))]


def pack(options):
    """One bundle for each program and element size, planned for the shape of its first row; a call may have any lengths."""
    folder, tools = options.folder, options.build / "bin"
    (folder / "bundles").mkdir(parents=True, exist_ok=True)
    (folder / "lib").mkdir(exist_ok=True)
    programs = {}
    for row in wanted(options):
        programs.setdefault(row.bundle, row)  # Figure 7's shape comes first

    def make(row):
        file, change, types = rows.program(row)
        text = (ROOT / file).read_text()
        source = folder / "bundles" / f"{row.bundle}.mlir"
        source.write_text(change(text) if change else text)
        aliases = [f"--type={name}={value}" for name, value in types.items() if f"\n!{name} = " in text]
        typical = [f"--typical={name}={value}" for name, value in rows.lengths(row).items()]
        run = subprocess.run([tools / "ft-translate", "--mlir-to-bundle", f"--target={options.target}", source, *aliases, *typical, "-o",
                              folder / "bundles" / f"{row.bundle}.ftb"], capture_output=True, text=True)
        return f"{row.bundle}: {run.stderr[:600]}" if run.returncode else None

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        failed = [line for line in pool.map(make, programs.values()) if line]
    for name in ("counters.py", "fractaltensor.py", "fractaltensor_rows.py"):
        shutil.copy(HERE / name, folder)
    for name in ("peers.py", "programs.py", "runtime.py", "wavefronts.py"):
        shutil.copy(ROOT / "benchmarks/peers" / name, folder)
    for library in (options.build / "lib").glob("libFractalTensorRuntime.so*"):
        (folder / "lib" / library.name).unlink(missing_ok=True)
        shutil.copy(library, folder / "lib", follow_symlinks=False)
    for line in failed:
        print(line, file=sys.stderr)
    print(f"{len(programs) - len(failed)} of {len(programs)} bundles in {folder}")
    return 1 if failed else 0


# What runs on the device.


def build_case(row):
    """(inputs in float64, number of results, exact: inputs -> what is compared, compared: results -> the same, {peer: inputs -> function})."""
    import programs
    import torch
    import wavefronts

    s = row.sizes
    h = s.get("H")
    if row.workload == "stacked LSTM":
        case = programs.stacked_lstm(s["N"], s["D"], s["L"], h)
        last = lambda results: results[0][:, -1, :, 0].transpose(0, 1)  # noqa: E731
        peers = {"cuDNN nn.LSTM": lambda *x: case.peers["cuDNN nn.LSTM"](*x)[0], "a bmm a wave": wavefronts.lstm_waves}
        return case.inputs, 2, lambda *x: wavefronts.lstm_waves(*x, fused=False)(), last, peers
    if row.workload == "dilated LSTM":
        d, scale = s["D"], h**-0.5
        inputs = [programs.normal(s["N"], s["L"], 1, h), programs.normal(d, 4, h, h, scale=scale), programs.normal(d, 4, h, h, scale=scale),
                  programs.normal(d, 4, 1, h, scale=0.1)]
        last = lambda results: results[0][:, :, 0].transpose(0, 1)  # noqa: E731
        return inputs, 2, lambda *x: wavefronts.dilated_lstm(*x, cudnn=False)(), last, {"cuDNN folded": wavefronts.dilated_lstm}
    if row.workload == "grid RNN":
        case = programs.grid_rnn(s["N"], s["D"], s["S"], s["T"], h)
        last = lambda results: torch.stack([r[:, -1, :, :, 0].permute(1, 2, 0, 3) for r in results])  # noqa: E731
        return case.inputs, 2, lambda *x: wavefronts.grid_waves(*x)(), last, {"a bmm a wave": wavefronts.grid_waves, "a wavefront for each layer": lambda *x: lambda: last(case.plain(*x))}
    if row.workload == "back-to-back GEMM":
        case = programs.back_to_back_gemm(s["M"] // 64, s["N"] // 64)
        return case.inputs, 1, lambda *x: case.plain(*x)[0], lambda results: results[0], {"cuBLAS": lambda *x: lambda: case.plain(*x)[0]}
    if row.workload == "BigBird":
        return bigbird(programs, torch, s)
    return attention(programs, torch, s)


def attention(programs, torch, s):
    import torch.nn.functional as F

    b, heads, length, d = s["B"], s["heads"], s["L"], s["D"]
    inputs = [programs.normal(b, heads, length // 64, 64, d) for _ in range(3)]
    flat = lambda xs: [x.reshape(b, heads, length, d) for x in xs]  # noqa: E731

    def exact(*x):  # of two batches: all in float64 would not fit
        q, k, v = (one[[0, b - 1]] for one in flat(x))
        return torch.stack([torch.softmax(q[i] @ k[i].transpose(-1, -2) / d**0.5, -1) @ v[i] for i in range(2)])

    compared = lambda results: results[0].reshape(b, heads, length, d)[[0, b - 1]]  # noqa: E731
    return inputs, 1, exact, compared, {"PyTorch SDPA": lambda *x: lambda: F.scaled_dot_product_attention(*flat(x))}


def bigbird(programs, torch, s):
    b, blocks, r, d = s["B"], s["L"] // 64, s["R"], s["D"]
    inputs = [programs.normal(b, blocks, 64, d) for _ in range(3)] + [torch.randint(0, blocks, (blocks - 2, r), device=programs.DEVICE)]

    def gathered(q, k, v, random):
        """Blocks of keys side by side for each middle block of queries; an entry that equals an earlier one is masked."""
        at = torch.arange(1, blocks - 1, device=q.device)
        ids = torch.cat([torch.zeros_like(at)[:, None], at[:, None] + torch.arange(-1, 2, device=q.device), torch.full_like(at, blocks - 1)[:, None], random], 1)
        same = (ids[:, :, None] == ids[:, None]).tril(-1).any(-1)
        mask = torch.where(same, float("-inf"), 0.0).to(q.dtype).repeat_interleave(64, 1)[None, :, None]

        def attend(one, keys, values, bias=None):
            scores = one @ keys.transpose(-1, -2) * d**-0.5
            return torch.softmax(scores if bias is None else scores + bias, -1) @ values

        def run():
            n, width = len(q), ids.shape[1] * 64
            middle = attend(q[:, 1:-1], k[:, ids].reshape(n, blocks - 2, width, d), v[:, ids].reshape(n, blocks - 2, width, d), mask)
            ends = attend(torch.cat([q[:, 0], q[:, -1]], 1), k.reshape(n, blocks * 64, d), v.reshape(n, blocks * 64, d)).reshape(n, 2, 64, d)
            return torch.cat([ends[:, :1], middle, ends[:, 1:]], 1)

        return run

    def exact(q, k, v, random):  # of two batches
        return gathered(q[[0, b - 1]], k[[0, b - 1]], v[[0, b - 1]], random)()

    return inputs, 1, exact, lambda results: results[0][[0, b - 1]], {"gathered blocks": gathered}


def run(options):
    import peers
    import runtime
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(datetime.datetime.now().microsecond)
    library = runtime.load_library(options.folder / "lib/libFractalTensorRuntime.so")
    print(f"{torch.cuda.get_device_name()}, {datetime.date.today()}; milliseconds a call")
    found, failed, done = [], 0, {}
    for row in wanted(options):
        key = row.bundle, row.label
        try:
            if key not in done:
                done[key] = measure(row, options, library, peers, runtime, torch)
            entry = {"figure": row.figure, "workload": row.workload, "sizes": row.sizes, "type": row.element, "paper": row.paper, "paper_best": row.best,
                     "doubt": row.doubt, **done[key]}
            failed += not entry["ok"]
            found.append(entry)
            print(line(entry), flush=True)
        except Exception as error:  # one row must not cost the others
            failed += 1
            print(f"{row.workload} {row.label}: {type(error).__name__}: {str(error)[:200]}", flush=True)
        torch.cuda.empty_cache()
        if options.json:
            options.json.write_text(json.dumps({"card": torch.cuda.get_device_name(), "date": str(datetime.date.today()), "rows": found}, indent=1))
    return 1 if failed else 0


def measure(row, options, library, peers, runtime, torch):
    dtype = {"f16": torch.float16, "f32": torch.float32}[row.element]
    inputs, outputs, exact, compared, others = build_case(row)
    inputs = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
    with torch.no_grad():
        reference = exact(*[x.double() if x.is_floating_point() else x for x in inputs])
        program = runtime.Program(library, options.folder / "bundles" / f"{row.bundle}.ftb")
        results, call = program.bind(inputs, outputs, dtype)
        call()
        torch.cuda.synchronize()
        errors = {"ours": peers.error_of([compared(results)], [reference])}
        candidates = {"ours": call} if errors["ours"] <= TOLERANCE[row.element] else {}
        kept = []  # a graph replays on memory that it does not own
        for name, make in others.items():
            peer = make(*inputs)
            peer()
            kept.append(peer)
            candidates[name] = peers.graphed(peer)
        times = {name: us / 1e3 for name, us in peers.time_all(candidates, options.seconds).items()}
    moved = sum(x.numel() * x.element_size() for x in inputs + results)
    return {"ms": times, "error": errors["ours"], "ok": "ours" in times, "least_bytes": moved}


def line(entry):
    sizes = " ".join(f"{name}{value}" for name, value in entry["sizes"].items())
    others = {name: ms for name, ms in entry["ms"].items() if name != "ours"}
    best = min(others, key=others.get) if others else None
    ours = entry["ms"].get("ours")
    here = f"{others[best] / ours:6.2f} x" if ours and best else "      - "
    paper = f"{entry['paper_best'][1] / entry['paper']:6.2f} x" if entry["paper_best"] else "      - "
    return (f"Fig. {entry['figure']:8} {entry['workload']:18} {sizes:28} {entry['type']} ours {ours if ours is not None else float('nan'):9.4f}  "
            f"{best or 'no peer'} {others[best] if best else 0:9.4f}  {here} here, {paper} in the paper ({entry['paper']:g} ms on an A100"
            f"{', ' + entry['doubt'] if entry['doubt'] else ''})  error {entry['error']:.1e}{'' if entry['ok'] else '  WRONG'}")


def once(options):
    """One call of one row, for a profiler."""
    import runtime
    import torch

    row = next(row for row in rows.ROWS if f"{row.bundle}/{row.label}" == options.only)
    inputs, outputs, *_ = build_case(row)
    dtype = {"f16": torch.float16, "f32": torch.float32}[row.element]
    inputs = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
    program = runtime.Program(runtime.load_library(options.folder / "lib/libFractalTensorRuntime.so"), options.folder / "bundles" / f"{row.bundle}.ftb")
    _, call = program.bind(inputs, outputs, dtype)
    counters.profiled(call)
    return 0


def table7(options):
    """Bytes by level of memory, by ncu, beside the least that a call must move and the paper's sums."""
    for workload, paper in rows.TABLE7.items():
        row = next(row for row in rows.ROWS if row.workload == workload and row.sizes["L"] in (1024, 4096) and row.sizes["D"] in (128, 512))
        command = [sys.executable, str(HERE / "fractaltensor.py"), "once", str(options.folder), f"--only={row.bundle}/{row.label}"]
        found, done = counters.measure(command, list(COUNTERS.values()))
        sums = {level: found[counter] for level, counter in COUNTERS.items()}
        shown = ", ".join(f"{level} {value / 1e9:.3f} GB (paper {paper[level]:g}, calls not said)" for level, value in sums.items())
        print(f"Table 7 {workload} {row.label}: {shown}" if any(sums.values()) else f"Table 7 {workload}: ncu measured nothing: {done.stderr.strip()[-200:]}{done.stdout.strip()[-200:]}")


def text(options):
    data = json.loads(options.folder.read_text())
    print(f"{data['card']}, {data['date']}; milliseconds a call\n\n| figure | workload | sizes | type | ours | best peer | its time | peer / ours | paper: best other / own |")
    print("|---|---|---|---|---|---|---|---|---|")
    for entry in data["rows"]:
        others = {name: ms for name, ms in entry["ms"].items() if name != "ours"}
        best, ours = min(others, key=others.get), entry["ms"].get("ours")
        sizes = " ".join(f"{name}{value}" for name, value in entry["sizes"].items())
        paper = f"{entry['paper_best'][0]} {entry['paper_best'][1]:g} / {entry['paper']:g} = {entry['paper_best'][1] / entry['paper']:.2f}"
        print(f"| {entry['figure']} | {entry['workload']} | {sizes} | {entry['type']} | {ours:.4g} | {best} | {others[best]:.4g} | {others[best] / ours:.2f} | {paper}"
              f"{' (' + entry['doubt'] + ')' if entry['doubt'] else ''} |")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pack", "run", "once", "text"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="bundles or workloads whose name has one of these")
    parser.add_argument("--figure", default="7,8")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--ncu", action="store_true")
    options = parser.parse_args()
    if options.what == "run":
        status = run(options)
        if options.ncu:
            table7(options)
        return status
    return {"pack": pack, "once": once, "text": text}[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
