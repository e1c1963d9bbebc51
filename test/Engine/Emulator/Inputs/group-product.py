#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs products by TMA and wgmma in the emulator, right and with a fault each.

    group-product.py FT_OPT FT_RUN PROGRAM

The kernels are those that `benchmarks/probes/wgmma.py` writes for a device; PROGRAM is a product of
70 x 72 by 72 x 24 halves, whose launch plan passes tensor maps here.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "benchmarks/probes"))
sys.dont_write_bytecode = True
import wgmma  # noqa: E402

M, K, N = 70, 72, 24
HALF = 6
SWIZZLES = {32: 1, 64: 2, 128: 3}


def tensor_map(buffer, rows, columns, box, swizzle):
    return {"kind": "tensor_map", "value": 0, "buffer": buffer,
            "map": {"type": HALF, "extents": [columns, rows], "strides": [columns * 2], "box": list(box), "element_strides": [1, 1],
                    "interleave": 0, "swizzle": SWIZZLES[swizzle], "l2_promotion": 0, "oob_fill": 0}}


def kernels(printed, variant, kernel):
    """The module that the compiler printed, with another kernel and its launch."""
    attribute = re.search(r'tile\.plan = "([^"]*)"', printed)
    plan = json.loads(attribute[1].replace(r"\22", '"'))
    only = plan["plans"][0]
    only["kernels"] = [variant.name]
    launch = only["steps"][0]
    left, right = variant.boxes
    blocks = -(-M // variant.rows) * -(-N // variant.columns)
    launch.update(grid=[blocks, 1, 1], block=[wgmma.GROUP * (variant.groups + 1), 1, 1], shared_bytes=variant.shared_bytes,
                  cooperative=False, shrinks=False,
                  arguments=[tensor_map(0, M, K, left, variant.swizzle), tensor_map(1, K, N, right, variant.swizzle),
                             {"kind": "pointer", "value": 0, "buffer": 2},
                             *({"kind": "integer", "value": n, "bits": 32} for n in (M, N, K))])
    text = json.dumps(plan).replace('"', r"\22")
    return (f'gpu.module @product attributes {{tile.plan = "{text}", tile.target = "sm_90a"}} {{\n{kernel}}}\n')


def replaced(text, old, new):
    assert re.search(old, text, re.M), old
    return re.sub(old, new, text, flags=re.M)


EVERY_BYTE = r"(nvvm.mbarrier.arrive.expect_tx %\w+, )(%\w+)( : )"
FAULTS = {
    "no fence of mbarriers": (r"^nvvm.fence.(mbarrier.init|proxy.*)$", "", "(E9)"),
    "no fence before a product": (r"^nvvm.wgmma.fence.aligned$", "", "(E11) starts a product"),
    "no wait for products": (r"^nvvm.wgmma.wait.group.sync.aligned 0$", "", "(E11)"),
    "too few bytes": (EVERY_BYTE, r"\1%one\3", "(E10)"),
    "no barrier after mbarriers are made": (r"^nvvm.barrier0$", "", "mbarrier"),
}


def main():
    ft_opt, ft_run, program = sys.argv[1:]
    printed = subprocess.run([ft_opt, program, "--ft-compile=to=threads target=sm_90a"], capture_output=True, text=True, check=True).stdout

    def run(variant, kernel, seed):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(kernels(printed, variant, kernel))
            file.flush()
            done = subprocess.run([ft_run, program, "--engine=emulate", f"--kernels={file.name}", f"--seed={seed}", "--compare=interpret"],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    plain = wgmma.Variant("plain", groups=1, columns=64, slots=2)
    wrong = 0
    right = [plain, wgmma.Variant("narrow", groups=1, columns=16, slots=2, swizzle=32),
             wgmma.Variant("in_flight", columns=32, slots=2, swizzle=64, in_flight=1)]
    for variant in right:
        status, text = run(variant, wgmma.kernel(variant), 1)
        if status != 0 or "equal" not in text:
            wrong += 1
            print(f"{variant.name}: expected equal results, found status {status}: {text[:600]}")
    for name, (old, new, expected) in FAULTS.items():
        status, text = run(plain, replaced(wgmma.kernel(plain), old, new), 2)
        if status == 0 or expected not in text:
            wrong += 1
            print(f"{name}: expected an error with {expected}, found status {status}: {text[:600]}")
    print(f"{len(right)} kernels, {len(FAULTS)} faults, {wrong} wrong")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
