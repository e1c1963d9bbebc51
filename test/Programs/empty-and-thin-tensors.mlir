// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole tensors of odd and empty sizes: borders with steps, depthwise and pooled, halves and bytes, thin products, strided views, reshapes
// whose borders do not meet, sums in all directions.
//
// RUN: %python %S/Inputs/whole-tensors.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 11 programs, 44 runs, 0 failures

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#i2 = affine_map<(i, j) -> (i, j)>
#r2 = affine_map<(i, j) -> (i)>
#c2 = affine_map<(i, j) -> (j)>
#t2 = affine_map<(i, j) -> (j, i)>

// A convolution with a border, steps and dilation of odd sizes, bias, relu, a pool after it.
func.func @conv_pool(%x: tensor<2x13x11x3xf32>, %w: tensor<3x5x3x7xf32>, %b: tensor<7xf32>) -> tensor<2x3x5x7xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 2, 0] high[0, 1, 2, 0] {
  ^bb0(%a: index, %c: index, %d: index, %e: index):
    tensor.yield %z : f32
  } : tensor<2x13x11x3xf32> to tensor<2x15x15x3xf32>
  %e0 = tensor.empty() : tensor<2x7x11x7xf32>
  %bb = linalg.broadcast ins(%b : tensor<7xf32>) outs(%e0 : tensor<2x7x11x7xf32>) dimensions = [0, 1, 2]
  %y = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<2x15x15x3xf32>, tensor<3x5x3x7xf32>) outs(%bb : tensor<2x7x11x7xf32>) -> tensor<2x7x11x7xf32>
  %zz = arith.constant dense<0.0> : tensor<2x7x11x7xf32>
  %r = arith.maximumf %y, %zz : tensor<2x7x11x7xf32>
  %win = tensor.empty() : tensor<3x2xf32>
  %low = arith.constant dense<-1.0e30> : tensor<2x3x5x7xf32>
  %q = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%r, %win : tensor<2x7x11x7xf32>, tensor<3x2xf32>) outs(%low : tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %q : tensor<2x3x5x7xf32>
}
// Depthwise, f64.
func.func @depthwise(%x: tensor<1x9x10x5xf64>, %w: tensor<3x3x5xf64>) -> (tensor<1x9x10x5xf64>, tensor<5xf64>) {
  %z = arith.constant 0.0 : f64
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %c: index, %d: index, %e: index):
    tensor.yield %z : f64
  } : tensor<1x9x10x5xf64> to tensor<1x11x12x5xf64>
  %zz = arith.constant dense<0.0> : tensor<1x9x10x5xf64>
  %y = linalg.depthwise_conv_2d_nhwc_hwc ins(%p, %w : tensor<1x11x12x5xf64>, tensor<3x3x5xf64>) outs(%zz : tensor<1x9x10x5xf64>) -> tensor<1x9x10x5xf64>
  %z5 = arith.constant dense<0.0> : tensor<5xf64>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<1x9x10x5xf64>) outs(%z5 : tensor<5xf64>) dimensions = [0, 1, 2]
  return %y, %s : tensor<1x9x10x5xf64>, tensor<5xf64>
}
// A product of primes in f16 with f32 sums, bias, gelu by erf, back to f16.
func.func @prime_product(%a: tensor<127x61xf16>, %b: tensor<53x61xf16>, %bias: tensor<53xf16>) -> tensor<127x53xf16> {
  %z = arith.constant dense<0.0> : tensor<127x53xf32>
  %p = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<127x61xf16>, tensor<53x61xf16>) outs(%z : tensor<127x53xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %m = arith.mulf %xe, %ye : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<127x53xf32>
  %e = tensor.empty() : tensor<127x53xf16>
  %r = linalg.generic {indexing_maps = [#i2, #c2, #i2], iterator_types = ["parallel", "parallel"]} ins(%p, %bias : tensor<127x53xf32>, tensor<53xf16>) outs(%e : tensor<127x53xf16>) {
  ^bb0(%x: f32, %c: f16, %o: f16):
    %ce = arith.extf %c : f16 to f32
    %s = arith.addf %x, %ce : f32
    %h = arith.constant 0.70710678 : f32
    %t = arith.mulf %s, %h : f32
    %g = math.erf %t : f32
    %one = arith.constant 1.0 : f32
    %g1 = arith.addf %g, %one : f32
    %k = arith.mulf %s, %g1 : f32
    %half = arith.constant 0.5 : f32
    %kk = arith.mulf %k, %half : f32
    %out = arith.truncf %kk : f32 to f16
    linalg.yield %out : f16
  } -> tensor<127x53xf16>
  return %r : tensor<127x53xf16>
}
// Outer product (k = 1), a row times a column, and empty sums.
func.func @thin(%a: tensor<127x1xf32>, %b: tensor<1x113xf32>, %c: tensor<113x1xf32>, %e: tensor<127x0xf32>, %f: tensor<0x113xf32>) -> (tensor<127x113xf32>, tensor<127x1xf32>, tensor<127x113xf32>, tensor<0x113xf32>) {
  %z = arith.constant dense<0.0> : tensor<127x113xf32>
  %z1 = arith.constant dense<0.5> : tensor<127x1xf32>
  %p = linalg.matmul ins(%a, %b : tensor<127x1xf32>, tensor<1x113xf32>) outs(%z : tensor<127x113xf32>) -> tensor<127x113xf32>
  %q = linalg.matmul ins(%p, %c : tensor<127x113xf32>, tensor<113x1xf32>) outs(%z1 : tensor<127x1xf32>) -> tensor<127x1xf32>
  %r = linalg.matmul ins(%e, %f : tensor<127x0xf32>, tensor<0x113xf32>) outs(%p : tensor<127x113xf32>) -> tensor<127x113xf32>
  %g = math.exp %f : tensor<0x113xf32>
  return %p, %q, %r, %g : tensor<127x113xf32>, tensor<127x1xf32>, tensor<127x113xf32>, tensor<0x113xf32>
}
// Quantised: i8 by i8 into i32, scaled for each column, clamped, back to i8; and both operands' sums.
func.func @quantised(%a: tensor<31x47xi8> {ft.gen = #ft.index<0, 100>}, %b: tensor<47x29xi8> {ft.gen = #ft.index<0, 100>}, %s: tensor<29xf32> {ft.gen = #ft.uniform<0.0, 0.001>}) -> (tensor<31x29xi8>, tensor<31xi32>) {
  %z = arith.constant dense<0> : tensor<31x29xi32>
  %zi = arith.constant dense<0> : tensor<31xi32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<31x47xi8>, tensor<47x29xi8>) outs(%z : tensor<31x29xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %xe = arith.extsi %x : i8 to i32
    %ye = arith.extsi %y : i8 to i32
    %m = arith.muli %xe, %ye : i32
    %n = arith.addi %o, %m : i32
    linalg.yield %n : i32
  } -> tensor<31x29xi32>
  %e = tensor.empty() : tensor<31x29xi8>
  %r = linalg.generic {indexing_maps = [#i2, #c2, #i2], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<31x29xi32>, tensor<29xf32>) outs(%e : tensor<31x29xi8>) {
  ^bb0(%x: i32, %c: f32, %o: i8):
    %f = arith.sitofp %x : i32 to f32
    %m = arith.mulf %f, %c : f32
    %q = math.roundeven %m : f32
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %c0 = arith.maximumf %q, %lo : f32
    %c1 = arith.minimumf %c0, %hi : f32
    %k = arith.fptosi %c1 : f32 to i8
    linalg.yield %k : i8
  } -> tensor<31x29xi8>
  %t = linalg.generic {indexing_maps = [#i2, #r2], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<31x47xi8>) outs(%zi : tensor<31xi32>) {
  ^bb0(%x: i8, %o: i32):
    %f = arith.extsi %x : i8 to i32
    %m = arith.addi %f, %o : i32
    linalg.yield %m : i32
  } -> tensor<31xi32>
  return %r, %t : tensor<31x29xi8>, tensor<31xi32>
}
// Strided views read and written: even columns of one, odd rows of another, a transposed window in between.
func.func @views(%x: tensor<17x22xf32>, %y: tensor<22x9xf32>) -> (tensor<17x22xf32>, tensor<11x9xf32>) {
  %ev = tensor.extract_slice %x[0, 0] [17, 11] [1, 2] : tensor<17x22xf32> to tensor<17x11xf32>
  %od = tensor.extract_slice %x[0, 1] [17, 11] [1, 2] : tensor<17x22xf32> to tensor<17x11xf32>
  %s = arith.mulf %ev, %od : tensor<17x11xf32>
  %n = math.tanh %s : tensor<17x11xf32>
  %r = tensor.insert_slice %n into %x[0, 1] [17, 11] [1, 2] : tensor<17x11xf32> into tensor<17x22xf32>
  %rows = tensor.extract_slice %y[1, 0] [11, 9] [2, 1] : tensor<22x9xf32> to tensor<11x9xf32>
  %et = tensor.empty() : tensor<11x17xf32>
  %tr = linalg.transpose ins(%n : tensor<17x11xf32>) outs(%et : tensor<11x17xf32>) permutation = [1, 0]
  %part = tensor.extract_slice %tr[0, 3] [11, 9] [1, 1] : tensor<11x17xf32> to tensor<11x9xf32>
  %q = arith.addf %rows, %part : tensor<11x9xf32>
  return %r, %q : tensor<17x22xf32>, tensor<11x9xf32>
}
// Reshapes whose borders do not meet, then a group norm over parts of channels.
func.func @group_norm(%x: tensor<3x10x7xf32>, %g: tensor<10xf32>) -> tensor<3x10x7xf32> {
  %f = tensor.collapse_shape %x [[0, 1, 2]] : tensor<3x10x7xf32> into tensor<210xf32>
  %h = tensor.expand_shape %f [[0, 1]] output_shape [6, 35] : tensor<210xf32> into tensor<6x35xf32>
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %s = linalg.reduce { arith.addf } ins(%h : tensor<6x35xf32>) outs(%z : tensor<6xf32>) dimensions = [1]
  %n = arith.constant dense<35.0> : tensor<6xf32>
  %m = arith.divf %s, %n : tensor<6xf32>
  %e = tensor.empty() : tensor<6x35xf32>
  %mb = linalg.broadcast ins(%m : tensor<6xf32>) outs(%e : tensor<6x35xf32>) dimensions = [1]
  %d = arith.subf %h, %mb : tensor<6x35xf32>
  %dd = arith.mulf %d, %d : tensor<6x35xf32>
  %v = linalg.reduce { arith.addf } ins(%dd : tensor<6x35xf32>) outs(%z : tensor<6xf32>) dimensions = [1]
  %vm = arith.divf %v, %n : tensor<6xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<6xf32>
  %ve = arith.addf %vm, %eps : tensor<6xf32>
  %rs = math.rsqrt %ve : tensor<6xf32>
  %rb = linalg.broadcast ins(%rs : tensor<6xf32>) outs(%e : tensor<6x35xf32>) dimensions = [1]
  %o = arith.mulf %d, %rb : tensor<6x35xf32>
  %of = tensor.collapse_shape %o [[0, 1]] : tensor<6x35xf32> into tensor<210xf32>
  %ox = tensor.expand_shape %of [[0, 1, 2]] output_shape [3, 10, 7] : tensor<210xf32> into tensor<3x10x7xf32>
  %ge = tensor.empty() : tensor<3x10x7xf32>
  %gb = linalg.broadcast ins(%g : tensor<10xf32>) outs(%ge : tensor<3x10x7xf32>) dimensions = [0, 2]
  %y = arith.mulf %ox, %gb : tensor<3x10x7xf32>
  return %y : tensor<3x10x7xf32>
}
// Attention in bf16 with seven heads of 13, split and merged by transposes, a mask that is data.
func.func @heads(%x: tensor<19x91xbf16>, %w: tensor<91x273xbf16> {ft.gen = #ft.normal<0.1>}, %mask: tensor<19x19xi1>) -> tensor<19x91xbf16> {
  %z = arith.constant dense<0.0> : tensor<19x273xbf16>
  %qkv = linalg.matmul ins(%x, %w : tensor<19x91xbf16>, tensor<91x273xbf16>) outs(%z : tensor<19x273xbf16>) -> tensor<19x273xbf16>
  %h = tensor.expand_shape %qkv [[0], [1, 2, 3]] output_shape [19, 3, 7, 13] : tensor<19x273xbf16> into tensor<19x3x7x13xbf16>
  %et = tensor.empty() : tensor<3x7x19x13xbf16>
  %t = linalg.transpose ins(%h : tensor<19x3x7x13xbf16>) outs(%et : tensor<3x7x19x13xbf16>) permutation = [1, 2, 0, 3]
  %q = tensor.extract_slice %t[0, 0, 0, 0] [1, 7, 19, 13] [1, 1, 1, 1] : tensor<3x7x19x13xbf16> to tensor<7x19x13xbf16>
  %k = tensor.extract_slice %t[1, 0, 0, 0] [1, 7, 19, 13] [1, 1, 1, 1] : tensor<3x7x19x13xbf16> to tensor<7x19x13xbf16>
  %v = tensor.extract_slice %t[2, 0, 0, 0] [1, 7, 19, 13] [1, 1, 1, 1] : tensor<3x7x19x13xbf16> to tensor<7x19x13xbf16>
  %zs = arith.constant dense<0.0> : tensor<7x19x19xbf16>
  %s = linalg.generic {indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>, affine_map<(h, i, j, d) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<7x19x13xbf16>, tensor<7x19x13xbf16>) outs(%zs : tensor<7x19x19xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %m = arith.mulf %a, %b : bf16
    %n = arith.addf %o, %m : bf16
    linalg.yield %n : bf16
  } -> tensor<7x19x19xbf16>
  %es = tensor.empty() : tensor<7x19x19xbf16>
  %sm = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %mask : tensor<7x19x19xbf16>, tensor<19x19xi1>) outs(%es : tensor<7x19x19xbf16>) {
  ^bb0(%a: bf16, %b: i1, %o: bf16):
    %low = arith.constant -1.0e4 : bf16
    %n = arith.select %b, %a, %low : bf16
    linalg.yield %n : bf16
  } -> tensor<7x19x19xbf16>
  %p = linalg.softmax dimension(2) ins(%sm : tensor<7x19x19xbf16>) outs(%es : tensor<7x19x19xbf16>) -> tensor<7x19x19xbf16>
  %zo = arith.constant dense<0.0> : tensor<7x19x13xbf16>
  %o = linalg.batch_matmul ins(%p, %v : tensor<7x19x19xbf16>, tensor<7x19x13xbf16>) outs(%zo : tensor<7x19x13xbf16>) -> tensor<7x19x13xbf16>
  %eo = tensor.empty() : tensor<19x7x13xbf16>
  %ot = linalg.transpose ins(%o : tensor<7x19x13xbf16>) outs(%eo : tensor<19x7x13xbf16>) permutation = [1, 0, 2]
  %r = tensor.collapse_shape %ot [[0], [1, 2]] : tensor<19x7x13xbf16> into tensor<19x91xbf16>
  return %r : tensor<19x91xbf16>
}
// Sums down columns, up rows, over all, of one tensor; one is used by the others.
func.func @sums(%x: tensor<61x103xf32>) -> (tensor<61xf32>, tensor<103xf32>, tensor<f32>, tensor<61x103xf32>) {
  %zr = arith.constant dense<0.0> : tensor<61xf32>
  %zc = arith.constant dense<0.0> : tensor<103xf32>
  %z = arith.constant dense<1.0> : tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<61x103xf32>) outs(%zr : tensor<61xf32>) dimensions = [1]
  %c = linalg.reduce { arith.maximumf } ins(%x : tensor<61x103xf32>) outs(%zc : tensor<103xf32>) dimensions = [0]
  %a = linalg.reduce { arith.addf } ins(%x : tensor<61x103xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]
  %e = tensor.empty() : tensor<61x103xf32>
  %y = linalg.generic {indexing_maps = [#i2, #r2, #c2, affine_map<(i, j) -> ()>, #i2], iterator_types = ["parallel", "parallel"]} ins(%x, %r, %c, %a : tensor<61x103xf32>, tensor<61xf32>, tensor<103xf32>, tensor<f32>) outs(%e : tensor<61x103xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32, %t: f32, %o: f32):
    %u = arith.mulf %p, %q : f32
    %v = arith.subf %s, %t : f32
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<61x103xf32>
  return %r, %c, %a, %y : tensor<61xf32>, tensor<103xf32>, tensor<f32>, tensor<61x103xf32>
}
// A gather inside of an element-wise statement, from a table that is computed.
func.func @lookup(%t: tensor<37x5xf32>, %i: tensor<101xi64> {ft.gen = #ft.index<0, 37>}) -> tensor<101x5xf32> {
  %u = math.exp %t : tensor<37x5xf32>
  %e = tensor.empty() : tensor<101x5xf32>
  %y = linalg.generic {indexing_maps = [#r2, #i2], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<101xi64>) outs(%e : tensor<101x5xf32>) {
  ^bb0(%k: i64, %o: f32):
    %kk = arith.index_cast %k : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %u[%kk, %j] : tensor<37x5xf32>
    linalg.yield %v : f32
  } -> tensor<101x5xf32>
  return %y : tensor<101x5xf32>
}
// Extents of 1 and nothing else.
func.func @ones(%x: tensor<1x1x1xf32>, %y: tensor<f32>) -> (tensor<1x1x1xf32>, tensor<f32>) {
  %z = arith.constant dense<0.0> : tensor<1x1x1xf32>
  %p = linalg.batch_matmul ins(%x, %x : tensor<1x1x1xf32>, tensor<1x1x1xf32>) outs(%z : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %c = tensor.collapse_shape %p [] : tensor<1x1x1xf32> into tensor<f32>
  %s = arith.addf %c, %y : tensor<f32>
  return %p, %s : tensor<1x1x1xf32>, tensor<f32>
}
