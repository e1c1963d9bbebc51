#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long reductions to a few numbers beside PyTorch, which thread blocks share (`etdg-choose-cuts-for-gpu`).

    reductions.py make FOLDER [--bin=build/bin]     programs and their bundles, for sm_90a
    reductions.py time FOLDER RUNTIME.so            medians in microseconds, with the error against float64, on a machine with a GPU

Bundles `NAME-....ftb` in FOLDER are other forms of the program NAME.
"""

import pathlib
import subprocess
import sys

LOWEST = {"f32": "0xFF800000", "f16": "0xFC00"}
LONG = 16777216


def reduced(op, source, shape, dims, element, result="", name="r"):
    t, r = f"tensor<{shape}x{element}>", f"tensor<{result}{element}>"
    init = "0.0" if op == "addf" else LOWEST[element]
    return (f"  %{name}0 = arith.constant dense<{init}> : {r}\n"
            f"  %{name} = linalg.reduce ins(%{source} : {t}) outs(%{name}0 : {r}) dimensions = [{dims}] (%a: {element}, %b: {element}) {{\n"
            f"    %s = arith.{op} %a, %b : {element}\n    linalg.yield %s : {element}\n  }}\n")


def whole(op, shape, dims, element, result=""):
    return (f"func.func @main(%x: tensor<{shape}x{element}>) -> tensor<{result}{element}> {{\n" + reduced(op, "x", shape, dims, element, result) +
            f"  return %r : tensor<{result}{element}>\n}}\n")


def dot(length):
    t = f"tensor<{length}xf32>"
    return (f"func.func @main(%x: {t}, %y: {t}) -> tensor<f32> {{\n  %z = arith.constant dense<0.0> : tensor<f32>\n"
            f"  %r = linalg.dot ins(%x, %y : {t}, {t}) outs(%z : tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}}\n")


def logsumexp(length):
    t = f"tensor<{length}xf32>"
    return (f"func.func @main(%x: {t}) -> tensor<f32> {{\n" + reduced("maximumf", "x", str(length), "0", "f32", name="m") +
            f"  %e = tensor.empty() : {t}\n  %bc = linalg.broadcast ins(%m : tensor<f32>) outs(%e : {t}) dimensions = [0]\n"
            f"  %d = arith.subf %x, %bc : {t}\n  %p = math.exp %d : {t}\n" + reduced("addf", "p", str(length), "0", "f32") +
            "  %l = math.log %r : tensor<f32>\n  %o = arith.addf %l, %m : tensor<f32>\n  return %o : tensor<f32>\n}\n")


def of_list(element, op="addf"):
    """A `reduce` over a list whose length the call says."""
    return (f"func.func @main(%xs: !ft.list<[L], {element}>) -> {element} attributes {{ft.lengths = {{L = {LONG} : i64}}}} {{\n"
            f"  %z = arith.constant dense<0.0> : {element}\n  %r = ft.reduce (%x = %xs : !ft.list<[L], {element}>) init (%a = %z : {element}) {{\n"
            f"    %n = arith.{op} %a, %x : {element}\n    ft.yield %n : {element}\n  }}\n  return %r : {element}\n}}\n")


def online():
    """The maximum and the sum of exponentials below it, in one pass over a list."""
    t, grow = "tensor<f32>", ("    %m1 = arith.maximumf {m}, {x} : tensor<f32>\n    %d = arith.subf {m}, %m1 : tensor<f32>\n    %c = math.exp %d : tensor<f32>\n"
                              "    %s1 = arith.mulf {s}, %c : tensor<f32>\n    %e = arith.subf {x}, %m1 : tensor<f32>\n    %p = math.exp %e : tensor<f32>\n")
    return (f"func.func @main(%xs: !ft.list<[L], {t}>) -> {t} attributes {{ft.lengths = {{L = {LONG} : i64}}}} {{\n"
            f"  %z = arith.constant dense<0.0> : {t}\n  %i = arith.constant dense<0xFF800000> : {t}\n"
            f"  %m, %r = ft.reduce (%x = %xs : !ft.list<[L], {t}>) init (%m0, %s0 = %i, %z : {t}, {t}) -> {t}, {t} {{\n" + grow.format(m="%m0", x="%x", s="%s0") +
            f"    %s2 = arith.addf %s1, %p : {t}\n    ft.yield %m1, %s2 : {t}, {t}\n  }} combine (%ma, %sa, %mb, %sb) {{\n" + grow.format(m="%ma", x="%mb", s="%sa") +
            f"    %q = arith.mulf %sb, %p : {t}\n    %s2 = arith.addf %s1, %q : {t}\n    ft.yield %m1, %s2 : {t}, {t}\n  }} identity (%i, %z : {t}, {t})\n"
            f"  %l = math.log %r : {t}\n  %o = arith.addf %l, %m : {t}\n  return %o : {t}\n}}\n")


PROGRAMS = {
    "sum_f32": whole("addf", "4096x4096", "0, 1", "f32"),
    "sum_f16": whole("addf", "4096x4096", "0, 1", "f16"),
    "max_f32": whole("maximumf", str(LONG), "0", "f32"),
    "prime_f32": whole("addf", str(LONG - 3), "0", "f32"),
    "cols_f32": whole("addf", f"{LONG}x4", "0", "f32", "4x"),
    "dot_f32": dot(LONG),
    "lse_f32": logsumexp(LONG),
    "list_f32": of_list("tensor<f32>"),
    "listmax_f32": of_list("tensor<f32>", "maximumf"),
    "listprime_f32": of_list("tensor<f32>"),
    "listcols_f32": of_list("tensor<4xf32>"),
    "online_f32": online(),
}


def make(folder, tools):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in PROGRAMS.items():
        source = folder / f"{name}.mlir"
        source.write_text(text)
        subprocess.run([tools / "ft-translate", "--mlir-to-bundle", "--target=sm_90a", source, "-o", source.with_suffix(".ftb")], check=True)


def peer_of(name):
    """PyTorch's function, and the shapes of its inputs."""
    import torch
    return {
        "sum": (torch.sum, [(4096, 4096)]),
        "max": (torch.max, [(LONG,)]),
        "prime": (torch.sum, [(LONG - 3,)]),
        "cols": (lambda x: torch.sum(x, 0), [(LONG, 4)]),
        "dot": (torch.dot, [(LONG,), (LONG,)]),
        "lse": (lambda x: torch.logsumexp(x, 0), [(LONG,)]),
        "list": (torch.sum, [(LONG,)]),
        "listmax": (lambda x: torch.clamp(torch.max(x), min=0), [(LONG,)]),
        "listprime": (torch.sum, [(LONG - 3,)]),
        "listcols": (lambda x: torch.sum(x, 0), [(LONG, 4)]),
        "online": (lambda x: torch.logsumexp(x, 0), [(LONG,)]),
    }[name.partition("_")[0]]


