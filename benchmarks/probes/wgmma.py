#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes kernels that show how Hopper's wgmma and TMA want their operands.

A kernel multiplies A (M x K, f16, row-major) by B with sums in f32. One warp
group loads tiles by TMA into `slots` slots of shared memory, the others multiply
by wgmma. Layout, swizzle, descriptors and accumulators are the hardware's alone,
so `wgmma_run.py` compares results for equality on a device.

    wgmma.py FOLDER [--ft-opt=build/bin/ft-opt] [--llvm=/usr/lib/llvm-22/bin]

writes a kernel for each row of VARIANTS as PTX, through the dialects and the PTX
version that the compiler uses, and `variants.json`, which the other script reads.
"""
import argparse
import dataclasses
import json
import pathlib
import subprocess

K_STEP = 64   # columns of A that a slot holds
K_MMA = 16    # of which one wgmma takes these
GROUP = 128   # threads of a warp group
ROWS = 64     # rows of A that one wgmma takes
WARPS = 4     # of a warp group; each waits for its own part of a wgmma, so that each releases a slot


@dataclasses.dataclass
class Variant:
    name: str
    groups: int = 2        # warp groups that multiply, 64 rows each
    columns: int = 256     # of a tile
    slots: int = 4
    swizzle: int = 128     # bytes of a row of a slab in shared memory
    transposed: bool = False  # B is N x K, row-major
    in_flight: int = 0     # products that may run while the next begins
    loader_registers: int = 24
    registers: int = 240

    @property
    def rows(self):
        return self.groups * ROWS

    @property
    def slab(self):
        """Halves of a row of a slab."""
        return self.swizzle // 2

    @property
    def a_bytes(self):
        return self.rows * K_STEP * 2

    @property
    def slot_bytes(self):
        return self.a_bytes + self.columns * K_STEP * 2

    @property
    def shared_bytes(self):
        return self.slots * (self.slot_bytes + 16)

    @property
    def boxes(self):
        """Boxes of the two tensor maps, the innermost extent first."""
        return (self.slab, self.rows), (self.slab, self.columns if self.transposed else K_STEP)


VARIANTS = [
    Variant("plain"),
    Variant("in_flight", in_flight=1),
    Variant("transposed", transposed=True),
    Variant("square", columns=128, slots=6),
    Variant("three_groups", groups=3, columns=128, slots=4, loader_registers=32, registers=160),
    Variant("narrow", groups=1, columns=8, slots=3, swizzle=32, transposed=True),
    Variant("swizzle_64", columns=64, swizzle=64),
    Variant("swizzle_32", columns=64, swizzle=32),
    Variant("swizzle_64_transposed", columns=64, swizzle=64, transposed=True),
    Variant("swizzle_32_transposed", columns=64, swizzle=32, transposed=True),
]


class Writer:
    """Lines of MLIR with constants and numbered values."""

    def __init__(self):
        self.lines = []
        self.count = 0

    def line(self, text):
        self.lines.append(text)

    def value(self, text):
        self.count += 1
        self.line(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def constant(self, value, type="i32"):
        return self.value(f"arith.constant {value} : {type}")

    def shared(self, offset):
        """The address `offset` bytes after the start of shared memory."""
        return self.value(f"llvm.getelementptr %base[{offset}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8")

    def op(self, name, *operands, type="i32"):
        return self.value(f"arith.{name} {', '.join(operands)} : {type}")


def wait(w, barrier, parity):
    w.line("scf.while : () -> () {")
    done = w.value(f"nvvm.mbarrier.try_wait {barrier}, {parity} : !llvm.ptr<3>, i32 -> i1")
    more = w.op("xori", done, "%true", type="i1")
    w.line(f"scf.condition({more})\n}} do {{\nscf.yield\n}}")


def slot_of(w, v, step):
    """A step's slot, its parity, and the two barriers of the slot."""
    slots = w.constant(v.slots)
    slot, turn = w.op("remui", step, slots), w.op("divui", step, slots)
    parity = w.op("andi", turn, "%one")
    eight = w.constant(8)
    full = w.op("addi", w.op("muli", slot, eight), w.constant(v.slots * v.slot_bytes))
    empty = w.op("addi", full, w.constant(v.slots * 8))
    return slot, parity, w.shared(full), w.shared(empty)


