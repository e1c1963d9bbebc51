// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs over whole tensors, on the CPU and as GPU kernels, beside the reference: rows that are
// shared, rows and wholes of one buffer, numbers of rows, batches, heads, constants, several results.
//
// RUN: %python %S/Inputs/whole-tensors.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: {{[1-9][0-9]*}} programs, {{[1-9][0-9]*}} runs, 0 failures

#id2 = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>
#pc = affine_map<(i, j) -> (j, i)>
#s1 = affine_map<(i) -> (i)>
// softmax in generics over rows, residual, layer norm
func.func @softmax(%x: tensor<37x50xf32>) -> tensor<37x50xf32> {
  %low = arith.constant dense<-1.0e30> : tensor<37xf32>
  %z = arith.constant dense<0.0> : tensor<37xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<37x50xf32>) outs(%low : tensor<37xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<37x50xf32>
  %p = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<37x50xf32>, tensor<37xf32>) outs(%e : tensor<37x50xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<37x50xf32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<37x50xf32>) outs(%z : tensor<37xf32>) dimensions = [1]
  %one = arith.constant dense<1.0> : tensor<37xf32>
  %inv = arith.divf %one, %s : tensor<37xf32>
  %y = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]} ins(%p, %inv : tensor<37x50xf32>, tensor<37xf32>) outs(%e : tensor<37x50xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<37x50xf32>
  %w = arith.addf %y, %x : tensor<37x50xf32>
  return %w : tensor<37x50xf32>
}
func.func @softmax_op(%x: tensor<3x37x50xf32>) -> tensor<3x37x50xf32> {
  %e = tensor.empty() : tensor<3x37x50xf32>
  %y = linalg.softmax dimension(2) ins(%x : tensor<3x37x50xf32>) outs(%e : tensor<3x37x50xf32>) -> tensor<3x37x50xf32>
  return %y : tensor<3x37x50xf32>
}
func.func @attention(%x: tensor<29x16xf32>, %wq: tensor<16x16xf32>, %wk: tensor<16x16xf32>, %wv: tensor<16x16xf32>) -> tensor<29x16xf32> {
  %z = arith.constant dense<0.0> : tensor<29x16xf32>
  %q = linalg.matmul ins(%x, %wq : tensor<29x16xf32>, tensor<16x16xf32>) outs(%z : tensor<29x16xf32>) -> tensor<29x16xf32>
  %k = linalg.matmul ins(%x, %wk : tensor<29x16xf32>, tensor<16x16xf32>) outs(%z : tensor<29x16xf32>) -> tensor<29x16xf32>
  %v = linalg.matmul ins(%x, %wv : tensor<29x16xf32>, tensor<16x16xf32>) outs(%z : tensor<29x16xf32>) -> tensor<29x16xf32>
  %et = tensor.empty() : tensor<16x29xf32>
  %kt = linalg.transpose ins(%k : tensor<29x16xf32>) outs(%et : tensor<16x29xf32>) permutation = [1, 0]
  %zs = arith.constant dense<0.0> : tensor<29x29xf32>
  %s = linalg.matmul ins(%q, %kt : tensor<29x16xf32>, tensor<16x29xf32>) outs(%zs : tensor<29x29xf32>) -> tensor<29x29xf32>
  %es = tensor.empty() : tensor<29x29xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<29x29xf32>) outs(%es : tensor<29x29xf32>) -> tensor<29x29xf32>
  %o = linalg.matmul ins(%p, %v : tensor<29x29xf32>, tensor<29x16xf32>) outs(%z : tensor<29x16xf32>) -> tensor<29x16xf32>
  %y = arith.addf %o, %x : tensor<29x16xf32>
  return %y : tensor<29x16xf32>
}
func.func @gram(%x: tensor<13x7xi32>) -> (tensor<13x13xi32>, tensor<13x7xi32>, tensor<13x7xi32>) {
  %z = arith.constant dense<3> : tensor<13x13xi32>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %x : tensor<13x7xi32>, tensor<13x7xi32>) outs(%z : tensor<13x13xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %m = arith.muli %a, %b : i32
    %r = arith.addi %o, %m : i32
    linalg.yield %r : i32
  } -> tensor<13x13xi32>
  %c = arith.constant dense<[[1, 2, 3, 4, 5, 6, 7]]> : tensor<1x7xi32>
  %c1 = tensor.collapse_shape %c [[0, 1]] : tensor<1x7xi32> into tensor<7xi32>
  %e = tensor.empty() : tensor<13x7xi32>
  %cb = linalg.broadcast ins(%c1 : tensor<7xi32>) outs(%e : tensor<13x7xi32>) dimensions = [0]
  %y = arith.addi %x, %cb : tensor<13x7xi32>
  return %g, %y, %x : tensor<13x13xi32>, tensor<13x7xi32>, tensor<13x7xi32>
}
func.func @bmm(%a: tensor<3x5x7xi32>, %b: tensor<3x7x11xi32>, %c: tensor<5xi32>) -> (tensor<3x5x11xi32>, tensor<3x5xi32>) {
  %z = arith.constant dense<0> : tensor<3x5x11xi32>
  %p = linalg.batch_matmul ins(%a, %b : tensor<3x5x7xi32>, tensor<3x7x11xi32>) outs(%z : tensor<3x5x11xi32>) -> tensor<3x5x11xi32>
  %z2 = arith.constant dense<0> : tensor<3x5xi32>
  %s = linalg.reduce { arith.addi } ins(%p : tensor<3x5x11xi32>) outs(%z2 : tensor<3x5xi32>) dimensions = [2]
  %e2 = tensor.empty() : tensor<3x5xi32>
  %cb = linalg.broadcast ins(%c : tensor<5xi32>) outs(%e2 : tensor<3x5xi32>) dimensions = [0]
  %t = arith.muli %s, %cb : tensor<3x5xi32>
  return %p, %t : tensor<3x5x11xi32>, tensor<3x5xi32>
}
func.func @heads(%x: tensor<11x24xf32>) -> (tensor<11x2x12xf32>, tensor<11x24xf32>, tensor<22x12xf32>) {
  %y = math.exp %x : tensor<11x24xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [11, 2, 12] : tensor<11x24xf32> into tensor<11x2x12xf32>
  %e = tensor.empty() : tensor<11x2x12xf32>
  %p = linalg.softmax dimension(2) ins(%h : tensor<11x2x12xf32>) outs(%e : tensor<11x2x12xf32>) -> tensor<11x2x12xf32>
  %c = tensor.collapse_shape %p [[0], [1, 2]] : tensor<11x2x12xf32> into tensor<11x24xf32>
  %r = arith.addf %c, %x : tensor<11x24xf32>
  %d = tensor.collapse_shape %p [[0, 1], [2]] : tensor<11x2x12xf32> into tensor<22x12xf32>
  %d2 = arith.addf %d, %d : tensor<22x12xf32>
  return %p, %r, %d2 : tensor<11x2x12xf32>, tensor<11x24xf32>, tensor<22x12xf32>
}
func.func @table(%x: tensor<3x4xi32>, %v: tensor<3xi32>) -> (tensor<3x4xi32>, tensor<3xi32>, tensor<4x3xi32>) {
  %t = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi32>
  %y = arith.addi %x, %t : tensor<3x4xi32>
  %e = tensor.empty() : tensor<3x4xi32>
  %vb = linalg.broadcast ins(%v : tensor<3xi32>) outs(%e : tensor<3x4xi32>) dimensions = [1]
  %w = arith.muli %y, %vb : tensor<3x4xi32>
  %u = arith.addi %v, %v : tensor<3xi32>
  %et = tensor.empty() : tensor<4x3xi32>
  %tr = linalg.transpose ins(%w : tensor<3x4xi32>) outs(%et : tensor<4x3xi32>) permutation = [1, 0]
  return %w, %u, %tr : tensor<3x4xi32>, tensor<3xi32>, tensor<4x3xi32>
}
func.func @flattened(%x: tensor<4x9x6xf32>, %w: tensor<6x10xf32>) -> tensor<4x9x10xf32> {
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x9x6xf32> into tensor<36x6xf32>
  %z = arith.constant dense<0.0> : tensor<36x10xf32>
  %y = linalg.matmul ins(%c, %w : tensor<36x6xf32>, tensor<6x10xf32>) outs(%z : tensor<36x10xf32>) -> tensor<36x10xf32>
  %t = math.tanh %y : tensor<36x10xf32>
  %e = tensor.expand_shape %t [[0, 1], [2]] output_shape [4, 9, 10] : tensor<36x10xf32> into tensor<4x9x10xf32>
  %r = arith.addf %e, %e : tensor<4x9x10xf32>
  return %r : tensor<4x9x10xf32>
}

