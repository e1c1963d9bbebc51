#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which divisions each function of a file has, and that each of them computes the same:

    distribute.py FT-OPT FT-RUN FILE

`// divisions: …` before a function are those that etdg-reorder leaves, worked out by hand. Of each the graph is
proved (etdg-verify, etdg-validate) divided, ordered, applied and with its storage, and run by the interpreter in its
three orders; and each order and division runs on the CPU (`ft-run --candidate`), at lengths that nothing was ranked
for, against the interpreter of lists, as do the loops that a GPU would run, in random order, and its kernels by the emulator.
"""

import os
import re
import subprocess
import sys
import tempfile

ft_opt, ft_run, path = sys.argv[1:]
source = open(path).read()
bad = runs = 0
SIZES = [dict(N=3, L=7, D=2, S=3, T=5), dict(N=1, L=1, D=1, S=1, T=2), dict(N=2, L=13, D=3, S=5, T=1)]
PROVED = ("etdg-distribute{outer=%d},etdg-verify,etdg-validate,etdg-reorder,etdg-validate,etdg-apply-schedule,"
          "etdg-validate,etdg-storage,etdg-validate")


def run(command, text=None):
    global bad, runs
    runs += 1
    done = subprocess.run(command, capture_output=True, text=True, input=text)
    if done.returncode:
        bad += 1
        print(" ".join(command), "status", done.returncode, (done.stdout + done.stderr)[-1500:])
    return done.stdout if done.returncode == 0 else None


def ranks(command):
    """The ranks of orders and divisions that a program has: one that is too great is refused with their range."""
    done = subprocess.run(command + ["--candidate=999"], capture_output=True, text=True)
    last = re.search(r"candidate: expected (?:a rank from 0 to )?(\d+)", done.stderr)
    return range(int(last[1]) + 1 if last else 0)


def dims(head, sizes):
    names = {n for t in re.findall(r"list<\[([^\]]*)\]", head) for n in t.split(", ") if re.fullmatch(r"[A-Z]\w*", n)}
    return [x for n in sorted(names) for x in ("--dim", "%s=%d" % (n, sizes[n]))]


def results(folder, tag, head, command):
    """What a run writes, as bytes."""
    count = head.split("->")[-1].count("list<")
    files = [os.path.join(folder, "%s%d.npy" % (tag, i)) for i in range(count)]
    if run(command + ["--out=" + f for f in files]) is None:
        return None
    return [open(f, "rb").read() for f in files]


functions = list(re.finditer(r"(?m)^func\.func @(\w+)\((.*?)\{$", source, re.S))
graphs = run([ft_opt, path, "--ft-compile=to=coarsen"])
# A function's lines alone, after the aliases of types: each is compiled by itself.
aliases = "".join(re.findall(r"(?m)^!.*\n", source))
with tempfile.TemporaryDirectory() as folder:
    for number, match in enumerate(functions):
        name, head = match[1], match[2]
        end = functions[number + 1].start() if number + 1 < len(functions) else len(source)
        single = os.path.join(folder, name + ".mlir")
        open(single, "w").write(aliases + source[match.start():end])
        expected = re.search(r"divisions: (.*)", source[: match.start()].rsplit("\n\n", 1)[-1])[1]
        coarse = run([ft_opt, single, "--ft-compile=to=coarsen"])
        ordered = run([ft_opt, "--pass-pipeline=builtin.module(etdg.graph(etdg-reorder))"], coarse) or ""
        found = re.findall(r"<kind = (ahead|lagging)(?:, outer = (\d+))?>", "".join(re.findall(r"etdg\.divisions = \[([^\]]*)\]", ordered)))
        found = "; ".join("outer=%s%s" % (outer or 0, " lags" if kind == "lagging" else "") for kind, outer in found) or "none"
        if found != expected:
            bad += 1
            print("%s: expected %s, found %s" % (name, expected, found))
        exact = "f16" not in head.replace("!h", "f16")
        for outer in sorted(set(re.findall(r"outer=(\d+)", expected))):
            divided = run([ft_opt, "--pass-pipeline=builtin.module(etdg.graph(%s))" % (PROVED % int(outer))], coarse)
            if divided is None:
                continue
            graph = os.path.join(folder, "graph.mlir")
            open(graph, "w").write(divided)
            if "_ahead" not in divided:
                bad += 1
                print(name, "outer", outer, "is not divided")
            lengths = dims(head, SIZES[0])
            truth = results(folder, "truth", head, [ft_run, single, "--engine=interpret", "--seed=3"] + lengths)
            for order in ("dataflow", "random", "declared"):
                got = results(folder, "got", head, [ft_run, graph, "--engine=interpret", "--order=" + order, "--seed=3"] + lengths)
                if exact and got != truth:
                    bad += 1
                    print(name, "outer", outer, order, "differs")
        all_ranks = ranks([ft_run, single, "--engine=cpu"] + dims(head, SIZES[0]))
        if len(all_ranks) <= expected.count("outer"):
            bad += 1
            print("%s: expected a rank for each of '%s' and the program's own order, found %d" % (name, expected, len(all_ranks)))
        for sizes in SIZES:
            for rank in all_ranks:
                run([ft_run, single, "--engine=cpu", "--compare=interpret", "--candidate=%d" % rank] + dims(head, sizes))
        # The same divisions for a GPU: its loops on cores in any order, its kernels thread by thread.
        for rank in all_ranks if expected != "none" else []:
            run([ft_run, single, "--schedule-for=sm_90a", "--order=random", "--seed=5", "--compare=interpret", "--candidate=%d" % rank]
                + dims(head, SIZES[-1]))
            run([ft_run, single, "--engine=emulate", "--target=sm_80", "--compare=interpret", "--candidate=%d" % rank] + dims(head, SIZES[-1]))
print("%d programs, %d runs, %d failures" % (len(functions), runs, bad))
sys.exit(1 if bad else 0)
