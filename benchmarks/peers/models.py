#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of PyTorch beside PyTorch on one GPU, in one process:

    models.py FOLDER [--only=NAME,…] [--type=f32,f16] [--json=FILE]

FOLDER is what scripts/models.py packed: for each module and type a bundle, and the names
of the parameters and buffers that it holds, which are bound once. Weights are drawn here, so that
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import modules  # noqa: E402

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64, "i64": torch.int64}


def pixels(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def ids(words, *shape):
    return torch.randint(0, words, shape, generator=torch.Generator().manual_seed(2))


#: Height, width, channels and inner channels of the modules M0 to M9 of EfficientNet (Souffle, Figure 6).
SQUEEZES = ((112, 32, 8), (56, 96, 4), (56, 144, 6), (28, 144, 6), (28, 240, 10), (14, 240, 10), (14, 480, 20), (14, 672, 28), (7, 672, 28), (7, 1152, 48))

#: What is packed and compared: a module, and its input.
CASES = {
    "bert_layer": (modules.BertLayer, lambda: pixels(1, 384, 768)),
    "bottleneck": (modules.Bottleneck, lambda: pixels(1, 256, 56, 56)),
    "mbconv": (modules.MBConv, lambda: pixels(1, 24, 56, 56)),
}
#: Further ones, packed where they are named.
OTHERS = {
    "bert_attention": (modules.BertAttention, lambda: pixels(1, 384, 768)),
    "swin_block": (modules.SwinBlock, lambda: pixels(1, 56, 56, 128)),
    "resnext_block": (lambda: modules.Bottleneck(1024, 1024, groups=64), lambda: pixels(1, 1024, 14, 14)),
    "dense": (modules.Dense, lambda: pixels(1, 64, 56, 56)),
    "mmoe": (modules.Mmoe, lambda: pixels(1, 100)),
    "lstm": (modules.Lstm, lambda: pixels(100, 1, 256)),
    "mlp": (modules.Mlp, lambda: pixels(1024, 1024)),
    **{f"m{i}": (lambda c=c, r=r: modules.Squeeze(c, r), lambda s=s, c=c: pixels(1, c, s, s)) for i, (s, c, r) in enumerate(SQUEEZES)},
    "bert": (modules.Bert, lambda: ids(30522, 1, 384)),
    "resnext": (modules.ResNext, lambda: pixels(1, 3, 224, 224)),
    "efficientnet": (modules.EfficientNet, lambda: pixels(1, 3, 224, 224)),
    "swin": (modules.Swin, lambda: pixels(1, 3, 224, 224)),
}


def make(name, dtype, device):
    """A module with drawn weights, and an input."""
    kind, drawn = {**CASES, **OTHERS}[name]
    module = modules.draw_weights(kind()).eval().to(dtype).to(device)
    x = drawn()
    return module, (x.to(dtype) if x.is_floating_point() else x).to(device)


def values_of(module):
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def listed(results):
    return list(results) if isinstance(results, (tuple, list)) else [results]


def compare(folder, name, element, library):
    """Errors against float64, and candidates to time."""
    import peers
    import runtime

    module, x = make(name, TYPES[element], "cuda")
    exact, _ = make(name, TYPES[element], "cuda")
    with torch.no_grad():
        reference = listed(exact.double()(x.double() if x.is_floating_point() else x))
    facts = json.loads((folder / f"{name}.{element}.json").read_text())
    values = {n: values_of(module)[n].detach() for n in facts["held"]}
    errors, candidates = {}, {}

    def check(label, run):
        errors[label] = peers.error_of(listed(run()), reference)

    def add_ours(label, file):
        program = runtime.Program(library, file)
        program.hold(values)
        results, call = program.bind([x], len(facts["results"]), [TYPES[kind] for kind in facts["results"]])
        outputs = [results[at] for at in facts["returned"]]

        def ours():
            for output in outputs:
                output.fill_(float("nan"))
            call()
            torch.cuda.synchronize()
            return [output.clone() for output in outputs]

        first = ours()
        check(label, lambda: first)
        for _ in range(100):  # the second call and those after it go as a graph
            if not all(map(torch.equal, ours(), first)):
                raise RuntimeError(f"{name} {element}: two calls differ")
        candidates[label] = call

    if (folder / f"{name}.{element}.ftb").exists():
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
    import peers
    import runtime

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    library = runtime.load_library(options.folder.parent / "lib/libFractalTensorRuntime.so")
    only = [n for n in options.only.split(",") if n]
    rows, failed = [], 0
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; microseconds a call, error against float64")
    for name in [*CASES, *OTHERS]:
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
