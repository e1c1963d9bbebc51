// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is padded is read in place, with borders: convolutions, pooling and products of all ranks, orders, types, steps and gaps,
// on the CPU and as GPU kernels, beside the reference.
//
// RUN: %python %S/Inputs/whole-tensors.py %ft_bin/ft-run %s L=1,5 | FileCheck %s
// CHECK: {{[1-9][0-9]*}} programs, {{[1-9][0-9]*}} runs, 0 failures
//
// Products in tiles, whose operands have borders, thread by thread and by their definitions.
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/' %S/../machines/h200.json > %t.json
// RUN: %python %S/../Engine/Emulator/Inputs/emulate.py --multiprocessors=12 --machine=%t.json %ft_bin/ft-run %s:image,both,beyond,halves,last_high,last_halves,volume,shared,product 5 | FileCheck %s
// RUN: %python %S/../Engine/Emulator/Inputs/emulate.py --multiprocessors=12 --machine=%t.json --interpret-tile %ft_bin/ft-run %s:image,both,beyond,halves,last_high,last_halves,volume,shared,product 5 | FileCheck %s --check-prefix=TILES
// TILES: 9 of them on tiles
// TILES: 9 programs, {{[1-9][0-9]*}} runs, 0 failures

// A border of one on each side.
func.func @image(%x: tensor<2x3x7x9xi32>, %w: tensor<5x3x3x3xi32>) -> tensor<2x5x7x9xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : i32
  } : tensor<2x3x7x9xi32> to tensor<2x3x9x11xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x5x7x9xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x5x7x9xi32>) -> tensor<2x5x7x9xi32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<2x3x9x11xi32>, tensor<5x3x3x3xi32>) outs(%f : tensor<2x5x7x9xi32>) -> tensor<2x5x7x9xi32>
  return %r : tensor<2x5x7x9xi32>
}
// Other borders on each side, every second place; the last columns are not looked at.
func.func @strided(%x: tensor<2x3x13x11xi32>, %w: tensor<5x3x3x3xi32>) -> tensor<2x5x7x6xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 0, 2, 0] high[0, 0, 1, 3] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : i32
  } : tensor<2x3x13x11xi32> to tensor<2x3x16x14xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x5x7x6xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x5x7x6xi32>) -> tensor<2x5x7x6xi32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%p, %w : tensor<2x3x16x14xi32>, tensor<5x3x3x3xi32>) outs(%f : tensor<2x5x7x6xi32>) -> tensor<2x5x7x6xi32>
  return %r : tensor<2x5x7x6xi32>
}
// Taps with gaps between.
func.func @dilated(%x: tensor<1x2x11x13xi32>, %w: tensor<3x2x3x3xi32>) -> tensor<1x3x11x13xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 0, 2, 2] high[0, 0, 2, 2] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : i32
  } : tensor<1x2x11x13xi32> to tensor<1x2x15x17xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x3x11x13xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<1x3x11x13xi32>) -> tensor<1x3x11x13xi32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<1x2x15x17xi32>, tensor<3x2x3x3xi32>) outs(%f : tensor<1x3x11x13xi32>) -> tensor<1x3x11x13xi32>
  return %r : tensor<1x3x11x13xi32>
}
// Steps of three, gaps of two.
func.func @both(%x: tensor<1x2x17x19xi32>, %w: tensor<3x2x3x5xi32>) -> tensor<1x3x6x8xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 0, 4, 3] high[0, 0, 1, 6] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : i32
  } : tensor<1x2x17x19xi32> to tensor<1x2x22x28xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x3x6x8xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<1x3x6x8xi32>) -> tensor<1x3x6x8xi32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[2, 3]> : tensor<2xi64>, strides = dense<[3, 2]> : tensor<2xi64>} ins(%p, %w : tensor<1x2x22x28xi32>, tensor<3x2x3x5xi32>) outs(%f : tensor<1x3x6x8xi32>) -> tensor<1x3x6x8xi32>
  return %r : tensor<1x3x6x8xi32>
}
// Borders longer than the window: some places see nothing of the image.
func.func @beyond(%x: tensor<2x2x5x7xi32>, %w: tensor<3x2x3x2xi32>) -> tensor<2x3x12x14xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 0, 4, 5] high[0, 0, 5, 3] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : i32
  } : tensor<2x2x5x7xi32> to tensor<2x2x14x15xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x3x12x14xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x3x12x14xi32>) -> tensor<2x3x12x14xi32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<2x2x14x15xi32>, tensor<3x2x3x2xi32>) outs(%f : tensor<2x3x12x14xi32>) -> tensor<2x3x12x14xi32>
  return %r : tensor<2x3x12x14xi32>
}
// An image of one number.
func.func @single(%x: tensor<1x1x1x1xi32>, %w: tensor<3x1x3x3xi32>) -> tensor<1x3x1x1xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : i32
  } : tensor<1x1x1x1xi32> to tensor<1x1x3x3xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x3x1x1xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<1x3x1x1xi32>) -> tensor<1x3x1x1xi32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<1x1x3x3xi32>, tensor<3x1x3x3xi32>) outs(%f : tensor<1x3x1x1xi32>) -> tensor<1x3x1x1xi32>
  return %r : tensor<1x3x1x1xi32>
}
// A border of another number, as of quantised images.
func.func @valued(%x: tensor<2x3x7x9xi32>, %w: tensor<5x3x3x3xi32>) -> tensor<2x5x8x10xi32> {
  %v = arith.constant 7 : i32
  %p = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 2, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : i32
  } : tensor<2x3x7x9xi32> to tensor<2x3x10x12xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x5x8x10xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x5x8x10xi32>) -> tensor<2x5x8x10xi32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<2x3x10x12xi32>, tensor<5x3x3x3xi32>) outs(%f : tensor<2x5x8x10xi32>) -> tensor<2x5x8x10xi32>
  return %r : tensor<2x5x8x10xi32>
}
// More columns than a tile of registers has.
func.func @wide(%x: tensor<2x4x9x127xf32>, %w: tensor<7x4x5x5xf32>) -> tensor<2x7x9x127xf32> {
  %v = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 2, 2] high[0, 0, 2, 2] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f32
  } : tensor<2x4x9x127xf32> to tensor<2x4x13x131xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x7x9x127xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x7x9x127xf32>) -> tensor<2x7x9x127xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<2x4x13x131xf32>, tensor<7x4x5x5xf32>) outs(%f : tensor<2x7x9x127xf32>) -> tensor<2x7x9x127xf32>
  return %r : tensor<2x7x9x127xf32>
}
func.func @doubles(%x: tensor<1x4x7x31xf64>, %w: tensor<7x4x3x3xf64>) -> tensor<1x7x7x31xf64> {
  %v = arith.constant 0.0 : f64
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f64
  } : tensor<1x4x7x31xf64> to tensor<1x4x9x33xf64>
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x7x7x31xf64>
  %f = linalg.fill ins(%z : f64) outs(%e : tensor<1x7x7x31xf64>) -> tensor<1x7x7x31xf64>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<1x4x9x33xf64>, tensor<7x4x3x3xf64>) outs(%f : tensor<1x7x7x31xf64>) -> tensor<1x7x7x31xf64>
  return %r : tensor<1x7x7x31xf64>
}
func.func @halves(%x: tensor<2x5x11x23xf16>, %w: tensor<9x5x3x3xf16>) -> tensor<2x9x11x23xf16> {
  %v = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f16
  } : tensor<2x5x11x23xf16> to tensor<2x5x13x25xf16>
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2x9x11x23xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<2x9x11x23xf16>) -> tensor<2x9x11x23xf16>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<2x5x13x25xf16>, tensor<9x5x3x3xf16>) outs(%f : tensor<2x9x11x23xf16>) -> tensor<2x9x11x23xf16>
  return %r : tensor<2x9x11x23xf16>
}
func.func @brain(%x: tensor<1x5x7x13xbf16>, %w: tensor<9x5x3x3xbf16>) -> tensor<1x9x7x13xbf16> {
  %v = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : bf16
  } : tensor<1x5x7x13xbf16> to tensor<1x5x9x15xbf16>
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<1x9x7x13xbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<1x9x7x13xbf16>) -> tensor<1x9x7x13xbf16>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<1x5x9x15xbf16>, tensor<9x5x3x3xbf16>) outs(%f : tensor<1x9x7x13xbf16>) -> tensor<1x9x7x13xbf16>
  return %r : tensor<1x9x7x13xbf16>
}
// Enough filters for tiles of products.
func.func @many(%x: tensor<1x16x17x19xf32>, %w: tensor<48x16x5x5xf32>) -> tensor<1x48x17x19xf32> {
  %v = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 2, 2] high[0, 0, 2, 2] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f32
  } : tensor<1x16x17x19xf32> to tensor<1x16x21x23xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x48x17x19xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x48x17x19xf32>) -> tensor<1x48x17x19xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<1x16x21x23xf32>, tensor<48x16x5x5xf32>) outs(%f : tensor<1x48x17x19xf32>) -> tensor<1x48x17x19xf32>
  return %r : tensor<1x48x17x19xf32>
}
// Channels last: rows of the product cross the border.
func.func @last(%x: tensor<2x7x13x5xi32>, %w: tensor<3x3x5x11xi32>) -> tensor<2x7x13x11xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : i32
  } : tensor<2x7x13x5xi32> to tensor<2x9x15x5xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x7x13x11xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x7x13x11xi32>) -> tensor<2x7x13x11xi32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<2x9x15x5xi32>, tensor<3x3x5x11xi32>) outs(%f : tensor<2x7x13x11xi32>) -> tensor<2x7x13x11xi32>
  return %r : tensor<2x7x13x11xi32>
}
func.func @last_wide(%x: tensor<1x5x127x4xf32>, %w: tensor<3x5x4x16xf32>) -> tensor<1x5x127x16xf32> {
  %v = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 2, 0] high[0, 1, 2, 0] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f32
  } : tensor<1x5x127x4xf32> to tensor<1x7x131x4xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x5x127x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x5x127x16xf32>) -> tensor<1x5x127x16xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<1x7x131x4xf32>, tensor<3x5x4x16xf32>) outs(%f : tensor<1x5x127x16xf32>) -> tensor<1x5x127x16xf32>
  return %r : tensor<1x5x127x16xf32>
}
func.func @last_high(%x: tensor<1x61x5x4xf32>, %w: tensor<5x3x4x17xf32>) -> tensor<1x31x5x17xf32> {
  %v = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 2, 1, 0] high[0, 2, 1, 0] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f32
  } : tensor<1x61x5x4xf32> to tensor<1x65x7x4xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x31x5x17xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x31x5x17xf32>) -> tensor<1x31x5x17xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%p, %w : tensor<1x65x7x4xf32>, tensor<5x3x4x17xf32>) outs(%f : tensor<1x31x5x17xf32>) -> tensor<1x31x5x17xf32>
  return %r : tensor<1x31x5x17xf32>
}
func.func @last_halves(%x: tensor<1x9x17x16xf16>, %w: tensor<3x3x16x32xf16>) -> tensor<1x9x17x32xf16> {
  %v = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f16
  } : tensor<1x9x17x16xf16> to tensor<1x11x19x16xf16>
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x9x17x32xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<1x9x17x32xf16>) -> tensor<1x9x17x32xf16>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<1x11x19x16xf16>, tensor<3x3x16x32xf16>) outs(%f : tensor<1x9x17x32xf16>) -> tensor<1x9x17x32xf16>
  return %r : tensor<1x9x17x32xf16>
}
// Signals.
func.func @signal(%x: tensor<3x2x127xi32>, %w: tensor<5x2x7xi32>) -> tensor<3x5x127xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 0, 3] high[0, 0, 3] {
  ^bb0(%p0: index, %p1: index, %p2: index):
    tensor.yield %v : i32
  } : tensor<3x2x127xi32> to tensor<3x2x133xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x5x127xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<3x5x127xi32>) -> tensor<3x5x127xi32>
  %r = linalg.conv_1d_ncw_fcw {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[1]> : tensor<1xi64>} ins(%p, %w : tensor<3x2x133xi32>, tensor<5x2x7xi32>) outs(%f : tensor<3x5x127xi32>) -> tensor<3x5x127xi32>
  return %r : tensor<3x5x127xi32>
}
// What has been is all that a place sees.
func.func @causal(%x: tensor<2x3x31xf32>, %w: tensor<4x3x4xf32>) -> tensor<2x4x31xf32> {
  %v = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 6] high[0, 0, 0] {
  ^bb0(%p0: index, %p1: index, %p2: index):
    tensor.yield %v : f32
  } : tensor<2x3x31xf32> to tensor<2x3x37xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x31xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4x31xf32>) -> tensor<2x4x31xf32>
  %r = linalg.conv_1d_ncw_fcw {dilations = dense<[2]> : tensor<1xi64>, strides = dense<[1]> : tensor<1xi64>} ins(%p, %w : tensor<2x3x37xf32>, tensor<4x3x4xf32>) outs(%f : tensor<2x4x31xf32>) -> tensor<2x4x31xf32>
  return %r : tensor<2x4x31xf32>
}
func.func @short(%x: tensor<2x3x1xi32>, %w: tensor<4x3x3xi32>) -> tensor<2x4x1xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index):
    tensor.yield %v : i32
  } : tensor<2x3x1xi32> to tensor<2x3x3xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x4x1xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x4x1xi32>) -> tensor<2x4x1xi32>
  %r = linalg.conv_1d_ncw_fcw {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[1]> : tensor<1xi64>} ins(%p, %w : tensor<2x3x3xi32>, tensor<4x3x3xi32>) outs(%f : tensor<2x4x1xi32>) -> tensor<2x4x1xi32>
  return %r : tensor<2x4x1xi32>
}
func.func @signal_last(%x: tensor<2x31x7xi32>, %w: tensor<5x7x9xi32>) -> tensor<2x31x9xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 2, 0] high[0, 2, 0] {
  ^bb0(%p0: index, %p1: index, %p2: index):
    tensor.yield %v : i32
  } : tensor<2x31x7xi32> to tensor<2x35x7xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x31x9xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x31x9xi32>) -> tensor<2x31x9xi32>
  %r = linalg.conv_1d_nwc_wcf {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[1]> : tensor<1xi64>} ins(%p, %w : tensor<2x35x7xi32>, tensor<5x7x9xi32>) outs(%f : tensor<2x31x9xi32>) -> tensor<2x31x9xi32>
  return %r : tensor<2x31x9xi32>
}
func.func @signal_halves(%x: tensor<1x37x8xbf16>, %w: tensor<3x8x24xbf16>) -> tensor<1x37x24xbf16> {
  %v = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%p0: index, %p1: index, %p2: index):
    tensor.yield %v : bf16
  } : tensor<1x37x8xbf16> to tensor<1x39x8xbf16>
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<1x37x24xbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<1x37x24xbf16>) -> tensor<1x37x24xbf16>
  %r = linalg.conv_1d_nwc_wcf {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[1]> : tensor<1xi64>} ins(%p, %w : tensor<1x39x8xbf16>, tensor<3x8x24xbf16>) outs(%f : tensor<1x37x24xbf16>) -> tensor<1x37x24xbf16>
  return %r : tensor<1x37x24xbf16>
}
// Volumes.
func.func @volume(%x: tensor<2x2x5x4x7xi32>, %w: tensor<3x2x3x3x2xi32>) -> tensor<2x3x5x4x7xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 0, 1, 1, 1] high[0, 0, 1, 1, 0] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    tensor.yield %v : i32
  } : tensor<2x2x5x4x7xi32> to tensor<2x2x7x6x8xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x3x5x4x7xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x3x5x4x7xi32>) -> tensor<2x3x5x4x7xi32>
  %r = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<[1, 1, 1]> : tensor<3xi64>, strides = dense<[1, 1, 1]> : tensor<3xi64>} ins(%p, %w : tensor<2x2x7x6x8xi32>, tensor<3x2x3x3x2xi32>) outs(%f : tensor<2x3x5x4x7xi32>) -> tensor<2x3x5x4x7xi32>
  return %r : tensor<2x3x5x4x7xi32>
}
func.func @volume_last(%x: tensor<1x4x5x7x2xi32>, %w: tensor<3x3x3x2x5xi32>) -> tensor<1x4x3x7x5xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 1, 1, 1, 0] high[0, 1, 1, 1, 0] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    tensor.yield %v : i32
  } : tensor<1x4x5x7x2xi32> to tensor<1x6x7x9x2xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x4x3x7x5xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<1x4x3x7x5xi32>) -> tensor<1x4x3x7x5xi32>
  %r = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<[1, 1, 1]> : tensor<3xi64>, strides = dense<[1, 2, 1]> : tensor<3xi64>} ins(%p, %w : tensor<1x6x7x9x2xi32>, tensor<3x3x3x2x5xi32>) outs(%f : tensor<1x4x3x7x5xi32>) -> tensor<1x4x3x7x5xi32>
  return %r : tensor<1x4x3x7x5xi32>
}
// A filter for each channel.
func.func @depthwise(%x: tensor<2x5x9x11xi32>, %w: tensor<5x3x3xi32>) -> tensor<2x5x9x11xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : i32
  } : tensor<2x5x9x11xi32> to tensor<2x5x11x13xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x5x9x11xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x5x9x11xi32>) -> tensor<2x5x9x11xi32>
  %r = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<2x5x11x13xi32>, tensor<5x3x3xi32>) outs(%f : tensor<2x5x9x11xi32>) -> tensor<2x5x9x11xi32>
  return %r : tensor<2x5x9x11xi32>
}
func.func @depthwise_last(%x: tensor<1x9x11x7xf32>, %w: tensor<3x3x7xf32>) -> tensor<1x5x6x7xf32> {
  %v = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f32
  } : tensor<1x9x11x7xf32> to tensor<1x11x13x7xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x5x6x7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x5x6x7xf32>) -> tensor<1x5x6x7xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%p, %w : tensor<1x11x13x7xf32>, tensor<3x3x7xf32>) outs(%f : tensor<1x5x6x7xf32>) -> tensor<1x5x6x7xf32>
  return %r : tensor<1x5x6x7xf32>
}
// Pooling: nothing is less than its border.
func.func @greatest(%x: tensor<2x3x13x17xf32>) -> tensor<2x3x7x9xf32> {
  %v = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f32
  } : tensor<2x3x13x17xf32> to tensor<2x3x15x19xf32>
  %z = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x3x7x9xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x3x7x9xf32>) -> tensor<2x3x7x9xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %r = linalg.pooling_nchw_max {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%p, %w : tensor<2x3x15x19xf32>, tensor<3x3xf32>) outs(%f : tensor<2x3x7x9xf32>) -> tensor<2x3x7x9xf32>
  return %r : tensor<2x3x7x9xf32>
}
func.func @greatest_last(%x: tensor<1x9x11x5xi32>) -> tensor<1x9x11x5xi32> {
  %v = arith.constant -2147483648 : i32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : i32
  } : tensor<1x9x11x5xi32> to tensor<1x11x13x5xi32>
  %z = arith.constant -2147483648 : i32
  %e = tensor.empty() : tensor<1x9x11x5xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<1x9x11x5xi32>) -> tensor<1x9x11x5xi32>
  %w = tensor.empty() : tensor<3x3xi32>
  %r = linalg.pooling_nhwc_max {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<1x11x13x5xi32>, tensor<3x3xi32>) outs(%f : tensor<1x9x11x5xi32>) -> tensor<1x9x11x5xi32>
  return %r : tensor<1x9x11x5xi32>
}
func.func @greatest_half(%x: tensor<1x2x7x9xf16>) -> tensor<1x2x7x9xf16> {
  %v = arith.constant 0xFC00 : f16
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 0, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f16
  } : tensor<1x2x7x9xf16> to tensor<1x2x8x11xf16>
  %z = arith.constant 0xFC00 : f16
  %e = tensor.empty() : tensor<1x2x7x9xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<1x2x7x9xf16>) -> tensor<1x2x7x9xf16>
  %w = tensor.empty() : tensor<2x3xf16>
  %r = linalg.pooling_nchw_max {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<1x2x8x11xf16>, tensor<2x3xf16>) outs(%f : tensor<1x2x7x9xf16>) -> tensor<1x2x7x9xf16>
  return %r : tensor<1x2x7x9xf16>
}
// Sums of windows, of which the border is zeros.
func.func @sums(%x: tensor<2x3x7x9xf32>) -> tensor<2x3x7x9xf32> {
  %v = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f32
  } : tensor<2x3x7x9xf32> to tensor<2x3x9x11xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x7x9xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x3x7x9xf32>) -> tensor<2x3x7x9xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %r = linalg.pooling_nchw_sum {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<2x3x9x11xf32>, tensor<3x3xf32>) outs(%f : tensor<2x3x7x9xf32>) -> tensor<2x3x7x9xf32>
  return %r : tensor<2x3x7x9xf32>
}
// A bias and an activation after.
func.func @activated(%x: tensor<2x3x7x9xf32>, %w: tensor<5x3x3x3xf32>) -> tensor<2x5x4x9xf32> {
  %v = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f32
  } : tensor<2x3x7x9xf32> to tensor<2x3x9x11xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x4x9xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x5x4x9xf32>) -> tensor<2x5x4x9xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%p, %w : tensor<2x3x9x11xf32>, tensor<5x3x3x3xf32>) outs(%f : tensor<2x5x4x9xf32>) -> tensor<2x5x4x9xf32>
  %c = arith.constant dense<0.5> : tensor<2x5x4x9xf32>
  %b = arith.addf %r, %c : tensor<2x5x4x9xf32>
  %t = math.tanh %b : tensor<2x5x4x9xf32>
  return %t : tensor<2x5x4x9xf32>
}
// One padded image and two readers, one of which steps over it.
func.func @shared(%x: tensor<2x3x9x7xi32>, %w: tensor<5x3x3x3xi32>) -> (tensor<2x5x9x7xi32>, tensor<2x3x5x4xi32>) {
  %v = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : i32
  } : tensor<2x3x9x7xi32> to tensor<2x3x11x9xi32>
  %e = tensor.empty() : tensor<2x5x9x7xi32>
  %f = linalg.fill ins(%v : i32) outs(%e : tensor<2x5x9x7xi32>) -> tensor<2x5x9x7xi32>
  %r = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<2x3x11x9xi32>, tensor<5x3x3x3xi32>) outs(%f : tensor<2x5x9x7xi32>) -> tensor<2x5x9x7xi32>
  %g = tensor.empty() : tensor<2x3x5x4xi32>
  %h = linalg.fill ins(%v : i32) outs(%g : tensor<2x3x5x4xi32>) -> tensor<2x3x5x4xi32>
  %n = tensor.empty() : tensor<3x3xi32>
  %s = linalg.pooling_nchw_sum {strides = dense<2> : tensor<2xi64>} ins(%p, %n : tensor<2x3x11x9xi32>, tensor<3x3xi32>) outs(%h : tensor<2x3x5x4xi32>) -> tensor<2x3x5x4xi32>
  return %r, %s : tensor<2x5x9x7xi32>, tensor<2x3x5x4xi32>
}
// A product's right-hand side with a border along its terms and its columns.
func.func @product(%x: tensor<9x40xi32>, %w: tensor<37x29xi32>) -> tensor<9x33xi32> {
  %v = arith.constant 0 : i32
  %p = tensor.pad %w low[1, 3] high[2, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : i32
  } : tensor<37x29xi32> to tensor<40x33xi32>
  %z = arith.constant dense<0> : tensor<9x33xi32>
  %y = linalg.matmul ins(%x, %p : tensor<9x40xi32>, tensor<40x33xi32>) outs(%z : tensor<9x33xi32>) -> tensor<9x33xi32>
  return %y : tensor<9x33xi32>
}
// What is padded is computed before; what the window takes is turned.
func.func @computed(%x: tensor<2x9x7x3xf32>, %w: tensor<5x3x3x3xf32>) -> tensor<2x5x9x7xf32> {
  %v = arith.constant 0.0 : f32
  %a = math.tanh %x : tensor<2x9x7x3xf32>
  %m = tensor.empty() : tensor<2x3x9x7xf32>
  %t = linalg.transpose ins(%a : tensor<2x9x7x3xf32>) outs(%m : tensor<2x3x9x7xf32>) permutation = [0, 3, 1, 2]
  %p = tensor.pad %t low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
    tensor.yield %v : f32
  } : tensor<2x3x9x7xf32> to tensor<2x3x11x9xf32>
  %e = tensor.empty() : tensor<2x5x9x7xf32>
  %f = linalg.fill ins(%v : f32) outs(%e : tensor<2x5x9x7xf32>) -> tensor<2x5x9x7xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<2x3x11x9xf32>, tensor<5x3x3x3xf32>) outs(%f : tensor<2x5x9x7xf32>) -> tensor<2x5x9x7xf32>
  return %r : tensor<2x5x9x7xf32>
}
// A list of images; each is padded where it is used.
func.func @listed(%xs: !ft.list<[L], tensor<2x7x9xi32>>, %w: tensor<5x2x3x3xi32>) -> !ft.list<[L], tensor<5x7x9xi32>> {
  %ys = ft.map (%x = %xs : !ft.list<[L], tensor<2x7x9xi32>>) {
    %v = arith.constant 0 : i32
    %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
    ^bb0(%p0: index, %p1: index, %p2: index):
      tensor.yield %v : i32
    } : tensor<2x7x9xi32> to tensor<2x9x11xi32>
    %e = tensor.empty() : tensor<5x7x9xi32>
    %f = linalg.fill ins(%v : i32) outs(%e : tensor<5x7x9xi32>) -> tensor<5x7x9xi32>
    %r = linalg.generic {indexing_maps = [affine_map<(f, h, w, c, i, j) -> (c, h + i, w + j)>, affine_map<(f, h, w, c, i, j) -> (f, c, i, j)>, affine_map<(f, h, w, c, i, j) -> (f, h, w)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p, %w : tensor<2x9x11xi32>, tensor<5x2x3x3xi32>) outs(%f : tensor<5x7x9xi32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %m = arith.muli %a, %b : i32
      %s = arith.addi %o, %m : i32
      linalg.yield %s : i32
    } -> tensor<5x7x9xi32>
    ft.yield %r : tensor<5x7x9xi32>
  }
  return %ys : !ft.list<[L], tensor<5x7x9xi32>>
}
// Element by element: differences to the neighbours, with a border of its own on each side.
func.func @neighbours(%xs: !ft.list<[L], tensor<13x17xi32>>) -> !ft.list<[L], tensor<14x18xi32>> {
  %ys = ft.map (%x = %xs : !ft.list<[L], tensor<13x17xi32>>) {
    %v = arith.constant 3 : i32
    %p = tensor.pad %x low[1, 1] high[0, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %v : i32
    } : tensor<13x17xi32> to tensor<14x18xi32>
    %q = tensor.pad %x low[0, 0] high[1, 1] {
    ^bb0(%i: index, %j: index):
      tensor.yield %v : i32
    } : tensor<13x17xi32> to tensor<14x18xi32>
    %d = arith.subi %q, %p : tensor<14x18xi32>
    ft.yield %d : tensor<14x18xi32>
  }
  return %ys : !ft.list<[L], tensor<14x18xi32>>
}
