// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1x1 convolutions are products of matrices whose columns are pixels, on matrix units in f16: one image and several, what follows point by point,
// sizes that no tile divides. Strides leave pixels out: the product keeps both loops over pixels.
//
// (Launches are so dear there that no product is cut into shares, whose join is another one.)
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/; s/"launch": 3.875e-6/"launch": 1.0/; s/"boundary": 6.5e-7/"boundary": 1.0/' %S/../../machines/h200.json > %t.json
// RUN: %python %S/Inputs/emulate.py --machine=%t.json %ft_bin/ft-run %s 5 40 | FileCheck %s
// CHECK: 4 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// RUN: ft-translate --mlir-to-ptx --target=sm_90a --machine=%t.json %s | FileCheck %s --check-prefix=PTX
// PTX: mma.sync
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=TILES
// TILES-LABEL: etdg.graph @image(
// TILES: mma, fused = 1
// TILES: iterator_types = ["parallel", "reduction"]
// TILES-LABEL: etdg.graph @images(
// TILES: mma, fused = 1
// TILES: iterator_types = ["parallel", "reduction"]
// TILES-LABEL: etdg.graph @numbers(
// TILES: #tile.product
// TILES-NOT: mma
// TILES-LABEL: etdg.graph @strided(
// TILES: mma
// TILES: iterator_types = ["parallel", "parallel", "reduction"]

#x = affine_map<(n, f, h, w, c, p, q) -> (n, c, h + p, w + q)>
#s = affine_map<(n, f, h, w, c, p, q) -> (n, c, 2 * h + p, 2 * w + q)>
#k = affine_map<(n, f, h, w, c, p, q) -> (f, c, p, q)>
#y = affine_map<(n, f, h, w, c, p, q) -> (n, f, h, w)>
#id = affine_map<(n, f, h, w) -> (n, f, h, w)>
#f = affine_map<(n, f, h, w) -> (f)>

func.func @image(%x: tensor<1x48x9x7xf16>, %k: tensor<32x48x1x1xf16>, %b: tensor<32xf16>, %r: tensor<1x32x9x7xf16>) -> tensor<1x32x9x7xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x9x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x9x7xf32>) -> tensor<1x32x9x7xf32>
  %s = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<1x48x9x7xf16>, tensor<32x48x1x1xf16>) outs(%z : tensor<1x32x9x7xf32>) {
  ^bb0(%a: f16, %c: f16, %o: f32):
    %af = arith.extf %a : f16 to f32
    %cf = arith.extf %c : f16 to f32
    %m = arith.mulf %af, %cf : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x32x9x7xf32>
  %h = tensor.empty() : tensor<1x32x9x7xf16>
  %y = linalg.generic {indexing_maps = [#id, #f, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %b, %r : tensor<1x32x9x7xf32>, tensor<32xf16>, tensor<1x32x9x7xf16>) outs(%h : tensor<1x32x9x7xf16>) {
  ^bb0(%a: f32, %c: f16, %d: f16, %o: f16):
    %cf = arith.extf %c : f16 to f32
    %df = arith.extf %d : f16 to f32
    %t = arith.addf %a, %cf : f32
    %u = arith.addf %t, %df : f32
    %v = arith.maximumf %u, %zero : f32
    %w = arith.truncf %v : f32 to f16
    linalg.yield %w : f16
  } -> tensor<1x32x9x7xf16>
  return %y : tensor<1x32x9x7xf16>
}

func.func @images(%x: tensor<3x37x5x11xbf16>, %k: tensor<17x37x1x1xbf16>) -> tensor<3x17x5x11xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x17x5x11xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x17x5x11xf32>) -> tensor<3x17x5x11xf32>
  %s = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<3x37x5x11xbf16>, tensor<17x37x1x1xbf16>) outs(%z : tensor<3x17x5x11xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %af = arith.extf %a : bf16 to f32
    %cf = arith.extf %c : bf16 to f32
    %m = arith.mulf %af, %cf : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<3x17x5x11xf32>
  %y = math.absf %s : tensor<3x17x5x11xf32>
  return %y : tensor<3x17x5x11xf32>
}

func.func @numbers(%x: tensor<1x24x8x8xf32>, %k: tensor<40x24x1x1xf32>) -> tensor<1x40x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x40x8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x40x8x8xf32>) -> tensor<1x40x8x8xf32>
  %s = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<1x24x8x8xf32>, tensor<40x24x1x1xf32>) outs(%z : tensor<1x40x8x8xf32>) -> tensor<1x40x8x8xf32>
  return %s : tensor<1x40x8x8xf32>
}

func.func @strided(%x: tensor<1x40x9x13xf16>, %k: tensor<32x40x1x1xf16>) -> tensor<1x32x5x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x5x7xf32>) -> tensor<1x32x5x7xf32>
  %s = linalg.generic {indexing_maps = [#s, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<1x40x9x13xf16>, tensor<32x40x1x1xf16>) outs(%z : tensor<1x32x5x7xf32>) {
  ^bb0(%a: f16, %c: f16, %o: f32):
    %af = arith.extf %a : f16 to f32
    %cf = arith.extf %c : f16 to f32
    %m = arith.mulf %af, %cf : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x32x5x7xf32>
  return %s : tensor<1x32x5x7xf32>
}
