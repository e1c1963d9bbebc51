#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the CPU engine beside PyTorch where nothing but the Python package is installed, each in a process of its own, in turns.

Programs: those of integration/bench.txt beside PyTorch's forms of them (benchmarks/peers/programs.py), eager and under
torch.compile; recurrent networks beside PyTorch's modules; products and layers on whole tensors beside torch's own. Ours are
compiled when they are needed, for the processor at hand. What a program gives is compared with float64 before it is timed, by the
greatest error relative to |b| + rms(b). All compile first, on any core, and are then held to the cores of the test.

    benchmarks/run.py installed [--cores 0,1] [--rounds 5] [--seconds 0.15] [--compile-seconds 30] [--machine NAME-OR-FILE]
                                [--package FOLDER] [--json FILE] [NAME...]

With --machine ours are also planned for that machine, as a peer of its own (several, with commas between them). With --package another folder that
has the package is timed beside this one.
"""
import argparse, ctypes, json, os, re, statistics, subprocess, sys, time

import forms, recurrent, turns, whole

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PEERS = os.path.join(ROOT, "benchmarks", "peers")
RECURRENT = ("lstm16", "lstm1", "gru16", "gru1")
#: What results may differ from float64, relative to |b| + rms(b).
TOLERANCE = 1e-4


def sized(text, types, lengths):
    """A program with these types in the place of its aliases, compiled for these lengths."""
    for name, new in types.items():
        text = re.sub(r"(?m)^!%s = \S+" % name, "!%s = %s" % (name, new), text)
    return re.sub(r"ft\.lengths = \{[^}]*\}", "ft.lengths = {%s}" % ", ".join("%s = %d : i64" % x for x in lengths.items()), text)


def form(name):
    """A program of integration/bench.txt: its text, inputs in float64, what it is, and calls of peers."""
    import programs
    case = programs.all_cases()[name]()
    for row, path, options in forms.rows():
        if row == name:
            pairs = [option.split("=", 1) for option in options]
            types = dict(rest.split("=", 1) for kind, rest in pairs if kind == "--type")
            lengths = {n: int(v) for n, v in (rest.split("=") for kind, rest in pairs if kind == "--dim")}
            return sized(open(path).read(), types, lengths), case.inputs, case.plain, case.plain
    sys.exit("integration/bench.txt has no " + name)


def network(name):
    """A recurrent network beside the module of PyTorch's that does the same (with weights of its own: it is only timed)."""
    import programs, torch
    example, lengths, width, module, layers = recurrent.CASES[name]
    make = programs.stacked_lstm if module == "LSTM" else programs.gru
    sizes = (lengths["N"], layers, lengths["L"], width) if module == "LSTM" else (lengths["N"], lengths["L"], width)
    case = make(*sizes)
    types = {"x": "tensor<1x%dxf32>" % width, "w": "tensor<%dx%dxf32>" % (width, width)}
    text = open(os.path.join(ROOT, "examples", example + ".mlir")).read()
    peer = getattr(torch.nn, module)(width, width, layers).eval()
    steps = torch.randn(lengths["L"], lengths["N"], width)
    return sized(text, types, lengths), case.inputs, case.plain, lambda *_: peer(steps)


def layer(name):
    """A product or a layer on whole tensors."""
    import torch
    m, k, n, full = whole.CASES[name]
    inputs = [torch.randn(s, dtype=torch.float64) for s in ((m, k), (k, n), (n,))]
    inputs[1] *= k ** -0.5

    def plain(x, w, b):
        return [torch.tanh(x @ w + b) if full else x @ w]

    return whole.product(m, k, n, full), inputs, plain, plain


def case_of(name):
    return network(name) if name in RECURRENT else layer(name) if name in whole.CASES else form(name)


def compiled(text, machine):
    """A program of ours for the processor at hand, planned for a machine where one is said."""
    from fractaltensor import bundles
    from fractaltensor import library as lib
    data, handle = text.encode(), ctypes.c_void_p()
    options = lib.CompileOptions(target=b"cpu", machine=machine.encode() or None)
    with lib.collecting() as messages:
        if lib.library().ft_compile_text(lib.compiler(), data, len(data), b"program.mlir", ctypes.byref(options), ctypes.byref(handle)):
            sys.exit("\n".join(m.text for m in messages))
    content, size = ctypes.c_void_p(), ctypes.c_size_t()
    lib.check(lib.library().ft_program_bytes(handle, ctypes.byref(content), ctypes.byref(size)), "program.mlir")
    return bundles.Bundle("program.mlir", ctypes.string_at(content, size.value))


def our_call(text, inputs, reference, machine):
    """A call of ours whose results lie in memory that was given to it, checked against float64."""
    import torch
    program = compiled(text, machine)
    outputs = [torch.full_like(t, float("nan"), dtype=torch.float32).contiguous() for t in reference]
    given = outputs[0] if len(outputs) == 1 else tuple(outputs)

    def call():
        program(*inputs, out=given)

    call()
    worst = 0.0
    for got, want in zip(outputs, reference):
        scale = want.square().mean().sqrt()
        worst = max(worst, float(((got.double() - want).abs() / (want.abs() + scale)).nan_to_num(float("inf")).max()))
    return call, worst


