#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the kernels of `wgmma.py` on a device: equal results, then times beside cuBLAS.

    wgmma_run.py FOLDER [--times]

Needs PyTorch and a driver, neither LLVM nor nvcc. Exits with 1 where a result differs.
"""
import argparse
import ctypes
import json
import pathlib
import statistics
import sys

import torch

HALF, ROWS_OF_256 = 6, 3  # CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_L2_PROMOTION_L2_256B
MOST_SHARED_BYTES = 8     # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
SWIZZLES = {32: 1, 64: 2, 128: 3}
SIZES = [(128, 256, 64), (1, 8, 8), (127, 264, 72), (257, 1000, 1032), (1021, 136, 4096), (640, 512, 200)]
LARGE = [(4096, 4096, 4096), (8192, 8192, 8192)]

cuda = ctypes.CDLL("libcuda.so.1")


def check(status, what):
    if status:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(status, ctypes.byref(text))
        sys.exit(f"{what}: {text.value.decode() if text.value else status}")


class TensorMap:
    """A descriptor of a row-major matrix: 128 bytes at a multiple of 64."""

    def __init__(self, matrix, box, swizzle):
        self.memory = ctypes.create_string_buffer(192)
        self.address = (ctypes.addressof(self.memory) + 63) // 64 * 64
        rows, columns = matrix.shape
        check(cuda.cuTensorMapEncodeTiled(
            ctypes.c_void_p(self.address), HALF, 2, ctypes.c_void_p(matrix.data_ptr()), (ctypes.c_uint64 * 2)(columns, rows),
            (ctypes.c_uint64 * 1)(matrix.stride(0) * 2), (ctypes.c_uint32 * 2)(*box), (ctypes.c_uint32 * 2)(1, 1),
            0, SWIZZLES[swizzle], ROWS_OF_256, 0), f"cuTensorMapEncodeTiled of {rows} x {columns}, box {box}")


class Kernel:
    def __init__(self, folder, variant):
        self.variant = variant
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        text = (folder / f"{variant['name']}.ptx").read_bytes()
        check(cuda.cuModuleLoadData(ctypes.byref(self.module), ctypes.c_char_p(text)), variant["name"])
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), self.module, variant["name"].encode()), variant["name"])
        check(cuda.cuFuncSetAttribute(self.function, MOST_SHARED_BYTES, variant["sharedBytes"]), "shared memory")

    def bind(self, a, b, c):
        """A function that launches the kernel on these matrices."""
        v = self.variant
        (m, k), n = a.shape, c.shape[1]
        maps = [TensorMap(x, box, v["swizzle"]) for x, box in zip((a, b), v["boxes"])]
        values = [ctypes.c_void_p(c.data_ptr()), ctypes.c_int(m), ctypes.c_int(n), ctypes.c_int(k)]
        pointers = (ctypes.c_void_p * 6)(*[t.address for t in maps], *[ctypes.addressof(x) for x in values])
        blocks = -(-m // v["rows"]) * -(-n // v["columns"])
        kept = (a, b, c, maps, values)

        def launch():
            assert kept
            check(cuda.cuLaunchKernel(self.function, blocks, 1, 1, v["threads"], 1, 1, v["sharedBytes"],
                                      ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), pointers, None), v["name"])
        return launch


def matrices(m, n, k, transposed, integers):
    def make(*shape):
        if integers:
            return torch.randint(-3, 4, shape, device="cuda").half()
        return torch.randn(*shape, device="cuda", dtype=torch.float32).half()
    return make(m, k), make(n, k) if transposed else make(k, n), torch.full((m, n), float("nan"), device="cuda", dtype=torch.half)


def compare(kernel):
    """How many of the sizes give other numbers than exact sums rounded once."""
    wrong = 0
    for m, n, k in SIZES:
        v = kernel.variant
        a, b, c = matrices(m, n, k, v["transposed"], integers=True)
        kernel.bind(a, b, c)()
        torch.cuda.synchronize()
        expected = (a.double() @ (b.T if v["transposed"] else b).double()).half()
        different = int((c != expected).sum())
        wrong += different != 0
        print(f"{v['name']:24} {m} x {n} x {k}: {'equal' if not different else f'{different} of {m * n} differ'}")
        if different:
            places = (c != expected).nonzero()[:4].tolist()
            print("   first:", [(p, float(c[*p]), float(expected[*p])) for p in places])
    return wrong


def microseconds(run, flush):
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    flush.zero_()
    first.record()
    run()
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last) * 1e3


def time_beside(kernels, m, n, k, rounds=15):
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    runs = {}
    for kernel in kernels:
        a, b, c = matrices(m, n, k, kernel.variant["transposed"], integers=False)
        runs[kernel.variant["name"]] = kernel.bind(a, b, c)
    a, b, c = matrices(m, n, k, False, integers=False)
    runs["cuBLAS"] = lambda: torch.mm(a, b, out=c)
    times = {name: [] for name in runs}
    for i in range(rounds + 2):
        for name, run in runs.items():
            taken = microseconds(run, flush)
            if i >= 2:
                times[name].append(taken)
    best = statistics.median(times["cuBLAS"])
    for name, all in times.items():
        median = statistics.median(all)
        print(f"{name:24} {m} x {n} x {k}: {median:8.1f} us {2e-6 * m * n * k / median:6.0f} TFLOP/s {best / median:5.2f} of cuBLAS", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--times", action="store_true")
    arguments = parser.parse_args()
    torch.zeros(1, device="cuda")  # makes the context
    print(torch.cuda.get_device_name())
    kernels = [Kernel(arguments.folder, v) for v in json.loads((arguments.folder / "variants.json").read_text())]
    wrong = sum(compare(kernel) for kernel in kernels)
    print("PASS: all equal" if not wrong else f"FAIL: {wrong} products differ", flush=True)
    if arguments.times and not wrong:
        for size in LARGE:
            time_beside([k for k in kernels if k.variant["columns"] >= 128], *size)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
