// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of warp groups, whose operands another warp group fetches: sizes that are no multiple of a tile, both orders of each operand, f16 and
// bf16, and what is computed while a tile is in registers. Each fault of their pipeline is found.
// A machine of one SM that wants warp groups for short sums as well.
// RUN: sed 's/"product_long_steps": 8/"product_long_steps": 1/; s/: 132/: 1/' %S/../../machines/h200.json > %t.json
// RUN: %python %S/Inputs/pipelines.py %ft_bin/ft-opt %ft_bin/ft-run %s %t.json | FileCheck %s
// CHECK: 5 programs, 0 wrong
// CHECK: 9 faults, 0 not found
//
// Each of them is computed so.
// RUN: ft-opt %s --ft-compile="to=tile target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=TILES
// TILES-COUNT-5: tile.pipeline = #tile.pipeline<slots = {{[1-4]}}, loaders = 1, computers = 2, registers = [40, 232]>

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @plain(%a: tensor<130x456xf16>, %b: tensor<456x528xf16>) -> tensor<130x528xf16> {
  %zero = arith.constant dense<0.0> : tensor<130x528xf16>
  %r = linalg.matmul ins(%a, %b : tensor<130x456xf16>, tensor<456x528xf16>) outs(%zero : tensor<130x528xf16>) -> tensor<130x528xf16>
  return %r : tensor<130x528xf16>
}

func.func @two_steps(%a: tensor<257x72xbf16>, %b: tensor<72x520xbf16>) -> tensor<257x520xbf16> {
  %zero = arith.constant dense<0.0> : tensor<257x520xbf16>
  %r = linalg.matmul ins(%a, %b : tensor<257x72xbf16>, tensor<72x520xbf16>) outs(%zero : tensor<257x520xbf16>) -> tensor<257x520xbf16>
  return %r : tensor<257x520xbf16>
}

func.func @right_transposed(%a: tensor<129x136xf16>, %b: tensor<515x136xf16>) -> tensor<129x515xf16> {
  %zero = arith.constant dense<0.0> : tensor<129x515xf16>
  %r = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<129x136xf16>, tensor<515x136xf16>) outs(%zero : tensor<129x515xf16>) {
  ^bb0(%x: f16, %y: f16, %sum: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %sum, %p : f16
    linalg.yield %s : f16
  } -> tensor<129x515xf16>
  return %r : tensor<129x515xf16>
}

func.func @bias_relu(%a: tensor<130x136xf16>, %b: tensor<136x528xf16>, %bias: tensor<528xf16>) -> tensor<130x528xf16> {
  %none = arith.constant 0.0 : f16
  %zero = arith.constant dense<0.0> : tensor<130x528xf16>
  %p = linalg.matmul ins(%a, %b : tensor<130x136xf16>, tensor<136x528xf16>) outs(%zero : tensor<130x528xf16>) -> tensor<130x528xf16>
  %e = tensor.empty() : tensor<130x528xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<130x528xf16>, tensor<528xf16>) outs(%e : tensor<130x528xf16>) {
  ^bb0(%x: f16, %y: f16, %out: f16):
    %s = arith.addf %x, %y : f16
    %m = arith.maximumf %s, %none : f16
    linalg.yield %m : f16
  } -> tensor<130x528xf16>
  return %r : tensor<130x528xf16>
}

// (Lengths that the call decides.)
!in = tensor<1x136xf16>
!out = tensor<1x512xf16>
func.func @rows(%xs: !ft.list<[N], !in>, %b: tensor<136x512xf16>) -> !ft.list<[N], !out> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !in>) -> !ft.list<[N], !out> {
    %zero = arith.constant dense<0.0> : !out
    %y = linalg.matmul ins(%x, %b : !in, tensor<136x512xf16>) outs(%zero : !out) -> !out
    ft.yield %y : !out
  }
  return %ys : !ft.list<[N], !out>
}
