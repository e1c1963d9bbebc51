#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imperative programs of PyTorch, compiled by `fractaltensor.torch.script`, beside eager PyTorch, TorchScript and Inductor.

The programs are those of python/tests/script_programs.py, the recurrent ones at 50 steps of width 256. Blocks of calls run in turn; times are medians,
and all results are checked against eager.

    python3 benchmarks/run.py imperative [--engine cpu|cuda] [--only lstm,seq2seq] [--peers torchscript,inductor] [--rounds 20]
                                     [--block 10] [--threads 2] [--limit 150] [--json FILE] [--published] [--compile-for sm_90a]
                                     [--suppression torchvision|loops]

`--published` takes the tails of detectors at the sizes of the published models (python/tests/script_tails.py). `--compile-for` compiles each
program for a target, too, which needs none, and says how long that took. The peers suppress boxes by torchvision where it is installed, else by loops
of PyTorch, which are far slower; `--suppression loops` takes these in any case. The last words of a row say which.

On a CPU, `--block` calls of one kind follow each other, of which the first two are not counted. The threads of the kind before go on looking for
work for a while after its last call, and take processors from the code that comes next.
On a GPU, times are of the host until the device has ended; what can be captured runs in a CUDA graph, too. A peer that does not
take a program, gives another result, or compiles for more than `--limit` seconds, is left out with the reason.
"""

import argparse
import json
import pathlib
import signal
import statistics
import sys
import time
import types
from ctypes import byref, c_void_p

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "python/tests")]

import script_programs as small  # noqa: E402
import script_tails  # noqa: E402
import torch  # noqa: E402

from fractaltensor import library as lib  # noqa: E402
from fractaltensor import torch as ftt  # noqa: E402

#: Programs that say where their own tensors lie.
RECURRENT = "nasrnn lstm seq2seq kv_attention normalize increment_rows".split()
#: Programs that suppress boxes.
DETECTORS = "yolov3 ssd yolact fcos".split()
NAMES = "nasrnn lstm seq2seq kv_attention normalize increment_rows yolov3 ssd yolact fcos".split()


def install_suppression(wanted=None):
    """What suppresses boxes for the peers, in words: torchvision where it is installed, else loops of PyTorch under its name. `wanted` is one of them."""
    if wanted != "loops":
        try:
            import torchvision.ops
            return "torchvision " + torchvision.__version__
        except (ImportError, RuntimeError) as error:  # the latter where it is made for another PyTorch
            if wanted:
                sys.exit(f"imperative: --suppression torchvision: {error}")
    vision, ops = types.ModuleType("torchvision"), types.ModuleType("torchvision.ops")
    vision.ops, ops.nms, ops.batched_nms = ops, small.plain_nms, small.plain_batched_nms
    sys.modules.update({"torchvision": vision, "torchvision.ops": ops})
    return "loops of PyTorch"


def inputs(name):
    """Arguments; recurrent networks at 50 steps of width 256, heads as in script_programs.py."""
    g = torch.Generator().manual_seed(0)

    def normal(*sizes, by=1.0):
        return torch.randn(*sizes, generator=g) * by

    if name == "nasrnn":
        return [normal(50, 1, 256, by=0.5), normal(8, 256, 256, by=0.05), normal(8, 256, 256, by=0.05), torch.zeros(1, 256), torch.zeros(1, 256)]
    if name == "lstm":
        weights = [normal(10, 4, 256, 256, by=0.06) for _ in range(2)]
        return [normal(50, 1, 256), *weights, normal(10, 4, 1, 256, by=0.1), normal(10, 4, 1, 256, by=0.1)]
    if name == "seq2seq":
        std = torch.zeros(50, 1, 500)
        for i, token in enumerate([3, 77, 12, 499, 8, 250, 31, 6, 90, 0]):
            std[i, 0, token] = 1e6
        cell = [normal(4, 256, 256, by=0.06), normal(4, 256, 256, by=0.06), normal(4, 1, 256, by=0.1), normal(4, 1, 256, by=0.1)]
        return [std, normal(500, 256), *cell, normal(256, 500, by=0.06), normal(500, by=0.1), normal(1, 256), normal(1, 256)]
    if name == "kv_attention":
        k, v = torch.zeros(1, 12, 50, 64), torch.zeros(1, 12, 50, 64)
        k[:, :, :32], v[:, :, :32] = normal(1, 12, 32, 64), normal(1, 12, 32, 64)
        return [normal(1, 12, 1, 64), *(normal(12, 64, 64, by=0.12) for _ in range(4)), k, v, 32, 18]
    if name == "normalize":
        return [normal(800, 1333, 3), normal(3), normal(3)]
    if name == "increment_rows":
        return [normal(64, 1024)]
    return small.inputs(name)


def program_of(name, options):
    """A program and its arguments."""
    if options.published and name in script_tails.NAMES:
        return getattr(script_tails, name), script_tails.inputs(name)
    return getattr(small, name), inputs(name)


def compile_for(target, program):
    """Seconds, and those of processors, that all parts of a program take to compile for a target."""
    begun, used = time.perf_counter(), time.process_time()
    for text in program.segments():
        options, made, data = lib.CompileOptions(target=target.encode(), entry=b"part"), c_void_p(), text.encode()
        lib.check(lib.library().ft_compile_text(lib.compiler(False), data, len(data), b"program", byref(options), byref(made)))
        lib.library().ft_program_release(made)
    return time.perf_counter() - begun, time.process_time() - used


def flat(value):
    if isinstance(value, (tuple, list)):
        return [y for x in value for y in flat(x)]
    return [value]


def fresh(values, device):
    return [v.to(device).clone() if isinstance(v, torch.Tensor) else v for v in values]


def check(found, expected, name):
    for a, b in zip(flat(found), flat(expected)):
        if not isinstance(b, torch.Tensor):
            assert a == b, name
        elif b.dtype.is_floating_point:
            torch.testing.assert_close(a.cpu(), b, rtol=1e-3, atol=1e-3, msg=lambda m: f"{name}: {m}")
        else:
            assert torch.equal(a.cpu(), b), name


def captured(call):
    """A replay of the call's kernels, or None where it asks the host for something."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    try:
        with torch.cuda.stream(stream):
            call()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        return graph.replay
    except Exception:  # noqa: BLE001 - what asks the host fails in PyTorch's way or in its compiler's
        torch.cuda.synchronize()
        return None


