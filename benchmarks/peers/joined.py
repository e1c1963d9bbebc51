#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products that are computed together, beside PyTorch: x W + h U, and a cell of four gates with weights of their own.

    joined.py make FOLDER [--bin=build/bin]     programs and their bundles, for sm_90a
    joined.py time FOLDER RUNTIME.so            medians in microseconds, with the error against float64, on a machine with a GPU
"""

import pathlib
import subprocess
import sys

CASES = [("linear", 4096, 512), ("linear", 256, 512), ("linear", 64, 1024), ("added", 4096, 512), ("cell", 64, 512),
         ("cell", 256, 512), ("cell", 1024, 512), ("cell", 1024, 1024)]
GATES = "ifog"


def product(result, x, w, out, t, u):
    return f"  %{result} = linalg.matmul ins(%{x}, %{w} : {t}, {u}) outs(%{out} : {t}) -> {t}\n"


def program(what, rows, width, element):
    t, w = f"tensor<{rows}x{width}x{element}>", f"tensor<{width}x{width}x{element}>"
    bias = f"  %e = tensor.empty() : {t}\n  %bs = linalg.broadcast ins(%b : tensor<{width}x{element}>) outs(%e : {t}) dimensions = [0]\n"
    if what != "cell":
        text = f"func.func @main(%x: {t}, %h: {t}, %w: {w}, %u: {w}, %b: tensor<{width}x{element}>) -> {t} {{\n" + bias
        if what == "linear":
            text += product("y", "x", "w", "bs", t, w) + product("s", "h", "u", "y", t, w)
        else:
            text += f"  %c0 = arith.constant dense<0.0> : {t}\n" + product("y", "x", "w", "c0", t, w) + product("z", "h", "u", "c0", t, w)
            text += f"  %yz = arith.addf %y, %z : {t}\n  %s = arith.addf %yz, %bs : {t}\n"
        return text + f"  %t = math.tanh %s : {t}\n  return %t : {t}\n}}\n"
    weights = ", ".join(f"%{n}{g}: {w}" for n in "wu" for g in GATES)
    text = f"func.func @main(%x: {t}, %h: {t}, %c: {t}, {weights}, %b: tensor<{width}x{element}>) -> ({t}, {t}) {{\n" + bias
    for g in GATES:
        text += product(f"{g}0", "x", f"w{g}", "bs", t, w) + product(f"{g}1", "h", f"u{g}", f"{g}0", t, w)
    text += f"  %one = arith.constant dense<1.0> : {t}\n"
    for g in "ifo":
        text += (f"  %{g}n = arith.negf %{g}1 : {t}\n  %{g}e = math.exp %{g}n : {t}\n"
                 f"  %{g}d = arith.addf %{g}e, %one : {t}\n  %{g} = arith.divf %one, %{g}d : {t}\n")
    return text + (f"  %g = math.tanh %g1 : {t}\n  %k = arith.mulf %f, %c : {t}\n  %a = arith.mulf %i, %g : {t}\n  %c1 = arith.addf %k, %a : {t}\n"
                   f"  %t = math.tanh %c1 : {t}\n  %h1 = arith.mulf %o, %t : {t}\n  return %h1, %c1 : {t}, {t}\n}}\n")


def make(folder, tools):
    folder.mkdir(parents=True, exist_ok=True)
    for what, rows, width in CASES:
        for element in ("f32", "f16"):
            source = folder / f"{what}_{rows}_{width}_{element}.mlir"
            source.write_text(program(what, rows, width, element))
            subprocess.run([tools / "ft-translate", "--mlir-to-bundle", "--target=sm_90a", source, "-o", source.with_suffix(".ftb")], check=True)


def time_all(folder, library):
    import peers
    import runtime
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    lib = runtime.load_library(library)
    print(torch.cuda.get_device_name(), torch.__version__)

    def finish(gates, c):
        i, f, o, g = gates
        c1 = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c1), c1

    for what, rows, width in CASES:
        for element, dtype in (("f32", torch.float32), ("f16", torch.float16)):
            make_one = lambda *shape, scale=1.0: (torch.randn(*shape, device="cuda") * scale).to(dtype)
            x, h, c, b = make_one(rows, width), make_one(rows, width), make_one(rows, width), make_one(width)
            count = 4 if what == "cell" else 1
            ws, us = ([make_one(width, width, scale=width ** -0.5) for _ in range(count)] for _ in range(2))
            end = (lambda gates, c: finish(gates, c)) if what == "cell" else (lambda gates, c: (torch.tanh(gates[0]),))
            plain = lambda x, h, c, ws, us, b: end([x @ w + h @ u + b for w, u in zip(ws, us)], c)
            both = torch.cat((torch.cat(ws, 1), torch.cat(us, 1)), 0)
            one = lambda: end(torch.addmm(b.repeat(count), torch.cat((x, h), 1), both).chunk(count, 1), c)
            d = lambda t: t.double()
            exact = plain(d(x), d(h), d(c), list(map(d, ws)), list(map(d, us)), d(b))
            name = f"{what}_{rows}_{width}_{element}"
            ours = runtime.Program(lib, folder / f"{name}.ftb")
            outputs, call = ours.bind([x, h] + ([c] if what == "cell" else []) + ws + us + [b], len(exact), dtype)
            call()
            torch.cuda.synchronize()
            error = max(((o.double() - e).abs().max() / e.pow(2).mean().sqrt()).item() for o, e in zip(outputs, exact))
            candidates = {"ours": call, "torch": peers.graphed(lambda: plain(x, h, c, ws, us, b)), "torch, one product": peers.graphed(one)}
            times = peers.time_all(candidates, seconds=1.2)
            print(name, ", ".join(f"{n} {t:.1f}" for n, t in times.items()), f"error {error:.1e}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        tools = next((a.partition("=")[2] for a in sys.argv if a.startswith("--bin=")), "build/bin")
        make(pathlib.Path(sys.argv[2]), pathlib.Path(tools))
    else:
        time_all(pathlib.Path(sys.argv[2]), sys.argv[3])