def worker(name, how, threads, machine):
    """What a process of its own does: prepares a call, and times it whenever it is asked to."""
    sys.path.insert(0, PEERS)
    import programs, torch
    programs.DEVICE = "cpu"
    torch.set_num_threads(threads)
    torch.manual_seed(int(time.time()))
    with torch.no_grad():
        text, exact, plain, peer = case_of(name)
        inputs = [t.float() if t.is_floating_point() else t for t in exact]
        error = 0.0
        if how == "ours":
            reference = plain(*[t.double() if t.is_floating_point() else t for t in inputs])
            call, error = our_call(text, inputs, reference, machine)
        else:
            function = torch.compile(peer, dynamic=False) if how == "compile" else peer
            call = lambda: function(*inputs)  # noqa: E731
            call()
        print("ready %g" % error, flush=True)
        for line in sys.stdin:
            call()
            samples, begin = [], time.perf_counter()
            while len(samples) < 2 or time.perf_counter() - begin < float(line):
                start = time.perf_counter()
                call()
                samples.append(time.perf_counter() - start)
            print(statistics.median(samples), flush=True)


class Peer(turns.TimedProcess):
    """A call in a process of its own."""

    def __init__(self, options, name, label, how, machine="", package=""):
        self.label = label
        environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), FT_NUM_THREADS=str(options.threads))
        if package:
            environment["PYTHONPATH"] = package
        command = [sys.executable, os.path.abspath(__file__), "--worker", how, "--threads", str(options.threads), "--machine", machine, name]
        super().__init__(command, stderr=subprocess.PIPE, env=environment)

    def ready(self, until):
        """Whether it is, at that time at the latest, and how far it is off."""
        line = self.first_line(max(0, until - time.time()))
        if line is None:
            self.end()
            return None
        words = line.split()
        if len(words) != 2 or words[0] != "ready":
            print("%s: %s" % (self.label, self.process.stderr.read()[-300:].replace("\n", " | ")), flush=True)
            self.end()
            return None
        return float(words[1])

    def hold(self, cores):
        for task in os.listdir("/proc/%d/task" % self.process.pid):
            os.sched_setaffinity(int(task), cores)


def started(options, name):
    """All calls of a row, compiling."""
    peers = [Peer(options, name, "ours", "ours")]
    peers += [Peer(options, name, "ours for " + os.path.basename(m), "ours", m) for m in filter(None, options.machine.split(","))]
    if options.package:
        peers.append(Peer(options, name, "ours, other", "ours", package=options.package))
    peers.append(Peer(options, name, "PyTorch", "eager"))
    if name in forms.NAMES:
        peers.append(Peer(options, name, "compiled", "compile"))
    return peers


def compare(options, name, peers, cores, until):
    """Times a row in turns and prints it."""
    errors = {}
    kept = []
    for peer in peers:
        error = peer.ready(until)
        if error is not None:
            errors[peer.label] = error
            peer.hold(cores)
            kept.append(peer)
    samples = {peer.label: [] for peer in kept}
    for turn in range(options.rounds):
        for peer in kept if turn % 2 == 0 else reversed(kept):
            samples[peer.label].append(peer.time(options.seconds))
    for peer in kept:
        peer.end()
    medians = {label: statistics.median(times) for label, times in samples.items()}
    late = " (not ready: %s)" % ", ".join(p.label for p in peers if p not in kept) if len(kept) < len(peers) else ""
    theirs = [t for label, t in medians.items() if not label.startswith("ours")]
    wrong = any(not error < TOLERANCE for error in errors.values())
    ratio = medians["ours"] / min(theirs) if "ours" in medians and theirs else float("nan")
    cells = "  ".join("%s %.3f (%.2f)" % (label, 1e3 * t, max(samples[label]) / min(samples[label])) for label, t in medians.items())
    print("%-22s %5.2f   error %.0e%s   %s%s" % (name, ratio, max(errors.values(), default=float("nan")), " WRONG" if wrong else "", cells, late), flush=True)
    return dict(name=name, ratio=ratio, errors=errors, samples=samples, wrong=wrong or "ours" not in medians)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[*RECURRENT, *whole.CASES, *forms.NAMES])
    parser.add_argument("--cores", default="0,1")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.15, help="about how long each is repeated in a turn")
    parser.add_argument("--compile-seconds", type=float, default=30, help="for all that compile at once")
    parser.add_argument("--machine", default="")
    parser.add_argument("--package", default="")
    parser.add_argument("--json")
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options.names[0], options.worker, options.threads, options.machine)
    cores = [int(c) for c in options.cores.split(",")]
    options.threads = len(cores)
    begin = time.time()
    everything = {name: started(options, name) for name in options.names}
    print("cores %s; ours / best peer, then medians in ms (slowest turn / fastest)" % options.cores, flush=True)
    # Nothing compiles while a user is timed.
    waiting = [p for peers in everything.values() for p in peers]
    while time.time() < begin + options.compile_seconds and any(not p.speaks() for p in waiting):
        time.sleep(0.1)
    rows = [compare(options, name, peers, cores, 0) for name, peers in everything.items()]
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    return any(row["wrong"] for row in rows)


if __name__ == "__main__":
    sys.exit(main())