// Heads are parts of a row: split, and merged back, without a transposed tensor in memory.
#hik = affine_map<(h, i, j, d) -> (h, i, d)>
#hjk = affine_map<(h, i, j, d) -> (h, j, d)>
#hij = affine_map<(h, i, j, d) -> (h, i, j)>
func.func @merged_heads(%x: tensor<13x15xf32>, %wq: tensor<15x15xf32>, %wk: tensor<15x15xf32>, %wv: tensor<15x15xf32>, %wo: tensor<15x15xf32>) -> tensor<13x15xf32> {
  %z = arith.constant dense<0.0> : tensor<13x15xf32>
  %q = linalg.matmul ins(%x, %wq : tensor<13x15xf32>, tensor<15x15xf32>) outs(%z : tensor<13x15xf32>) -> tensor<13x15xf32>
  %k = linalg.matmul ins(%x, %wk : tensor<13x15xf32>, tensor<15x15xf32>) outs(%z : tensor<13x15xf32>) -> tensor<13x15xf32>
  %v = linalg.matmul ins(%x, %wv : tensor<13x15xf32>, tensor<15x15xf32>) outs(%z : tensor<13x15xf32>) -> tensor<13x15xf32>
  %q3 = tensor.expand_shape %q [[0], [1, 2]] output_shape [13, 3, 5] : tensor<13x15xf32> into tensor<13x3x5xf32>
  %k3 = tensor.expand_shape %k [[0], [1, 2]] output_shape [13, 3, 5] : tensor<13x15xf32> into tensor<13x3x5xf32>
  %v3 = tensor.expand_shape %v [[0], [1, 2]] output_shape [13, 3, 5] : tensor<13x15xf32> into tensor<13x3x5xf32>
  %eh = tensor.empty() : tensor<3x13x5xf32>
  %qh = linalg.transpose ins(%q3 : tensor<13x3x5xf32>) outs(%eh : tensor<3x13x5xf32>) permutation = [1, 0, 2]
  %kh = linalg.transpose ins(%k3 : tensor<13x3x5xf32>) outs(%eh : tensor<3x13x5xf32>) permutation = [1, 0, 2]
  %vh = linalg.transpose ins(%v3 : tensor<13x3x5xf32>) outs(%eh : tensor<3x13x5xf32>) permutation = [1, 0, 2]
  %zs = arith.constant dense<0.0> : tensor<3x13x13xf32>
  %s = linalg.generic {indexing_maps = [#hik, #hjk, #hij], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%qh, %kh : tensor<3x13x5xf32>, tensor<3x13x5xf32>) outs(%zs : tensor<3x13x13xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<3x13x13xf32>
  %es = tensor.empty() : tensor<3x13x13xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<3x13x13xf32>) outs(%es : tensor<3x13x13xf32>) -> tensor<3x13x13xf32>
  %zo = arith.constant dense<0.0> : tensor<3x13x5xf32>
  %o = linalg.batch_matmul ins(%p, %vh : tensor<3x13x13xf32>, tensor<3x13x5xf32>) outs(%zo : tensor<3x13x5xf32>) -> tensor<3x13x5xf32>
  %em = tensor.empty() : tensor<13x3x5xf32>
  %t = linalg.transpose ins(%o : tensor<3x13x5xf32>) outs(%em : tensor<13x3x5xf32>) permutation = [1, 0, 2]
  %c = tensor.collapse_shape %t [[0], [1, 2]] : tensor<13x3x5xf32> into tensor<13x15xf32>
  %y = linalg.matmul ins(%c, %wo : tensor<13x15xf32>, tensor<15x15xf32>) outs(%z : tensor<13x15xf32>) -> tensor<13x15xf32>
  return %y : tensor<13x15xf32>
}
// Permuted results of three dimensions, and one that is returned both ways.
func.func @permuted(%x: tensor<7x3x5x2xi32>, %y: tensor<7x3x5x2xi32>) -> (tensor<5x7x3x2xi32>, tensor<3x7x5x2xi32>, tensor<7x3x5x2xi32>) {
  %a = arith.addi %x, %y : tensor<7x3x5x2xi32>
  %b = arith.muli %x, %y : tensor<7x3x5x2xi32>
  %e = tensor.empty() : tensor<5x7x3x2xi32>
  %f = tensor.empty() : tensor<3x7x5x2xi32>
  %p = linalg.transpose ins(%a : tensor<7x3x5x2xi32>) outs(%e : tensor<5x7x3x2xi32>) permutation = [2, 0, 1, 3]
  %q = linalg.transpose ins(%b : tensor<7x3x5x2xi32>) outs(%f : tensor<3x7x5x2xi32>) permutation = [1, 0, 2, 3]
  return %p, %q, %b : tensor<5x7x3x2xi32>, tensor<3x7x5x2xi32>, tensor<7x3x5x2xi32>
}
// Operands that lie with gaps: a part of each row, every second column, turned round.
func.func @gaps(%x: tensor<11x14xi32>, %w: tensor<14x9xi32>) -> (tensor<11x4xi32>, tensor<11x7xi32>) {
  %z = arith.constant dense<0> : tensor<11x4xi32>
  %part = tensor.extract_slice %w[0, 3] [14, 4] [1, 1] : tensor<14x9xi32> to tensor<14x4xi32>
  %y = linalg.matmul ins(%x, %part : tensor<11x14xi32>, tensor<14x4xi32>) outs(%z : tensor<11x4xi32>) -> tensor<11x4xi32>
  %even = tensor.extract_slice %x[0, 0] [11, 7] [1, 2] : tensor<11x14xi32> to tensor<11x7xi32>
  %s = arith.addi %even, %even : tensor<11x7xi32>
  return %y, %s : tensor<11x4xi32>, tensor<11x7xi32>
}

// Operations that only move elements: read where they are, put together, or by a kernel's own rows.
func.func @moved_heads(%x: tensor<7x24xf32>, %wq: tensor<24x24xf32>, %wk: tensor<24x24xf32>, %wv: tensor<24x24xf32>) -> tensor<7x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<7x24xf32>) -> tensor<7x24xf32>
  %q = linalg.matmul ins(%x, %wq : tensor<7x24xf32>, tensor<24x24xf32>) outs(%f : tensor<7x24xf32>) -> tensor<7x24xf32>
  %k = linalg.matmul ins(%x, %wk : tensor<7x24xf32>, tensor<24x24xf32>) outs(%f : tensor<7x24xf32>) -> tensor<7x24xf32>
  %v = linalg.matmul ins(%x, %wv : tensor<7x24xf32>, tensor<24x24xf32>) outs(%f : tensor<7x24xf32>) -> tensor<7x24xf32>
  %q3 = tensor.expand_shape %q [[0], [1, 2]] output_shape [7, 3, 8] : tensor<7x24xf32> into tensor<7x3x8xf32>
  %k3 = tensor.expand_shape %k [[0], [1, 2]] output_shape [7, 3, 8] : tensor<7x24xf32> into tensor<7x3x8xf32>
  %v3 = tensor.expand_shape %v [[0], [1, 2]] output_shape [7, 3, 8] : tensor<7x24xf32> into tensor<7x3x8xf32>
  %e3 = tensor.empty() : tensor<3x7x8xf32>
  %e3t = tensor.empty() : tensor<3x8x7xf32>
  %qt = linalg.transpose ins(%q3 : tensor<7x3x8xf32>) outs(%e3 : tensor<3x7x8xf32>) permutation = [1, 0, 2]
  %kt = linalg.transpose ins(%k3 : tensor<7x3x8xf32>) outs(%e3t : tensor<3x8x7xf32>) permutation = [1, 2, 0]
  %vt = linalg.transpose ins(%v3 : tensor<7x3x8xf32>) outs(%e3 : tensor<3x7x8xf32>) permutation = [1, 0, 2]
  %es = tensor.empty() : tensor<3x7x7xf32>
  %fs = linalg.fill ins(%z : f32) outs(%es : tensor<3x7x7xf32>) -> tensor<3x7x7xf32>
  %s = linalg.batch_matmul ins(%qt, %kt : tensor<3x7x8xf32>, tensor<3x8x7xf32>) outs(%fs : tensor<3x7x7xf32>) -> tensor<3x7x7xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<3x7x7xf32>) outs(%es : tensor<3x7x7xf32>) -> tensor<3x7x7xf32>
  %fo = linalg.fill ins(%z : f32) outs(%e3 : tensor<3x7x8xf32>) -> tensor<3x7x8xf32>
  %o = linalg.batch_matmul ins(%p, %vt : tensor<3x7x7xf32>, tensor<3x7x8xf32>) outs(%fo : tensor<3x7x8xf32>) -> tensor<3x7x8xf32>
  %eo = tensor.empty() : tensor<7x3x8xf32>
  %ot = linalg.transpose ins(%o : tensor<3x7x8xf32>) outs(%eo : tensor<7x3x8xf32>) permutation = [1, 0, 2]
  %r = tensor.collapse_shape %ot [[0], [1, 2]] : tensor<7x3x8xf32> into tensor<7x24xf32>
  return %r : tensor<7x24xf32>
}
func.func @moved_conv(%x: tensor<1x3x13x11xf32>, %w: tensor<5x3x3x3xf32>, %b: tensor<5xf32>) -> tensor<1x5x7x6xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<1x3x13x11xf32> to tensor<1x3x15x13xf32>
  %e = tensor.empty() : tensor<1x5x7x6xf32>
  %bb = linalg.broadcast ins(%b : tensor<5xf32>) outs(%e : tensor<1x5x7x6xf32>) dimensions = [0, 2, 3]
  %y = linalg.conv_2d_nchw_fchw {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>} ins(%p, %w : tensor<1x3x15x13xf32>, tensor<5x3x3x3xf32>) outs(%bb : tensor<1x5x7x6xf32>) -> tensor<1x5x7x6xf32>
  %r = linalg.elementwise kind=#linalg.elementwise_kind<tanh> ins(%y : tensor<1x5x7x6xf32>) outs(%e : tensor<1x5x7x6xf32>) -> tensor<1x5x7x6xf32>
  return %r : tensor<1x5x7x6xf32>
}
func.func @moved_cat(%x: tensor<33x40xf32>, %y: tensor<31x40xf32>) -> tensor<64x40xf32> {
  %r = tensor.concat dim(0) %x, %y : (tensor<33x40xf32>, tensor<31x40xf32>) -> tensor<64x40xf32>
  %e = math.exp %r : tensor<64x40xf32>
  return %e : tensor<64x40xf32>
}
func.func @moved_ins(%x: tensor<33x40xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = tensor.insert_slice %x into %y[3, 5] [33, 40] [1, 1] : tensor<33x40xf32> into tensor<64x64xf32>
  %e = math.exp %r : tensor<64x64xf32>
  return %e : tensor<64x64xf32>
}
func.func @moved_pad(%x: tensor<33x40xf32>) -> tensor<36x45xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 2] high[2, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<33x40xf32> to tensor<36x45xf32>
  %e = math.exp %p : tensor<36x45xf32>
  return %e : tensor<36x45xf32>
}
func.func @moved_tr(%x: tensor<33x40xf32>, %y: tensor<40x33xf32>) -> tensor<40x33xf32> {
  %z = tensor.empty() : tensor<40x33xf32>
  %p = linalg.transpose ins(%x : tensor<33x40xf32>) outs(%z : tensor<40x33xf32>) permutation = [1, 0]
  %e = arith.addf %p, %y : tensor<40x33xf32>
  return %e : tensor<40x33xf32>
}
func.func @moved_rev(%x: tensor<33x40xf32>, %y: tensor<33x40xf32>) -> tensor<33x40xf32> {
  %a = tensor.extract_slice %x[0, 0] [33, 20] [1, 1] : tensor<33x40xf32> to tensor<33x20xf32>
  %b = tensor.extract_slice %x[0, 20] [33, 20] [1, 1] : tensor<33x40xf32> to tensor<33x20xf32>
  %n = arith.negf %b : tensor<33x20xf32>
  %r = tensor.concat dim(1) %n, %a : (tensor<33x20xf32>, tensor<33x20xf32>) -> tensor<33x40xf32>
  %m = arith.mulf %r, %y : tensor<33x40xf32>
  return %m : tensor<33x40xf32>
}
func.func @moved_permout(%x: tensor<3x7x5xf32>) -> tensor<5x3x7xf32> {
  %e = tensor.empty() : tensor<5x3x7xf32>
  %t = linalg.transpose ins(%x : tensor<3x7x5xf32>) outs(%e : tensor<5x3x7xf32>) permutation = [2, 0, 1]
  return %t : tensor<5x3x7xf32>
}
func.func @moved_cat3(%x: tensor<7x5xf16>, %y: tensor<7x1xf16>, %z: tensor<7x13xf16>) -> tensor<7x19xf16> {
  %r = tensor.concat dim(1) %x, %y, %z : (tensor<7x5xf16>, tensor<7x1xf16>, tensor<7x13xf16>) -> tensor<7x19xf16>
  %e = tensor.empty() : tensor<7x19xf16>
  %s = linalg.softmax dimension(1) ins(%r : tensor<7x19xf16>) outs(%e : tensor<7x19xf16>) -> tensor<7x19xf16>
  return %s : tensor<7x19xf16>
}
func.func @moved_prod(%x: tensor<31x17xf32>, %w: tensor<17x13xf32>, %v: tensor<13x40xf32>) -> tensor<40x31xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<31x13xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<31x13xf32>) -> tensor<31x13xf32>
  %q = linalg.matmul ins(%x, %w : tensor<31x17xf32>, tensor<17x13xf32>) outs(%f : tensor<31x13xf32>) -> tensor<31x13xf32>
  %et = tensor.empty() : tensor<13x31xf32>
  %qt = linalg.transpose ins(%q : tensor<31x13xf32>) outs(%et : tensor<13x31xf32>) permutation = [1, 0]
  %p = tensor.pad %v low[0, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<13x40xf32> to tensor<13x40xf32>
  %evt = tensor.empty() : tensor<40x13xf32>
  %vt = linalg.transpose ins(%p : tensor<13x40xf32>) outs(%evt : tensor<40x13xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<40x31xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<40x31xf32>) -> tensor<40x31xf32>
  %o = linalg.matmul ins(%vt, %qt : tensor<40x13xf32>, tensor<13x31xf32>) outs(%f2 : tensor<40x31xf32>) -> tensor<40x31xf32>
  return %o : tensor<40x31xf32>
}
func.func @moved_rope(%x: tensor<4x3x16xf32>, %c: tensor<4x16xf32>, %s: tensor<4x16xf32>) -> tensor<3x4x16xf32> {
  %a = tensor.extract_slice %x[0, 0, 0] [4, 3, 8] [1, 1, 1] : tensor<4x3x16xf32> to tensor<4x3x8xf32>
  %b = tensor.extract_slice %x[0, 0, 8] [4, 3, 8] [1, 1, 1] : tensor<4x3x16xf32> to tensor<4x3x8xf32>
  %n = arith.negf %b : tensor<4x3x8xf32>
  %r = tensor.concat dim(2) %n, %a : (tensor<4x3x8xf32>, tensor<4x3x8xf32>) -> tensor<4x3x16xf32>
  %e = tensor.empty() : tensor<4x3x16xf32>
  %cb = linalg.broadcast ins(%c : tensor<4x16xf32>) outs(%e : tensor<4x3x16xf32>) dimensions = [1]
  %sb = linalg.broadcast ins(%s : tensor<4x16xf32>) outs(%e : tensor<4x3x16xf32>) dimensions = [1]
  %m1 = arith.mulf %x, %cb : tensor<4x3x16xf32>
  %m2 = arith.mulf %r, %sb : tensor<4x3x16xf32>
  %m = arith.addf %m1, %m2 : tensor<4x3x16xf32>
  %e2 = tensor.empty() : tensor<3x4x16xf32>
  %t = linalg.transpose ins(%m : tensor<4x3x16xf32>) outs(%e2 : tensor<3x4x16xf32>) permutation = [1, 0, 2]
  return %t : tensor<3x4x16xf32>
}
func.func @moved_cache(%x: tensor<1x3x8xf32>, %k: tensor<11x3x8xf32>) -> (tensor<11x3x8xf32>, tensor<3x11xf32>) {
  %r = tensor.insert_slice %x into %k[4, 0, 0] [1, 3, 8] [1, 1, 1] : tensor<1x3x8xf32> into tensor<11x3x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x11xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x11xf32>) -> tensor<3x11xf32>
  %xs = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x3x8xf32> into tensor<3x8xf32>
  %et = tensor.empty() : tensor<3x8x11xf32>
  %kt = linalg.transpose ins(%r : tensor<11x3x8xf32>) outs(%et : tensor<3x8x11xf32>) permutation = [1, 2, 0]
  %s = linalg.generic {indexing_maps = [affine_map<(h, t, d) -> (h, d)>, affine_map<(h, t, d) -> (h, d, t)>, affine_map<(h, t, d) -> (h, t)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%xs, %kt : tensor<3x8xf32>, tensor<3x8x11xf32>) outs(%f : tensor<3x11xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %c, %m : f32
    linalg.yield %n : f32
  } -> tensor<3x11xf32>
  return %r, %s : tensor<11x3x8xf32>, tensor<3x11xf32>
}