class TooLong(Exception):
    """A peer compiles for longer than it may."""


def limited(seconds, call):
    """What a call gives, unless it takes longer."""
    def stop(_number, _frame):
        raise TooLong(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return call()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def eager_call(name, function, values, device):
    """A call of eager PyTorch, or of what a compiler of PyTorch made of the function."""
    if device == "cpu" or name in RECURRENT:
        return lambda: function(*values)
    return on(device, function, values)


def compiled_by(peer, name, function, values, device):
    """A call of the function as a peer compiles it, after its first calls."""
    if peer == "torchscript":
        made = torch.jit.script(function)
    else:
        torch._dynamo.reset()
        made = torch.compile(function, dynamic=False)
    call = eager_call(name, made, fresh(values, device), device)
    for _ in range(3):  # TorchScript specialises in its first calls
        call()
    found = eager_call(name, made, fresh(values, device), device)()
    check(found, function(*fresh(values, "cpu")), name)
    return call


def add_peers(calls, row, name, function, values, device, options):
    """Adds a call for each peer that takes the program; says of others why not."""
    for peer in filter(None, options.peers.split(",")):
        begun = time.perf_counter()
        try:
            calls[peer] = limited(options.limit, lambda: compiled_by(peer, name, function, values, device))
            row[peer + "_compile_s"] = time.perf_counter() - begun
        except Exception as error:  # noqa: BLE001 - compilers of others fail in all ways
            row[peer + "_refused"] = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:200]