def load(w, v, slot, full, step):
    """The copies of one step: slabs of `swizzle` bytes a row, one after the other."""
    start = w.op("muli", slot, w.constant(v.slot_bytes))
    column = w.op("muli", step, w.constant(K_STEP))
    w.line(f"nvvm.mbarrier.arrive.expect_tx {full}, {w.constant(v.slot_bytes)} : !llvm.ptr<3>, i32")

    def box(map, offset, x, y):
        to = w.shared(w.op("addi", start, w.constant(offset)))
        to = w.value(f"llvm.addrspacecast {to} : !llvm.ptr<3> to !llvm.ptr<7>")
        w.line(f"nvvm.cp.async.bulk.tensor.shared.cluster.global {to}, {map}, {full}, box [{x}, {y}] : !llvm.ptr<7>, !llvm.ptr")

    for i in range(K_STEP // v.slab):
        x = w.op("addi", column, w.constant(i * v.slab))
        box("%mapA", i * v.rows * v.swizzle, x, "%row")
        if v.transposed:
            box("%mapB", v.a_bytes + i * v.columns * v.swizzle, x, "%column")
    for i in range(0 if v.transposed else v.columns // v.slab):
        box("%mapB", v.a_bytes + i * K_STEP * v.swizzle, w.op("addi", "%column", w.constant(i * v.slab)), column)


def descriptor(w, v, start, leading, stride):
    """A matrix in shared memory: where it begins (i32), and two distances in bytes (PTX ISA, wgmma's matrix descriptor)."""
    mode = {128: 1, 64: 2, 32: 3}[v.swizzle]
    high = mode << 62 | (stride >> 4) << 32 | (leading >> 4) << 16
    high -= (high >> 63) << 64
    low = w.op("shrui", w.op("andi", start, w.constant(0x3ffff)), w.constant(4))
    return w.op("ori", w.value(f"arith.extui {low} : i32 to i64"), w.constant(high, "i64"), type="i64")


def multiply(w, v, slot, sums, struct):
    start = w.op("addi", "%address", w.op("muli", slot, w.constant(v.slot_bytes)))
    for k in range(0, K_STEP, K_MMA):
        slab, inside = divmod(k, v.slab)
        a = w.op("addi", start, w.op("muli", "%rowsBefore", w.constant(v.swizzle)))
        a = w.op("addi", a, w.constant(slab * v.rows * v.swizzle + inside * 2))
        if v.transposed:  # K-major, as A
            b = v.a_bytes + slab * v.columns * v.swizzle + inside * 2
            leading = 16
        else:  # N-major: `leading` leads from slab to slab, the stride from 8 rows to the next
            b = v.a_bytes + k * v.swizzle
            leading = K_STEP * v.swizzle
        one = descriptor(w, v, a, 16, 8 * v.swizzle)
        two = descriptor(w, v, w.op("addi", start, w.constant(b)), leading, 8 * v.swizzle)
        layout = "col" if v.transposed else "row"
        sums = w.value(
            f"nvvm.wgmma.mma_async {one}, {two}, {sums}, #nvvm.shape<m = {ROWS}, n = {v.columns}, k = {K_MMA}>, "
            "D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>], "
            f"B [<f16>, #nvvm.wgmma_scale_in<one>, <{layout}>] : {struct} -> {struct}")
    return sums


def write_sums(w, v, sums, struct):
    """Warp w of a group has rows 16w + l/4 and 16w + 8 + l/4, lane l columns 8j + 2(l % 4) and the next."""
    lane, warp = w.op("remui", "%tid", w.constant(32)), w.op("remui", w.op("divui", "%tid", w.constant(32)), w.constant(4))
    row = w.op("addi", w.op("muli", warp, w.constant(16)), w.op("divui", lane, w.constant(4)))
    row = w.op("addi", w.op("addi", row, "%rowsBefore"), "%row")
    column = w.op("addi", w.op("muli", w.op("remui", lane, w.constant(4)), w.constant(2)), "%column")
    for half in range(2):
        y = w.op("addi", row, w.constant(8 * half))
        line = w.op("muli", w.value(f"arith.extui {y} : i32 to i64"), w.value("arith.extui %N : i32 to i64"), type="i64")
        inside = w.op("cmpi ult,", y, "%M")
        w.line(f"scf.if {inside} {{")
        for j in range(v.columns // 8):
            x = w.op("addi", column, w.constant(8 * j))
            w.line(f"scf.if {w.op('cmpi ult,', x, '%N')} {{")
            pair = w.value("llvm.mlir.poison : vector<2xf16>")
            for i in range(2):
                word = w.value(f"llvm.extractvalue {sums}[{4 * j + 2 * half + i}] : {struct}")
                word = w.value(f"arith.truncf {word} : f32 to f16")
                pair = w.value(f"llvm.insertelement {word}, {pair}[{w.constant(i)} : i32] : vector<2xf16>")
            place = w.op("addi", line, w.value(f"arith.extui {x} : i32 to i64"), type="i64")
            to = w.value(f"llvm.getelementptr %C[{place}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16")
            w.line(f"llvm.store {pair}, {to} {{alignment = 4 : i64}} : vector<2xf16>, !llvm.ptr<1>\n}}")
        w.line("}")


def begin(w, v):
    """Places and barriers, which thread 0 makes."""
    w.line("%base = llvm.mlir.addressof @shared : !llvm.ptr<3>")
    w.line("%address = llvm.ptrtoint %base : !llvm.ptr<3> to i32")
    w.line("%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n%true = arith.constant true")
    w.line("%tid = nvvm.read.ptx.sreg.tid.x : i32")
    tiles = w.op("divui", w.op("addi", "%M", w.constant(v.rows - 1)), w.constant(v.rows))
    block = w.value("nvvm.read.ptx.sreg.ctaid.x : i32")
    w.line(f"%row = arith.muli {w.op('remui', block, tiles)}, {w.constant(v.rows)} : i32")
    w.line(f"%column = arith.muli {w.op('divui', block, tiles)}, {w.constant(v.columns)} : i32")
    w.line(f"%steps = arith.divui {w.op('addi', '%K', w.constant(K_STEP - 1))}, {w.constant(K_STEP)} : i32")
    full = w.constant(-1)
    group = w.op("divui", "%tid", w.constant(GROUP))
    w.line(f"%group = nvvm.shfl.sync idx {full}, {group}, %zero, {w.constant(31)} : i32 -> i32")
    w.line(f"%isFirst = arith.cmpi eq, %tid, %zero : i32\nscf.if %isFirst {{")
    for i in range(v.slots):
        for readers in range(2):
            barrier = w.shared(w.constant(v.slots * (v.slot_bytes + 8 * readers) + 8 * i))
            w.line(f"nvvm.mbarrier.init {barrier}, {w.constant(v.groups * WARPS if readers else 1)} : !llvm.ptr<3>, i32")
    w.line("nvvm.fence.mbarrier.init\nnvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n}")
    w.line("nvvm.barrier0")


def loader(w, v):
    w.line(f"nvvm.setmaxregister decrease {v.loader_registers}")
    w.line(f"%isWarp = arith.cmpi ult, %tid, {w.constant(32)} : i32\nscf.if %isWarp {{")
    w.line(f"{'%elected'} = nvvm.elect.sync -> i1\nscf.if %elected {{")
    w.line("scf.for %step = %zero to %steps step %one : i32 {")
    slot, parity, full, empty = slot_of(w, v, "%step")
    wait(w, empty, w.op("xori", parity, "%one"))
    load(w, v, slot, full, "%step")
    w.line("}\n}\n}")


def computers(w, v, struct):
    w.line(f"nvvm.setmaxregister increase {v.registers}")
    number = w.op("subi", "%group", "%one")
    w.line(f"%rowsBefore = arith.muli {number}, {w.constant(ROWS)} : i32")
    lane = w.op("remui", "%tid", w.constant(32))
    w.line(f"%isLeader = arith.cmpi eq, {lane}, %zero : i32")
    zero = w.value("arith.constant 0.0 : f32")
    sums = w.value(f"llvm.mlir.poison : {struct}")
    for i in range(v.columns // 2):
        sums = w.value(f"llvm.insertvalue {zero}, {sums}[{i}] : {struct}")
    w.line(f"%all = scf.for %step = %zero to %steps step %one iter_args(%sums = {sums}) -> ({struct}) : i32 {{")
    slot, parity, full, empty = slot_of(w, v, "%step")
    wait(w, full, parity)
    w.line("nvvm.wgmma.fence.aligned")
    sums = multiply(w, v, slot, "%sums", struct)
    w.line(f"nvvm.wgmma.commit.group.sync.aligned\nnvvm.wgmma.wait.group.sync.aligned {v.in_flight}")
    if v.in_flight:  # what this step reads is still in use: the step before leaves its slot
        before = w.op("subi", "%step", "%one")
        released = w.op("andi", "%isLeader", w.op("cmpi ne,", "%step", "%zero"), type="i1")
        w.line(f"scf.if {released} {{")
        empty = slot_of(w, v, before)[3]
    else:
        w.line("scf.if %isLeader {")
    w.value(f"nvvm.mbarrier.arrive {empty} : !llvm.ptr<3> -> i64")
    w.line(f"}}\nscf.yield {sums} : {struct}\n}}")
    w.line("nvvm.wgmma.wait.group.sync.aligned 0")
    write_sums(w, v, "%all", struct)


def kernel(v):
    w = Writer()
    struct = "!llvm.struct<(" + ", ".join(["f32"] * (v.columns // 2)) + ")>"
    threads = GROUP * (v.groups + 1)
    map = "!llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64}"
    w.line("llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>")
    w.line(f"llvm.func @{v.name}(%mapA: {map}, %mapB: {map}, %C: !llvm.ptr<1>, %M: i32, %N: i32, %K: i32) "
           f"attributes {{nvvm.kernel, nvvm.maxntid = array<i32: {threads}>, nvvm.minctasm = 1 : i32}} {{")
    begin(w, v)
    w.line("%isLoader = arith.cmpi eq, %group, %zero : i32\nscf.if %isLoader {")
    loader(w, v)
    w.line("} else {")
    computers(w, v, struct)
    w.line("}\nllvm.return\n}")
    return "\n".join(w.lines) + "\n"


PASSES = ["--convert-scf-to-cf", "--convert-nvvm-to-llvm", "--convert-arith-to-llvm", "--convert-cf-to-llvm",
          "--reconcile-unrealized-casts", "--cse"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ft-opt", default="build/bin/ft-opt")
    parser.add_argument("--llvm", default="/usr/lib/llvm-22/bin", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for v in VARIANTS:
        text = kernel(v)
        for command in ([arguments.ft_opt, *PASSES], [arguments.llvm / "mlir-translate", "--mlir-to-llvmir"],
                        [arguments.llvm / "llc", "-O3", "-march=nvptx64", "-mcpu=sm_90a", "-mattr=+ptx80"]):
            done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{v.name}: {done.stderr[:2000]}")
            text = done.stdout
        (arguments.folder / f"{v.name}.ptx").write_text(text)
    rows = [{**dataclasses.asdict(v), "rows": v.rows, "sharedBytes": v.shared_bytes, "boxes": v.boxes,
             "threads": GROUP * (v.groups + 1)} for v in VARIANTS]
    (arguments.folder / "variants.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
