# REQUIRES: numpy
# RUN: %python %s ft-opt ft-run %S %t
#
# Programs over tensors of dynamic size, raised, against NumPy.

import pathlib
import subprocess
import sys

import numpy


def lstm(xs, ws, us, bs):
    (layers, length), width = (len(ws), len(xs)), xs.shape[-1]
    hs, cs = numpy.zeros((2, layers, length, 1, width), numpy.float32)
    for l in range(layers):
        h = c = numpy.zeros((1, width), numpy.float32)
        for t in range(length):
            x = xs[t] if l == 0 else hs[l - 1, t]
            i = numpy.tanh(x @ ws[l] + bs[l] + h @ us[l])
            c = i * c + i
            h = numpy.tanh(c)
            hs[l, t], cs[l, t] = h, c
    return hs, cs


def sequences(xs, ws):
    below, layers = xs, []
    for w in ws:
        h, row = numpy.zeros_like(xs[0]) if len(xs) else None, numpy.zeros_like(xs)
        for t in range(len(xs)):
            h = numpy.tanh(below[t] @ w + h)
            row[t] = h
        layers.append(row)
        below = row
    return numpy.stack(layers) if layers else numpy.zeros((0, *xs.shape), numpy.float32), below


def parallel(a):
    return (numpy.exp(a),)


def main(opt, run, here, scratch):
    folder = pathlib.Path(scratch)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("lstm", "nests"):
        subprocess.run([opt, "--convert-scf-to-etdg", f"{here}/{name}.mlir", "-o", folder / f"{name}.mlir"], check=True)
    random = numpy.random.default_rng(7)
    array = lambda *shape: (random.standard_normal(shape) * 0.4).astype(numpy.float32)
    for layers, length in [(1, 1), (3, 7), (2, 1), (1, 5), (4, 2)]:
        cases = {
            "lstm": (lstm, [array(length, 1, 8), array(layers, 8, 8), array(layers, 8, 8), array(layers, 1, 8)]),
            "sequences": (sequences, [array(length, 1, 8), array(layers, 8, 8)]),
            # scf.forall, which the reference interpreter of functions does not run.
            "parallel": (parallel, [array(length, 3, 4)]),
        }
        for entry, (reference, arguments) in cases.items():
            for options in (["--engine=interpret", "--order=declared"], ["--engine=cpu"]):
                files = []
                for i, argument in enumerate(arguments):
                    numpy.save(folder / f"{entry}{i}.npy", argument)
                    files.append(f"--arg={folder}/{entry}{i}.npy")
                expected_all = reference(*arguments)
                outs = [f"--out={folder}/{entry}-out{i}.npy" for i in range(len(expected_all))]
                graph = folder / ("nests.mlir" if entry == "parallel" else "lstm.mlir")
                subprocess.run([run, graph, f"--entry={entry}", *options, *files, *outs], check=True, stdout=subprocess.DEVNULL)
                for i, expected in enumerate(expected_all):
                    found = numpy.load(folder / f"{entry}-out{i}.npy")
                    numpy.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5, err_msg=f"{entry} {layers} {length} {options}")


main(*sys.argv[1:])