def timed(call, block, device):
    """Milliseconds of calls that follow each other: one on a GPU; on a CPU all of a block but the first two."""
    times = []
    for _ in range(1 if device != "cpu" else block + 2):
        begun = time.perf_counter()
        call()
        if device != "cpu":
            torch.cuda.synchronize()
        times.append((time.perf_counter() - begun) * 1e3)
    return times if device != "cpu" else times[2:]


def measure(name, options, device):
    function, values = program_of(name, options)
    script = ftt.script(function, engine=options.engine)
    ours = fresh(values, device)
    begun, used = time.perf_counter(), time.process_time()
    program = script.lower(*ours)
    compiled, used = time.perf_counter() - begun, time.process_time() - used
    check(script(*ours), function(*fresh(values, "cpu")), name)
    row = {"program": name, "compile_s": compiled, "compile_cpu_s": used, "report": repr(script.report()), "remarks": len(script.remarks)}
    if options.compile_for:
        row["for " + options.compile_for] = compile_for(options.compile_for, program)
    calls = {"ours": lambda: script(*ours), "eager": eager_call(name, function, fresh(values, device), device)}
    add_peers(calls, row, name, function, values, device, options)
    if device != "cpu":
        for key, call in list(calls.items()):
            replay = captured(call)
            if replay:
                calls[key + " in a graph"] = replay
    times = {key: [] for key in calls}
    for _ in range(options.rounds):
        for key, call in calls.items():
            times[key] += timed(call, options.block, device)
    row.update({key: statistics.median(t) for key, t in times.items()})
    return row


def describe(row):
    """A row as text: times, how often ours fits into the best peer's, who was left out."""
    peers = {k: v for k, v in row.items() if k.removesuffix(" in a graph") in ("eager", "torchscript", "inductor")}
    mine = min(row[k] for k in ("ours", "ours in a graph") if k in row)
    best = min(peers, key=peers.get)
    parts = [f"{row['program']:15} ours {row['ours']:9.3f} ms"]
    parts += [f"ours in a graph {row['ours in a graph']:.3f}"] if "ours in a graph" in row else []
    parts += [f"{k} {v:.3f}" for k, v in peers.items()]
    parts += [f"best peer {best}: {peers[best] / mine:.2f} times ours", f"compile {row['compile_s']:.2f} s ({row['compile_cpu_s']:.2f} of processors)"]
    parts += [f"{k} {v[0]:.2f} s ({v[1]:.2f})" for k, v in row.items() if k.startswith("for ")]
    parts += [f"{k} {v:.1f}" for k, v in row.items() if k.endswith("_compile_s")]
    parts += [f"{k}: {v}" for k, v in row.items() if k.endswith("_refused")]
    parts += [f"peers suppress by {row['suppression']}"] if "suppression" in row else []
    return "  ".join([*parts, row["report"]])


def on(device, function, arguments):
    """A call of a program whose own tensors are made on a device."""
    def call():
        with torch.device(device):
            return function(*arguments)

    return call


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--block", type=int, default=10, help="calls of one kind that follow each other, on a CPU")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", default="torchscript,inductor")
    parser.add_argument("--limit", type=int, default=150, help="seconds that a peer may compile for")
    parser.add_argument("--published", action="store_true", help="tails at the sizes of the published models")
    parser.add_argument("--compile-for", help="a target, as sm_90a")
    parser.add_argument("--suppression", choices=("torchvision", "loops"), help="what suppresses boxes for the peers; torchvision where it is installed")
    parser.add_argument("--json")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    suppression = install_suppression(options.suppression)
    rows = []
    with torch.no_grad():
        for name in options.only.split(","):
            row = measure(name, options, options.engine if options.engine == "cuda" else "cpu")
            if name in DETECTORS:
                row["suppression"] = suppression
            rows.append(row)
            print(describe(row), flush=True)
            if options.json:
                pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
