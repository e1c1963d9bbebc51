// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of halves bring half the bytes: where lanes divide a row, one more thread block is resident, so that as many are on their way.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s
// RUN: sed 's/xf16/xf32/g; s/: f16/: f32/g' %s | ft-opt --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s --check-prefix=WORDS
// RUN: sed 's/1x4096xf16/1x4099xf16/g' %s | ft-opt --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s --check-prefix=REST
// CHECK: block = <threads = 256, resident = 5,
// WORDS: block = <threads = 256, resident = 4,
// REST: block = <threads = {{[0-9]+}}, resident = {{[1-4]}},

!x = tensor<1x4096xf16>
!r = tensor<1xf16>

func.func @scaled(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %z = arith.constant 0.0 : f16
    %e = tensor.empty() : !r
    %zero = linalg.fill ins(%z : f16) outs(%e : !r) -> !r
    %sum = linalg.reduce ins(%x : !x) outs(%zero : !r) dimensions = [1] (%a: f16, %b: f16) {
      %c = arith.addf %a, %b : f16
      linalg.yield %c : f16
    }
    %shape = tensor.empty() : !x
    %wide = linalg.broadcast ins(%sum : !r) outs(%shape : !x) dimensions = [1]
    %y = arith.divf %x, %wide : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
