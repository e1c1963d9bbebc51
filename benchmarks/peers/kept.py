#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of products over lists, which threads keep in registers from the first iteration to the last, beside the same without that and PyTorch:

    kept.py make FOLDER [--bin=build/bin] [--other=NAME=BIN]   programs and their bundles, for sm_90a; also those of other tools
    kept.py time FOLDER RUNTIME.so                             medians in microseconds, with the error against float64, on a machine with a GPU

`blocks`: a product of matrices of blocks, c_mn = sum_k a_mk b_kn. `damped`: c = 3/4 c + relu(a_k b_k), in order. `both`: c = sum_k (a b_k) c_k, as
back_to_back_gemm.
"""

import pathlib
import subprocess
import sys

# Kind, rows, terms and columns of a block, M, N, K.
CASES = [("blocks", (64, 64, 64), 32, 32, 32), ("blocks", (64, 64, 64), 16, 33, 127), ("blocks", (40, 24, 56), 48, 47, 63), ("blocks", (128, 32, 128), 16, 16, 64),
         ("damped", (64, 64, 64), 264, 0, 61), ("both", (64, 64, 64), 264, 0, 32), ("both", (64, 64, 64), 264, 0, 4)]
TYPES = ("f32", "f16")


def program(kind, block, element):
    rows, terms, columns = block
    a, b, c = (f"tensor<{m}x{n}x{element}>" for m, n in ((rows, terms), (terms, columns), (rows, columns)))
    zero = f"  %zero = arith.constant dense<0.0> : {c}\n"
    join = f""" combine (%p, %q) {{
        %pq = arith.addf %p, %q : {c}
        ft.yield %pq : {c}
      }}"""
    if kind == "blocks":
        return f"""func.func @main(%as: !ft.list<[M, K], {a}>, %bs: !ft.list<[N, K], {b}>) -> !ft.list<[M, N], {c}> {{
{zero}  %cs = ft.map (%a = %as : !ft.list<[M, K], {a}>) -> !ft.list<[M, N], {c}> {{
    %row = ft.map (%b = %bs : !ft.list<[N, K], {b}>) -> !ft.list<[N], {c}> {{
      %c = ft.reduce (%x, %y = %a, %b : !ft.list<[K], {a}>, !ft.list<[K], {b}>) init (%acc = %zero : {c}) -> {c} {{
        %s = linalg.matmul ins(%x, %y : {a}, {b}) outs(%acc : {c}) -> {c}
        ft.yield %s : {c}
      }}{join}
      ft.yield %c : {c}
    }}
    ft.yield %row : !ft.list<[N], {c}>
  }}
  return %cs : !ft.list<[M, N], {c}>
}}
"""
    if kind == "damped":
        return f"""func.func @main(%as: !ft.list<[M, K], {a}>, %bs: !ft.list<[K], {b}>) -> !ft.list<[M], {c}> {{
{zero}  %most = arith.constant dense<0.75> : {c}
  %cs = ft.map (%a = %as : !ft.list<[M, K], {a}>) -> !ft.list<[M], {c}> {{
    %c = ft.foldl (%x, %y = %a, %bs : !ft.list<[K], {a}>, !ft.list<[K], {b}>) init (%acc = %zero : {c}) -> {c} {{
      %p = linalg.matmul ins(%x, %y : {a}, {b}) outs(%zero : {c}) -> {c}
      %r = arith.maximumf %p, %zero : {c}
      %d = arith.mulf %acc, %most : {c}
      %s = arith.addf %d, %r : {c}
      ft.yield %s : {c}
    }}
    ft.yield %c : {c}
  }}
  return %cs : !ft.list<[M], {c}>
}}
"""
    return f"""func.func @main(%as: !ft.list<[M], {a}>, %bs: !ft.list<[K], {b}>, %ds: !ft.list<[K], {c}>) -> !ft.list<[M], {c}> {{
{zero}  %cs = ft.map (%a = %as : !ft.list<[M], {a}>) -> !ft.list<[M], {c}> {{
    %c = ft.reduce (%y, %d = %bs, %ds : !ft.list<[K], {b}>, !ft.list<[K], {c}>) init (%acc = %zero : {c}) -> {c} {{
      %t = linalg.matmul ins(%a, %y : {a}, {b}) outs(%zero : {c}) -> {c}
      %s = linalg.matmul ins(%t, %d : {c}, {c}) outs(%acc : {c}) -> {c}
      ft.yield %s : {c}
    }}{join}
    ft.yield %c : {c}
  }}
  return %cs : !ft.list<[M], {c}>
}}
"""


def names():
    for kind, block, m, n, k in CASES:
        for element in TYPES:
            yield f"{kind}_{'x'.join(map(str, block))}_{m}_{n}_{k}_{element}", kind, block, m, n, k, element


def make(folder, tools):
    folder.mkdir(parents=True, exist_ok=True)
    for name, kind, block, m, n, k, element in names():
        source = folder / f"{kind}_{'x'.join(map(str, block))}_{element}.mlir"
        source.write_text(program(kind, block, element))
        for label, bin_folder in tools.items():
            subprocess.run([bin_folder / "ft-translate", "--mlir-to-bundle", "--target=sm_90a", source, "-o", folder / f"{source.stem}.{label}.ftb"], check=True)


def inputs_and_plain(kind, block, m, n, k, dtype):
    import torch
    rows, terms, columns = block
    one = lambda *shape, scale=1.0: (torch.randn(*shape, device="cuda") * scale).to(dtype)
    if kind == "blocks":
        inputs = [one(m, k, rows, terms), one(n, k, terms, columns, scale=(terms * k) ** -0.5)]
        return inputs, lambda a, b: torch.einsum("mkrt,nktc->mnrc", a, b)
    if kind == "damped":
        def damped(a, b):
            c = torch.zeros(m, rows, columns, device="cuda", dtype=a.dtype)
            for i in range(k):
                c = 0.75 * c + torch.relu(a[:, i] @ b[i])
            return c
        return [one(m, k, rows, terms), one(k, terms, columns, scale=terms ** -0.5)], damped
    inputs = [one(m, rows, terms), one(k, terms, columns, scale=terms ** -0.5), one(k, columns, columns, scale=(columns * k) ** -0.5)]
    return inputs, lambda a, b, d: sum((a @ b[i]) @ d[i] for i in range(k))


def time_all(folder, library):
    import peers
    import runtime
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    lib = runtime.load_library(library)
    print(torch.cuda.get_device_name(), torch.__version__)
    for name, kind, block, m, n, k, element in names():
        dtype = {"f32": torch.float32, "f16": torch.float16}[element]
        inputs, plain = inputs_and_plain(kind, block, m, n, k, dtype)
        exact = plain(*[i.double() for i in inputs])
        candidates, errors = {}, []
        for path in sorted(folder.glob(f"{kind}_{'x'.join(map(str, block))}_{element}.*.ftb")):
            label = path.name.split(".")[-2]
            (output,), call = runtime.Program(lib, path).bind(inputs, 1, dtype)
            call()
            torch.cuda.synchronize()
            errors.append(f"{label} {((output.double().reshape(exact.shape) - exact).abs().max() / exact.pow(2).mean().sqrt()).item():.1e}")
            candidates[label] = call
        candidates["torch"] = peers.graphed(lambda: plain(*inputs))
        times = peers.time_all(candidates, seconds=0.8)
        print(name, ", ".join(f"{label} {t:.1f}" for label, t in times.items()), "| errors", ", ".join(errors), flush=True)


def main():
    if len(sys.argv) >= 3 and sys.argv[1] == "make":
        tools = {"ours": pathlib.Path("build/bin")}
        for word in sys.argv[3:]:
            key, _, value = word.partition("=")
            if key == "--bin":
                tools["ours"] = pathlib.Path(value)
            elif key == "--other":
                label, _, path = value.partition("=")
                tools[label] = pathlib.Path(path)
        return make(pathlib.Path(sys.argv[2]), tools)
    if len(sys.argv) == 4 and sys.argv[1] == "time":
        return time_all(pathlib.Path(sys.argv[2]), sys.argv[3])
    sys.exit(__doc__)


if __name__ == "__main__":
    main()
