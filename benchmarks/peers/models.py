#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of PyTorch beside PyTorch on one GPU, in one process:

    models.py FOLDER [--only=NAME,…] [--type=f32,f16] [--json=FILE]

FOLDER is what scripts/models.py packed: for each module and type a bundle, and the names
of the parameters and buffers that it takes, in order. Weights are drawn here, so that
every branch of a module counts: norms scale and shift, no bias is zero. First every
result is compared with the module in float64 on the device, of the rounded weights and
inputs; outputs are filled with NaN before each call. Then ours, PyTorch in a CUDA graph
and torch.compile in one are timed in turn; medians, in microseconds a call.
"""

import argparse
import json
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}


class BertLayer(nn.Module):
    """A layer of BERT: self-attention and a feed-forward network, each with a residual and a norm after it."""

    def __init__(self, width=768, heads=12, inner=3072):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.last_norm = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, x.shape[2] // self.heads).transpose(1, 2)

    def forward(self, x):
        seen = F.scaled_dot_product_attention(self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x)))
        x = self.norm(self.out(seen.transpose(1, 2).reshape(x.shape)) + x)
        return self.last_norm(self.down(F.gelu(self.up(x))) + x)


class Bottleneck(nn.Module):
    """A block of ResNet: 1x1, 3x3 and 1x1 convolutions, and the input added."""

    def __init__(self, channels=256, inner=64, stride=1):
        super().__init__()
        self.reduce = nn.Conv2d(channels, inner, 1, bias=False)
        self.conv = nn.Conv2d(inner, inner, 3, padding=1, bias=False)
        self.expand = nn.Conv2d(inner, channels, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(n) for n in (inner, inner, channels))

    def forward(self, x):
        y = F.relu(self.norms[0](self.reduce(x)))
        y = F.relu(self.norms[1](self.conv(y)))
        return F.relu(self.norms[2](self.expand(y)) + x)


class MBConv(nn.Module):
    """An inverted bottleneck of EfficientNet: expand, depthwise, squeeze and excite, project, and the input added."""

    def __init__(self, channels=24, inner=144, squeezed=6):
        super().__init__()
        self.expand = nn.Conv2d(channels, inner, 1, bias=False)
        self.depthwise = nn.Conv2d(inner, inner, 3, padding=1, groups=inner, bias=False)
        self.squeeze, self.excite = nn.Conv2d(inner, squeezed, 1), nn.Conv2d(squeezed, inner, 1)
        self.project = nn.Conv2d(inner, channels, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(n) for n in (inner, inner, channels))

    def forward(self, x):
        y = F.silu(self.norms[0](self.expand(x)))
        y = F.silu(self.norms[1](self.depthwise(y)))
        y = y * torch.sigmoid(self.excite(F.silu(self.squeeze(F.adaptive_avg_pool2d(y, 1)))))
        return self.norms[2](self.project(y)) + x


#: What is packed and compared: a module, and the shape of its input.
CASES = {
    "bert_layer": (BertLayer, (1, 384, 768)),
    "bottleneck": (Bottleneck, (1, 256, 56, 56)),
    "mbconv": (MBConv, (1, 24, 56, 56)),
}


def draw_weights(module, seed=1):
    """Weights with which the results of every layer are of the size of 1, and none has no effect."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in [*module.named_parameters(), *module.named_buffers()]:
            if not value.is_floating_point():
                continue
            random = torch.randn(value.shape, generator=draw, dtype=torch.float64)
            if value.dim() > 1:
                value.copy_(random / value[0].numel() ** 0.5)
            elif name.endswith("running_var"):
                value.copy_(0.5 + random.abs())
            elif name.endswith("weight"):
                value.copy_(1 + 0.25 * random)
            else:
                value.copy_(0.25 * random)
    return module


def make(name, dtype, device):
    """A module with drawn weights, and an input."""
    kind, shape = CASES[name]
    module = draw_weights(kind()).eval().to(dtype).to(device)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    return module, x.to(dtype).to(device)


def values_of(module):
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def compare(folder, name, element, library):
    """Errors against float64, and candidates to time."""
    import peers
    import runtime

    module, x = make(name, TYPES[element], "cuda")
    exact, _ = make(name, TYPES[element], "cuda")
    with torch.no_grad():
        reference = exact.double()(x.double())
    names = json.loads((folder / f"{name}.{element}.json").read_text())["inputs"]
    values = values_of(module)
    inputs = [x if n is None else values[n].detach() for n in names]
    errors, candidates = {}, {}

    def check(label, run):
        errors[label] = peers.error_of([run()], [reference])

    def add_ours(label, file):
        outputs, call = runtime.Program(library, file).bind(inputs, 1, TYPES[element])

        def ours():
            outputs[0].fill_(float("nan"))
            call()
            torch.cuda.synchronize()
            return outputs[0].clone()

        first = ours()
        check(label, lambda: first)
        for _ in range(100):  # the second call and those after it go as a graph
            if not torch.equal(ours(), first):
                raise RuntimeError(f"{name} {element}: two calls differ")
        candidates[label] = call

    add_ours("ours", folder / f"{name}.{element}.ftb")
    for file in sorted(folder.glob(f"{name}.{element}.*.ftb")):  # cut into kernels in another way
        add_ours(f"ours, {file.suffixes[-2][1:]}", file)
    with torch.no_grad():
        check("PyTorch", lambda: module(x))
        candidates["PyTorch, graph"] = peers.graphed(lambda: module(x))
        compiled = torch.compile(module, options={"freezing": True})
        check("torch.compile", lambda: compiled(x))
        candidates["torch.compile, graph"] = peers.graphed(lambda: compiled(x))
    return errors, candidates


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--type", default="f16,f32")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    import peers
    import runtime

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    library = runtime.load_library(options.folder.parent / "lib/libFractalTensorRuntime.so")
    only = [n for n in options.only.split(",") if n]
    rows, failed = [], 0
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; microseconds a call, error against float64")
    for name in CASES:
        for element in options.type.split(","):
            if not (options.folder / f"{name}.{element}.ftb").exists() or (only and name not in only):
                continue
            try:
                errors, candidates = compare(options.folder, name, element, library)
            except Exception as error:  # noqa: BLE001 - the other rows are still wanted
                failed += 1
                print(f"{name} {element}: FAILED: {error}", flush=True)
                continue
            limit = max(1.25 * errors["PyTorch"], peers.TOLERANCE[element] / 8)
            wrong = any(not error <= limit for label, error in errors.items() if label.startswith("ours"))
            failed += wrong
            times = {} if wrong else peers.time_all(candidates, options.seconds)
            rows.append({"name": name, "type": element, "errors": errors, "microseconds": times})
            print(f"{name} {element}: " + ", ".join(f"{label} {time:.1f}" for label, time in times.items()) + "; errors " +
                  ", ".join(f"{label} {error:.1e}" for label, error in errors.items()) + (" WRONG" if wrong else ""), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": rows}, indent=1))
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
