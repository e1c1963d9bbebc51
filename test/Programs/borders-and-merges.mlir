// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole tensors: operands that lie the other way round, borders that differ from side to side, grouped
// queries, arguments of extremes along both dimensions, merges of every second element, elements at computed places.
//
// RUN: %python %S/Inputs/whole-tensors.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 8 programs, 32 runs, 0 failures

#i2 = affine_map<(i, j) -> (i, j)>
#r2 = affine_map<(i, j) -> (i)>
#c2 = affine_map<(i, j) -> (j)>

// Causal attention from indices, with a bias that grows with the distance, head by head, f32 odd sizes; scores of a product whose left side is transposed.
func.func @causal(%q: tensor<3x13x29xf32>, %k: tensor<3x29x13xf32>, %v: tensor<3x29x17xf32>) -> tensor<3x29x17xf32> {
  %z = arith.constant dense<0.0> : tensor<3x29x29xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, i, j, d) -> (h, d, i)>, affine_map<(h, i, j, d) -> (h, j, d)>, affine_map<(h, i, j, d) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<3x13x29xf32>, tensor<3x29x13xf32>) outs(%z : tensor<3x29x29xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<3x29x29xf32>
  %e = tensor.empty() : tensor<3x29x29xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<3x29x29xf32>) outs(%e : tensor<3x29x29xf32>) {
  ^bb0(%x: f32, %o: f32):
    %h = linalg.index 0 : index
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = arith.subi %i, %j : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %hi = arith.index_cast %h : index to i32
    %hf = arith.sitofp %hi : i32 to f32
    %c = arith.constant 0.05 : f32
    %slope = arith.mulf %hf, %c : f32
    %p = arith.mulf %df, %slope : f32
    %y = arith.subf %x, %p : f32
    %ok = arith.cmpi sge, %i, %j : index
    %low = arith.constant 0xFF800000 : f32
    %r = arith.select %ok, %y, %low : f32
    linalg.yield %r : f32
  } -> tensor<3x29x29xf32>
  %p = linalg.softmax dimension(2) ins(%b : tensor<3x29x29xf32>) outs(%e : tensor<3x29x29xf32>) -> tensor<3x29x29xf32>
  %zo = arith.constant dense<0.0> : tensor<3x29x17xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<3x29x29xf32>, tensor<3x29x17xf32>) outs(%zo : tensor<3x29x17xf32>) -> tensor<3x29x17xf32>
  return %o : tensor<3x29x17xf32>
}
// conv nchw with groups by hand, stride 3, dilation 2, pads that differ; a sum pool; i32 and f32.
func.func @conv_nchw(%x: tensor<2x6x17x13xf32>, %w: tensor<4x6x3x2xf32>, %wi: tensor<4x3x3xi32>, %xi: tensor<1x4x9x9xi32>) -> (tensor<2x4x6x7xf32>, tensor<1x4x4x4xi32>) {
  %c = arith.constant 0.5 : f32
  %p = tensor.pad %x low[0, 0, 0, 3] high[0, 0, 4, 0] {
  ^bb0(%a: index, %b: index, %d: index, %e: index):
    tensor.yield %c : f32
  } : tensor<2x6x17x13xf32> to tensor<2x6x21x16xf32>
  %z = arith.constant dense<0.0> : tensor<2x4x6x7xf32>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<[3, 2]> : tensor<2xi64>, dilations = dense<[2, 2]> : tensor<2xi64>} ins(%p, %w : tensor<2x6x21x16xf32>, tensor<4x6x3x2xf32>) outs(%z : tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %zi = arith.constant dense<7> : tensor<1x4x7x7xi32>
  %yi = linalg.depthwise_conv_2d_nchw_chw ins(%xi, %wi : tensor<1x4x9x9xi32>, tensor<4x3x3xi32>) outs(%zi : tensor<1x4x7x7xi32>) -> tensor<1x4x7x7xi32>
  %win = tensor.empty() : tensor<1x1xi32>
  %zp = arith.constant dense<-100> : tensor<1x4x4x4xi32>
  %yp = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%yi, %win : tensor<1x4x7x7xi32>, tensor<1x1xi32>) outs(%zp : tensor<1x4x4x4xi32>) -> tensor<1x4x4x4xi32>
  return %y, %yp : tensor<2x4x6x7xf32>, tensor<1x4x4x4xi32>
}
// A product followed by a row norm, a residual and another product; bf16 with f32 sums, primes.
func.func @norm_block(%x: tensor<37x53xbf16>, %w: tensor<53x101xbf16> {ft.gen = #ft.normal<0.15>}, %w2: tensor<101x53xbf16> {ft.gen = #ft.normal<0.1>}, %g: tensor<53xbf16>) -> (tensor<37x53xbf16>, tensor<37xf32>) {
  %z = arith.constant dense<0.0> : tensor<37x101xf32>
  %p = linalg.matmul ins(%x, %w : tensor<37x53xbf16>, tensor<53x101xbf16>) outs(%z : tensor<37x101xf32>) -> tensor<37x101xf32>
  %e = tensor.empty() : tensor<37x101xbf16>
  %h = linalg.generic {indexing_maps = [#i2, #i2], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<37x101xf32>) outs(%e : tensor<37x101xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %s = math.tanh %a : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<37x101xbf16>
  %z2 = arith.constant dense<0.0> : tensor<37x53xf32>
  %q = linalg.matmul ins(%h, %w2 : tensor<37x101xbf16>, tensor<101x53xbf16>) outs(%z2 : tensor<37x53xf32>) -> tensor<37x53xf32>
  %e2 = tensor.empty() : tensor<37x53xf32>
  %r = linalg.generic {indexing_maps = [#i2, #i2, #i2], iterator_types = ["parallel", "parallel"]} ins(%q, %x : tensor<37x53xf32>, tensor<37x53xbf16>) outs(%e2 : tensor<37x53xf32>) {
  ^bb0(%a: f32, %b: bf16, %o: f32):
    %c = arith.extf %b : bf16 to f32
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<37x53xf32>
  %z1 = arith.constant dense<0.0> : tensor<37xf32>
  %ss = linalg.generic {indexing_maps = [#i2, #r2], iterator_types = ["parallel", "reduction"]} ins(%r : tensor<37x53xf32>) outs(%z1 : tensor<37xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %a : f32
    %n = arith.addf %m, %o : f32
    linalg.yield %n : f32
  } -> tensor<37xf32>
  %eo = tensor.empty() : tensor<37x53xbf16>
  %y = linalg.generic {indexing_maps = [#i2, #r2, #c2, #i2], iterator_types = ["parallel", "parallel"]} ins(%r, %ss, %g : tensor<37x53xf32>, tensor<37xf32>, tensor<53xbf16>) outs(%eo : tensor<37x53xbf16>) {
  ^bb0(%a: f32, %s: f32, %gg: bf16, %o: bf16):
    %n = arith.constant 53.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %m = arith.divf %s, %n : f32
    %me = arith.addf %m, %eps : f32
    %rs = math.rsqrt %me : f32
    %t = arith.mulf %a, %rs : f32
    %tb = arith.truncf %t : f32 to bf16
    %u = arith.mulf %tb, %gg : bf16
    linalg.yield %u : bf16
  } -> tensor<37x53xbf16>
  return %y, %ss : tensor<37x53xbf16>, tensor<37xf32>
}
// Arguments of maxima and minima along both dimensions at once, log-sum-exp, any and all.
func.func @arguments(%x: tensor<23x41xf32>) -> (tensor<23xi64>, tensor<41xi32>, tensor<23xf32>, tensor<i1>, tensor<41xi1>) {
  %low = arith.constant dense<0xFF800000> : tensor<23xf32>
  %high = arith.constant dense<0x7F800000> : tensor<41xf32>
  %zi = arith.constant dense<-1> : tensor<23xi64>
  %zj = arith.constant dense<-1> : tensor<41xi32>
  %m, %at = linalg.generic {indexing_maps = [#i2, #r2, #r2], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<23x41xf32>) outs(%low, %zi : tensor<23xf32>, tensor<23xi64>) {
  ^bb0(%a: f32, %o: f32, %k: i64):
    %j = linalg.index 1 : index
    %ji = arith.index_cast %j : index to i64
    %g = arith.cmpf ogt, %a, %o : f32
    %n = arith.select %g, %a, %o : f32
    %kn = arith.select %g, %ji, %k : i64
    linalg.yield %n, %kn : f32, i64
  } -> (tensor<23xf32>, tensor<23xi64>)
  %mi, %ai = linalg.generic {indexing_maps = [#i2, #c2, #c2], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<23x41xf32>) outs(%high, %zj : tensor<41xf32>, tensor<41xi32>) {
  ^bb0(%a: f32, %o: f32, %k: i32):
    %j = linalg.index 0 : index
    %ji = arith.index_cast %j : index to i32
    %g = arith.cmpf ole, %a, %o : f32
    %n = arith.select %g, %a, %o : f32
    %kn = arith.select %g, %ji, %k : i32
    linalg.yield %n, %kn : f32, i32
  } -> (tensor<41xf32>, tensor<41xi32>)
  %z = arith.constant dense<0.0> : tensor<23xf32>
  %s = linalg.generic {indexing_maps = [#i2, #r2, #r2], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<23x41xf32>, tensor<23xf32>) outs(%z : tensor<23xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    %n = arith.addf %e, %o : f32
    linalg.yield %n : f32
  } -> tensor<23xf32>
  %l = math.log %s : tensor<23xf32>
  %lse = arith.addf %l, %m : tensor<23xf32>
  %f = arith.constant dense<false> : tensor<i1>
  %any = linalg.generic {indexing_maps = [#i2, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<23x41xf32>) outs(%f : tensor<i1>) {
  ^bb0(%a: f32, %o: i1):
    %c = arith.constant 3.5 : f32
    %g = arith.cmpf ogt, %a, %c : f32
    %n = arith.ori %g, %o : i1
    linalg.yield %n : i1
  } -> tensor<i1>
  %t = arith.constant dense<true> : tensor<41xi1>
  %all = linalg.generic {indexing_maps = [#i2, #c2], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<23x41xf32>) outs(%t : tensor<41xi1>) {
  ^bb0(%a: f32, %o: i1):
    %c = arith.constant -1.5 : f32
    %g = arith.cmpf ogt, %a, %c : f32
    %n = arith.andi %g, %o : i1
    linalg.yield %n : i1
  } -> tensor<41xi1>
  return %at, %ai, %lse, %any, %all : tensor<23xi64>, tensor<41xi32>, tensor<23xf32>, tensor<i1>, tensor<41xi1>
}
// Grouped queries as one contraction of five dimensions, keys shared by a group; f16 with f32 sums, back to f16.
func.func @grouped(%q: tensor<2x3x7x19xf16>, %k: tensor<2x11x19xf16>, %v: tensor<2x11x5xf16>) -> tensor<2x3x7x5xf16> {
  %z = arith.constant dense<0.0> : tensor<2x3x7x11xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(g, r, i, j, d) -> (g, r, i, d)>, affine_map<(g, r, i, j, d) -> (g, j, d)>, affine_map<(g, r, i, j, d) -> (g, r, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x7x19xf16>, tensor<2x11x19xf16>) outs(%z : tensor<2x3x7x11xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %ae = arith.extf %a : f16 to f32
    %be = arith.extf %b : f16 to f32
    %m = arith.mulf %ae, %be : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<2x3x7x11xf32>
  %e = tensor.empty() : tensor<2x3x7x11xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x3x7x11xf32>) outs(%e : tensor<2x3x7x11xf32>) -> tensor<2x3x7x11xf32>
  %zo = arith.constant dense<0.0> : tensor<2x3x7x5xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(g, r, i, j, d) -> (g, r, i, j)>, affine_map<(g, r, i, j, d) -> (g, j, d)>, affine_map<(g, r, i, j, d) -> (g, r, i, d)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]} ins(%p, %v : tensor<2x3x7x11xf32>, tensor<2x11x5xf16>) outs(%zo : tensor<2x3x7x5xf32>) {
  ^bb0(%a: f32, %b: f16, %o: f32):
    %be = arith.extf %b : f16 to f32
    %m = arith.mulf %a, %be : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<2x3x7x5xf32>
  %h = arith.truncf %o : tensor<2x3x7x5xf32> to tensor<2x3x7x5xf16>
  return %h : tensor<2x3x7x5xf16>
}
// Bitonic merges of sixteen numbers for each row: reshapes, slices and minima, four stages.
func.func @bitonic(%x: tensor<5x16xi32>) -> tensor<5x16xi32> {
  %a = func.call @stage8(%x) : (tensor<5x16xi32>) -> tensor<5x16xi32>
  %v = tensor.expand_shape %a [[0], [1, 2]] output_shape [5, 2, 8] : tensor<5x16xi32> into tensor<5x2x8xi32>
  %l = tensor.extract_slice %v[0, 0, 0] [5, 2, 4] [1, 1, 1] : tensor<5x2x8xi32> to tensor<5x2x4xi32>
  %h = tensor.extract_slice %v[0, 0, 4] [5, 2, 4] [1, 1, 1] : tensor<5x2x8xi32> to tensor<5x2x4xi32>
  %mn = arith.minsi %l, %h : tensor<5x2x4xi32>
  %mx = arith.maxsi %l, %h : tensor<5x2x4xi32>
  %e = tensor.empty() : tensor<5x2x8xi32>
  %i0 = tensor.insert_slice %mn into %e[0, 0, 0] [5, 2, 4] [1, 1, 1] : tensor<5x2x4xi32> into tensor<5x2x8xi32>
  %i1 = tensor.insert_slice %mx into %i0[0, 0, 4] [5, 2, 4] [1, 1, 1] : tensor<5x2x4xi32> into tensor<5x2x8xi32>
  %c = tensor.collapse_shape %i1 [[0], [1, 2]] : tensor<5x2x8xi32> into tensor<5x16xi32>
  %ev = tensor.extract_slice %c[0, 0] [5, 8] [1, 2] : tensor<5x16xi32> to tensor<5x8xi32>
  %od = tensor.extract_slice %c[0, 1] [5, 8] [1, 2] : tensor<5x16xi32> to tensor<5x8xi32>
  %mn1 = arith.minsi %ev, %od : tensor<5x8xi32>
  %mx1 = arith.maxsi %ev, %od : tensor<5x8xi32>
  %e1 = tensor.empty() : tensor<5x16xi32>
  %j0 = tensor.insert_slice %mn1 into %e1[0, 0] [5, 8] [1, 2] : tensor<5x8xi32> into tensor<5x16xi32>
  %j1 = tensor.insert_slice %mx1 into %j0[0, 1] [5, 8] [1, 2] : tensor<5x8xi32> into tensor<5x16xi32>
  return %j1 : tensor<5x16xi32>
}
func.func private @stage8(%x: tensor<5x16xi32>) -> tensor<5x16xi32> {
  %l = tensor.extract_slice %x[0, 0] [5, 8] [1, 1] : tensor<5x16xi32> to tensor<5x8xi32>
  %h = tensor.extract_slice %x[0, 8] [5, 8] [1, 1] : tensor<5x16xi32> to tensor<5x8xi32>
  %mn = arith.minsi %l, %h : tensor<5x8xi32>
  %mx = arith.maxsi %l, %h : tensor<5x8xi32>
  %c = tensor.concat dim(1) %mn, %mx : (tensor<5x8xi32>, tensor<5x8xi32>) -> tensor<5x16xi32>
  return %c : tensor<5x16xi32>
}
// f64 contraction of a cube in three ways, an outer sum, a diagonal.
func.func @cube(%a: tensor<7x11x5xf64>, %b: tensor<5x7x3xf64>) -> (tensor<11x3xf64>, tensor<7x7xf64>, tensor<5xf64>, tensor<7xf64>) {
  %z = arith.constant dense<0.0> : tensor<11x3xf64>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k, l) -> (k, m, l)>, affine_map<(m, n, k, l) -> (l, k, n)>, affine_map<(m, n, k, l) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %b : tensor<7x11x5xf64>, tensor<5x7x3xf64>) outs(%z : tensor<11x3xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %m = arith.mulf %x, %y : f64
    %n = arith.addf %o, %m : f64
    linalg.yield %n : f64
  } -> tensor<11x3xf64>
  %z7 = arith.constant dense<0.0> : tensor<7x7xf64>
  %q = linalg.generic {indexing_maps = [affine_map<(m, n, k, l) -> (m, k, l)>, affine_map<(m, n, k, l) -> (n, k, l)>, affine_map<(m, n, k, l) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %a : tensor<7x11x5xf64>, tensor<7x11x5xf64>) outs(%z7 : tensor<7x7xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %m = arith.mulf %x, %y : f64
    %n = arith.addf %o, %m : f64
    linalg.yield %n : f64
  } -> tensor<7x7xf64>
  %z5 = arith.constant dense<0.0> : tensor<5xf64>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<7x11x5xf64>) outs(%z5 : tensor<5xf64>) dimensions = [0, 1]
  %e = tensor.empty() : tensor<7xf64>
  %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%q : tensor<7x7xf64>) outs(%e : tensor<7xf64>) {
  ^bb0(%x: f64, %o: f64):
    %r = math.sqrt %x : f64
    linalg.yield %r : f64
  } -> tensor<7xf64>
  return %p, %q, %s, %d : tensor<11x3xf64>, tensor<7x7xf64>, tensor<5xf64>, tensor<7xf64>
}
// Nearest upsampling and a flip by indices, a transposed convolution as one of what is dilated by an insertion with steps.
func.func @resample(%x: tensor<2x5x3xf32>, %k: tensor<4xf32>, %s: tensor<2x7xf32>) -> (tensor<2x10x3xf32>, tensor<2x5x3xf32>, tensor<2x16xf32>) {
  %e = tensor.empty() : tensor<2x10x3xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(b, i, c) -> (b, i, c)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<2x10x3xf32>) {
  ^bb0(%o: f32):
    %b = linalg.index 0 : index
    %i = linalg.index 1 : index
    %c = linalg.index 2 : index
    %c2 = arith.constant 2 : index
    %h = arith.divui %i, %c2 : index
    %v = tensor.extract %x[%b, %h, %c] : tensor<2x5x3xf32>
    linalg.yield %v : f32
  } -> tensor<2x10x3xf32>
  %e1 = tensor.empty() : tensor<2x5x3xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(b, i, c) -> (b, i, c)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e1 : tensor<2x5x3xf32>) {
  ^bb0(%o: f32):
    %b = linalg.index 0 : index
    %i = linalg.index 1 : index
    %c = linalg.index 2 : index
    %c4 = arith.constant 4 : index
    %h = arith.subi %c4, %i : index
    %v = tensor.extract %x[%b, %h, %c] : tensor<2x5x3xf32>
    %w = math.absf %v : f32
    linalg.yield %w : f32
  } -> tensor<2x5x3xf32>
  %z = arith.constant dense<0.0> : tensor<2x19xf32>
  %d = tensor.insert_slice %s into %z[0, 3] [2, 7] [1, 2] : tensor<2x7xf32> into tensor<2x19xf32>
  %zo = arith.constant dense<0.25> : tensor<2x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i + j)>, affine_map<(b, i, j) -> (j)>, affine_map<(b, i, j) -> (b, i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%d, %k : tensor<2x19xf32>, tensor<4xf32>) outs(%zo : tensor<2x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %m, %o : f32
    linalg.yield %n : f32
  } -> tensor<2x16xf32>
  return %u, %f, %y : tensor<2x10x3xf32>, tensor<2x5x3xf32>, tensor<2x16xf32>
}