def time_all(folder, library):
    import peers
    import runtime
    import torch
    torch.manual_seed(1)
    lib = runtime.load_library(library)
    print(torch.cuda.get_device_name(), torch.__version__)
    rate = 4.8e12 if "H200" in torch.cuda.get_device_name() else 3.35e12  # bytes of memory a second
    for name in PROGRAMS:
        dtype = torch.float16 if name.endswith("f16") else torch.float32
        plain, shapes = peer_of(name)
        inputs = [torch.randn(*shape, device="cuda").to(dtype) for shape in shapes]
        exact = plain(*[x.double() for x in inputs])
        # What rounding is judged by: sums of numbers of both signs are small.
        scale = plain(*[x.double().abs() for x in inputs]) if name.partition("_")[0] in ("sum", "prime", "cols", "dot", "list", "listprime", "listcols") else exact.abs()
        floor = sum(x.numel() * x.element_size() for x in inputs) / rate
        errors, candidates = {}, {}
        for path in sorted(folder.glob(f"{name}.ftb")) + sorted(folder.glob(f"{name}-*.ftb")):
            form = "ours" + path.stem[len(name):]
            outputs, call = runtime.Program(lib, path).bind(inputs, 1, torch.int64 if exact.dtype == torch.int64 else dtype)
            call()
            torch.cuda.synchronize()
            errors[form] = ((outputs[0].double() - exact.double()).abs() / scale.double().clamp(min=1e-30)).max().item()
            candidates[form] = call
        errors["torch"] = ((plain(*inputs).double() - exact.double()).abs() / scale.double().clamp(min=1e-30)).max().item()
        candidates["torch"] = peers.graphed(lambda: plain(*inputs))
        times = peers.time_all(candidates, seconds=0.8)
        print(f"{name}: floor {floor * 1e6:.1f},", ", ".join(f"{n} {t:.1f} (error {errors[n]:.0e})" for n, t in times.items()), flush=True)
        del candidates, inputs


if __name__ == "__main__":
    if sys.argv[1] == "make":
        tools = next((a.partition("=")[2] for a in sys.argv if a.startswith("--bin=")), "build/bin")
        make(pathlib.Path(sys.argv[2]), pathlib.Path(tools))
    else:
        time_all(pathlib.Path(sys.argv[2]), sys.argv[3])
