# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shapes of FractalTensor's evaluation (SOSP'24, §6) and what its artifact recorded on an A100, in milliseconds.

Figure 7: six workloads, all shapes. Figure 8: how stacked, dilated and grid RNNs grow with depth and length.
Sizes are those that the published programs ran, where the paper's table says something else: the grid RNN has a batch of
32, and BigBird one random block. Three of the paper's own times do not measure the whole program. The stacked LSTM at
H1024 is faster than the card can multiply, the dilated LSTM is simulated, and BigBird lacks its main part.
"""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Row:
    figure: str  # "7", "8 depth" or "8 length"
    workload: str
    bundle: str  # the name of its bundle's file
    sizes: dict  # the benchmark's own names: N, D, L, H, …
    element: str
    paper: float  # the paper's own system
    best: tuple = ()  # the best other system in the paper: (name, milliseconds)
    doubt: str = ""

    @property
    def label(self):
        return " ".join(f"{name}{value}" for name, value in self.sizes.items())


IMPOSSIBLE, SIMULATED, PARTIAL = "faster than the card multiplies", "simulated", "main part not run"


def lstm(figure, h, d, length, paper, cudnn):
    return Row(figure, "stacked LSTM", f"stacked_lstm_{h}", {"N": 256, "D": d, "L": length, "H": h}, "f16", paper,
               ("cuDNN", cudnn), IMPOSSIBLE if h == 1024 else "")


def dilated(figure, h, d, length, paper, torch):
    return Row(figure, "dilated LSTM", f"dilated_lstm_{d}_{h}", {"N": 256, "D": d, "L": length, "H": h}, "f16", paper, ("PyTorch", torch), SIMULATED)


def grid(figure, h, d, length, paper, triton):
    return Row(figure, "grid RNN", f"grid_rnn_{h}", {"N": 32, "D": d, "S": length, "T": length, "H": h}, "f32", paper, ("Triton", triton))


def _figure7():
    yield from (lstm("7", h, 32, 64, *ms) for h, ms in ((256, (4.912, 15.127)), (512, (7.390, 20.291)), (1024, (11.967, 48.579))))
    yield from (dilated("7", h, 6, 50, *ms) for h, ms in ((256, (2.081, 2.706)), (512, (2.860, 4.736)), (1024, (5.256, 12.085))))
    yield from (grid("7", h, 32, 10, *ms) for h, ms in ((256, (45.86, 459.3)), (512, (99.05, 464.0)), (1024, (281.98, 463.1))))
    for m, n, ours, cublas in ((8192, 256, 0.0100, 0.0176), (8192, 512, 0.0161, 0.0242), (16384, 256, 0.0186, 0.0258), (16384, 512, 0.0325, 0.0359)):
        yield Row("7", "back-to-back GEMM", "back_to_back_gemm", {"M": m, "N": n}, "f16", ours, ("cuBLAS", cublas))
    lengths = (128, 256, 512, 768, 1024, 1536, 2048, 4096)
    for width, ours, flash in ((128, (.0221, .0611, .1781, .3858, .6881, 1.515, 2.632, 10.565), (.0805, .0665, .1911, .4102, .7518, 1.655, 2.822, 11.258)),
                               (256, (.0506, .1193, .3731, .8098, 1.403, 3.190, 5.761, 21.863), (.0674, .1536, .4508, .9699, 1.633, 3.558, 6.116, 23.918))):
        for length, mine, theirs in zip(lengths, ours, flash):
            yield Row("7", "flash attention", f"flash_attention_{width}", {"B": 32, "heads": 8, "L": length, "D": width}, "f16", mine, ("FlashAttention-2", theirs))
    yield Row("7", "BigBird", "bigbird", {"B": 32, "L": 4096, "R": 1, "D": 512}, "f32", 4.214, ("Triton", 13.10), PARTIAL)
    yield Row("7", "BigBird", "bigbird", {"B": 32, "L": 8192, "R": 1, "D": 512}, "f32", 6.669, ("Triton", 29.58), PARTIAL)


def _figure8():
    depths = (1, 2, 4, 8, 16, 32)
    for h, ours, cudnn in ((256, (.80, 3.12, 3.21, 3.50, 3.99, 4.94), (.82, .94, 1.92, 3.79, 8.04, 15.13)),
                           (1024, (2.06, 7.55, 7.82, 8.38, 9.74, 11.96), (2.67, 3.54, 5.98, 12.03, 24.66, 48.81))):
        yield from (lstm("8 depth", h, d, 64, a, b) for d, a, b in zip(depths, ours, cudnn))
    for h, ours, torch in ((256, (.84, 1.24, 1.51, 1.63, 1.74, 1.86), (.73, 1.15, 1.54, 1.95, 2.45, 2.71)),
                           (1024, (1.69, 2.63, 3.26, 3.87, 4.55, 5.06), (2.04, 3.64, 5.38, 7.49, 10.25, 12.13))):
        yield from (dilated("8 depth", h, d, 50, a, b) for d, a, b in zip(range(1, 7), ours, torch))
    for h, ours, triton in ((256, (2.1, 7.9, 12.5, 16.5, 26.7, 45.8), (13.4, 26.1, 56.2, 114.5, 226.6, 456.6)),
                            (1024, (4.2, 21.0, 46.7, 82.8, 150.5, 282.1), (13.4, 27.7, 55.0, 109.9, 214.8, 430.2))):
        yield from (grid("8 depth", h, d, 10, a, b) for d, a, b in zip(depths, ours, triton))
    for h, ours, cudnn in ((256, (3.24, 4.88, 8.18), (7.66, 15.57, 31.21)), (1024, (8.04, 11.97, 19.92), (24.97, 49.10, 96.63))):
        yield from (lstm("8 length", h, 32, length, a, b) for length, a, b in zip((32, 64, 128), ours, cudnn))
    for h, ours, torch in ((256, (1.15, 2.23, 4.43), (1.79, 2.79, 5.38)), (1024, (3.04, 6.01, 12.04), (6.08, 12.12, 24.18))):
        yield from (dilated("8 length", h, 6, length, a, b) for length, a, b in zip((32, 64, 128), ours, torch))
    for h, ours, triton in ((256, (30.2, 33.9, 45.9), (109, 211, 427)), (1024, (117.9, 166.2, 282.1), (109, 211, 427))):
        yield from (grid("8 length", h, 32, length, a, b) for length, a, b in zip((5, 7, 10), ours, triton))


ROWS = [*_figure7(), *_figure8()]

# Table 7: bytes moved, in GB, by level of memory; neither shape nor number of calls is said.
TABLE7 = {"flash attention": {"memory": 3.99, "L2": 23.64, "L1": 18.03}, "BigBird": {"memory": 12.36, "L2": 28.85, "L1": 17.69}}


def dilated_text(depth):
    """The dilated LSTM with another number of layers: layer k of examples/dilated_lstm.mlir, `depth` times."""

    def of(example):
        head, rest = example.split("  // Layer 0\n")
        first, *_ = rest.split("  // Layer 1\n")
        head = re.sub(r"<\[3, 4\]", f"<[{depth}, 4]", head)
        layers = []
        for k in range(depth):
            text = re.sub(r"<\[3, 4\]", f"<[{depth}, 4]", first)
            text = re.sub(r"%(ws|us|bs|h|c)0\b", rf"%\g<1>{k}", text).replace("ss[0]", f"ss[{k}]")
            text = re.sub(r"\blag 1\b", f"lag {2**k}", text)
            if k:
                text = text.replace("(%xs = %xss :", f"(%xs = %h{k - 1} :")
            layers.append(f"  // Layer {k}\n{text}")
        end = f"  return %h{depth - 1}, %c{depth - 1} : !ft.list<[N, L], !x>, !ft.list<[N, L], !x>\n}}\n"
        return head + "".join(layers) + end

    return of


def program(row):
    """(file of the program from the repository's root, what makes its text another one or None, {alias: type} of its elements)."""
    size, e = row.sizes, row.element
    if row.workload in ("stacked LSTM", "grid RNN", "dilated LSTM"):
        types = {"x": f"tensor<1x{size['H']}x{e}>", "w": f"tensor<{size['H']}x{size['H']}x{e}>"}
        name = {"stacked LSTM": "stacked_lstm", "grid RNN": "grid_rnn", "dilated LSTM": "dilated_lstm"}[row.workload]
        return f"examples/{name}.mlir", dilated_text(size["D"]) if name == "dilated_lstm" else None, types
    if row.workload == "back-to-back GEMM":
        return "examples/back_to_back_gemm.mlir", None, {name: f"tensor<64x64x{e}>" for name in "abctd"}
    block, width = 64, size["D"]
    types = {**{name: f"tensor<{block}x{width}x{e}>" for name in "qkvo"}, "p": f"tensor<{block}x{block}x{e}>", "r": f"tensor<{block}x{e}>", "s": f"tensor<{e}>"}
    if row.workload == "BigBird":
        return "examples/bigbird.mlir", None, {**types, "see": f"tensor<{block}x{block}xi1>"}
    return "examples/flash_attention.mlir", None, types


def lengths(row):
    """The lengths of a row's program, by the program's own names."""
    s = row.sizes
    if row.workload == "back-to-back GEMM":
        return {"M": s["M"] // 64, "N": s["N"] // 64}
    if row.workload == "flash attention":
        return {"B": s["B"], "H": s["heads"], "Q": s["L"] // 64, "K": s["L"] // 64}
    if row.workload == "BigBird":
        return {"B": s["B"], "L": s["L"] // 64, "R": s["R"]}
    return {name: s[name] for name in {"stacked LSTM": "NDL", "dilated LSTM": "NL", "grid RNN": "NDST"}[row.workload]}
