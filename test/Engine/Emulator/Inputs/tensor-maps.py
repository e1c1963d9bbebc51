#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels that copy boxes by TMA in the emulator, right and with a fault each, and translates one to PTX.

    tensor-maps.py FT_OPT FT_RUN FT_TRANSLATE PROGRAM...

A PROGRAM pads a matrix of R x 24 halves with zeros to multiples of a box of 8 x 16. The kernel here does it by boxes alone.
"""
import json
import re
import subprocess
import sys
import tempfile

BOX = (8, 16)
HALF = 6
SWIZZLES = {0: 0, 32: 1}


def kernel(swizzle):
    """One warp brings its block's box to shared memory and writes all of it, 16 halves of a row by each of 16 lanes' two accesses."""
    said = "!tile.tensor_map<8x16xf16" + (f", swizzle = {swizzle}>" if swizzle else ">")
    swizzled = ""
    if swizzle:  # bit 4 is combined with bit 7
        swizzled = """
  %three = arith.constant 3 : i32
  %shifted = arith.shrui %plain, %three : i32
  %only = arith.andi %shifted, %sixteen : i32
  %byte = arith.xori %plain, %only : i32"""
    else:
        swizzled = "\n  %byte = arith.addi %plain, %zero : i32"
    return f"""
llvm.mlir.global external @ft_shared() {{addr_space = 3 : i32, alignment = 1024 : i64}} : !llvm.array<0 x i8>
llvm.func @copy(%d: !llvm.ptr {{llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = {said}}},
                %y: !llvm.ptr<1>) attributes {{nvvm.kernel, nvvm.maxntid = array<i32: 32>}} {{
  %m = tile.tensor_map %d : {said}
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %eight = arith.constant 8 : i32
  %sixteen = arith.constant 16 : i32
  %all = arith.constant 32 : i32
  %bytes = arith.constant 256 : i32
  %true = arith.constant true
  %base = llvm.mlir.addressof @ft_shared : !llvm.ptr<3>
  %barrier = llvm.getelementptr %base[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %down = arith.divui %block, %two : i32
  %across = arith.remui %block, %two : i32
  %row = arith.muli %down, %eight : i32
  %column = arith.muli %across, %sixteen : i32
  %isFirst = arith.cmpi eq, %tid, %zero : i32
  scf.if %isFirst {{
    nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
    nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32
    %to = llvm.addrspacecast %base : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %d, %barrier, box [%column, %row] : !llvm.ptr<7>, !llvm.ptr
  }}
  nvvm.barrier0
  scf.while : () -> () {{
    %done = nvvm.mbarrier.try_wait %barrier, %zero : !llvm.ptr<3>, i32 -> i1
    %more = arith.xori %done, %true : i1
    scf.condition(%more)
  }} do {{
    scf.yield
  }}
  // Lane l has halves 8 (l mod 2) to 8 (l mod 2) + 7 of row l / 2, where there is one.
  %line = arith.divui %tid, %two : i32
  %part = arith.remui %tid, %two : i32
  %isLine = arith.cmpi ult, %line, %eight : i32
  scf.if %isLine {{
    %lineBytes = arith.muli %line, %all : i32
    %partBytes = arith.muli %part, %sixteen : i32
    %plain = arith.addi %lineBytes, %partBytes : i32{swizzled}
    %from = llvm.getelementptr %base[%byte] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %value = llvm.load %from {{alignment = 16 : i64}} : !llvm.ptr<3> -> vector<4xi32>
    %r = arith.addi %row, %line : i32
    %p = arith.muli %part, %eight : i32
    %c = arith.addi %column, %p : i32
    %wide = arith.muli %r, %all : i32
    %place = arith.addi %wide, %c : i32
    %result = llvm.getelementptr %y[%place] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
    llvm.store %value, %result {{alignment = 16 : i64}} : vector<4xi32>, !llvm.ptr<1>
  }}
  llvm.return
}}
"""


def plan_of(printed, swizzle, rows, **changed):
    attribute = re.search(r'tile\.plan = "([^"]*)"', printed)
    plan = json.loads(attribute[1].replace(r"\22", '"'))
    only = plan["plans"][0]
    only["kernels"] = ["copy"]
    launch = only["steps"][0]
    box = {"type": HALF, "extents": [24, rows], "strides": [48], "box": [BOX[1], BOX[0]], "element_strides": [1, 1], "interleave": 0,
           "swizzle": SWIZZLES[swizzle], "l2_promotion": 0, "oob_fill": 0, **changed}
    launch.update(grid=[2 * -(-rows // BOX[0]), 1, 1], block=[32, 1, 1], shared_bytes=1032, cooperative=False, shrinks=False,
                  arguments=[{"kind": "tensor_map", "value": 0, "buffer": 0, "map": box}, {"kind": "pointer", "value": 0, "buffer": 1}])
    only["steps"] = [launch]
    return json.dumps(plan)


def module(plan, code):
    text = plan.replace('"', r"\22")
    return f'gpu.module @pad attributes {{tile.plan = "{text}", tile.target = "sm_90a"}} {{\n{code}}}\n'


def replaced(text, old, new):
    assert old in text, old
    return text.replace(old, new)


def main():
    ft_opt, ft_run, ft_translate, *programs = sys.argv[1:]
    wrong = count = 0

    def tell(name, expected, status, text):
        nonlocal wrong
        if expected in text and (status == 0) == (expected == "equal"):
            return
        wrong += 1
        print(f"{name}: expected {expected!r}, found status {status}: {text[:800]}")

    def run(program, text):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([ft_run, program, "--engine=emulate", f"--kernels={file.name}", "--seed=3", "--compare=interpret"],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    for program in programs:
        printed = subprocess.run([ft_opt, program, "--ft-compile=to=threads target=sm_90a"], capture_output=True, text=True, check=True).stdout
        rows = int(re.search(r"tensor<(\d+)x24xf16>", open(program, encoding="utf-8").read())[1])
        for swizzle in SWIZZLES:
            count += 1
            tell(f"{rows} rows, swizzle {swizzle}", "equal", *run(program, module(plan_of(printed, swizzle, rows), kernel(swizzle))))

    plain = plan_of(printed, 0, rows)
    faults = {
        "a stride": (module(plan_of(printed, 0, rows, strides=[64]), kernel(0)), "(E1) accesses"),
        "a box": (module(plan_of(printed, 0, rows, box=[16, 16]), kernel(0)), "the launch plan passes a tensor map of type 6, swizzle 0 and box [16, 16]"),
        "a swizzle": (module(plan_of(printed, 32, rows), kernel(0)), "the launch plan passes a tensor map of type 6, swizzle 1"),
        "a kind": (module(json.dumps(pointer_instead(json.loads(plain))), kernel(0)), "the launch plan passes a pointer as argument 0"),
        "bytes": (module(plain, replaced(kernel(0), "%bytes = arith.constant 256", "%bytes = arith.constant 240")), "(E10)"),
    }
    for name, (text, expected) in faults.items():
        tell(name, expected, *run(program, text))
    translated = subprocess.run([ft_translate, "--mlir-to-ptx", "--target=sm_90a", "-"], input=module(plain, kernel(0)), capture_output=True, text=True,
                                check=False)
    for expected in (".param .align 64 .b8 copy_param_0[128]", "cp.async.bulk.tensor.2d.shared::cluster.global"):
        if expected not in translated.stdout:
            wrong += 1
            print(f"PTX: expected {expected}, found {translated.stdout}{translated.stderr}")
    print(f"{count} kernels, {len(faults)} faults, {wrong} wrong")
    sys.exit(wrong != 0)


def pointer_instead(plan):
    launch = plan["plans"][0]["steps"][0]
    launch["arguments"][0] = {"kind": "pointer", "value": 0, "buffer": 0}
    return plan


if __name__ == "__main__":
    main()
